-- +canopy compatible
-- Where nearly all companies are of one region, or of one level, PostgreSQL takes a filter by another one for no filter, and finds the companies by an index that
-- all of the tree is in. It is told that there are more of both than it has met.

-- +goose Up
ALTER TABLE customers ALTER COLUMN region_id SET (n_distinct = 100), ALTER COLUMN level SET (n_distinct = 100);
ANALYZE customers (region_id, level);

-- +goose Down
ALTER TABLE customers ALTER COLUMN region_id RESET (n_distinct), ALTER COLUMN level RESET (n_distinct);
ANALYZE customers (region_id, level);
