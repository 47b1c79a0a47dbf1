-- +canopy compatible
-- A restore, and PostgreSQL's own upkeep from version 17 on, build indexes with no schema to look in: what these functions call is found all the same.

-- +goose Up
ALTER FUNCTION words_of(text) SET search_path FROM CURRENT;
ALTER FUNCTION words_in(bigint, text) SET search_path FROM CURRENT;

-- +goose Down
ALTER FUNCTION words_of(text) RESET search_path;
ALTER FUNCTION words_in(bigint, text) RESET search_path;
