-- +canopy compatible
-- A person's new address takes the place of the old one once both have confirmed it. A change that was begun before has no token for
-- the old one: the new one is enough.

-- +goose Up
ALTER TABLE email_changes
    ADD COLUMN agree_hash   bytea UNIQUE CHECK (length(agree_hash) = 32),
    ADD COLUMN confirmed_at timestamptz,
    ADD COLUMN agreed_at    timestamptz;

-- +goose Down
ALTER TABLE email_changes DROP COLUMN agree_hash, DROP COLUMN confirmed_at, DROP COLUMN agreed_at;
