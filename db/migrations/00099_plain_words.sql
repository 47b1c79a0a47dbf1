-- +canopy compatible
-- Names are also found by the letters of a to z that people write for others: Søren by soren, Groß by gross. plain is a text in these. From now on an index has the words as programs of before
-- look for them beside the plain ones; the next migrations put in the plain ones of the names that there are. What has none of these letters has the same words as before.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION plain(said text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(said) = char_length(said) THEN lower(said)
        ELSE replace(replace(replace(replace(translate(folded(said), 'øłđðħŧıŋĸəɛɔɓɗƙƴǥ', 'olddhtinqeeobdkyg'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') END
$$;

CREATE OR REPLACE FUNCTION words_of(said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 SET search_path FROM CURRENT AS $$
BEGIN
    said := left(folded(said), 500);
    IF octet_length(said) <> char_length(said) THEN
        said := said || ' ' || plain(said);
    END IF;
    RETURN array_to_tsvector(array_remove(string_to_array(
        regexp_replace(said, '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), ' '), ''));
END $$;

CREATE OR REPLACE FUNCTION words_in(limb bigint, said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 SET search_path FROM CURRENT AS $$
BEGIN
    said := left(folded(said), 500);
    IF octet_length(said) <> char_length(said) THEN
        said := said || ' ' || plain(said);
    END IF;
    RETURN array_to_tsvector(array_remove(string_to_array(regexp_replace(
        regexp_replace(said, '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), '[^ ]+', '\& ' || limb::text || ':\&', 'g'), ' '), ''));
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION words_in(limb bigint, said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 SET search_path FROM CURRENT AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(string_to_array(regexp_replace(
        regexp_replace(left(folded(said), 500), '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), '[^ ]+', '\& ' || limb::text || ':\&', 'g'), ' '), ''));
END $$;

CREATE OR REPLACE FUNCTION words_of(said text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 SET search_path FROM CURRENT AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(string_to_array(
        regexp_replace(left(folded(said), 500), '[\u0001-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'), ' '), ''));
END $$;
-- +goose StatementEnd
DROP FUNCTION plain(text);
