-- +canopy compatible
-- Indexes of each order of an account's agents, of which it may have very many. They can be read while these are made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX agents_account_name ON agents (account_id, lower(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX agents_account_created ON agents (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_account_updated ON agents (account_id, updated_at, id) WHERE deleted_at IS NULL;

-- +goose Down
DROP INDEX agents_account_updated;
DROP INDEX agents_account_created;
DROP INDEX agents_account_name;
