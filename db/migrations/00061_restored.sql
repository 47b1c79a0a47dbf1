-- +canopy compatible
-- Deleted destinations keep their secrets for as long as they can be brought back; the upkeep looks for those whose time is over.

-- +goose Up
CREATE INDEX webhook_destinations_hidden ON webhook_destinations (deleted_at) WHERE deleted_at IS NOT NULL AND secret <> '';

-- +goose Down
DROP INDEX webhook_destinations_hidden;
