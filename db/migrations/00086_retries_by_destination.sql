-- +canopy compatible
-- +goose Up
-- The retries that nobody has taken up, by destination: a look goes past a destination in one step, however many wait there. By time alone, those of one
-- destination could stand before all others. What succeeds at once is never in it.
CREATE INDEX webhook_due_retries ON webhook_due (destination_id, next_attempt_at) WHERE begun AND claimed_at IS NULL;
DROP INDEX webhook_due_waiting;

-- +goose Down
CREATE INDEX webhook_due_waiting ON webhook_due (next_attempt_at, destination_id) WHERE begun AND claimed_at IS NULL;
DROP INDEX webhook_due_retries;
