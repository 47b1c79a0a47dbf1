-- +canopy compatible
-- The same for audit events. Each table is a migration of its own, as its rows can be written again when that ends.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX audit_events_type ON audit_events (object_type, created_at, id);

-- +goose Down
DROP INDEX audit_events_type;
