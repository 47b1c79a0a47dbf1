-- +canopy compatible
-- +goose Up
-- Behind which destination the next look for retries that nobody has taken up begins. The look of the version before doesn't know it, and leaves it as it is.
ALTER TABLE delivery_look ADD COLUMN retries_behind bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE delivery_look DROP COLUMN retries_behind;
