-- +canopy compatible
-- What of companies is counted in other cells than this, as these have told last: a limit holds for the sum of all. A database without cells has no row here.

-- +goose Up
CREATE TABLE counts_elsewhere (
    customer_id bigint      NOT NULL REFERENCES customers ON DELETE CASCADE,
    name        text        NOT NULL,
    -- The id of its region; 0 is the home.
    cell        bigint      NOT NULL,
    n           bigint      NOT NULL,
    -- That of a count which begins anew each day.
    day         date,
    -- When it was so at least; it may be a minute later.
    as_of       timestamptz NOT NULL,
    PRIMARY KEY (customer_id, name, cell)
);

-- +goose StatementBegin
-- lives_here tells whether this database has what a company has: there its limits are told of.
CREATE FUNCTION lives_here(company bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT COALESCE((SELECT x.number = c.region_id FROM cell x), NOT EXISTS (SELECT FROM cells z WHERE z.region_id = c.region_id))
    FROM customers c WHERE c.id = company
$$;

-- keep_counts keeps what was told of companies that were asked for: by one cell, or where teller is NULL by all others. What is not told is 0. Limits that are reached, or nearly, by what
-- has grown there are told of.
CREATE FUNCTION keep_counts(asked bigint[], teller bigint, cells bigint[], companies bigint[], names text[], days date[], counts bigint[], ages double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    grown_of   bigint[];
    grown_name text[];
    today      date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    SELECT array_agg(t.id), array_agg(t.name) INTO grown_of, grown_name
    FROM (SELECT DISTINCT t.id, t.name FROM unnest(cells, companies, names, days, counts) t(cell, id, name, day, n)
        LEFT JOIN counts_elsewhere e ON e.customer_id = t.id AND e.name = t.name AND e.cell = t.cell AND e.day IS NOT DISTINCT FROM t.day
        WHERE t.n > COALESCE(e.n, 0)) t;
    DELETE FROM counts_elsewhere e WHERE e.customer_id = ANY (asked) AND (e.cell = teller OR teller IS NULL)
        AND NOT EXISTS (SELECT FROM unnest(cells, companies, names) t(cell, id, name) WHERE t.id = e.customer_id AND t.name = e.name AND t.cell = e.cell);
    INSERT INTO counts_elsewhere AS e (customer_id, name, cell, n, day, as_of)
    SELECT t.id, t.name, t.cell, t.n, t.day, now() - t.age * interval '1 second'
    FROM unnest(cells, companies, names, days, counts, ages) t(cell, id, name, day, n, age) JOIN customers c ON c.id = t.id ORDER BY t.id, t.name, t.cell
    ON CONFLICT (customer_id, name, cell) DO UPDATE SET n = excluded.n, day = excluded.day, as_of = excluded.as_of
        WHERE e.n <> excluded.n OR e.day IS DISTINCT FROM excluded.day OR e.as_of < excluded.as_of - interval '1 minute';
    INSERT INTO limit_notices (customer_id, name, level, day, used, most)
    SELECT g.id, g.name, CASE WHEN u.used >= l.most THEN 100 ELSE 80 END, today, u.used, l.most
    FROM unnest(grown_of, grown_name) g(id, name) CROSS JOIN LATERAL (SELECT limit_of(g.id, g.name) AS most) l
    CROSS JOIN LATERAL (SELECT sum(n)::bigint AS used FROM (
        SELECT n, day FROM usage_counts WHERE customer_id = g.id AND name = g.name
        UNION ALL SELECT n, day FROM counts_elsewhere WHERE customer_id = g.id AND name = g.name) u WHERE day IS NULL OR day = today) u
    WHERE u.used * 5 >= l.most * 4 AND lives_here(g.id)
    ON CONFLICT DO NOTHING;
END $$;

-- exchange_counts is how a cell tells the home what it has counted of the companies that it asks for, and hears what all others have, by a role that has few rights there.
CREATE FUNCTION exchange_counts(teller bigint, asked bigint[], companies bigint[], names text[], days date[], counts bigint[])
RETURNS TABLE (customer_id bigint, name text, cell bigint, n bigint, day date, age double precision) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM cells z WHERE z.region_id = teller) THEN
        RAISE EXCEPTION 'the home knows of no cell %', teller;
    END IF;
    PERFORM keep_counts(asked, teller, array_fill(teller, ARRAY[cardinality(companies)]), companies, names, days, counts, array_fill(0::double precision, ARRAY[cardinality(companies)]));
    RETURN QUERY
        SELECT e.customer_id, e.name, e.cell, e.n, e.day, EXTRACT(epoch FROM now() - e.as_of)::double precision
        FROM counts_elsewhere e WHERE e.customer_id = ANY (asked) AND e.cell <> teller
        UNION ALL
        SELECT u.customer_id, u.name, 0, sum(u.n)::bigint, u.day, 0
        FROM usage_counts u WHERE u.customer_id = ANY (asked) AND (u.day IS NULL OR u.day = (now() AT TIME ZONE 'UTC')::date)
        GROUP BY u.customer_id, u.name, u.day HAVING sum(u.n) <> 0;
END $$;
REVOKE EXECUTE ON FUNCTION exchange_counts(bigint, bigint[], bigint[], text[], date[], bigint[]) FROM PUBLIC;

-- A limit is held against what all cells have, where there are cells: the trigger then has an argument, with which it is made for the first one.
CREATE OR REPLACE FUNCTION usage_within_limit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    this text := ' ' || NEW.customer_id || '/' || NEW.name || ' ';
    seen text := current_setting('canopy.counted', true);
    lock bigint := hashtextextended('canopy limit' || this, 0);
    most bigint := NEW.most;
    used bigint;
    own  bigint;
BEGIN
    IF position(this IN seen) > 0 THEN
        RETURN NULL;
    END IF;
    this := set_config('canopy.counted', concat(seen, this), true);
    IF TG_NARGS > 0 THEN
        SELECT NEW.most - COALESCE(sum(e.n), 0) INTO most
        FROM counts_elsewhere e WHERE e.customer_id = NEW.customer_id AND e.name = NEW.name AND e.day IS NOT DISTINCT FROM NEW.day;
    END IF;
    BEGIN
        IF pg_try_advisory_xact_lock_shared(lock) THEN
            SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = NEW.writer), 0) INTO used, own
            FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
        END IF;
        IF used IS NULL OR used > most - NEW.most / 10 OR own > NEW.most / 10 / current_setting('max_connections')::bigint THEN
            RAISE SQLSTATE 'CL000'; -- which gives the lock back
        END IF;
    EXCEPTION WHEN SQLSTATE 'CL000' THEN
        PERFORM pg_advisory_xact_lock(lock);
        SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = NEW.writer), 0) INTO used, own
        FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
    END;
    IF used > most AND own > 0 THEN
        RAISE EXCEPTION 'the limit % of company % is reached', NEW.name, NEW.customer_id USING ERRCODE = 'CL001',
            DETAIL = json_build_object('customerId', NEW.customer_id, 'name', NEW.name, 'used', used - own + NEW.most - most, 'max', NEW.most);
    END IF;
    IF (used + NEW.most - most) * 5 >= NEW.most * 4 AND (TG_NARGS = 0 OR lives_here(NEW.customer_id)) THEN
        INSERT INTO limit_notices (customer_id, name, level, day, used, most)
        VALUES (NEW.customer_id, NEW.name, CASE WHEN used >= most THEN 100 ELSE 80 END, (now() AT TIME ZONE 'UTC')::date, used + NEW.most - most, NEW.most)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;

-- move_counts takes what is counted of a company from those that it was below, and gives it to those that it is below now: also what cells have told, as they will tell it anew. What was
-- done on a day stays counted where it was done. A company that comes right below the root is bound by the limits of all that are there, and what cells have by those of all that it comes below.
CREATE OR REPLACE FUNCTION move_counts(moved bigint, past bigint[], joined bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    over record;
BEGIN
    PERFORM count_at(array_agg(u.name), array_agg(NULL::date), array_agg(k.id), array_agg(k.sign * u.n)) FROM (
        SELECT name, sum(n)::bigint + CASE name WHEN 'customers' THEN 1 ELSE 0 END AS n FROM (
            SELECT c.name, c.n FROM usage_counts c WHERE c.customer_id = moved AND c.day IS NULL AND c.name <> 'users'
            UNION ALL SELECT 'customers', 0) c GROUP BY name) u
    CROSS JOIN (SELECT id, -1 FROM unnest(past) id UNION ALL SELECT id, 1 FROM unnest(joined) id) k(id, sign);
    INSERT INTO counts_elsewhere AS o (customer_id, name, cell, n, as_of)
    SELECT k.id, e.name, e.cell, k.sign * e.n, e.as_of FROM counts_elsewhere e
    CROSS JOIN (SELECT id, -1 FROM unnest(past) id UNION ALL SELECT id, 1 FROM unnest(joined) id) k(id, sign)
    WHERE e.customer_id = moved AND e.day IS NULL ORDER BY k.id, e.name, e.cell
    ON CONFLICT (customer_id, name, cell) DO UPDATE SET n = o.n + excluded.n;
    SELECT w.id, w.name, w.used, w.most, w.added INTO over FROM (
        SELECT k.id, t.name, limit_of(k.id, t.name) AS most, CASE k.id WHEN moved THEN 0 ELSE t.elsewhere END AS added,
            (SELECT sum(n) FROM (SELECT n FROM usage_counts WHERE customer_id = k.id AND name = t.name AND day IS NULL
                UNION ALL SELECT n FROM counts_elsewhere WHERE customer_id = k.id AND name = t.name AND day IS NULL) u)::bigint AS used
        FROM (SELECT name, sum(elsewhere)::bigint AS elsewhere FROM (
                SELECT name, 0 AS elsewhere FROM usage_counts WHERE customer_id = moved AND day IS NULL
                UNION ALL SELECT name, n FROM counts_elsewhere WHERE customer_id = moved AND day IS NULL) c GROUP BY name) t
        CROSS JOIN (SELECT moved AS id WHERE cardinality(past) > 0 AND (SELECT c.level FROM customers c WHERE c.id = moved) = 1 UNION ALL SELECT unnest(joined)) k
        WHERE k.id = moved OR t.elsewhere > 0) w
    WHERE w.used > w.most ORDER BY w.name, w.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the limit % of company % is reached', over.name, over.id USING ERRCODE = 'CL001',
            DETAIL = json_build_object('customerId', over.id, 'name', over.name, 'used', over.used - over.added, 'max', over.most);
    END IF;
END $$;

-- What has gone with a company at the home is forgotten in a cell, too.
CREATE FUNCTION customer_gone_at_home() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    DELETE FROM counts_elsewhere WHERE customer_id = OLD.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER customer_gone_at_home AFTER DELETE ON customers FOR EACH ROW EXECUTE FUNCTION customer_gone_at_home();
ALTER TABLE customers ENABLE REPLICA TRIGGER customer_gone_at_home;

-- +goose Down
DROP TRIGGER customer_gone_at_home ON customers;
DROP FUNCTION customer_gone_at_home(), exchange_counts(bigint, bigint[], bigint[], text[], date[], bigint[]),
    keep_counts(bigint[], bigint, bigint[], bigint[], text[], date[], bigint[], double precision[]);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION usage_within_limit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    this text := ' ' || NEW.customer_id || '/' || NEW.name || ' ';
    seen text := current_setting('canopy.counted', true);
    lock bigint := hashtextextended('canopy limit' || this, 0);
    used bigint;
    own  bigint;
BEGIN
    IF position(this IN seen) > 0 THEN
        RETURN NULL;
    END IF;
    this := set_config('canopy.counted', concat(seen, this), true);
    BEGIN
        IF pg_try_advisory_xact_lock_shared(lock) THEN
            SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = NEW.writer), 0) INTO used, own
            FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
        END IF;
        IF used IS NULL OR used > NEW.most - NEW.most / 10 OR own > NEW.most / 10 / current_setting('max_connections')::bigint THEN
            RAISE SQLSTATE 'CL000'; -- which gives the lock back
        END IF;
    EXCEPTION WHEN SQLSTATE 'CL000' THEN
        PERFORM pg_advisory_xact_lock(lock);
        SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = NEW.writer), 0) INTO used, own
        FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
    END;
    IF used > NEW.most AND own > 0 THEN
        RAISE EXCEPTION 'the limit % of company % is reached', NEW.name, NEW.customer_id USING ERRCODE = 'CL001',
            DETAIL = json_build_object('customerId', NEW.customer_id, 'name', NEW.name, 'used', used - own, 'max', NEW.most);
    END IF;
    IF used * 5 >= NEW.most * 4 THEN
        INSERT INTO limit_notices (customer_id, name, level, day, used, most)
        VALUES (NEW.customer_id, NEW.name, CASE WHEN used >= NEW.most THEN 100 ELSE 80 END, (now() AT TIME ZONE 'UTC')::date, used, NEW.most)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION move_counts(moved bigint, past bigint[], joined bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    over record;
BEGIN
    PERFORM count_at(array_agg(u.name), array_agg(NULL::date), array_agg(k.id), array_agg(k.sign * u.n)) FROM (
        SELECT name, sum(n)::bigint + CASE name WHEN 'customers' THEN 1 ELSE 0 END AS n FROM (
            SELECT c.name, c.n FROM usage_counts c WHERE c.customer_id = moved AND c.day IS NULL AND c.name <> 'users'
            UNION ALL SELECT 'customers', 0) c GROUP BY name) u
    CROSS JOIN (SELECT id, -1 FROM unnest(past) id UNION ALL SELECT id, 1 FROM unnest(joined) id) k(id, sign);
    SELECT c.name, sum(c.n)::bigint AS used, limit_of(moved, c.name) AS most INTO over FROM usage_counts c
    WHERE c.customer_id = moved AND c.day IS NULL AND cardinality(past) > 0 GROUP BY c.name HAVING sum(c.n) > limit_of(moved, c.name) ORDER BY c.name LIMIT 1;
    IF FOUND AND (SELECT c.level FROM customers c WHERE c.id = moved) = 1 THEN
        RAISE EXCEPTION 'the limit % of company % is reached', over.name, moved USING ERRCODE = 'CL001',
            DETAIL = json_build_object('customerId', moved, 'name', over.name, 'used', over.used, 'max', over.most);
    END IF;
END $$;
-- +goose StatementEnd
DROP FUNCTION lives_here(bigint);
DROP TABLE counts_elsewhere;
