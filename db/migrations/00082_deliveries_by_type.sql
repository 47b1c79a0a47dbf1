-- +canopy compatible
-- An index of what deliveries are filtered by and few may have. They can be read while it is made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX webhook_deliveries_type ON webhook_deliveries (type, created_at, id);

-- +goose Down
DROP INDEX webhook_deliveries_type;
