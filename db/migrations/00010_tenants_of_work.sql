-- Work knows the top-level tenant that it is for, so that tenants take turns.

-- +goose Up

-- The company right below root that a company belongs to; root itself is one, too.
-- +goose StatementBegin
CREATE FUNCTION tenant_of(customer bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT c.lineage[LEAST(2, cardinality(c.lineage))] FROM customers c WHERE c.id = customer
$$;
-- +goose StatementEnd

-- tenant_id says whose turn the work takes. What has ended takes none, and may have 0.
ALTER TABLE runs ADD COLUMN tenant_id bigint NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN tenant_id bigint NOT NULL DEFAULT 0;
ALTER TABLE mail_outbox ADD COLUMN tenant_id bigint NOT NULL DEFAULT 0;

-- handed_out tells a document or a mail that is with a worker from one that waits for its next attempt.
ALTER TABLE documents ADD COLUMN handed_out boolean NOT NULL DEFAULT false;
ALTER TABLE mail_outbox ADD COLUMN handed_out boolean NOT NULL DEFAULT false;

-- It follows from where the work is, and is set here, so no writer can get it wrong.
-- +goose StatementBegin
CREATE FUNCTION runs_set_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tenant_id := (SELECT tenant_of(a.customer_id) FROM accounts a WHERE a.id = NEW.account_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER runs_tenant BEFORE INSERT OR UPDATE OF account_id ON runs
    FOR EACH ROW EXECUTE FUNCTION runs_set_tenant();

-- +goose StatementBegin
CREATE FUNCTION documents_set_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tenant_id := (SELECT tenant_of(a.customer_id) FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.id = NEW.context_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER documents_tenant BEFORE INSERT OR UPDATE OF context_id ON documents
    FOR EACH ROW EXECUTE FUNCTION documents_set_tenant();

-- A mail's writer knows for whom it is; where it doesn't, it is for the tenant that its reader has belonged to longest.
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
CREATE TRIGGER mails_tenant BEFORE INSERT ON mail_outbox
    FOR EACH ROW EXECUTE FUNCTION mails_set_tenant();

UPDATE runs r SET tenant_id = tenant_of(a.customer_id) FROM accounts a WHERE a.id = r.account_id AND r.status = 'running';
-- A document that is ready can become work again.
UPDATE documents d SET tenant_id = tenant_of(a.customer_id) FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.id = d.context_id;

DROP INDEX runs_turn;
CREATE INDEX runs_turn ON runs (tenant_id, id) WHERE status = 'running';
CREATE INDEX documents_turn ON documents (tenant_id, next_attempt_at) WHERE status IN ('pending', 'processing');
CREATE INDEX documents_handed_out ON documents (next_attempt_at) WHERE status IN ('pending', 'processing') AND handed_out;
CREATE INDEX mail_outbox_turn ON mail_outbox (tenant_id, next_attempt_at) WHERE sent_at IS NULL AND failed_at IS NULL;
CREATE INDEX mail_outbox_handed_out ON mail_outbox (next_attempt_at) WHERE sent_at IS NULL AND failed_at IS NULL AND handed_out;

-- +goose Down
DROP INDEX mail_outbox_handed_out, mail_outbox_turn, documents_handed_out, documents_turn, runs_turn;
CREATE INDEX runs_turn ON runs (account_id, id) WHERE status = 'running';
DROP TRIGGER mails_tenant ON mail_outbox;
DROP TRIGGER documents_tenant ON documents;
DROP TRIGGER runs_tenant ON runs;
DROP FUNCTION mails_set_tenant(), documents_set_tenant(), runs_set_tenant();
ALTER TABLE mail_outbox DROP COLUMN handed_out, DROP COLUMN tenant_id;
ALTER TABLE documents DROP COLUMN handed_out, DROP COLUMN tenant_id;
ALTER TABLE runs DROP COLUMN tenant_id;
DROP FUNCTION tenant_of(bigint);
