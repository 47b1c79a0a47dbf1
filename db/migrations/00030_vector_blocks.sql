-- Vectors in blocks, in the form in which they are searched.

-- +goose Up

-- A block holds the vectors, of words or of the context's model, of neighbouring chunks of a document; internal/vector
-- says how. It covers the positions from first on; chunks are the ids of the chunks there, each as int8send writes it.
CREATE TABLE vector_blocks (
    document_id bigint  NOT NULL REFERENCES documents ON DELETE CASCADE,
    revision    bigint  NOT NULL,
    dense       boolean NOT NULL,
    first       integer NOT NULL,
    chunks      bytea   NOT NULL,
    block       bytea   NOT NULL,
    PRIMARY KEY (document_id, revision, dense, first)
);
-- Blocks do not compress; small ones stand in the row.
ALTER TABLE vector_blocks ALTER COLUMN block SET STORAGE EXTERNAL;
ALTER TABLE vector_blocks SET (toast_tuple_target = 8160);

-- The revision whose vectors are in blocks. Those of others are beside their chunks, until a worker packs them.
ALTER TABLE documents ADD COLUMN packed bigint NOT NULL DEFAULT 0;
CREATE INDEX documents_unpacked ON documents (id) WHERE packed <> revision AND status = 'ready';
ALTER TABLE chunks ALTER COLUMN sparse DROP NOT NULL;

-- +goose Down
-- What is in blocks alone is made anew.
UPDATE contexts SET version = version + 1 WHERE id IN (SELECT context_id FROM documents WHERE packed <> 0);
UPDATE documents SET status = 'pending', progress = 0, error = '', revision = revision + 1, faults = 0, attempts = attempts + 1,
    next_attempt_at = now(), started_at = NULL, completed_at = NULL WHERE packed <> 0;
UPDATE chunks SET sparse = '' WHERE sparse IS NULL;
ALTER TABLE chunks ALTER COLUMN sparse SET NOT NULL;
ALTER TABLE documents DROP COLUMN packed;
DROP TABLE vector_blocks;
