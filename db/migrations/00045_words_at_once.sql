-- A search within one edit looks for some 550 words, each in all that waits to be sorted into an index: so nothing waits, but where moves write
-- very many rows.

-- +goose Up
SET LOCAL statement_timeout = 0;
-- To work out the words of a name costs as much as to look into an index, however small the table: so it is told to the planner.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION words_of(said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 SET search_path FROM CURRENT AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(string_to_array(
        regexp_replace(left(folded(said), 500), '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), ' '), ''));
END $$;
-- +goose StatementEnd
ALTER INDEX users_words SET (fastupdate = off);
ALTER INDEX documents_words SET (fastupdate = off);
SELECT gin_clean_pending_list(i::regclass) FROM unnest(ARRAY['users_words', 'documents_words']) i;
-- What is deleted is in these, too: no index that is there for what is not could then be taken in their place.
DROP INDEX agents_words, webhook_destinations_words;
CREATE INDEX agents_words ON agents USING gin (words_of(name)) WITH (fastupdate = off);
CREATE INDEX webhook_destinations_words ON webhook_destinations USING gin (words_of(name || ' ' || url)) WITH (fastupdate = off);

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION words_of(said text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100 SET search_path FROM CURRENT AS $$
    SELECT array_to_tsvector(array_remove(string_to_array(
        regexp_replace(left(folded(said), 500), '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), ' '), ''))
$$;
-- +goose StatementEnd
DROP INDEX agents_words, webhook_destinations_words;
CREATE INDEX agents_words ON agents USING gin (words_of(name)) WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL;
CREATE INDEX webhook_destinations_words ON webhook_destinations USING gin (words_of(name || ' ' || url)) WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL;
ALTER INDEX documents_words RESET (fastupdate);
ALTER INDEX users_words RESET (fastupdate);
