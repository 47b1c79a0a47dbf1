-- Vectors beside their chunks.

-- +goose Up

-- A vector that stands in the row is read with it; one that is stored apart costs a look-up each,
-- twice the time of filling an index of 30,000 vectors. Rows that do not fit a page still move their
-- largest values out.
ALTER TABLE chunks SET (toast_tuple_target = 8160);

-- +goose Down
ALTER TABLE chunks RESET (toast_tuple_target);
