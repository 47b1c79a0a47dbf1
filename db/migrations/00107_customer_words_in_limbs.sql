-- +canopy compatible
-- +goose NO TRANSACTION
-- The words of companies behind their limbs, as those of people are: in a part of the tree words that very many others have are found by those that its own companies have of them. Nobody waits for the
-- index: it is this that waits for whoever is at work on them, and so as long as they take.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION words_behind(limb bigint, words tsvector) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
    RETURN array_to_tsvector(CASE WHEN length(words) > 0
        THEN string_to_array(limb || ':' || array_to_string(tsvector_to_array(words), ' ' || limb || ':'), ' ') ELSE '{}' END);
END $$;
-- +goose StatementEnd
DROP INDEX CONCURRENTLY IF EXISTS customer_words_in_limbs;
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY customer_words_in_limbs ON customer_words USING gin (words_behind(limb_id, words)) WITH (fastupdate = off);
RESET lock_timeout;

-- +goose Down
DROP INDEX customer_words_in_limbs;
DROP FUNCTION words_behind(bigint, tsvector);
