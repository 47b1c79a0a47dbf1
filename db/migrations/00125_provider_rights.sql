-- +canopy compatible
-- The rights that sessions from an identity provider have at most: those of who has said where people sign in; all of them where that is null, as it is of the
-- providers that there are.

-- +goose Up
ALTER TABLE identity_providers ADD COLUMN features text[];

-- +goose Down
ALTER TABLE identity_providers DROP COLUMN features;
