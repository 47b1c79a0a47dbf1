-- +canopy compatible
-- The words of the names of documents are indexed anew, with the plain ones. These can be read and searched while the index is made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX documents_plain ON documents USING gin (words_of(display_name)) WITH (gin_pending_list_limit = 256, fastupdate = off);
DROP INDEX documents_words;
ALTER INDEX documents_plain RENAME TO documents_words;

-- +goose Down
SELECT 1;
