-- +canopy compatible
-- +goose NO TRANSACTION
-- The words of the names of webhook destinations are indexed anew, with the plain ones. Nobody waits for that: it is this that waits for whoever is at work on them, and so as long as they take.

-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS webhook_destinations_words_ccnew;
DROP INDEX CONCURRENTLY IF EXISTS webhook_destinations_words_ccold;
SET lock_timeout = 0;
REINDEX INDEX CONCURRENTLY webhook_destinations_words;
RESET lock_timeout;

-- +goose Down
SELECT 1;
