-- +canopy compatible
-- The step that a run is at, once that takes long; null otherwise.

-- +goose Up
ALTER TABLE runs ADD COLUMN step json;

-- +goose Down
ALTER TABLE runs DROP COLUMN step;
