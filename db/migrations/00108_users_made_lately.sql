-- +canopy compatible
-- +goose NO TRANSACTION
-- Users by when companies know them from, by some thousand ids, as companies have it: so those of a time are found where they begin in the order of the ids, however far that is. Nobody waits for the
-- index: it is this that waits for whoever is at work on them, and so as long as they take.

-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS member_names_ids_created;
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY member_names_ids_created ON member_names ((user_id / 4096), created_at, user_id);
RESET lock_timeout;

-- +goose Down
DROP INDEX member_names_ids_created;
