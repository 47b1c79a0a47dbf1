-- +canopy compatible
-- What keeps a removed document knows the context it came from even when that is gone. Without it, it would look like a context that somebody
-- removed. Ids are never given twice, so what it names stays unknown.

-- +goose Up
ALTER TABLE contexts DROP CONSTRAINT contexts_home_id_fkey;

-- +goose Down
UPDATE contexts c SET home_id = NULL WHERE home_id IS NOT NULL AND NOT EXISTS (SELECT FROM contexts h WHERE h.id = c.home_id);
ALTER TABLE contexts ADD CONSTRAINT contexts_home_id_fkey FOREIGN KEY (home_id) REFERENCES contexts ON DELETE SET NULL;
