-- +canopy compatible
-- The documents of a context that is deleted, or brought back, wait from then on, or no more, some at a time. A program from before this has all of
-- them do so at once, and leaves the rest of what this one has begun.

-- +goose Up
CREATE TABLE context_deferrals (
    context_id bigint      PRIMARY KEY REFERENCES contexts ON DELETE CASCADE,
    -- The last document that has been seen to.
    after_id   bigint      NOT NULL,
    turn_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX context_deferrals_turn ON context_deferrals (turn_at);

-- +goose Down
UPDATE documents d SET next_attempt_at = now()
FROM context_deferrals r JOIN contexts x ON x.id = r.context_id
WHERE x.removed_at IS NULL AND d.context_id = x.id AND d.id > r.after_id AND d.status IN ('pending', 'processing') AND d.next_attempt_at > now() + interval '1 hour';
UPDATE documents d SET next_attempt_at = x.erase_at, handed_out = false
FROM context_deferrals r JOIN contexts x ON x.id = r.context_id
WHERE x.removed_at IS NOT NULL AND d.context_id = x.id AND d.id > r.after_id AND d.status = 'pending';
DROP TABLE context_deferrals;
