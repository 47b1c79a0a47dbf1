-- +canopy compatible
-- A region can have a database of its own, its cell, which has a row here; the home of all has none. A cell gets the directory by logical replication, and writes nothing there
-- itself: refused_in_cell is behind the triggers that a cell gets for it, and refused_elsewhere behind those by which a home that has cells takes nothing that lives in one. What follows from replicated changes of companies is done by a trigger that fires for these alone.

-- +goose Up
CREATE TABLE cell (
    only_row boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    -- The id of its region, and the first part of the ids that are made here.
    number   bigint      NOT NULL CHECK (number BETWEEN 1 AND 899),
    region   text        NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now()
);

-- +goose StatementBegin
CREATE FUNCTION refused_in_cell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is written at the home', TG_TABLE_NAME USING ERRCODE = 'CC001';
END $$;

CREATE FUNCTION refused_elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    holder bigint;
    there  record;
BEGIN
    IF TG_ARGV[0] = 'account_id' THEN
        SELECT customer_id INTO holder FROM accounts WHERE id = NEW.account_id;
    ELSE
        holder := NEW.customer_id;
    END IF;
    SELECT r.code, z.address INTO there FROM customers c JOIN cells z ON z.region_id = c.region_id JOIN regions r ON r.id = z.region_id WHERE c.id = holder;
    IF FOUND THEN
        RAISE EXCEPTION 'a row of % lives in the cell of %', TG_TABLE_NAME, there.code USING ERRCODE = 'CC002', DETAIL = there.code, HINT = there.address;
    END IF;
    RETURN NEW;
END $$;

-- The place of the company that comes is held as hold_places does, so that whoever counts by the old place is done. What was done on a day stays counted where it was done.
CREATE FUNCTION customer_replicated() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF NEW.parent_id IS DISTINCT FROM OLD.parent_id THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('canopy branch ' || b.id, 0))
        FROM (SELECT DISTINCT id FROM unnest(ARRAY[OLD.lineage[2], NEW.lineage[2]]) id ORDER BY id) b;
        PERFORM count_at(array_agg(u.name), array_agg(NULL::date), array_agg(k.id), array_agg(k.sign * u.n))
        FROM (SELECT name, sum(n)::bigint AS n FROM usage_counts WHERE customer_id = NEW.id AND day IS NULL GROUP BY name) u CROSS JOIN (
            SELECT id, -1 AS sign FROM unnest(OLD.lineage[1:cardinality(OLD.lineage) - 1]) id WHERE id <> ALL (NEW.lineage)
            UNION ALL SELECT id, 1 FROM unnest(NEW.lineage[1:cardinality(NEW.lineage) - 1]) id WHERE id <> ALL (OLD.lineage)) k;
    END IF;
    INSERT INTO tree_changes (customer_id) VALUES (NEW.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER customer_replicated AFTER UPDATE ON customers FOR EACH ROW
    WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id OR OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION customer_replicated();
ALTER TABLE customers ENABLE REPLICA TRIGGER customer_replicated;

-- +goose Down
DROP TRIGGER customer_replicated ON customers;
DROP FUNCTION customer_replicated(), refused_elsewhere(), refused_in_cell();
DROP TABLE cell;
