-- +canopy compatible
-- A removed secret can be kept for a time, in which it can be brought back. It is in a table of its own, where no run looks, and its name is free.

-- +goose Up
CREATE TABLE removed_secrets (
    id          bigint PRIMARY KEY,
    customer_id bigint      NOT NULL REFERENCES customers ON DELETE CASCADE,
    name        text        NOT NULL,
    value       bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    row_version integer     NOT NULL,
    removed_at  timestamptz NOT NULL DEFAULT now(),
    erase_at    timestamptz NOT NULL
);
CREATE INDEX removed_secrets_customer ON removed_secrets (customer_id, removed_at);
CREATE INDEX removed_secrets_erased ON removed_secrets (erase_at);

-- +goose Down
DROP TABLE removed_secrets;
