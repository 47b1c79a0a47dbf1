-- +canopy compatible
-- The words of the names of agents are indexed anew, with the plain ones. These can be read and searched while the index is made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX agents_plain ON agents USING gin (words_of(name)) WITH (fastupdate = off);
DROP INDEX agents_words;
ALTER INDEX agents_plain RENAME TO agents_words;

-- +goose Down
SELECT 1;
