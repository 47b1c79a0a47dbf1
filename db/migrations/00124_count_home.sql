-- +canopy compatible
-- What a cell asks for when a change was passed on to the home: a number that is counted up behind that change, so that a replica that has it has the change, too.
-- ask_home counts once a second at most, and what it gives may be older than the change.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION count_home() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE pulse SET n = n + 1, counted_at = clock_timestamp() RETURNING n
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION count_home() FROM PUBLIC;

-- +goose Down
DROP FUNCTION count_home();
