-- +canopy compatible
-- A number that is counted up at the home at most once a second, whenever a cell asks for it: a cell that has got it by replication has all that was committed before it.

-- +goose Up
CREATE TABLE pulse (
    only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    n          bigint      NOT NULL DEFAULT 0,
    counted_at timestamptz NOT NULL DEFAULT now()
);

-- ask_home is what a cell asks at the home, by a role that has few rights there: it tells its schema's version, and hears the number.
-- +goose StatementBegin
CREATE FUNCTION ask_home(region bigint, version bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    now_at bigint;
BEGIN
    UPDATE cells SET schema_version = version, seen_at = now()
    WHERE region_id = region AND (schema_version IS DISTINCT FROM version OR (seen_at > now() - interval '10 seconds') IS NOT TRUE);
    UPDATE pulse SET n = n + 1, counted_at = clock_timestamp() WHERE counted_at < clock_timestamp() - interval '900 milliseconds';
    SELECT n INTO now_at FROM pulse;
    RETURN now_at;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION ask_home(bigint, bigint) FROM PUBLIC;

-- +goose Down
DROP FUNCTION ask_home(bigint, bigint);
DROP TABLE pulse;
