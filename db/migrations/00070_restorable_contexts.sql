-- +canopy compatible
-- A removed context can be kept for a time, in which it can be brought back. A program from before this erases it at once.

-- +goose Up
ALTER TABLE contexts ADD COLUMN erase_at timestamptz;
CREATE INDEX contexts_erased ON contexts ((COALESCE(erase_at, removed_at))) WHERE removed_at IS NOT NULL;
DROP INDEX contexts_removed;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION context_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('contexts', NULL, ARRAY[a.customer_id], ARRAY[CASE WHEN NEW.removed_at IS NULL THEN 1 ELSE -1 END]::bigint[])
    FROM accounts a WHERE a.id = NEW.account_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER context_removed ON contexts;
CREATE TRIGGER context_removed AFTER UPDATE OF removed_at ON contexts
    FOR EACH ROW WHEN ((OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)) EXECUTE FUNCTION context_removed();

-- +goose Down
DROP TRIGGER context_removed ON contexts;
CREATE TRIGGER context_removed AFTER UPDATE OF removed_at ON contexts
    FOR EACH ROW WHEN (OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL) EXECUTE FUNCTION context_removed();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION context_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('contexts', NULL, ARRAY[a.customer_id], ARRAY[-1]::bigint[]) FROM accounts a WHERE a.id = NEW.account_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE INDEX contexts_removed ON contexts (id) WHERE removed_at IS NOT NULL;
ALTER TABLE contexts DROP COLUMN erase_at;
