-- +canopy compatible
-- Runs and deliveries are listed by status: what few have is found in the order of the time, of all, of one owner, and of one agent or destination. Of what
-- ended well there is an index of the time anyway.

-- +goose Up
SET LOCAL statement_timeout = 0;
DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (status, created_at, id) WHERE status <> 'finished';
CREATE INDEX runs_account_unfinished ON runs (account_id, status, created_at, id) WHERE status <> 'finished';
CREATE INDEX runs_agent_unfinished ON runs (agent_id, status, created_at, id) WHERE status <> 'finished';
CREATE INDEX webhook_deliveries_lost_created ON webhook_deliveries (lost, created_at, id) WHERE lost;
CREATE INDEX webhook_deliveries_customer_lost ON webhook_deliveries (customer_id, lost, created_at, id) WHERE lost;
CREATE INDEX webhook_deliveries_destination_lost ON webhook_deliveries (destination_id, lost, created_at, id) WHERE lost;

-- +goose Down
DROP INDEX webhook_deliveries_destination_lost, webhook_deliveries_customer_lost, webhook_deliveries_lost_created, runs_agent_unfinished, runs_account_unfinished, runs_unfinished;
CREATE INDEX runs_unfinished ON runs (created_at, id) WHERE status <> 'finished';
