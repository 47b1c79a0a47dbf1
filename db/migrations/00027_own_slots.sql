-- Writers that count for a company at the same time no longer look for a slot that is free: each session has
-- one of its own.

-- +goose Up

-- own_slot is the slot of counts that no session but this one writes: the first number, below zero, that none of those
-- which live has taken. A session that forgets its settings takes another.
-- +goose StatementBegin
CREATE FUNCTION own_slot() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    own integer := COALESCE(NULLIF(current_setting('canopy.own_slot', true), ''), '0');
BEGIN
    IF own = 0 THEN
        LOOP
            own := own - 1;
            EXIT WHEN pg_try_advisory_lock(hashtext('canopy slot'), own);
        END LOOP;
        PERFORM set_config('canopy.own_slot', own::text, false);
    END IF;
    RETURN own;
END $$;

-- count_at adds to the counts of companies: of each a name, its day where it has one, and how much. The first slot is
-- everybody's, as most companies have one writer at a time; whoever finds it held, or of a later day, as a transaction
-- does that began before midnight, counts in the slot of its session, so that nobody waits. What is changed in one
-- statement is held against the limits in its order, when the transaction commits.
CREATE OR REPLACE FUNCTION count_at(what text[], days date[], companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql STRICT SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    WITH total AS (
        SELECT c.id, c.level, a.name, a.day, sum(a.n)::bigint AS n
        FROM unnest(what, days, companies, added) a(name, day, id, n) JOIN customers c ON c.id = a.id
        GROUP BY c.id, a.name, a.day HAVING sum(a.n) <> 0),
    place AS (
        SELECT t.*, f.slot AS first, h.slot AS held, COALESCE(l.most, d.most) AS most FROM total t
        LEFT JOIN customer_limits l ON l.customer_id = t.id AND l.name = t.name
        LEFT JOIN default_limits d ON d.name = t.name AND t.level = 1
        LEFT JOIN LATERAL (
            SELECT u.slot FROM usage_counts u WHERE u.customer_id = t.id AND u.name = t.name AND u.slot > 0 ORDER BY u.slot LIMIT 1) f ON true
        LEFT JOIN LATERAL (
            SELECT u.slot FROM usage_counts u WHERE u.customer_id = t.id AND u.name = t.name AND u.slot = f.slot AND (u.day <= t.day) IS NOT FALSE
            FOR NO KEY UPDATE SKIP LOCKED) h ON true)
    INSERT INTO usage_counts AS u (customer_id, name, slot, n, day, writer, grown, most)
    SELECT p.id, p.name, CASE WHEN p.first IS NULL THEN nextval('usage_counts_slot_seq') ELSE COALESCE(p.held, own_slot()) END,
        p.n, p.day, txid_current(), p.n, p.most
    FROM place p ORDER BY p.id, p.name, p.day
    ON CONFLICT (customer_id, name, slot) DO UPDATE SET
        n = excluded.n + CASE WHEN u.day IS NOT DISTINCT FROM excluded.day THEN u.n ELSE 0 END, day = excluded.day, most = excluded.most,
        grown = excluded.grown + CASE WHEN u.writer = excluded.writer THEN u.grown ELSE 0 END, writer = excluded.writer;
END $$;

-- membership_made notes the persons of all companies above. A row that is there already is held until the transaction
-- ends, so that nobody takes it away meanwhile, as one that is no longer needed. Others can hold it, too.
CREATE FUNCTION membership_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    had bigint;
BEGIN
    LOOP
        INSERT INTO subtree_users (customer_id, user_id) SELECT unnest(NEW.lineage), NEW.user_id ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS had = ROW_COUNT;
        EXIT WHEN had = cardinality(NEW.lineage);
        PERFORM 1 FROM subtree_users s WHERE s.customer_id = ANY (NEW.lineage) AND s.user_id = NEW.user_id ORDER BY s.customer_id FOR KEY SHARE;
        GET DIAGNOSTICS had = ROW_COUNT;
        EXIT WHEN had = cardinality(NEW.lineage);
    END LOOP;
    RETURN NULL;
END $$;

-- What is told of a limit, and when a change is refused, is as before: a lock that another holds alone is not waited for twice.
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
-- +goose StatementEnd
DROP TRIGGER memberships_made ON memberships;
DROP FUNCTION memberships_made();
CREATE TRIGGER memberships_made AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION membership_made();
-- Old versions of a row stay in its page until three quarters of it are full, and whoever reads the row walks past them.
ALTER TABLE usage_counts SET (fillfactor = 25);

-- +goose Down
ALTER TABLE usage_counts SET (fillfactor = 50);
DROP TRIGGER memberships_made ON memberships;
DROP FUNCTION membership_made();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_at(what text[], days date[], companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql STRICT SET plan_cache_mode = force_generic_plan AS $$
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
            SELECT u.slot FROM usage_counts u WHERE u.customer_id = t.id AND u.name = t.name AND (u.day <= t.day) IS NOT FALSE
            ORDER BY u.slot LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) f ON true)
    INSERT INTO usage_counts AS u (customer_id, name, slot, n, day, writer, grown, most)
    SELECT p.id, p.name, COALESCE(p.slot, nextval('usage_counts_slot_seq')), p.n, p.day, txid_current(), p.n, p.most
    FROM place p ORDER BY p.id, p.name, p.day
    ON CONFLICT (customer_id, name, slot) DO UPDATE SET
        n = excluded.n + CASE WHEN u.day IS NOT DISTINCT FROM excluded.day THEN u.n ELSE 0 END, day = excluded.day, most = excluded.most,
        grown = excluded.grown + CASE WHEN u.writer = excluded.writer THEN u.grown ELSE 0 END, writer = excluded.writer;
END $$;
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
CREATE FUNCTION memberships_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint;
    had    bigint;
BEGIN
    SELECT count(*) INTO wanted FROM (
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id)) w;
    LOOP
        INSERT INTO subtree_users (customer_id, user_id)
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id)
        ORDER BY 1, 2 ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS had = ROW_COUNT;
        EXIT WHEN had = wanted;
        SELECT count(*) INTO had FROM (
            SELECT 1 FROM subtree_users s WHERE (s.customer_id, s.user_id) IN (
                SELECT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id))
            ORDER BY s.customer_id, s.user_id FOR KEY SHARE) held;
        EXIT WHEN had = wanted;
    END LOOP;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER memberships_made AFTER INSERT ON memberships
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION memberships_made();
DROP FUNCTION own_slot();
