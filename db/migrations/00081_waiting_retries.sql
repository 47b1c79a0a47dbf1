-- +canopy compatible
-- +goose Up
-- The retries that are due, by time: where the worker that should make one is gone, nobody has to go past all destinations to find it. What succeeds at once
-- is never in it.
CREATE INDEX webhook_due_waiting ON webhook_due (next_attempt_at, destination_id) WHERE begun AND claimed_at IS NULL;

-- +goose Down
DROP INDEX webhook_due_waiting;
