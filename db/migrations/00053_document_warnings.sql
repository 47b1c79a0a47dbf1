-- What a ready document lacks, as a list of objects with code, message and page.

-- +goose Up
ALTER TABLE documents ADD COLUMN warnings jsonb NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE documents DROP COLUMN warnings;
