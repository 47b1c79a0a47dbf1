-- The company right below root, with all below it, is a branch of the tree: "tenant" is the application of that name alone.

-- +goose Up
ALTER TABLE runs RENAME COLUMN tenant_id TO branch_id;
ALTER TABLE documents RENAME COLUMN tenant_id TO branch_id;
ALTER TABLE mail_outbox RENAME COLUMN tenant_id TO branch_id;
ALTER FUNCTION tenant_of(bigint) RENAME TO branch_of;

-- What a trigger runs names columns and functions by their names of today.
-- +goose StatementBegin
CREATE FUNCTION runs_set_branch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.branch_id := (SELECT branch_of(a.customer_id) FROM accounts a WHERE a.id = NEW.account_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION documents_set_branch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.branch_id := (SELECT branch_of(a.customer_id) FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.id = NEW.context_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION mails_set_branch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.branch_id = 0 THEN
        NEW.branch_id := COALESCE((SELECT branch_of(m.customer_id) FROM memberships m
            WHERE m.user_id = NEW.user_id ORDER BY m.created_at, m.customer_id LIMIT 1), 0);
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER runs_tenant ON runs;
DROP TRIGGER documents_tenant ON documents;
DROP TRIGGER mails_tenant ON mail_outbox;
DROP FUNCTION runs_set_tenant(), documents_set_tenant(), mails_set_tenant();
CREATE TRIGGER runs_branch BEFORE INSERT OR UPDATE OF account_id ON runs
    FOR EACH ROW EXECUTE FUNCTION runs_set_branch();
CREATE TRIGGER documents_branch BEFORE INSERT OR UPDATE OF context_id ON documents
    FOR EACH ROW EXECUTE FUNCTION documents_set_branch();
CREATE TRIGGER mails_branch BEFORE INSERT ON mail_outbox
    FOR EACH ROW EXECUTE FUNCTION mails_set_branch();

-- +goose Down
ALTER TABLE runs RENAME COLUMN branch_id TO tenant_id;
ALTER TABLE documents RENAME COLUMN branch_id TO tenant_id;
ALTER TABLE mail_outbox RENAME COLUMN branch_id TO tenant_id;
ALTER FUNCTION branch_of(bigint) RENAME TO tenant_of;
-- +goose StatementBegin
CREATE FUNCTION runs_set_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tenant_id := (SELECT tenant_of(a.customer_id) FROM accounts a WHERE a.id = NEW.account_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION documents_set_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tenant_id := (SELECT tenant_of(a.customer_id) FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.id = NEW.context_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION mails_set_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tenant_id = 0 THEN
        NEW.tenant_id := COALESCE((SELECT tenant_of(m.customer_id) FROM memberships m
            WHERE m.user_id = NEW.user_id ORDER BY m.created_at, m.customer_id LIMIT 1), 0);
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER runs_branch ON runs;
DROP TRIGGER documents_branch ON documents;
DROP TRIGGER mails_branch ON mail_outbox;
DROP FUNCTION runs_set_branch(), documents_set_branch(), mails_set_branch();
CREATE TRIGGER runs_tenant BEFORE INSERT OR UPDATE OF account_id ON runs
    FOR EACH ROW EXECUTE FUNCTION runs_set_tenant();
CREATE TRIGGER documents_tenant BEFORE INSERT OR UPDATE OF context_id ON documents
    FOR EACH ROW EXECUTE FUNCTION documents_set_tenant();
CREATE TRIGGER mails_tenant BEFORE INSERT ON mail_outbox
    FOR EACH ROW EXECUTE FUNCTION mails_set_tenant();
