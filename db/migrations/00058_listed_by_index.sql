-- +canopy compatible
-- The last notices of limits are listed for operators, and runs that failed or are at work among many that ended well: indexes have their order.

-- +goose Up
CREATE INDEX limit_notices_day ON limit_notices (day DESC, (level >= 100) DESC, customer_id, name);
CREATE INDEX runs_unfinished ON runs (created_at, id) WHERE status <> 'finished';

-- +goose Down
DROP INDEX runs_unfinished, limit_notices_day;
