-- Names are found by their words: in small letters and without accents, whatever stands between them. PostgreSQL keeps these indexes
-- itself, so nothing has to be told of a change, and nothing can lag behind.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION folded(said text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(said) = char_length(said) THEN lower(said)
        ELSE lower(regexp_replace(normalize(said, NFKD), '[\u0300-\u036f]+', '', 'g')) END
$$;
-- From PostgreSQL 17 on an index is made with a search path of its own, so that the function brings the one that finds the other.
-- A word of a tsvector has at most 2,046 bytes, as many as 500 characters have.
CREATE FUNCTION words_of(said text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
    SELECT array_to_tsvector(array_remove(string_to_array(
        regexp_replace(left(folded(said), 500), '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), ' '), ''))
$$;
-- +goose StatementEnd

-- A search reads all that waits to be sorted into such an index, so that is little.
CREATE INDEX customers_words ON customers USING gin (words_of(name)) WITH (gin_pending_list_limit = 256);
CREATE INDEX users_words ON users USING gin (words_of(first_name || ' ' || last_name || ' ' || email)) WITH (gin_pending_list_limit = 256);
CREATE INDEX memberships_words ON memberships USING gin (words_of(first_name || ' ' || last_name || ' ' || email)) WITH (gin_pending_list_limit = 256)
    WHERE accepted_at IS NULL;
CREATE INDEX documents_words ON documents USING gin (words_of(display_name)) WITH (gin_pending_list_limit = 256);
CREATE INDEX agents_words ON agents USING gin (words_of(name)) WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL;
CREATE INDEX webhook_destinations_words ON webhook_destinations USING gin (words_of(name || ' ' || url)) WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);

-- +goose Down
DROP INDEX webhook_deliveries_event, webhook_destinations_words, agents_words, documents_words, memberships_words, users_words, customers_words;
DROP FUNCTION words_of(text), folded(text);
