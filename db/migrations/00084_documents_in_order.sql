-- +canopy compatible
-- Indexes of what the documents of a context are filtered by, and of each of their orders. They can be read while these are made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
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
