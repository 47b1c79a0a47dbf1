-- A company that moves is written anew, with an entry in each index of its row, and so are the memberships below it. What a move does
-- not change and costs most there stands elsewhere.

-- +goose Up

-- A lineage is stored as it is compared: a short form would be unpacked for each comparison.
ALTER TABLE customers ALTER COLUMN lineage SET STORAGE PLAIN;
ALTER TABLE memberships ALTER COLUMN lineage SET STORAGE PLAIN;

-- The words of companies' names have a table of their own.
CREATE TABLE customer_words (
    customer_id bigint PRIMARY KEY REFERENCES customers ON DELETE CASCADE,
    words       tsvector NOT NULL
);
INSERT INTO customer_words SELECT id, words_of(name) FROM customers;
CREATE INDEX customer_words_words ON customer_words USING gin (words) WITH (gin_pending_list_limit = 256);
DROP INDEX customers_words;
-- +goose StatementBegin
CREATE FUNCTION customers_worded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO customer_words SELECT x.id, words_of(x.name) FROM changed x;
    ELSE
        UPDATE customer_words SET words = words_of(NEW.name) WHERE customer_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER customers_worded AFTER INSERT ON customers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_worded();
CREATE TRIGGER customers_renamed AFTER UPDATE OF name ON customers FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION customers_worded();

-- A company that enters a person whom nobody knew makes the person with these very words, and whoever is found by the one is found by
-- the other. So the index has only memberships that may differ.
ALTER TABLE memberships ADD COLUMN differs boolean NOT NULL DEFAULT true;
DROP INDEX memberships_words;
CREATE INDEX memberships_words ON memberships USING gin (words_of(first_name || ' ' || last_name || ' ' || email)) WITH (gin_pending_list_limit = 256)
    WHERE accepted_at IS NULL AND differs;

-- Nobody else sees, or changes, a person who was made in the same transaction.
-- +goose StatementBegin
CREATE FUNCTION memberships_differ() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.differs := TG_OP = 'UPDATE' OR NOT EXISTS (SELECT FROM users o WHERE o.id = NEW.user_id AND o.xmin = pg_current_xact_id()::xid
        AND o.email = NEW.email AND o.first_name = NEW.first_name AND o.last_name = NEW.last_name);
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION users_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
BEGIN
    PERFORM hold_places(ARRAY(SELECT m.customer_id FROM memberships m WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL));
    IF (OLD.email, OLD.first_name, OLD.last_name) IS DISTINCT FROM (NEW.email, NEW.first_name, NEW.last_name) THEN
        UPDATE memberships SET differs = true WHERE user_id = NEW.id AND NOT differs;
    END IF;
    companies := ARRAY(SELECT DISTINCT above.id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)
        WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL ORDER BY above.id);
    PERFORM know_users(companies, array_fill(NEW.id, ARRAY[cardinality(companies)]));
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER memberships_differ BEFORE INSERT OR UPDATE OF email, first_name, last_name ON memberships
    FOR EACH ROW EXECUTE FUNCTION memberships_differ();

-- +goose Down
DROP TRIGGER memberships_differ ON memberships;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION users_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
BEGIN
    PERFORM hold_places(ARRAY(SELECT m.customer_id FROM memberships m WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL));
    companies := ARRAY(SELECT DISTINCT above.id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)
        WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL ORDER BY above.id);
    PERFORM know_users(companies, array_fill(NEW.id, ARRAY[cardinality(companies)]));
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP FUNCTION memberships_differ();
DROP INDEX memberships_words;
ALTER TABLE memberships DROP COLUMN differs;
CREATE INDEX memberships_words ON memberships USING gin (words_of(first_name || ' ' || last_name || ' ' || email)) WITH (gin_pending_list_limit = 256)
    WHERE accepted_at IS NULL;
DROP TRIGGER customers_renamed ON customers;
DROP TRIGGER customers_worded ON customers;
DROP FUNCTION customers_worded();
DROP TABLE customer_words;
CREATE INDEX customers_words ON customers USING gin (words_of(name)) WITH (gin_pending_list_limit = 256);
ALTER TABLE memberships ALTER COLUMN lineage SET STORAGE EXTENDED;
ALTER TABLE customers ALTER COLUMN lineage SET STORAGE EXTENDED;
