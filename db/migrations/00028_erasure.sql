-- +goose Up
-- Who was erased leaves a row without anything of the person: what it has done stays that of one and the same user.
ALTER TABLE users ADD COLUMN erased_at timestamptz;

-- +goose Down
ALTER TABLE users DROP COLUMN erased_at;
