-- +goose Up

-- A company that was read in from an archive, with everything below it. archive is its SHA-256, parent_id the company below
-- which it was made: the same archive is read in there once. originals counts those that are in the store of documents, in
-- their order; until done_at the company is suspended, and active_then says what it is afterwards. The names of its documents are
-- made of those in the archive and of space.
CREATE TABLE customer_imports (
    customer_id bigint      PRIMARY KEY REFERENCES customers ON DELETE CASCADE,
    parent_id   bigint      NOT NULL REFERENCES customers ON DELETE CASCADE,
    archive     bytea       NOT NULL CHECK (length(archive) = 32),
    space       uuid        NOT NULL,
    originals   bigint      NOT NULL DEFAULT 0,
    active_then boolean     NOT NULL,
    report      json        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    done_at     timestamptz,
    CONSTRAINT customer_imports_once UNIQUE (parent_id, archive)
);

-- +goose Down
DROP TABLE customer_imports;
