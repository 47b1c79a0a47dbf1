-- A limb is a part of the tree that hangs together: a company of the first levels alone, or one of the fourth with all below it. A row that
-- knows its limb is found in a part of the tree by the few limbs there. Limbs move with their companies, so that only what is
-- taken out of the middle of one becomes a limb of its own.

-- +goose Up
-- Each permission is written anew: some 10 seconds for 100,000.
SET LOCAL statement_timeout = 0;

-- The lineage is that of the company with which a limb begins. A company is of the limb that begins nearest above it, or with it.
CREATE TABLE limbs (
    id bigint PRIMARY KEY REFERENCES customers ON DELETE CASCADE,
    lineage bigint[] NOT NULL
);
INSERT INTO limbs SELECT id, lineage FROM customers WHERE level <= 3;
CREATE INDEX limbs_lineage ON limbs (lineage);

ALTER TABLE accounts ADD COLUMN limb_id bigint;
ALTER TABLE permissions ADD COLUMN limb_id bigint;
-- +goose StatementBegin
CREATE FUNCTION limb_of(place bigint[]) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT l.id FROM unnest(place) WITH ORDINALITY a(id, nth) CROSS JOIN LATERAL (SELECT id FROM limbs WHERE id = a.id OFFSET 0) l ORDER BY a.nth DESC LIMIT 1
$$;

CREATE FUNCTION limbs_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO limbs SELECT x.id, x.lineage FROM changed x WHERE x.level <= 3;
    RETURN NULL;
END $$;

CREATE FUNCTION accounts_set_limb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    NEW.limb_id := (SELECT limb_of(c.lineage) FROM customers c WHERE c.id = NEW.customer_id);
    RETURN NEW;
END $$;

-- The account is held, so that it stays in its limb until the permission is seen there.
CREATE FUNCTION permissions_set_limb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT a.limb_id INTO NEW.limb_id FROM accounts a WHERE a.id = NEW.account_id FOR SHARE;
    RETURN NEW;
END $$;

-- limbs_moved follows a company that has moved. At the end of the transaction all below it are where they belong.
CREATE FUNCTION limbs_moved() RETURNS trigger LANGUAGE plpgsql AS $$
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
ANALYZE limbs;
UPDATE accounts a SET limb_id = limb_of(c.lineage) FROM customers c WHERE c.id = a.customer_id;
UPDATE permissions p SET limb_id = a.limb_id FROM accounts a WHERE a.id = p.account_id;
ALTER TABLE accounts ALTER COLUMN limb_id SET NOT NULL;
ALTER TABLE permissions ALTER COLUMN limb_id SET NOT NULL;
CREATE TRIGGER limbs_made AFTER INSERT ON customers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION limbs_made();
CREATE CONSTRAINT TRIGGER limbs_moved AFTER UPDATE OF parent_id ON customers DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id) EXECUTE FUNCTION limbs_moved();
CREATE TRIGGER accounts_limb BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION accounts_set_limb();
CREATE TRIGGER permissions_limb BEFORE INSERT ON permissions FOR EACH ROW EXECUTE FUNCTION permissions_set_limb();

-- Permissions are listed in each order, in the whole tree and in each limb.
CREATE INDEX permissions_limb ON permissions (limb_id, id);
CREATE INDEX permissions_limb_created ON permissions (limb_id, created_at, id);
CREATE INDEX permissions_used ON permissions (COALESCE(last_access, 'epoch'), id);
CREATE INDEX permissions_limb_used ON permissions (limb_id, COALESCE(last_access, 'epoch'), id);
CREATE INDEX permissions_limb_disabled ON permissions (limb_id, id) WHERE disabled;
DROP INDEX permissions_role;
CREATE INDEX permissions_role ON permissions (role_id, limb_id, id);

-- +goose Down
DROP INDEX permissions_role;
CREATE INDEX permissions_role ON permissions (role_id);
DROP INDEX permissions_limb_disabled, permissions_limb_used, permissions_used, permissions_limb_created, permissions_limb;
DROP TRIGGER permissions_limb ON permissions;
DROP TRIGGER accounts_limb ON accounts;
DROP TRIGGER limbs_moved ON customers;
DROP TRIGGER limbs_made ON customers;
DROP FUNCTION limbs_moved(), permissions_set_limb(), accounts_set_limb(), limbs_made(), limb_of(bigint[]);
ALTER TABLE permissions DROP COLUMN limb_id;
ALTER TABLE accounts DROP COLUMN limb_id;
DROP TABLE limbs;
