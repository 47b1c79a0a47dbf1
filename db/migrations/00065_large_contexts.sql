-- +canopy compatible
-- A large context is taken off its desk at once, and erased in parts: its documents count until they are gone, itself at once no more.

-- +goose Up
ALTER TABLE contexts ADD COLUMN removed_at timestamptz;
CREATE INDEX contexts_removed ON contexts (id) WHERE removed_at IS NOT NULL;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION contexts_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('contexts', NULL, array_agg(a.customer_id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x JOIN accounts a ON a.id = x.account_id WHERE x.removed_at IS NULL;
    RETURN NULL;
END $$;
CREATE FUNCTION context_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('contexts', NULL, ARRAY[a.customer_id], ARRAY[-1]::bigint[]) FROM accounts a WHERE a.id = NEW.account_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER context_removed AFTER UPDATE OF removed_at ON contexts
    FOR EACH ROW WHEN (OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL) EXECUTE FUNCTION context_removed();

-- +goose Down
DELETE FROM contexts WHERE removed_at IS NOT NULL;
DROP TRIGGER context_removed ON contexts;
DROP FUNCTION context_removed();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION contexts_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('contexts', NULL, array_agg(a.customer_id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x JOIN accounts a ON a.id = x.account_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
ALTER TABLE contexts DROP COLUMN removed_at;
