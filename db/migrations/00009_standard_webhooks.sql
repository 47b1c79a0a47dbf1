-- A destination can ask for the signature of Standard Webhooks beside the platform's own.

-- +goose Up
ALTER TABLE webhook_destinations ADD COLUMN signing text NOT NULL DEFAULT 'SPEC' CHECK (signing IN ('SPEC', 'STANDARD'));

-- +goose Down
ALTER TABLE webhook_destinations DROP COLUMN signing;
