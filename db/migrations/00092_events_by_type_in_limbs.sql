-- +canopy compatible
-- Audit events of a part of the tree by the type of what they are about, which few of them may have. They can be read while it is made, and are not written.

-- +goose Up
SET LOCAL statement_timeout = 0;
CREATE INDEX audit_events_limb_type ON audit_events (limb_id, object_type, created_at, id);

-- +goose Down
DROP INDEX audit_events_limb_type;
