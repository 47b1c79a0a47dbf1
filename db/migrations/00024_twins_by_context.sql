-- Documents of the same bytes are looked for in the contexts of one account: whatever others have uploaded takes no time.

-- +goose Up
CREATE INDEX documents_bytes ON documents (context_id, content_hash);
DROP INDEX documents_hash;

-- +goose Down
CREATE INDEX documents_hash ON documents (content_hash, model) WHERE status = 'ready';
DROP INDEX documents_bytes;
