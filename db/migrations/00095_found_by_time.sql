-- +canopy compatible
-- Companies by when they were made, limb by limb, and by some thousand ids: so those of a time are found where they begin in the order of the tree, or of the ids, however far that
-- is. They stand beside the words of names, which a move does not write anew. These can be read while the indexes are made, and are not written: who makes a company waits for a second or two.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX customer_words_limb_created ON customer_words (limb_id, created_at);
CREATE INDEX customer_words_ids_created ON customer_words ((customer_id / 4096), created_at, customer_id);

-- +goose Down
DROP INDEX customer_words_ids_created;
DROP INDEX customer_words_limb_created;
