-- The audit log by who, what, where and when.

-- +goose Up

-- Lists go by time, and by id among events of the same moment: each index ends with both, so that a page of
-- any filter is read in its order. The last but one also finds what is to be set null when a user is erased.
DROP INDEX audit_events_customer;
CREATE INDEX audit_events_time ON audit_events (created_at, id);
CREATE INDEX audit_events_action ON audit_events (action, created_at, id);
CREATE INDEX audit_events_customer ON audit_events (customer_id, created_at, id);
CREATE INDEX audit_events_customer_action ON audit_events (customer_id, action, created_at, id);
CREATE INDEX audit_events_actor ON audit_events (actor_user_id, created_at, id);
CREATE INDEX audit_events_object ON audit_events (object_id, object_type, created_at, id);

-- +goose Down
DROP INDEX audit_events_time, audit_events_action, audit_events_customer, audit_events_customer_action, audit_events_actor, audit_events_object;
CREATE INDEX audit_events_customer ON audit_events (customer_id, id);
