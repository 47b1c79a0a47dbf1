-- +canopy compatible
-- Which regions have a cell of their own, where that is, and what it tells the home of itself.

-- +goose Up
CREATE TABLE cells (
    region_id      bigint      PRIMARY KEY REFERENCES regions,
    -- Where its platform is reached.
    address        text        NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    schema_version bigint,
    seen_at        timestamptz
);

-- +goose Down
DROP TABLE cells;
