-- +canopy compatible
-- +goose NO TRANSACTION
-- Events by an actor are found in a part of the tree, too, as those about a kind of object are. Events can be read and written while the index is made, which waits for whoever is at
-- work on them.

-- +goose Up
SET lock_timeout = 0;
SET statement_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS audit_events_limb_actor;
CREATE INDEX CONCURRENTLY audit_events_limb_actor ON audit_events (limb_id, actor_user_id, created_at, id);
RESET statement_timeout;
RESET lock_timeout;

-- +goose Down
SET statement_timeout = 0;
DROP INDEX CONCURRENTLY audit_events_limb_actor;
RESET statement_timeout;
