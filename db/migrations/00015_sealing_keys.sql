-- Which keys of CANOPY_SECRET_KEY something here may be sealed with, by a part of their hashes: a process
-- that lacks one of them does not start. used_at is when one was last seen that seals with it.

-- +goose Up
CREATE TABLE sealing_keys (
    id         text PRIMARY KEY,
    used_at    timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE sealing_keys;
