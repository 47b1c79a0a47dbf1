-- Mails that did not go out, those that are tried again and those that were given up: few, however many were sent.

-- +goose Up
CREATE INDEX mail_outbox_late ON mail_outbox (created_at, id) WHERE sent_at IS NULL AND last_error <> '';

-- +goose Down
DROP INDEX mail_outbox_late;
