-- One level more of companies whose lists have indexes of their own in each order: what lies deeper is a few thousand.

-- +goose Up
CREATE INDEX customers_fourth ON customers ((lineage[4]), id) WHERE level > 2;
CREATE INDEX customers_fourth_name ON customers ((lineage[4]), lower(name) COLLATE "C", id) WHERE level > 2;
CREATE INDEX customers_fourth_created ON customers ((lineage[4]), created_at, id) WHERE level > 2;

-- +goose Down
DROP INDEX customers_fourth_created, customers_fourth_name, customers_fourth;
