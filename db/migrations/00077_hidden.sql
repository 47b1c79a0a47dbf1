-- +canopy compatible
-- What was deleted of an account's agents and a company's destinations is listed, the last one first.

-- +goose Up
CREATE INDEX agents_hidden ON agents (account_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX webhook_destinations_restorable ON webhook_destinations (customer_id, deleted_at) WHERE deleted_at IS NOT NULL;

-- +goose Down
DROP INDEX webhook_destinations_restorable;
DROP INDEX agents_hidden;
