-- +canopy compatible
-- What a step of a run was given, without secrets; null for steps from before.

-- +goose Up
ALTER TABLE run_steps ADD COLUMN input json;

-- +goose Down
ALTER TABLE run_steps DROP COLUMN input;
