-- +canopy compatible
-- What leaves the platform later leads back to the request that it comes from (W3C Trace Context), where spans are told. A transaction says
-- where it belongs by a setting of its own; without one the rows have none.

-- +goose Up
ALTER TABLE webhook_deliveries ADD COLUMN traceparent text;
ALTER TABLE webhook_deliveries ALTER COLUMN traceparent SET DEFAULT NULLIF(current_setting('canopy.traceparent', true), '');
ALTER TABLE runs ADD COLUMN traceparent text;
ALTER TABLE runs ALTER COLUMN traceparent SET DEFAULT NULLIF(current_setting('canopy.traceparent', true), '');
ALTER TABLE documents ADD COLUMN traceparent text;
ALTER TABLE documents ALTER COLUMN traceparent SET DEFAULT NULLIF(current_setting('canopy.traceparent', true), '');
ALTER TABLE mail_outbox ADD COLUMN traceparent text;
ALTER TABLE mail_outbox ALTER COLUMN traceparent SET DEFAULT NULLIF(current_setting('canopy.traceparent', true), '');

-- +goose Down
ALTER TABLE webhook_deliveries DROP COLUMN traceparent;
ALTER TABLE runs DROP COLUMN traceparent;
ALTER TABLE documents DROP COLUMN traceparent;
ALTER TABLE mail_outbox DROP COLUMN traceparent;
