-- +goose Up
-- How many mails a person was sent of late.
CREATE INDEX mail_outbox_user ON mail_outbox (user_id, created_at);

-- +goose Down
DROP INDEX mail_outbox_user;
