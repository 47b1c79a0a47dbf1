-- What lists are filtered and ordered by. Each order has an index, so that a page is read and no more, at whatever depth of
-- the tree: for all companies, for those of a branch, and for those below one that is right below the top of a branch. Of what lies
-- deeper there is little enough to be ordered.

-- +goose Up
CREATE INDEX customers_name ON customers (lower(name) COLLATE "C", id);
CREATE INDEX customers_created ON customers (created_at, id);
CREATE INDEX customers_level ON customers (level, lineage);
CREATE INDEX customers_branch ON customers ((lineage[2]), id);
CREATE INDEX customers_branch_name ON customers ((lineage[2]), lower(name) COLLATE "C", id);
CREATE INDEX customers_branch_created ON customers ((lineage[2]), created_at, id);
CREATE INDEX customers_third ON customers ((lineage[3]), id) WHERE level > 1;
CREATE INDEX customers_third_name ON customers ((lineage[3]), lower(name) COLLATE "C", id) WHERE level > 1;
CREATE INDEX customers_third_created ON customers ((lineage[3]), created_at, id) WHERE level > 1;
DROP INDEX customers_region;
CREATE INDEX customers_region ON customers (region_id, lineage);

CREATE INDEX permissions_created ON permissions (created_at, id);
CREATE INDEX permissions_last_access ON permissions (last_access) WHERE last_access IS NOT NULL;
CREATE INDEX permissions_disabled ON permissions (id) WHERE disabled;

-- Runs and deliveries are listed in the order of their time.
CREATE INDEX runs_created ON runs (created_at, id);
CREATE INDEX runs_account ON runs (account_id, created_at, id);
DROP INDEX runs_agent;
CREATE INDEX runs_agent ON runs (agent_id, created_at, id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at, id);
DROP INDEX webhook_deliveries_customer;
CREATE INDEX webhook_deliveries_customer ON webhook_deliveries (customer_id, created_at, id);
DROP INDEX webhook_deliveries_destination;
CREATE INDEX webhook_deliveries_destination ON webhook_deliveries (destination_id, created_at, id);

-- What a company and those below it know of a person: of the one that the person has accepted, or else as entered there.
ALTER TABLE subtree_users ADD COLUMN email text, ADD COLUMN name text, ADD COLUMN created_at timestamptz,
    ADD COLUMN accepted boolean, ADD COLUMN has_password boolean;

-- known_users tells what the companies know of users: the first of the memberships in each subtree by the order in which
-- a user is seen.
-- +goose StatementBegin
CREATE FUNCTION known_users(companies bigint[], users bigint[])
RETURNS TABLE (customer_id bigint, user_id bigint, email text, name text, created_at timestamptz, accepted boolean, has_password boolean)
LANGUAGE sql STABLE AS $$
    SELECT c.id, o.id, CASE WHEN m.accepted THEN o.email ELSE m.email END,
        CASE WHEN m.accepted THEN btrim(o.first_name || ' ' || o.last_name) ELSE btrim(m.first_name || ' ' || m.last_name) END,
        CASE WHEN m.accepted THEN o.created_at ELSE m.created_at END, m.accepted, m.accepted AND o.password_hash IS NOT NULL
    FROM unnest(companies, users) k(customer_id, user_id)
    CROSS JOIN LATERAL (SELECT * FROM customers WHERE id = k.customer_id OFFSET 0) c
    CROSS JOIN LATERAL (SELECT * FROM users WHERE id = k.user_id OFFSET 0) o
    CROSS JOIN LATERAL (
        SELECT m.*, m.accepted_at IS NOT NULL AS accepted FROM memberships m
        WHERE m.user_id = k.user_id AND m.lineage >= c.lineage AND m.lineage < c.lineage[1:c.level] || (c.id + 1)
        ORDER BY m.accepted_at IS NULL, m.created_at, m.customer_id LIMIT 1) m
$$;

-- know_users writes down what companies know of users. Their rows are held first, by a statement of its own: the one that
-- looks at the memberships then sees what others have committed.
CREATE FUNCTION know_users(companies bigint[], users bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF companies IS NULL THEN
        RETURN;
    END IF;
    PERFORM 1 FROM subtree_users s JOIN unnest(companies, users) k(customer_id, user_id) USING (customer_id, user_id)
    ORDER BY s.customer_id, s.user_id FOR NO KEY UPDATE OF s;
    UPDATE subtree_users s SET email = k.email, name = k.name, created_at = k.created_at, accepted = k.accepted, has_password = k.has_password
    FROM known_users(companies, users) k
    WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id
      AND (s.email, s.name, s.created_at, s.accepted, s.has_password) IS DISTINCT FROM (k.email, k.name, k.created_at, k.accepted, k.has_password);
END $$;

-- A person who is new somewhere is known there by this membership. A row that is there already is held until the
-- transaction ends, so that nobody takes it away meanwhile, as one that is no longer needed; others can hold it, too. It is
-- written where this membership comes before those that it was made of.
CREATE OR REPLACE FUNCTION membership_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    had       bigint;
    companies bigint[];
BEGIN
    LOOP
        INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password)
        SELECT above.id, NEW.user_id, CASE WHEN k.accepted THEN o.email ELSE NEW.email END,
            CASE WHEN k.accepted THEN btrim(o.first_name || ' ' || o.last_name) ELSE btrim(NEW.first_name || ' ' || NEW.last_name) END,
            CASE WHEN k.accepted THEN o.created_at ELSE NEW.created_at END, k.accepted, k.accepted AND o.password_hash IS NOT NULL
        FROM unnest(NEW.lineage) above(id) JOIN users o ON o.id = NEW.user_id CROSS JOIN (SELECT NEW.accepted_at IS NOT NULL AS accepted) k
        ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS had = ROW_COUNT;
        IF had = cardinality(NEW.lineage) THEN
            RETURN NULL;
        END IF;
        PERFORM 1 FROM subtree_users s WHERE s.customer_id = ANY (NEW.lineage) AND s.user_id = NEW.user_id ORDER BY s.customer_id FOR KEY SHARE;
        GET DIAGNOSTICS had = ROW_COUNT;
        EXIT WHEN had = cardinality(NEW.lineage);
    END LOOP;
    companies := ARRAY(SELECT s.customer_id FROM subtree_users s WHERE s.customer_id = ANY (NEW.lineage) AND s.user_id = NEW.user_id
        AND NOT s.accepted AND (NEW.accepted_at IS NOT NULL OR NEW.created_at < s.created_at) ORDER BY s.customer_id);
    IF cardinality(companies) > 0 THEN
        PERFORM know_users(companies, array_fill(NEW.user_id, ARRAY[cardinality(companies)]));
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION memberships_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
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

CREATE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;
CREATE TRIGGER memberships_changed AFTER UPDATE OF email, first_name, last_name, accepted_at ON memberships FOR EACH ROW
    WHEN ((OLD.email, OLD.first_name, OLD.last_name, OLD.accepted_at) IS DISTINCT FROM (NEW.email, NEW.first_name, NEW.last_name, NEW.accepted_at))
    EXECUTE FUNCTION memberships_changed();

CREATE FUNCTION users_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[] := ARRAY(SELECT DISTINCT above.id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)
        WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL ORDER BY above.id);
BEGIN
    PERFORM know_users(companies, array_fill(NEW.id, ARRAY[cardinality(companies)]));
    RETURN NULL;
END $$;
CREATE TRIGGER users_changed AFTER UPDATE OF email, first_name, last_name, password_hash ON users FOR EACH ROW
    WHEN ((OLD.email, OLD.first_name, OLD.last_name, OLD.password_hash IS NULL) IS DISTINCT FROM (NEW.email, NEW.first_name, NEW.last_name, NEW.password_hash IS NULL))
    EXECUTE FUNCTION users_changed();
-- +goose StatementEnd

UPDATE subtree_users s SET email = k.email, name = k.name, created_at = k.created_at, accepted = k.accepted, has_password = k.has_password
FROM known_users((SELECT array_agg(customer_id ORDER BY customer_id, user_id) FROM subtree_users),
    (SELECT array_agg(user_id ORDER BY customer_id, user_id) FROM subtree_users)) k
WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id;
ALTER TABLE subtree_users ALTER COLUMN email SET NOT NULL, ALTER COLUMN name SET NOT NULL, ALTER COLUMN created_at SET NOT NULL,
    ALTER COLUMN accepted SET NOT NULL, ALTER COLUMN has_password SET NOT NULL;
CREATE INDEX subtree_users_name ON subtree_users (customer_id, lower(name) COLLATE "C", user_id);
CREATE INDEX subtree_users_email ON subtree_users (customer_id, lower(email) COLLATE "C", user_id);
CREATE INDEX subtree_users_created ON subtree_users (customer_id, created_at, user_id);
CREATE INDEX subtree_users_password ON subtree_users (customer_id, has_password, user_id);

-- +goose Down
DROP TRIGGER users_changed ON users;
DROP TRIGGER memberships_changed ON memberships;
DROP FUNCTION users_changed(), memberships_changed();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION membership_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    had bigint;
BEGIN
    LOOP
        INSERT INTO subtree_users (customer_id, user_id) SELECT unnest(NEW.lineage), NEW.user_id ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS had = ROW_COUNT;
        EXIT WHEN had = cardinality(NEW.lineage);
        PERFORM 1 FROM subtree_users s WHERE s.customer_id = ANY (NEW.lineage) AND s.user_id = NEW.user_id ORDER BY s.customer_id FOR KEY SHARE;
        GET DIAGNOSTICS had = ROW_COUNT;
        EXIT WHEN had = cardinality(NEW.lineage);
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION memberships_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM subtree_users s WHERE (s.customer_id, s.user_id) IN (
        SELECT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id))
    ORDER BY s.customer_id, s.user_id FOR UPDATE;
    DELETE FROM subtree_users s WHERE (s.customer_id, s.user_id) IN (
        SELECT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id))
    AND NOT EXISTS (SELECT 1 FROM memberships m JOIN customers c ON c.id = m.customer_id
        WHERE m.user_id = s.user_id AND s.customer_id = ANY (c.lineage));
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP FUNCTION know_users(bigint[], bigint[]), known_users(bigint[], bigint[]);
ALTER TABLE subtree_users DROP COLUMN email, DROP COLUMN name, DROP COLUMN created_at, DROP COLUMN accepted, DROP COLUMN has_password;
DROP INDEX webhook_deliveries_destination;
CREATE INDEX webhook_deliveries_destination ON webhook_deliveries (destination_id, id);
DROP INDEX webhook_deliveries_customer;
CREATE INDEX webhook_deliveries_customer ON webhook_deliveries (customer_id, id);
DROP INDEX webhook_deliveries_created;
DROP INDEX runs_agent;
CREATE INDEX runs_agent ON runs (agent_id, id);
DROP INDEX runs_account, runs_created;
DROP INDEX permissions_disabled, permissions_last_access, permissions_created;
DROP INDEX customers_region;
CREATE INDEX customers_region ON customers (region_id);
DROP INDEX customers_third_created, customers_third_name, customers_third, customers_branch_created, customers_branch_name, customers_branch,
    customers_level, customers_created, customers_name;
