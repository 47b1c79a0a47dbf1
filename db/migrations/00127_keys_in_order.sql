-- +canopy compatible
-- +goose NO TRANSACTION
-- Indexes of each order of a company's API keys and destinations, of which it may have very many. Nobody waits for these: it is they that wait for whoever is at work on the tables.

-- +goose Up
SET lock_timeout = 0;
SET statement_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS api_keys_customer_name;
CREATE INDEX CONCURRENTLY api_keys_customer_name ON api_keys (customer_id, lower(name) COLLATE "C", id);
DROP INDEX CONCURRENTLY IF EXISTS api_keys_customer_created;
CREATE INDEX CONCURRENTLY api_keys_customer_created ON api_keys (customer_id, created_at, id);
DROP INDEX CONCURRENTLY IF EXISTS webhook_destinations_customer_name;
CREATE INDEX CONCURRENTLY webhook_destinations_customer_name ON webhook_destinations (customer_id, lower(COALESCE(NULLIF(name, ''), url)) COLLATE "C", id) WHERE deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS webhook_destinations_customer_created;
CREATE INDEX CONCURRENTLY webhook_destinations_customer_created ON webhook_destinations (customer_id, created_at, id) WHERE deleted_at IS NULL;
RESET statement_timeout;
RESET lock_timeout;

-- +goose Down
DROP INDEX webhook_destinations_customer_created;
DROP INDEX webhook_destinations_customer_name;
DROP INDEX api_keys_customer_created;
DROP INDEX api_keys_customer_name;
