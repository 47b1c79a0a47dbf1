-- +canopy compatible
-- Users are listed by their last use of a permission: whoever has used one is found by the permissions, which are in that order in the whole tree and in each limb;
-- and whoever has not, by what companies know of them.

-- +goose Up
SET LOCAL statement_timeout = 0;
-- outdone: its user has used another one of the same company since then, so it is the latest nowhere. Some are not told so that are.
ALTER TABLE permissions ADD COLUMN outdone boolean NOT NULL DEFAULT false;
UPDATE permissions p SET outdone = true FROM accounts a
WHERE a.id = p.account_id AND EXISTS (SELECT FROM permissions l JOIN accounts o ON o.id = l.account_id
    WHERE l.user_id = p.user_id AND o.customer_id = a.customer_id AND (l.last_access, l.id) > (p.last_access, p.id));
DROP INDEX permissions_last_access;
CREATE INDEX permissions_last_used ON permissions (last_access, user_id) WHERE last_access IS NOT NULL AND NOT outdone;
CREATE INDEX permissions_limb_last_used ON permissions (limb_id, last_access, user_id) WHERE last_access IS NOT NULL AND NOT outdone;

-- unused: who has used no permission of a company or below it. Some are told so who have: only all others are known to have used one, and the next use
-- of any puts it right.
ALTER TABLE subtree_users ADD COLUMN unused boolean NOT NULL DEFAULT true;
UPDATE subtree_users s SET unused = false FROM (
    SELECT DISTINCT above.id, p.user_id FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id CROSS JOIN unnest(c.lineage) above(id)
    WHERE p.last_access IS NOT NULL) u
WHERE s.customer_id = u.id AND s.user_id = u.user_id;
CREATE INDEX subtree_users_unused ON subtree_users (customer_id, user_id) WHERE unused;

-- +goose StatementBegin
CREATE FUNCTION permission_latest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.outdone := false;
    RETURN NEW;
END $$;

-- Nobody waits for this, and it waits for nobody: what it can't hold is left to the next use. The place is held, as a move tells of those who stay behind
-- that they have used nothing there.
CREATE FUNCTION permission_used() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company bigint := (SELECT a.customer_id FROM accounts a WHERE a.id = NEW.account_id);
BEGIN
    UPDATE permissions p SET outdone = true FROM (
        SELECT o.id FROM permissions o JOIN accounts a ON a.id = o.account_id
        WHERE o.user_id = NEW.user_id AND o.id <> NEW.id AND a.customer_id = company AND NOT o.outdone AND o.last_access < NEW.last_access FOR NO KEY UPDATE OF o SKIP LOCKED) o
    WHERE p.id = o.id;
    IF EXISTS (SELECT FROM customers c JOIN subtree_users s ON s.customer_id = ANY (c.lineage) AND s.user_id = NEW.user_id WHERE c.id = company AND s.unused) AND places_held(company) THEN
        UPDATE subtree_users s SET unused = false FROM (
            SELECT x.customer_id FROM customers c JOIN subtree_users x ON x.customer_id = ANY (c.lineage) AND x.user_id = NEW.user_id
            WHERE c.id = company AND x.unused FOR NO KEY UPDATE OF x SKIP LOCKED) x
        WHERE s.customer_id = x.customer_id AND s.user_id = NEW.user_id;
    END IF;
    RETURN NULL;
END $$;

-- places_held holds the place of a company, as hold_places does, where that can be had at once.
CREATE FUNCTION places_held(company bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    own bigint := (SELECT c.lineage[LEAST(2, c.level + 1)] FROM customers c WHERE c.id = company);
BEGIN
    RETURN own = ANY (COALESCE(NULLIF(current_setting('canopy.held', true), ''), '{}')::bigint[])
        OR pg_try_advisory_xact_lock_shared(hashtextextended('canopy branch ' || own, 0))
            AND own = (SELECT c.lineage[LEAST(2, c.level + 1)] FROM customers c WHERE c.id = company);
END $$;

-- Whoever loses a permission may have used no other. Of one whose account is gone with it, all companies are told that know the person.
CREATE FUNCTION permissions_lost() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    IF NOT EXISTS (SELECT FROM changed x WHERE x.last_access IS NOT NULL) THEN
        RETURN NULL;
    END IF;
    PERFORM hold_places(ARRAY(SELECT DISTINCT a.customer_id FROM changed x JOIN accounts a ON a.id = x.account_id WHERE x.last_access IS NOT NULL));
    UPDATE permissions SET outdone = false WHERE outdone AND id = ANY (ARRAY(
        SELECT p.id FROM changed x JOIN permissions p ON p.user_id = x.user_id
        WHERE x.last_access IS NOT NULL AND NOT x.outdone AND p.outdone ORDER BY p.id FOR NO KEY UPDATE OF p));
    SELECT array_agg(w.id), array_agg(w.user_id) INTO companies, people FROM (
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN accounts a ON a.id = x.account_id JOIN customers c ON c.id = a.customer_id CROSS JOIN unnest(c.lineage) above(id)
        WHERE x.last_access IS NOT NULL
        UNION
        SELECT above.id, m.user_id FROM changed x JOIN memberships m ON m.user_id = x.user_id CROSS JOIN unnest(m.lineage) above(id)
        WHERE x.last_access IS NOT NULL AND NOT EXISTS (SELECT FROM accounts a WHERE a.id = x.account_id)) w;
    PERFORM 1 FROM subtree_users s JOIN unnest(companies, people) k(customer_id, user_id) USING (customer_id, user_id)
    WHERE NOT s.unused ORDER BY s.customer_id, s.user_id FOR NO KEY UPDATE OF s;
    UPDATE subtree_users s SET unused = true FROM unnest(companies, people) k(customer_id, user_id)
    WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id AND NOT s.unused;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION move_users(moved bigint, past bigint[], joined bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    DELETE FROM subtree_users s USING subtree_users own, customers c
    WHERE own.customer_id = moved AND s.user_id = own.user_id AND s.customer_id = ANY (past) AND c.id = s.customer_id
      AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = s.user_id AND m.lineage >= c.lineage AND m.lineage < c.lineage[1:c.level] || (c.id + 1));
    SELECT array_agg(s.customer_id ORDER BY s.customer_id, s.user_id), array_agg(s.user_id ORDER BY s.customer_id, s.user_id) INTO companies, people
    FROM subtree_users own JOIN subtree_users s ON s.user_id = own.user_id AND s.customer_id = ANY (past || joined) WHERE own.customer_id = moved;
    INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password, unused)
    SELECT j.id, s.user_id, s.email, s.name, s.created_at, s.accepted, s.has_password, s.unused FROM subtree_users s CROSS JOIN unnest(joined) j(id)
    WHERE s.customer_id = moved ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    PERFORM know_users(companies, people);
    UPDATE subtree_users s SET unused = true FROM unnest(companies, people) k(customer_id, user_id)
    WHERE k.customer_id = ANY (past) AND s.customer_id = k.customer_id AND s.user_id = k.user_id AND NOT s.unused;
END $$;
-- +goose StatementEnd
CREATE TRIGGER permission_latest BEFORE UPDATE OF last_access ON permissions FOR EACH ROW EXECUTE FUNCTION permission_latest();
CREATE TRIGGER permission_used AFTER UPDATE OF last_access ON permissions FOR EACH ROW WHEN (NEW.last_access IS NOT NULL) EXECUTE FUNCTION permission_used();
CREATE TRIGGER permissions_lost AFTER DELETE ON permissions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION permissions_lost();

-- +goose Down
DROP TRIGGER permissions_lost ON permissions;
DROP TRIGGER permission_used ON permissions;
DROP TRIGGER permission_latest ON permissions;
DROP FUNCTION permissions_lost(), permission_used(), permission_latest(), places_held(bigint);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION move_users(moved bigint, past bigint[], joined bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    DELETE FROM subtree_users s USING subtree_users own, customers c
    WHERE own.customer_id = moved AND s.user_id = own.user_id AND s.customer_id = ANY (past) AND c.id = s.customer_id
      AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = s.user_id AND m.lineage >= c.lineage AND m.lineage < c.lineage[1:c.level] || (c.id + 1));
    SELECT array_agg(s.customer_id ORDER BY s.customer_id, s.user_id), array_agg(s.user_id ORDER BY s.customer_id, s.user_id) INTO companies, people
    FROM subtree_users own JOIN subtree_users s ON s.user_id = own.user_id AND s.customer_id = ANY (past || joined) WHERE own.customer_id = moved;
    INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password)
    SELECT j.id, s.user_id, s.email, s.name, s.created_at, s.accepted, s.has_password FROM subtree_users s CROSS JOIN unnest(joined) j(id)
    WHERE s.customer_id = moved ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    PERFORM know_users(companies, people);
END $$;
-- +goose StatementEnd
DROP INDEX subtree_users_unused;
ALTER TABLE subtree_users DROP COLUMN unused;
DROP INDEX permissions_limb_last_used, permissions_last_used;
CREATE INDEX permissions_last_access ON permissions (last_access) WHERE last_access IS NOT NULL;
ALTER TABLE permissions DROP COLUMN outdone;
