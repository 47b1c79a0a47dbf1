-- Where in its document each part of a chunk stands: pages, headings and rows, as internal/chunk writes them. NULL in chunks from
-- before, of which only the beginning is known.

-- +goose Up
ALTER TABLE chunks ADD COLUMN places bytea;

-- +goose Down
ALTER TABLE chunks DROP COLUMN places;
