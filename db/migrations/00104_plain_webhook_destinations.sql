-- +canopy compatible
-- The words of the names of webhook destinations are indexed anew, with the plain ones. These can be read and searched while the index is made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX webhook_destinations_plain ON webhook_destinations USING gin (words_of(name || ' ' || url)) WITH (fastupdate = off);
DROP INDEX webhook_destinations_words;
ALTER INDEX webhook_destinations_plain RENAME TO webhook_destinations_words;

-- +goose Down
SELECT 1;
