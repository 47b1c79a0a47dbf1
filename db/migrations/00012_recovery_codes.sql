-- +goose Up
-- What a person logs in with who has lost the authenticator: each code once.
CREATE TABLE recovery_codes (
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    hash    bytea  NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (user_id, hash)
);

-- +goose Down
DROP TABLE recovery_codes;
