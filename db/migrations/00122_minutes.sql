-- +canopy compatible
-- Limits by the minute hold for what the home and its cells count together: what each has counted is told by way of the home.

-- +goose Up
-- minutes_told has what processes of the home and of cells have counted in Redis of limits by the minute, by the keys of the counts. It can be lost: what is counted after that is told anew.
CREATE UNLOGGED TABLE minutes_told (
    key     text        NOT NULL,
    cell    bigint      NOT NULL, -- 0 for the home
    n       bigint      NOT NULL,
    told_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key, cell)
);
CREATE INDEX minutes_told_at ON minutes_told (told_at);

-- exchange_minutes is how the home and each cell tell what they have counted of the minute at hand, and hear what all others have, by a role that has few rights at the home.
-- +goose StatementBegin
CREATE FUNCTION exchange_minutes(teller bigint, keys text[], counts bigint[], most integer) RETURNS TABLE (key text, n bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF teller <> 0 AND NOT EXISTS (SELECT FROM cells z WHERE z.region_id = teller) THEN
        RAISE EXCEPTION 'the home knows of no cell %', teller;
    END IF;
    DELETE FROM minutes_told m WHERE m.ctid = ANY (ARRAY(SELECT ctid FROM minutes_told WHERE told_at < now() - interval '2 minutes' LIMIT most FOR UPDATE SKIP LOCKED));
    INSERT INTO minutes_told AS m (key, cell, n)
    SELECT t.key, teller, t.n FROM unnest(keys, counts) t(key, n) ORDER BY t.key LIMIT most
    ON CONFLICT (key, cell) DO UPDATE SET n = greatest(m.n, excluded.n), told_at = excluded.told_at;
    RETURN QUERY
        SELECT m.key, sum(m.n)::bigint FROM minutes_told m
        WHERE m.told_at >= now() - interval '1 minute' AND m.cell <> teller GROUP BY m.key ORDER BY 2 DESC LIMIT most;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION exchange_minutes(bigint, text[], bigint[], integer) FROM PUBLIC;

-- +goose Down
DROP FUNCTION exchange_minutes(bigint, text[], bigint[], integer);
DROP TABLE minutes_told;
