-- +goose Up
-- What a key may less than its user, and from where; NULL is no bound. How long the keys of a company, and
-- of those below it, may live.
ALTER TABLE api_keys ADD COLUMN features text[], ADD COLUMN allowed_addresses text[];
ALTER TABLE customers ADD COLUMN max_key_days integer CHECK (max_key_days > 0);

-- +goose Down
ALTER TABLE customers DROP COLUMN max_key_days;
ALTER TABLE api_keys DROP COLUMN features, DROP COLUMN allowed_addresses;
