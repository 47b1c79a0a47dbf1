-- +canopy compatible
-- What the home writes in the log of companies that have what they have in a cell is handed over to that cell, whose destinations hear of it. A home without cells has no row here, and
-- note_events_for_cells is behind a trigger that is made with the first cell.

-- +goose Up
CREATE TABLE events_for_cells (
    region_id  bigint      NOT NULL,
    event_id   bigint      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (region_id, event_id)
);
CREATE INDEX events_for_cells_created_at ON events_for_cells (created_at);

-- What a cell has heard of and the home hands over still, until it is told.
CREATE TABLE heard_events (
    event_id bigint PRIMARY KEY
);

-- A cell that was never there has no destinations either.
-- +goose StatementBegin
CREATE FUNCTION note_events_for_cells() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_for_cells (region_id, event_id)
    SELECT z.region_id, e.id FROM written e JOIN customers c ON c.id = e.customer_id JOIN cells z ON z.region_id = c.region_id WHERE z.seen_at IS NOT NULL;
    RETURN NULL;
END $$;

-- hand_over_events is how a cell tells which events it has heard of, and gets some of the others, in the order of their ids, by a role that has few rights at the home. A replica that is as far
-- as the pulse has all that they tell of.
CREATE FUNCTION hand_over_events(teller bigint, heard bigint[], most integer)
RETURNS TABLE (id bigint, customer_id bigint, actor_user_id bigint, client_id text, action text, object_type text, object_id bigint, details jsonb, created_at timestamptz, pulse bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    waiting bigint[];
    there   bigint[];
    counted bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM cells z WHERE z.region_id = teller) THEN
        RAISE EXCEPTION 'the home knows of no cell %', teller;
    END IF;
    DELETE FROM events_for_cells w WHERE w.region_id = teller AND w.event_id = ANY (heard);
    waiting := ARRAY(SELECT w.event_id FROM events_for_cells w WHERE w.region_id = teller ORDER BY w.event_id LIMIT most);
    there := ARRAY(SELECT e.id FROM audit_events e WHERE e.id = ANY (waiting));
    -- Those of companies that were erased, or forgotten with time, are nobody's any more.
    DELETE FROM events_for_cells w WHERE w.region_id = teller AND w.event_id = ANY (waiting) AND w.event_id <> ALL (there);
    IF cardinality(there) = 0 THEN
        RETURN;
    END IF;
    UPDATE pulse p SET n = p.n + 1, counted_at = clock_timestamp() RETURNING p.n INTO counted;
    RETURN QUERY
        SELECT e.id, e.customer_id, e.actor_user_id, e.client_id, e.action, e.object_type, e.object_id, e.details, e.created_at, counted
        FROM audit_events e WHERE e.id = ANY (there) ORDER BY e.id;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION hand_over_events(bigint, bigint[], integer) FROM PUBLIC;

-- +goose Down
-- The trigger goes with it.
DROP FUNCTION note_events_for_cells() CASCADE;
DROP FUNCTION hand_over_events(bigint, bigint[], integer);
DROP TABLE heard_events, events_for_cells;
