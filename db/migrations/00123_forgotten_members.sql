-- +canopy compatible
-- +goose NO TRANSACTION
-- What a company knew of somebody who has left it is forgotten with its audit log: that somebody has left stays, without the address and the names. So the next to be forgotten
-- are found behind any number of those.

-- +goose Up
SET lock_timeout = 0;
SET statement_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS former_members_known;
CREATE INDEX CONCURRENTLY former_members_known ON former_members (id) WHERE email <> '';
RESET statement_timeout;
RESET lock_timeout;

-- +goose Down
DELETE FROM former_members WHERE email = '';
DROP INDEX former_members_known;
