-- A run sees contexts as who started it: a person by their login, or an API key.

-- +goose Up
-- Without a foreign key: when the key is gone, the run must not turn into one of a person's login.
ALTER TABLE runs ADD COLUMN api_key_id bigint;

-- +goose Down
ALTER TABLE runs DROP COLUMN api_key_id;
