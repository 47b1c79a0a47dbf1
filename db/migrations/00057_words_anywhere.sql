-- +canopy compatible
-- A restore, and PostgreSQL's own upkeep from version 17 on, build indexes with no schema to look in: what these functions call is found all the same.

-- +goose Up
ALTER FUNCTION words_of(text) SET search_path FROM CURRENT;
ALTER FUNCTION words_in(bigint, text) SET search_path FROM CURRENT;

-- +goose Down
SELECT 1; -- the functions that were there before bring their path, too
