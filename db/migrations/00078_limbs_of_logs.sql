-- +canopy compatible
-- Runs, deliveries and audit events know the limb in which they were written, so that those of a part of the tree are found by the few limbs there. None is
-- written anew when companies move: a limb knows those that it was taken from. Permissions know their application, of which some are used by everybody and others by nobody.

-- +goose Up
-- Before the logs, as who changes a permission holds it, and then tells the log of it.
ALTER TABLE permissions ADD COLUMN application_id bigint NOT NULL DEFAULT 0;

-- was are the limbs that its companies were of before, where their earlier rows may be.
ALTER TABLE limbs ADD COLUMN was bigint[] NOT NULL DEFAULT '{}';

ALTER TABLE runs ADD COLUMN limb_id bigint NOT NULL DEFAULT 0;

-- 0 is in no part of the tree: deliveries may be of companies that are gone.
ALTER TABLE webhook_deliveries ADD COLUMN limb_id bigint NOT NULL DEFAULT 0;

ALTER TABLE audit_events ADD COLUMN limb_id bigint NOT NULL DEFAULT 0;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION runs_set_branch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT branch_of(a.customer_id), a.limb_id INTO NEW.branch_id, NEW.limb_id FROM accounts a WHERE a.id = NEW.account_id;
    RETURN NEW;
END $$;

CREATE FUNCTION log_set_limb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.limb_id := COALESCE((SELECT w.limb_id FROM customer_words w WHERE w.customer_id = NEW.customer_id), 0);
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION limbs_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    deep  integer := cardinality(OLD.lineage);
    own   bigint  := limb_of(OLD.lineage);
    taken bigint[];
BEGIN
    UPDATE limbs l SET lineage = NEW.lineage || l.lineage[deep + 1:]
    WHERE l.lineage >= OLD.lineage AND l.lineage < OLD.lineage[1:deep - 1] || (OLD.id + 1);
    IF own <> NEW.id THEN
        INSERT INTO limbs SELECT NEW.id, NEW.lineage, l.id || l.was FROM limbs l WHERE l.id = own;
        taken := ARRAY(SELECT c.id FROM customers c WHERE c.lineage >= NEW.lineage AND c.lineage < NEW.lineage[1:NEW.level] || (NEW.id + 1) AND limb_of(c.lineage) = NEW.id);
        UPDATE customer_words SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE member_names SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE accounts SET limb_id = NEW.id WHERE customer_id = ANY (taken);
        UPDATE permissions SET limb_id = NEW.id WHERE account_id = ANY (ARRAY(SELECT a.id FROM accounts a WHERE a.customer_id = ANY (taken)));
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER webhook_deliveries_limb BEFORE INSERT ON webhook_deliveries FOR EACH ROW WHEN (NEW.limb_id = 0) EXECUTE FUNCTION log_set_limb();
CREATE TRIGGER audit_events_limb BEFORE INSERT ON audit_events FOR EACH ROW WHEN (NEW.limb_id = 0) EXECUTE FUNCTION log_set_limb();

-- The account is held, so that it stays in its limb until the permission is seen there.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION permissions_set_limb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT a.limb_id, i.application_id INTO NEW.limb_id, NEW.application_id FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id
    WHERE a.id = NEW.account_id FOR SHARE OF a;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- As functions, these are planned once for each connection, and not at each place of a long statement.
-- +goose StatementBegin
CREATE FUNCTION whole_scope(first bigint[], past bigint[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT c.parent_id IS NULL AND c.lineage >= first AND c.lineage < past FROM customers c WHERE c.id = first[1]);
END $$;

CREATE FUNCTION account_in(account bigint, first bigint[], past bigint[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT c.lineage >= first AND c.lineage < past FROM customers c WHERE c.id = (SELECT a.customer_id FROM accounts a WHERE a.id = account));
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION account_in(bigint, bigint[], bigint[]), whole_scope(bigint[], bigint[]);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION permissions_set_limb() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT a.limb_id INTO NEW.limb_id FROM accounts a WHERE a.id = NEW.account_id FOR SHARE;
    RETURN NEW;
END $$;
-- +goose StatementEnd
ALTER TABLE permissions DROP COLUMN application_id;
DROP TRIGGER audit_events_limb ON audit_events;
DROP TRIGGER webhook_deliveries_limb ON webhook_deliveries;
DROP FUNCTION log_set_limb();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION runs_set_branch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.branch_id := (SELECT branch_of(a.customer_id) FROM accounts a WHERE a.id = NEW.account_id);
    RETURN NEW;
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
ALTER TABLE audit_events DROP COLUMN limb_id;
ALTER TABLE webhook_deliveries DROP COLUMN limb_id;
ALTER TABLE runs DROP COLUMN limb_id;
ALTER TABLE limbs DROP COLUMN was;
