-- +canopy compatible
-- What was used in a cell, until the home is told: permissions, and API keys.

-- +goose Up
CREATE TABLE use_marks (
    kind    text        NOT NULL CHECK (kind IN ('permission', 'key')),
    id      bigint      NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, id)
);

-- take_use_marks is how the home is told, by a role that has few rights there.
-- +goose StatementBegin
CREATE FUNCTION take_use_marks(kinds text[], ids bigint[], times timestamptz[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE permissions p SET last_access = LEAST(m.at, now()) FROM unnest(kinds, ids, times) m(kind, id, at)
    WHERE m.kind = 'permission' AND p.id = m.id AND (p.last_access >= m.at) IS NOT TRUE;
    UPDATE api_keys k SET last_used_at = LEAST(m.at, now()) FROM unnest(kinds, ids, times) m(kind, id, at)
    WHERE m.kind = 'key' AND k.id = m.id AND (k.last_used_at >= m.at) IS NOT TRUE;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION take_use_marks(text[], bigint[], timestamptz[]) FROM PUBLIC;

-- +goose Down
DROP FUNCTION take_use_marks(text[], bigint[], timestamptz[]);
DROP TABLE use_marks;
