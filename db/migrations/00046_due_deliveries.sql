-- What of a delivery changes until it ends stands in a narrow row of its own. The delivery itself is written once, and changed once in its page,
-- without a new entry in any index.

-- +goose Up

-- There is a row for each delivery that is pending, in the order in which they are taken up. begun: it has its place in a day, as it was attempted
-- before, or needs none; others wait while their company is held, and have been due since they were written: next_attempt_at is created_at then.
-- claimed_at is set while an attempt is under way; next_attempt_at is then the end of its lease, by which a worker knows its claim as its own,
-- otherwise when the next attempt is due. Without a foreign key, which would lock and write the delivery.
CREATE TABLE webhook_due (
    destination_id  bigint      NOT NULL,
    begun           boolean     NOT NULL DEFAULT false,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    delivery_id     bigint      NOT NULL,
    claimed_at      timestamptz,
    interruptions   smallint    NOT NULL DEFAULT 0,
    PRIMARY KEY (destination_id, begun, next_attempt_at, delivery_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id, claimed_at, interruptions)
SELECT destination_id, counted, CASE WHEN counted THEN next_attempt_at ELSE created_at END, id, claimed_at, interruptions
FROM webhook_deliveries WHERE status = 'pending';

-- An update stays in its page where no column that an index knows changes, those of its predicate included: lost is one that a success leaves as it is.
ALTER TABLE webhook_deliveries ADD COLUMN lost boolean NOT NULL DEFAULT false;
UPDATE webhook_deliveries SET lost = true WHERE status IN ('failed', 'blocked');
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_lost_ends CHECK (lost = (status IN ('failed', 'blocked')));
DROP INDEX webhook_deliveries_pending, webhook_deliveries_counted, webhook_deliveries_lost;
CREATE INDEX webhook_deliveries_lost ON webhook_deliveries (customer_id, destination_id, id) WHERE lost;
ALTER TABLE webhook_deliveries DROP COLUMN interruptions, DROP COLUMN claim, DROP COLUMN claimed_at, DROP COLUMN next_attempt_at, DROP COLUMN counted;
-- A page has room for the end of each delivery in it, also where all of them end in one statement.
ALTER TABLE webhook_deliveries SET (fillfactor = 45);

-- +goose Down
ALTER TABLE webhook_deliveries RESET (fillfactor);
ALTER TABLE webhook_deliveries ADD COLUMN interruptions smallint NOT NULL DEFAULT 0, ADD COLUMN claim integer NOT NULL DEFAULT 0,
    ADD COLUMN claimed_at timestamptz, ADD COLUMN next_attempt_at timestamptz NOT NULL DEFAULT now(), ADD COLUMN counted boolean NOT NULL DEFAULT false;
UPDATE webhook_deliveries w SET interruptions = d.interruptions, claim = CASE WHEN d.begun THEN 1 ELSE 0 END, claimed_at = d.claimed_at,
    next_attempt_at = d.next_attempt_at, counted = d.begun
FROM webhook_due d WHERE w.id = d.delivery_id;
DROP INDEX webhook_deliveries_lost;
ALTER TABLE webhook_deliveries DROP COLUMN lost;
CREATE INDEX webhook_deliveries_lost ON webhook_deliveries (customer_id, destination_id, id) WHERE status IN ('failed', 'blocked');
CREATE INDEX webhook_deliveries_counted ON webhook_deliveries (destination_id, next_attempt_at) WHERE status = 'pending' AND counted;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (destination_id, next_attempt_at) WHERE status = 'pending';
DROP TABLE webhook_due;
