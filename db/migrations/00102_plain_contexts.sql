-- +canopy compatible
-- The words of the names of contexts are indexed anew, with the plain ones. These can be read and searched while the index is made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX contexts_plain ON contexts USING gin (words_of(name)) WITH (fastupdate = off);
DROP INDEX contexts_words;
ALTER INDEX contexts_plain RENAME TO contexts_words;

-- +goose Down
SELECT 1;
