-- +canopy compatible
-- A restore, and PostgreSQL's own upkeep from version 17 on, build indexes with no schema to look in: what these functions call is found all the same.

-- +goose Up
ALTER FUNCTION words_of(text) SET search_path FROM CURRENT;
ALTER FUNCTION words_in(bigint, text) SET search_path FROM CURRENT;

-- +goose Down
SELECT 1; -- they are made so, since what makes them again is older than PostgreSQL 17
