-- What companies call their people lies beside the memberships, with the words of it in an index: each word as it stands, for the whole tree,
-- and behind the limb that the company is of, for a part of it. A move writes none of it anew, but where it takes a limb apart.

-- +goose Up
SET LOCAL statement_timeout = 0;

-- +goose StatementBegin
-- words_in are the words of a text, each as it stands and behind a limb and a colon, which no word has.
CREATE FUNCTION words_in(limb bigint, said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 SET search_path FROM CURRENT AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(string_to_array(regexp_replace(
        regexp_replace(left(folded(said), 500), '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), '[^ ]+', '\& ' || limb::text || ':\&', 'g'), ' '), ''));
END $$;
-- +goose StatementEnd

CREATE TABLE member_names (
    customer_id bigint NOT NULL,
    user_id bigint NOT NULL,
    limb_id bigint NOT NULL,
    said text NOT NULL,
    PRIMARY KEY (customer_id, user_id)
);

-- +goose StatementBegin
-- member_said is what a company calls a person, and where it writes to.
CREATE FUNCTION member_said(m memberships, o users) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN m.accepted_at IS NULL THEN m.first_name || ' ' || m.last_name || ' ' || m.email ELSE o.first_name || ' ' || o.last_name || ' ' || o.email END
$$;

-- Somebody who has accepted may change their name at this moment.
CREATE FUNCTION member_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.accepted_at IS NOT NULL THEN
        PERFORM FROM users o WHERE o.id = NEW.user_id FOR SHARE;
    END IF;
    INSERT INTO member_names SELECT NEW.customer_id, o.id, limb_of(NEW.lineage), member_said(NEW, o) FROM users o WHERE o.id = NEW.user_id;
    RETURN NULL;
END $$;

-- name_members writes down what companies, whose places are held, call a user. The rows are held first, so that of two who change the
-- names the later one sees what the other has done.
CREATE FUNCTION name_members(companies bigint[], person bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM member_names n WHERE n.customer_id = ANY (companies) AND n.user_id = person ORDER BY n.customer_id FOR NO KEY UPDATE;
    UPDATE member_names n SET said = member_said(m, o) FROM memberships m JOIN users o ON o.id = m.user_id
    WHERE m.customer_id = ANY (companies) AND m.user_id = person AND n.customer_id = m.customer_id AND n.user_id = m.user_id AND n.said <> member_said(m, o);
END $$;

CREATE OR REPLACE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    PERFORM name_members(ARRAY[NEW.customer_id], NEW.user_id);
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION memberships_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    PERFORM hold_places(ARRAY(SELECT DISTINCT x.customer_id FROM changed x));
    SELECT array_agg(x.customer_id), array_agg(x.user_id) INTO companies, people FROM changed x;
    DELETE FROM member_names n USING unnest(companies, people) k(customer_id, user_id) WHERE n.customer_id = k.customer_id AND n.user_id = k.user_id;
    SELECT array_agg(w.id), array_agg(w.user_id) INTO companies, people FROM (
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id)) w;
    PERFORM 1 FROM subtree_users s JOIN unnest(companies, people) k(customer_id, user_id) USING (customer_id, user_id)
    ORDER BY s.customer_id, s.user_id FOR UPDATE OF s;
    DELETE FROM subtree_users s USING unnest(companies, people) k(customer_id, user_id)
    WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id
      AND NOT EXISTS (SELECT FROM known_users(ARRAY[k.customer_id], ARRAY[k.user_id]));
    PERFORM know_users(companies, people);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION users_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    own       bigint[] := ARRAY(SELECT m.customer_id FROM memberships m WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL);
    companies bigint[];
BEGIN
    PERFORM hold_places(own);
    IF (OLD.email, OLD.first_name, OLD.last_name) IS DISTINCT FROM (NEW.email, NEW.first_name, NEW.last_name) THEN
        PERFORM name_members(own, NEW.id);
    END IF;
    companies := ARRAY(SELECT DISTINCT above.id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)
        WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL ORDER BY above.id);
    PERFORM know_users(companies, array_fill(NEW.id, ARRAY[cardinality(companies)]));
    RETURN NULL;
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
INSERT INTO member_names SELECT m.customer_id, m.user_id, limb_of(m.lineage), member_said(m, o) FROM memberships m JOIN users o ON o.id = m.user_id;
-- By its name this comes before the trigger that writes down who is known where, and so it is where a membership ends: all hold rows in that order.
-- No foreign key tells that: to hold it, all memberships of the person would be looked through.
CREATE TRIGGER member_named AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION member_named();

-- Nothing waits to be sorted in: each of the hundreds of words that lie within one edit of another would be looked for in all of it.
CREATE INDEX member_names_words ON member_names USING gin (words_in(limb_id, said)) WITH (fastupdate = off);
DROP INDEX users_words, memberships_words;
DROP TRIGGER memberships_differ ON memberships;
DROP FUNCTION memberships_differ();
ALTER TABLE memberships DROP COLUMN differs;

-- +goose Down
ALTER TABLE memberships ADD COLUMN differs boolean NOT NULL DEFAULT true;
CREATE INDEX users_words ON users USING gin (words_of(first_name || ' ' || last_name || ' ' || email)) WITH (gin_pending_list_limit = 256, fastupdate = off);
CREATE INDEX memberships_words ON memberships USING gin (words_of(first_name || ' ' || last_name || ' ' || email)) WITH (gin_pending_list_limit = 256)
    WHERE accepted_at IS NULL AND differs;
-- +goose StatementBegin
CREATE FUNCTION memberships_differ() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.differs := TG_OP = 'UPDATE' OR NOT EXISTS (SELECT FROM users o WHERE o.id = NEW.user_id AND o.xmin = pg_current_xact_id()::xid
        AND o.email = NEW.email AND o.first_name = NEW.first_name AND o.last_name = NEW.last_name);
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION memberships_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    PERFORM hold_places(ARRAY(SELECT DISTINCT x.customer_id FROM changed x));
    SELECT array_agg(w.id), array_agg(w.user_id) INTO companies, people FROM (
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id)) w;
    PERFORM 1 FROM subtree_users s JOIN unnest(companies, people) k(customer_id, user_id) USING (customer_id, user_id)
    ORDER BY s.customer_id, s.user_id FOR UPDATE OF s;
    DELETE FROM subtree_users s USING unnest(companies, people) k(customer_id, user_id)
    WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id
      AND NOT EXISTS (SELECT FROM known_users(ARRAY[k.customer_id], ARRAY[k.user_id]));
    PERFORM know_users(companies, people);
    RETURN NULL;
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
        taken := ARRAY(SELECT a.id FROM customers c JOIN accounts a ON a.customer_id = c.id
            WHERE c.lineage >= NEW.lineage AND c.lineage < NEW.lineage[1:NEW.level] || (NEW.id + 1) AND a.limb_id <> limb_of(c.lineage));
        UPDATE accounts SET limb_id = NEW.id WHERE id = ANY (taken);
        UPDATE permissions SET limb_id = NEW.id WHERE account_id = ANY (taken);
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER memberships_differ BEFORE INSERT OR UPDATE OF email, first_name, last_name ON memberships
    FOR EACH ROW EXECUTE FUNCTION memberships_differ();
DROP TRIGGER member_named ON memberships;
DROP FUNCTION name_members(bigint[], bigint), member_named(), member_said(memberships, users);
DROP TABLE member_names;
DROP FUNCTION words_in(bigint, text);
