-- Test deliveries are told from real ones: by a header at the receiver, and in the log.

-- +goose Up
ALTER TABLE webhook_deliveries ADD COLUMN test boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE webhook_deliveries DROP COLUMN test;
