-- What is updated has a version, so that nobody overwrites what somebody else has changed meanwhile.

-- +goose Up

-- row_version grows with each statement that sets one of the columns which a trigger names: what is shown of a row and is changed
-- by somebody. What is merely noted, such as the last use of a key, and what happens by itself, such as the progress of a document, is not among them.
-- +goose StatementBegin
CREATE FUNCTION row_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.row_version := OLD.row_version + 1;
    RETURN NEW;
END $$;
-- +goose StatementEnd
ALTER TABLE customers ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE billing ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE users ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE memberships ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE permissions ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE roles ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE api_keys ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE contexts ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE documents ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE agents ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE secrets ADD COLUMN row_version integer NOT NULL DEFAULT 1;
ALTER TABLE webhook_destinations ADD COLUMN row_version integer NOT NULL DEFAULT 1;

CREATE TRIGGER row_updated BEFORE UPDATE OF parent_id, name, can_add_customers, descendants_can_add, max_key_days, suspended, erase_at ON customers
    FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE ON billing FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF disabled ON accounts FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF email, first_name, last_name, otp_method ON users FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF email, first_name, last_name, accepted_at ON memberships FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF role_id, disabled ON permissions FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF name, description, features ON roles FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF revoked_at ON api_keys FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF name, description, caption, tools_json, starter_prompts, top_n, score_threshold, chunk_size, overlap, embedding_model,
    share_state, icon ON contexts FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF revision ON documents FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF name, draft, published_id, enabled, deleted_at ON agents FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF name, updated_at ON secrets FOR EACH ROW EXECUTE FUNCTION row_updated();
CREATE TRIGGER row_updated BEFORE UPDATE OF url, name, events, enabled, signing, deleted_at ON webhook_destinations FOR EACH ROW EXECUTE FUNCTION row_updated();

-- +goose Down
DROP TRIGGER row_updated ON customers;
DROP TRIGGER row_updated ON billing;
DROP TRIGGER row_updated ON accounts;
DROP TRIGGER row_updated ON users;
DROP TRIGGER row_updated ON memberships;
DROP TRIGGER row_updated ON permissions;
DROP TRIGGER row_updated ON roles;
DROP TRIGGER row_updated ON api_keys;
DROP TRIGGER row_updated ON contexts;
DROP TRIGGER row_updated ON documents;
DROP TRIGGER row_updated ON agents;
DROP TRIGGER row_updated ON secrets;
DROP TRIGGER row_updated ON webhook_destinations;
DROP FUNCTION row_updated();
ALTER TABLE customers DROP COLUMN row_version;
ALTER TABLE billing DROP COLUMN row_version;
ALTER TABLE accounts DROP COLUMN row_version;
ALTER TABLE users DROP COLUMN row_version;
ALTER TABLE memberships DROP COLUMN row_version;
ALTER TABLE permissions DROP COLUMN row_version;
ALTER TABLE roles DROP COLUMN row_version;
ALTER TABLE api_keys DROP COLUMN row_version;
ALTER TABLE contexts DROP COLUMN row_version;
ALTER TABLE documents DROP COLUMN row_version;
ALTER TABLE agents DROP COLUMN row_version;
ALTER TABLE secrets DROP COLUMN row_version;
ALTER TABLE webhook_destinations DROP COLUMN row_version;
