-- +goose Up
-- Where a person has logged in from: failures from elsewhere don't slow logins from there down.
CREATE TABLE login_networks (
    user_id bigint      NOT NULL REFERENCES users ON DELETE CASCADE,
    network text        NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, network)
);
CREATE INDEX login_networks_seen ON login_networks (seen_at);

-- +goose Down
DROP TABLE login_networks;
