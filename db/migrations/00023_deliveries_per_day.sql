-- Deliveries are counted on the day of their first attempt, and wait while that day is full.

-- +goose Up

-- counted is set with the first attempt: a delivery has its place in a day then, and keeps it. Others wait while their
-- company is held.
ALTER TABLE webhook_deliveries ADD COLUMN counted boolean NOT NULL DEFAULT false;
UPDATE webhook_deliveries SET counted = true WHERE status = 'pending' AND claim > 0;
CREATE INDEX webhook_deliveries_counted ON webhook_deliveries (destination_id, next_attempt_at) WHERE status = 'pending' AND counted;

-- The companies whose limit deliveriesPerDay, which was most, was reached on a day. A company is held, with all below it,
-- for as long as both are so: what waits is not touched, neither when it begins to wait nor when there is room again.
CREATE TABLE delivery_holds (
    customer_id bigint NOT NULL PRIMARY KEY REFERENCES customers ON DELETE CASCADE,
    day         date   NOT NULL,
    most        bigint NOT NULL
);

-- +goose Down
DROP TABLE delivery_holds;
DROP INDEX webhook_deliveries_counted;
ALTER TABLE webhook_deliveries DROP COLUMN counted;
