-- Counts are changed in the order of companies, so that two transactions near the limits of both never wait for
-- each other.

-- +goose Up

-- +goose StatementBegin
-- count_at adds to the counts of companies: of each a name, its day where it has one, and how much. A slot that
-- another holds is passed over, so that nobody waits, and so is one of a later day, which a transaction finds that
-- began before midnight. What is changed in one statement is held against the limits in its order, when the
-- transaction commits.
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
-- +goose StatementEnd

-- +goose Down
