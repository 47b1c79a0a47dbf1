-- A change is counted by one statement, for all companies and all that it changes of them, and only what has a limit
-- is looked at when the transaction commits.

-- +goose Up

-- most is the limit, as it was when the row was last counted: one that is set meanwhile comes after what was counted.
ALTER TABLE usage_counts ADD COLUMN most bigint;

-- +goose StatementBegin
DROP FUNCTION count_at(text, date, bigint[], bigint[]);
-- count_at adds to the counts of companies: of each a name, its day where it has one, and how much. A slot that
-- another holds is passed over, so that nobody waits.
CREATE FUNCTION count_at(what text[], days date[], companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql STRICT SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    me bigint := txid_current();
BEGIN
    WITH total AS (
        SELECT c.id, c.level, a.name, a.day, sum(a.n)::bigint AS n
        FROM unnest(what, days, companies, added) a(name, day, id, n) JOIN customers c ON c.id = a.id
        GROUP BY c.id, a.name, a.day HAVING sum(a.n) <> 0),
    place AS (
        SELECT t.*, f.slot, COALESCE(l.most, d.most) AS most FROM total t
        LEFT JOIN customer_limits l ON l.customer_id = t.id AND l.name = t.name
        LEFT JOIN default_limits d ON d.name = t.name AND t.level = 1
        LEFT JOIN LATERAL (
            SELECT u.slot FROM usage_counts u WHERE u.customer_id = t.id AND u.name = t.name
            ORDER BY u.slot LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) f ON true
        ORDER BY t.id, t.name),
    found AS (
        UPDATE usage_counts u SET
            n = p.n + CASE WHEN u.day IS NOT DISTINCT FROM p.day THEN u.n ELSE 0 END, day = p.day, most = p.most,
            grown = p.n + CASE WHEN u.writer = me THEN u.grown ELSE 0 END, writer = me
        FROM place p WHERE u.customer_id = p.id AND u.name = p.name AND u.slot = p.slot)
    INSERT INTO usage_counts (customer_id, name, n, day, writer, grown, most)
    SELECT p.id, p.name, p.n, p.day, me, p.n, p.most FROM place p WHERE p.slot IS NULL;
END $$;

-- count_from adds to the counts of companies and of all that are above them.
CREATE OR REPLACE FUNCTION count_from(what text, today date, companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM count_at(array_agg(what), array_agg(today), array_agg(above.id), array_agg(a.n))
    FROM unnest(companies, added) a(id, n) JOIN customers c ON c.id = a.id CROSS JOIN unnest(c.lineage) above(id) WHERE a.n <> 0;
END $$;
-- +goose StatementEnd

-- What is told of a limit, and when a change is refused, is as before.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION usage_within_limit() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    this text := ' ' || NEW.customer_id || '/' || NEW.name || ' ';
    seen text := COALESCE(current_setting('canopy.counted', true), '');
    lock bigint := hashtextextended('canopy limit' || this, 0);
    used bigint;
    own  bigint;
BEGIN
    IF position(this IN seen) > 0 THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('canopy.counted', seen || this, true);
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(lock);
        SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = txid_current()), 0) INTO used, own
        FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
        IF used > NEW.most - NEW.most / 10 OR own > NEW.most / 10 / current_setting('max_connections')::bigint THEN
            RAISE SQLSTATE 'CL000'; -- which gives the lock back
        END IF;
    EXCEPTION WHEN SQLSTATE 'CL000' THEN
        PERFORM pg_advisory_xact_lock(lock);
        SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = txid_current()), 0) INTO used, own
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
-- +goose StatementEnd
DROP TRIGGER usage_within_limit ON usage_counts;
CREATE CONSTRAINT TRIGGER usage_within_limit AFTER INSERT OR UPDATE ON usage_counts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.grown > 0 AND NEW.most IS NOT NULL) EXECUTE FUNCTION usage_within_limit();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION customers_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at(array_agg('customers'::text), array_agg(NULL::date), array_agg(above.id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x CROSS JOIN unnest(x.lineage[1:x.level]) above(id);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION subtree_users_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at(array_agg('users'::text), array_agg(NULL::date), array_agg(x.customer_id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x;
    RETURN NULL;
END $$;
CREATE FUNCTION runs_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('runsPerDay', (now() AT TIME ZONE 'UTC')::date, array_agg(t.customer_id), array_agg(t.n)),
        count_from('concurrentRuns', NULL, array_agg(t.customer_id), array_agg(t.running))
    FROM (SELECT a.customer_id, count(*) AS n, count(*) FILTER (WHERE x.status = 'running') AS running
        FROM changed x JOIN accounts a ON a.id = x.account_id GROUP BY a.customer_id) t;
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER run_made ON runs;
DROP FUNCTION run_made();
CREATE TRIGGER runs_made AFTER INSERT ON runs
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION runs_made();

-- +goose Down
DROP TRIGGER runs_made ON runs;
DROP FUNCTION runs_made(), count_at(text[], date[], bigint[], bigint[]);
-- +goose StatementBegin
CREATE FUNCTION count_at(what text, today date, companies bigint[], added bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    me bigint := txid_current();
    a  record;
BEGIN
    FOR a IN SELECT c.id, sum(d.n)::bigint AS n FROM unnest(companies, added) d(id, n) JOIN customers c ON c.id = d.id
             GROUP BY c.id HAVING sum(d.n) <> 0 ORDER BY c.id LOOP
        UPDATE usage_counts u SET
            n = a.n + CASE WHEN u.day IS NOT DISTINCT FROM today THEN u.n ELSE 0 END, day = today,
            grown = a.n + CASE WHEN u.writer = me THEN u.grown ELSE 0 END, writer = me
        WHERE u.customer_id = a.id AND u.name = what AND u.slot = (
            SELECT f.slot FROM usage_counts f WHERE f.customer_id = a.id AND f.name = what
            ORDER BY f.slot LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO usage_counts (customer_id, name, n, day, writer, grown) VALUES (a.id, what, a.n, today, me, a.n);
        END IF;
    END LOOP;
END $$;
CREATE OR REPLACE FUNCTION count_from(what text, today date, companies bigint[], added bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at(what, today, array_agg(above.id), array_agg(d.n))
    FROM unnest(companies, added) d(id, n) JOIN customers c ON c.id = d.id CROSS JOIN unnest(c.lineage) above(id) WHERE d.n <> 0;
END $$;
CREATE OR REPLACE FUNCTION usage_within_limit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    most bigint := limit_of(NEW.customer_id, NEW.name);
    this text := ' ' || NEW.customer_id || '/' || NEW.name || ' ';
    seen text := COALESCE(current_setting('canopy.counted', true), '');
    lock bigint := hashtextextended('canopy limit' || this, 0);
    used bigint;
    own  bigint;
BEGIN
    IF most IS NULL OR position(this IN seen) > 0 THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('canopy.counted', seen || this, true);
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(lock);
        SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = txid_current()), 0) INTO used, own
        FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
        IF used > most - most / 10 OR own > most / 10 / current_setting('max_connections')::bigint THEN
            RAISE SQLSTATE 'CL000'; -- which gives the lock back
        END IF;
    EXCEPTION WHEN SQLSTATE 'CL000' THEN
        PERFORM pg_advisory_xact_lock(lock);
        SELECT sum(u.n), COALESCE(sum(u.grown) FILTER (WHERE u.writer = txid_current()), 0) INTO used, own
        FROM usage_counts u WHERE u.customer_id = NEW.customer_id AND u.name = NEW.name AND u.day IS NOT DISTINCT FROM NEW.day;
    END;
    IF used > most AND own > 0 THEN
        RAISE EXCEPTION 'the limit % of company % is reached', NEW.name, NEW.customer_id USING ERRCODE = 'CL001',
            DETAIL = json_build_object('customerId', NEW.customer_id, 'name', NEW.name, 'used', used - own, 'max', most);
    END IF;
    IF used * 5 >= most * 4 THEN
        INSERT INTO limit_notices (customer_id, name, level, day, used, most)
        VALUES (NEW.customer_id, NEW.name, CASE WHEN used >= most THEN 100 ELSE 80 END, (now() AT TIME ZONE 'UTC')::date, used, most)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION customers_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at('customers', NULL, array_agg(above.id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x CROSS JOIN unnest(x.lineage[1:x.level]) above(id);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION subtree_users_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at('users', NULL, array_agg(x.customer_id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint)) FROM changed x;
    RETURN NULL;
END $$;
CREATE FUNCTION run_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_from('runsPerDay', (now() AT TIME ZONE 'UTC')::date, ARRAY[a.customer_id], ARRAY[1]::bigint[]),
        count_from('concurrentRuns', NULL, ARRAY[a.customer_id], ARRAY[CASE NEW.status WHEN 'running' THEN 1 ELSE 0 END]::bigint[])
    FROM accounts a WHERE a.id = NEW.account_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER run_made AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION run_made();
DROP TRIGGER usage_within_limit ON usage_counts;
CREATE CONSTRAINT TRIGGER usage_within_limit AFTER INSERT OR UPDATE ON usage_counts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.grown > 0) EXECUTE FUNCTION usage_within_limit();
ALTER TABLE usage_counts DROP COLUMN most;
