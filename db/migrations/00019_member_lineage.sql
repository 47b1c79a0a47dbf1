-- A membership knows its company's place in the tree: those of a user within a scope are one range of one index, however
-- many companies elsewhere have added the same user.

-- +goose Up
ALTER TABLE memberships ADD COLUMN lineage bigint[];
UPDATE memberships m SET lineage = c.lineage FROM customers c WHERE c.id = m.customer_id;
ALTER TABLE memberships ALTER COLUMN lineage SET NOT NULL;

-- It follows from the company, which does not move; it is set here, so no writer can get it wrong.
-- +goose StatementBegin
CREATE FUNCTION memberships_set_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.lineage := (SELECT c.lineage FROM customers c WHERE c.id = NEW.customer_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER memberships_lineage BEFORE INSERT OR UPDATE OF customer_id, lineage ON memberships
    FOR EACH ROW EXECUTE FUNCTION memberships_set_lineage();

DROP INDEX memberships_user;
CREATE INDEX memberships_user ON memberships (user_id, lineage);

-- +goose Down
DROP INDEX memberships_user;
CREATE INDEX memberships_user ON memberships (user_id, customer_id);
DROP TRIGGER memberships_lineage ON memberships;
DROP FUNCTION memberships_set_lineage();
ALTER TABLE memberships DROP COLUMN lineage;
