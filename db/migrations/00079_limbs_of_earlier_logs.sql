-- +canopy compatible
-- What was written before knows its limb and its application as well. It is a transaction of its own, so that everything can be read and added meanwhile: 00078 holds
-- these tables for an instant, and this one nothing but their rows.

-- +goose Up
-- Each row of four tables is written anew: a minute for 1,000,000 of each.
SET LOCAL statement_timeout = 0;
UPDATE runs r SET limb_id = a.limb_id FROM accounts a WHERE a.id = r.account_id AND r.limb_id = 0;
UPDATE webhook_deliveries d SET limb_id = w.limb_id FROM customer_words w WHERE w.customer_id = d.customer_id AND d.limb_id = 0;
UPDATE audit_events e SET limb_id = w.limb_id FROM customer_words w WHERE w.customer_id = e.customer_id AND e.limb_id = 0;
UPDATE permissions p SET application_id = i.application_id FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id WHERE a.id = p.account_id AND p.application_id = 0;

-- +goose Down
SELECT 1;
