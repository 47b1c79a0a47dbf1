-- +canopy compatible
-- Indexes of each order of a desk's contexts, of which it may have very many, and of the words of their names. They can be read while these are made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX contexts_shown_name ON contexts ((CASE WHEN removed_at IS NULL THEN account_id END), lower(name) COLLATE "C", id)
    WHERE CASE WHEN removed_at IS NULL THEN account_id END IS NOT NULL;
CREATE INDEX contexts_shown_created ON contexts ((CASE WHEN removed_at IS NULL THEN account_id END), created_at, id)
    WHERE CASE WHEN removed_at IS NULL THEN account_id END IS NOT NULL;
CREATE INDEX contexts_words ON contexts USING gin (words_of(name)) WITH (fastupdate = off);

-- +goose Down
DROP INDEX contexts_words;
DROP INDEX contexts_shown_created;
DROP INDEX contexts_shown_name;
