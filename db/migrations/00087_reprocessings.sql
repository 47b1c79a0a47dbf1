-- +canopy compatible
-- The documents of a context are processed anew some at a time: which ones' turn has come, and how far that is.

-- +goose Up
CREATE TABLE context_reprocessings (
    context_id bigint      PRIMARY KEY REFERENCES contexts ON DELETE CASCADE,
    -- Of the documents that there were when it began: the last one whose turn has come, and the last one of all.
    after_id   bigint      NOT NULL DEFAULT 0,
    until_id   bigint      NOT NULL,
    -- How many there were, and the turn of how many has come.
    documents  integer     NOT NULL,
    begun      integer     NOT NULL DEFAULT 0,
    status     text        NOT NULL DEFAULT 'RUNNING' CHECK (status IN ('RUNNING', 'DONE', 'CANCELLED')),
    next_at    timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz
);
CREATE INDEX context_reprocessings_due ON context_reprocessings (next_at) WHERE status = 'RUNNING';

-- +goose Down
-- An earlier release processes all of what is left at once.
UPDATE documents d SET status = 'pending', progress = 0, error = '', revision = d.revision + 1, faults = 0, attempts = d.attempts + 1,
    model = x.embedding_model, chunk_size = x.chunk_size, overlap = x.overlap, next_attempt_at = now(), started_at = NULL, completed_at = NULL
FROM context_reprocessings r JOIN contexts x ON x.id = r.context_id
WHERE r.status = 'RUNNING' AND d.context_id = r.context_id AND d.id > r.after_id AND d.id <= r.until_id;
UPDATE contexts SET version = version + 1 WHERE id IN (SELECT context_id FROM context_reprocessings WHERE status = 'RUNNING');
DROP TABLE context_reprocessings;
