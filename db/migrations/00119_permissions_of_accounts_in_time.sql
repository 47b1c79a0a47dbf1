-- +canopy compatible
-- +goose NO TRANSACTION
-- Permissions on an account in the order of their time: those of a part of a limb are found by the accounts there, and not by passing over all others of the limb. Nobody waits for the index: it is this that
-- waits for whoever is at work on permissions, and so as long as they take. Of the 90 µs that writing a permission takes, among 3,000,000, it is some 6.

-- +goose Up
SET lock_timeout = 0;
SET statement_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS permissions_account_created;
CREATE INDEX CONCURRENTLY permissions_account_created ON permissions (account_id, created_at, id);
RESET statement_timeout;
RESET lock_timeout;

-- +goose Down
DROP INDEX permissions_account_created;
