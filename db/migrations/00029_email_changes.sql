-- +goose Up
-- A change of a person's address, until the new one has confirmed it or the old one has stopped it. One at a time.
CREATE TABLE email_changes (
    user_id      bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    email        text        NOT NULL CHECK (email <> ''),
    confirm_hash bytea       NOT NULL UNIQUE CHECK (length(confirm_hash) = 32),
    stop_hash    bytea       NOT NULL UNIQUE CHECK (length(stop_hash) = 32),
    expires_at   timestamptz NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE email_changes;
