-- What refers to a row that is erased is found by an index, and so is all that belongs to a company, if it was deleted before.

-- +goose Up
CREATE INDEX agents_owner ON agents (account_id, id);
CREATE INDEX agents_published ON agents (published_id) WHERE published_id IS NOT NULL;
CREATE INDEX runs_revision ON runs (revision_id);
CREATE INDEX webhook_destinations_owner ON webhook_destinations (customer_id);

-- +goose Down
DROP INDEX webhook_destinations_owner, runs_revision, agents_published, agents_owner;
