-- +canopy compatible
-- Where nearly all companies are of one region, or of one level, PostgreSQL takes a filter by another one for no filter, and finds the companies by an index that
-- all of the tree is in. It is told that there are more of both than it has met. And companies of one level, which in most trees were made, and named, one after
-- another, have indexes of each order.

-- +goose Up
-- By its name this comes behind the trigger that makes limbs, which words know from 00066 on.
DROP TRIGGER customers_worded ON customers;
CREATE TRIGGER words_made AFTER INSERT ON customers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_worded();

CREATE INDEX customers_level_id ON customers (level, id);
CREATE INDEX customers_level_name ON customers (level, lower(name) COLLATE "C", id);
CREATE INDEX customers_level_created ON customers (level, created_at, id);
ALTER TABLE customers ALTER COLUMN region_id SET (n_distinct = 100), ALTER COLUMN level SET (n_distinct = 100);
ANALYZE customers (region_id, level);

-- +goose Down
DROP INDEX customers_level_created, customers_level_name, customers_level_id;
DROP TRIGGER words_made ON customers;
CREATE TRIGGER customers_worded AFTER INSERT ON customers REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_worded();
ALTER TABLE customers ALTER COLUMN region_id RESET (n_distinct), ALTER COLUMN level RESET (n_distinct);
ANALYZE customers (region_id, level);
