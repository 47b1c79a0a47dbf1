-- Turns of runs in the order in which they were started; the version of what read a document.

-- +goose Up

-- An account's runs have their turns by id, whatever happens to the times at which they are due.
CREATE INDEX runs_turn ON runs (account_id, id) WHERE status = 'running';
DROP INDEX runs_account_due;

-- What the chunks of the revision at work were made with: a worker of another version, which may cut
-- the text elsewhere, begins anew.
ALTER TABLE documents ADD COLUMN reader integer NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE documents DROP COLUMN reader;
CREATE INDEX runs_account_due ON runs (account_id, due_at) WHERE status = 'running';
DROP INDEX runs_turn;
