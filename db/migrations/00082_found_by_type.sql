-- +canopy compatible
-- Indexes of what lists are filtered by and few rows may have, and of each order of a context's documents. Each table can be read while its own are made, and is
-- not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX webhook_deliveries_type ON webhook_deliveries (type, created_at, id);
CREATE INDEX audit_events_type ON audit_events (object_type, created_at, id);
CREATE INDEX documents_context_name ON documents (context_id, lower(display_name) COLLATE "C", id);
CREATE INDEX documents_context_created ON documents (context_id, created_at, id);
CREATE INDEX documents_context_size ON documents (context_id, size, id);
CREATE INDEX documents_context_status ON documents (context_id, status, id);
CREATE INDEX documents_context_format ON documents (context_id, format, id);

-- +goose Down
DROP INDEX documents_context_format;
DROP INDEX documents_context_status;
DROP INDEX documents_context_size;
DROP INDEX documents_context_created;
DROP INDEX documents_context_name;
DROP INDEX audit_events_type;
DROP INDEX webhook_deliveries_type;
