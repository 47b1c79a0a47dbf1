-- +canopy compatible
-- What a search finds is put in order by what stands beside its words: no company and no person is looked up for it but those of the page. Of companies it locks
-- nothing: who changes one holds it, and waits here for its words (00059 has what this needs of customers).

-- +goose Up
-- Each row of two tables is written anew, and their words are put in order again: a minute for 1,000,000 of each.
SET LOCAL statement_timeout = 0;

-- named is the name of a company as lists order it.
DROP INDEX customer_words_words;
ALTER TABLE customer_words ADD COLUMN named text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN created_at timestamptz NOT NULL DEFAULT 'epoch',
    ADD COLUMN limb_id bigint NOT NULL DEFAULT 0;
UPDATE customer_words w SET named = lower(c.name), created_at = c.created_at, limb_id = limb_of(c.lineage) FROM customers c WHERE c.id = w.customer_id;
CREATE INDEX customer_words_words ON customer_words USING gin (words) WITH (gin_pending_list_limit = 256);

-- named and emailed are what a company calls a person, as lists order it, and created_at is since when it knows the person, or the person is there.
DROP INDEX member_names_words;
ALTER TABLE member_names ADD COLUMN named text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN emailed text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN created_at timestamptz NOT NULL DEFAULT 'epoch';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION customers_worded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO customer_words (customer_id, words, named, created_at, limb_id)
        SELECT x.id, words_of(x.name), lower(x.name), x.created_at, limb_of(x.lineage) FROM changed x;
    ELSE
        UPDATE customer_words SET words = words_of(NEW.name), named = lower(NEW.name) WHERE customer_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION member_seen(m memberships, o users, OUT named text, OUT emailed text, OUT created_at timestamptz) LANGUAGE sql IMMUTABLE AS $$
    SELECT lower(btrim(CASE WHEN m.accepted_at IS NULL THEN m.first_name || ' ' || m.last_name ELSE o.first_name || ' ' || o.last_name END)),
        lower(CASE WHEN m.accepted_at IS NULL THEN m.email ELSE o.email END), CASE WHEN m.accepted_at IS NULL THEN m.created_at ELSE o.created_at END
$$;

CREATE OR REPLACE FUNCTION member_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.accepted_at IS NOT NULL THEN
        PERFORM FROM users o WHERE o.id = NEW.user_id FOR SHARE;
    END IF;
    INSERT INTO member_names (customer_id, user_id, limb_id, said, named, emailed, created_at)
    SELECT NEW.customer_id, o.id, limb_of(NEW.lineage), member_said(NEW, o), v.named, v.emailed, v.created_at
    FROM users o CROSS JOIN LATERAL member_seen(NEW, o) v WHERE o.id = NEW.user_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION name_members(companies bigint[], person bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM member_names n WHERE n.customer_id = ANY (companies) AND n.user_id = person ORDER BY n.customer_id FOR NO KEY UPDATE;
    UPDATE member_names n SET said = member_said(m, o), named = v.named, emailed = v.emailed, created_at = v.created_at
    FROM memberships m JOIN users o ON o.id = m.user_id CROSS JOIN LATERAL member_seen(m, o) v
    WHERE m.customer_id = ANY (companies) AND m.user_id = person AND n.customer_id = m.customer_id AND n.user_id = m.user_id
        AND (n.said, n.created_at) IS DISTINCT FROM (member_said(m, o), v.created_at);
END $$;

CREATE OR REPLACE FUNCTION limbs_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    deep  integer := cardinality(OLD.lineage);
    was   bigint  := limb_of(OLD.lineage);
    taken bigint[];
BEGIN
    UPDATE limbs l SET lineage = NEW.lineage || l.lineage[deep + 1:]
    WHERE l.lineage >= OLD.lineage AND l.lineage < OLD.lineage[1:deep - 1] || (OLD.id + 1);
    IF was <> NEW.id THEN
        INSERT INTO limbs VALUES (NEW.id, NEW.lineage);
        taken := ARRAY(SELECT c.id FROM customers c WHERE c.lineage >= NEW.lineage AND c.lineage < NEW.lineage[1:NEW.level] || (NEW.id + 1) AND limb_of(c.lineage) = NEW.id);
        UPDATE customer_words SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE member_names SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE accounts SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE permissions SET limb_id = NEW.id WHERE account_id = ANY (ARRAY(SELECT a.id FROM accounts a WHERE a.customer_id = ANY (taken)));
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
UPDATE member_names n SET named = v.named, emailed = v.emailed, created_at = v.created_at
FROM memberships m JOIN users o ON o.id = m.user_id CROSS JOIN LATERAL member_seen(m, o) v WHERE n.customer_id = m.customer_id AND n.user_id = m.user_id;
CREATE INDEX member_names_words ON member_names USING gin (words_in(limb_id, said)) WITH (fastupdate = off);
-- A database that had 00059 before it made these has them from here.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('customers_level_id') IS NULL THEN
        DROP TRIGGER customers_worded ON customers;
        CREATE TRIGGER words_made AFTER INSERT ON customers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_worded();
        CREATE INDEX customers_level_id ON customers (level, id);
        CREATE INDEX customers_level_name ON customers (level, lower(name) COLLATE "C", id);
        CREATE INDEX customers_level_created ON customers (level, created_at, id);
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION customers_worded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO customer_words SELECT x.id, words_of(x.name) FROM changed x;
    ELSE
        UPDATE customer_words SET words = words_of(NEW.name) WHERE customer_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION member_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.accepted_at IS NOT NULL THEN
        PERFORM FROM users o WHERE o.id = NEW.user_id FOR SHARE;
    END IF;
    INSERT INTO member_names SELECT NEW.customer_id, o.id, limb_of(NEW.lineage), member_said(NEW, o) FROM users o WHERE o.id = NEW.user_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION name_members(companies bigint[], person bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM member_names n WHERE n.customer_id = ANY (companies) AND n.user_id = person ORDER BY n.customer_id FOR NO KEY UPDATE;
    UPDATE member_names n SET said = member_said(m, o) FROM memberships m JOIN users o ON o.id = m.user_id
    WHERE m.customer_id = ANY (companies) AND m.user_id = person AND n.customer_id = m.customer_id AND n.user_id = m.user_id AND n.said <> member_said(m, o);
END $$;

CREATE OR REPLACE FUNCTION limbs_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    deep  integer := cardinality(OLD.lineage);
    was   bigint  := limb_of(OLD.lineage);
    taken bigint[];
BEGIN
    UPDATE limbs l SET lineage = NEW.lineage || l.lineage[deep + 1:]
    WHERE l.lineage >= OLD.lineage AND l.lineage < OLD.lineage[1:deep - 1] || (OLD.id + 1);
    IF was <> NEW.id THEN
        INSERT INTO limbs VALUES (NEW.id, NEW.lineage);
        taken := ARRAY(SELECT c.id FROM customers c WHERE c.lineage >= NEW.lineage AND c.lineage < NEW.lineage[1:NEW.level] || (NEW.id + 1) AND limb_of(c.lineage) = NEW.id);
        UPDATE member_names SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE accounts SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE permissions SET limb_id = NEW.id WHERE account_id = ANY (ARRAY(SELECT a.id FROM accounts a WHERE a.customer_id = ANY (taken)));
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP FUNCTION member_seen(memberships, users);
ALTER TABLE member_names DROP COLUMN created_at, DROP COLUMN emailed, DROP COLUMN named;
ALTER TABLE customer_words DROP COLUMN limb_id, DROP COLUMN created_at, DROP COLUMN named;
