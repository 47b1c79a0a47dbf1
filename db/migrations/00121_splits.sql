-- +canopy compatible
-- A region whose companies have something at the home moves into a cell of its own: a row of splits from when that is asked for. What has moved keeps its ids and job keys, by which it is then found in the cell.

-- +goose Up
CREATE TABLE splits (
    region_id   bigint      PRIMARY KEY REFERENCES regions,
    -- Where the platform of its cell is reached.
    address     text        NOT NULL,
    begun_at    timestamptz NOT NULL DEFAULT now(),
    phase       text        NOT NULL DEFAULT 'waiting' CHECK (phase IN ('waiting', 'copying', 'checking', 'erasing', 'done')),
    -- What is looked at, for the how manieth time, and how many of its rows have been.
    at          text        NOT NULL DEFAULT '',
    pass        integer     NOT NULL DEFAULT 0,
    rows        bigint      NOT NULL DEFAULT 0,
    told_at     timestamptz NOT NULL DEFAULT now(),
    -- From when on the cell has it, and which event of the log was the last one that has moved: later ones of the region's companies are the home's own.
    switched_at timestamptz,
    last_event  bigint,
    -- When nothing was left of it at the home.
    erased_at   timestamptz
);

-- The rows of a table with ids from first to last that are not at the home, if there are any, have moved into the cell of a region. No two of a table meet.
CREATE TABLE moved_ids (
    kind      text   NOT NULL,
    first     bigint NOT NULL,
    last      bigint NOT NULL CHECK (last >= first),
    region_id bigint NOT NULL REFERENCES regions,
    PRIMARY KEY (kind, first)
);

CREATE TABLE moved_runs (
    job_key   uuid   PRIMARY KEY,
    region_id bigint NOT NULL REFERENCES regions
);

-- refused_in_split is behind triggers that there are at the home while a region moves, on each table of which rows move. Whoever writes holds a lock that all of them share: the split has it for itself
-- from its last comparison on, waits for those who have it, and those who come later are refused. What an argument says is still written once the cell has it: the log of what is done at the home goes
-- on ('all'), and what is forgotten with time is ('forget').
-- +goose StatementBegin
CREATE FUNCTION refused_in_split() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    it     record;
    holder bigint;
    there  record;
BEGIN
    IF TG_OP = 'DELETE' THEN
        it := OLD;
    ELSE
        it := NEW;
    END IF;
    IF current_setting('canopy.moved', true) = 'on' THEN
        RETURN it;
    END IF;
    CASE TG_ARGV[0]
        WHEN 'customer_id' THEN holder := it.customer_id;
        WHEN 'account_id' THEN SELECT a.customer_id INTO holder FROM accounts a WHERE a.id = it.account_id;
        WHEN 'context_id' THEN SELECT a.customer_id INTO holder FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.id = it.context_id;
        WHEN 'document_id' THEN SELECT a.customer_id INTO holder FROM documents d JOIN contexts x ON x.id = d.context_id JOIN accounts a ON a.id = x.account_id WHERE d.id = it.document_id;
        WHEN 'agent_id' THEN SELECT a.customer_id INTO holder FROM agents g JOIN accounts a ON a.id = g.account_id WHERE g.id = it.agent_id;
        WHEN 'run_id' THEN SELECT a.customer_id INTO holder FROM runs r JOIN accounts a ON a.id = r.account_id WHERE r.id = it.run_id;
        WHEN 'destination_id' THEN SELECT d.customer_id INTO holder FROM webhook_destinations d WHERE d.id = it.destination_id;
    END CASE;
    SELECT s.region_id, s.address, r.code INTO there
    FROM customers c JOIN splits s ON s.region_id = c.region_id JOIN regions r ON r.id = s.region_id WHERE c.id = holder AND s.erased_at IS NULL;
    IF NOT FOUND THEN
        RETURN it;
    END IF;
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('canopy split ' || there.region_id, 0)) THEN
        RAISE EXCEPTION 'a row of % is on its way into the cell of %', TG_TABLE_NAME, there.code USING ERRCODE = 'CC003', DETAIL = there.code;
    END IF;
    IF EXISTS (SELECT FROM splits s WHERE s.region_id = there.region_id AND s.switched_at IS NOT NULL)
            AND NOT (TG_ARGV[1] = 'all' OR TG_ARGV[1] = 'forget' AND TG_OP <> 'INSERT') THEN
        RAISE EXCEPTION 'a row of % lives in the cell of %', TG_TABLE_NAME, there.code USING ERRCODE = 'CC002', DETAIL = there.code, HINT = there.address;
    END IF;
    RETURN it;
END $$;

-- What has moved is not counted down as it is erased at the home: it was, when the cell got it.
CREATE OR REPLACE FUNCTION count_from(what text, today date, companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF current_setting('canopy.moved', true) = 'on' THEN
        RETURN;
    END IF;
    PERFORM hold_places(companies);
    PERFORM count_at(array_agg(what), array_agg(today), array_agg(above.id), array_agg(a.n))
    FROM unnest(companies, added) a(id, n) JOIN customers c ON c.id = a.id CROSS JOIN unnest(c.lineage) above(id) WHERE a.n <> 0;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_from(what text, today date, companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM hold_places(companies);
    PERFORM count_at(array_agg(what), array_agg(today), array_agg(above.id), array_agg(a.n))
    FROM unnest(companies, added) a(id, n) JOIN customers c ON c.id = a.id CROSS JOIN unnest(c.lineage) above(id) WHERE a.n <> 0;
END $$;
-- +goose StatementEnd
-- Triggers that a split has made go with it.
DROP FUNCTION refused_in_split() CASCADE;
DROP TABLE moved_runs, moved_ids, splits;
