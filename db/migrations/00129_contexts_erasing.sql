-- +canopy compatible
-- +goose NO TRANSACTION
-- An index of an account's contexts that are being erased, as there may be very many beside that can be brought back.

-- +goose Up
SET lock_timeout = 0;
SET statement_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS contexts_erasing;
CREATE INDEX CONCURRENTLY contexts_erasing ON contexts (account_id, COALESCE(erase_at, removed_at)) WHERE removed_at IS NOT NULL AND home_id IS NULL;
RESET statement_timeout;
RESET lock_timeout;

-- +goose Down
DROP INDEX contexts_erasing;
