-- Companies are suspended, with everything below them, and go on as they were.

-- +goose Up

-- status is a company's own; what stands above it counts, too. From erase_at on a deleted company is erased; until then it
-- can be restored, and is then as suspended as it was.
ALTER TABLE customers ADD COLUMN suspended boolean NOT NULL DEFAULT false, ADD COLUMN erase_at timestamptz;
ALTER TABLE customers ADD COLUMN status text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN erase_at IS NOT NULL THEN 'DELETED' WHEN suspended THEN 'SUSPENDED' ELSE 'ACTIVE' END) STORED;
ALTER TABLE customers ADD CONSTRAINT customers_root_active CHECK (parent_id IS NOT NULL OR status = 'ACTIVE');

-- Those that are not active are few: each request looks for those above its caller among them.
CREATE INDEX customers_inactive ON customers (id) WHERE status <> 'ACTIVE';
CREATE INDEX customers_status ON customers (status, lineage) WHERE status <> 'ACTIVE';

-- The work of suspended companies is due at no time. suspended_at is since when a run has waited so: none of its minutes pass.
ALTER TABLE runs ADD COLUMN suspended_at timestamptz;
CREATE INDEX runs_suspended ON runs (account_id) WHERE status = 'running' AND due_at = 'infinity';
CREATE INDEX documents_suspended ON documents (context_id) WHERE status IN ('pending', 'processing') AND next_attempt_at = 'infinity';

-- +goose Down
UPDATE runs SET due_at = now() WHERE due_at = 'infinity';
UPDATE documents SET next_attempt_at = now() WHERE next_attempt_at = 'infinity';
DROP INDEX documents_suspended, runs_suspended;
ALTER TABLE runs DROP COLUMN suspended_at;
DROP INDEX customers_status, customers_inactive;
ALTER TABLE customers DROP CONSTRAINT customers_root_active;
ALTER TABLE customers DROP COLUMN status;
ALTER TABLE customers DROP COLUMN erase_at, DROP COLUMN suspended;
