-- +canopy compatible
-- Indexes that are led by what 00078 added. Each table can be read while its own are made, and is not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
-- What is changed comes before the logs: who changes one holds it, and then tells the log of it.
CREATE INDEX permissions_application ON permissions (application_id, COALESCE(last_access, 'epoch'), id);
CREATE INDEX permissions_limb_application ON permissions (limb_id, application_id, COALESCE(last_access, 'epoch'), id);
-- A desk has very few contexts beside those of its account that were deleted, each document by itself among them.
CREATE INDEX contexts_shown ON contexts ((CASE WHEN removed_at IS NULL THEN account_id END), id) WHERE CASE WHEN removed_at IS NULL THEN account_id END IS NOT NULL;
CREATE INDEX runs_limb ON runs (limb_id, created_at, id);
CREATE INDEX runs_limb_unfinished ON runs (limb_id, status, created_at, id) WHERE status <> 'finished';
CREATE INDEX webhook_deliveries_limb ON webhook_deliveries (limb_id, created_at, id);
CREATE INDEX webhook_deliveries_limb_lost ON webhook_deliveries (limb_id, lost, created_at, id) WHERE lost;
CREATE INDEX audit_events_limb ON audit_events (limb_id, created_at, id);
CREATE INDEX audit_events_limb_action ON audit_events (limb_id, action, created_at, id);

-- +goose Down
DROP INDEX contexts_shown;
DROP INDEX permissions_limb_application;
DROP INDEX permissions_application;
DROP INDEX audit_events_limb_action;
DROP INDEX audit_events_limb;
DROP INDEX webhook_deliveries_limb_lost;
DROP INDEX webhook_deliveries_limb;
DROP INDEX runs_limb_unfinished;
DROP INDEX runs_limb;
