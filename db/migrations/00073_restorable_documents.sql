-- +canopy compatible
-- A removed document can be kept for a time, in which it can be brought back. It is taken to a context of its own, that was removed from the
-- start: whatever knows removed contexts, of this release or the one before, neither shows nor finds it, and erases it when its time is over.

-- +goose Up
ALTER TABLE contexts ADD COLUMN home_id bigint REFERENCES contexts ON DELETE SET NULL;
CREATE INDEX contexts_home ON contexts (home_id, removed_at) WHERE home_id IS NOT NULL;
CREATE INDEX contexts_deleted ON contexts (account_id, removed_at) WHERE removed_at IS NOT NULL AND home_id IS NULL;

-- +goose Down
DROP INDEX contexts_deleted;
DROP INDEX contexts_home;
ALTER TABLE contexts DROP COLUMN home_id;
