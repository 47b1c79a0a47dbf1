-- Runs: the time of their execution, and turns between accounts.

-- +goose Up

-- When a worker took the run up for the first time: its minutes are counted from there, not from
-- when it was put into the queue.
ALTER TABLE runs ADD COLUMN started_at timestamptz;
UPDATE runs SET started_at = created_at WHERE claim > 0;
CREATE INDEX runs_account_due ON runs (account_id, due_at) WHERE status = 'running';

-- +goose Down
DROP INDEX runs_account_due;
ALTER TABLE runs DROP COLUMN started_at;
