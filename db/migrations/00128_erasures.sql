-- +canopy compatible
-- How far the erasure of a removed context has come: how many chunks and documents it had as it began, and how many of them have gone.

-- +goose Up
ALTER TABLE contexts ADD COLUMN erase_rows bigint, ADD COLUMN erased_rows bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE contexts DROP COLUMN erased_rows, DROP COLUMN erase_rows;
