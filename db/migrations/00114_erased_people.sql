-- +canopy compatible
-- People who were erased at the home, until what tells of them in a cell is erased, too. The trigger fires for replicated rows alone.

-- +goose Up
CREATE TABLE erased_people (
    user_id    bigint      PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- +goose StatementBegin
CREATE FUNCTION user_replicated() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO erased_people (user_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- It is one for rows that come by the first copy, too: those of a cell that is filled anew.
CREATE TRIGGER user_replicated AFTER INSERT OR UPDATE OF erased_at ON users FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION user_replicated();
ALTER TABLE users ENABLE REPLICA TRIGGER user_replicated;

-- +goose Down
DROP TRIGGER user_replicated ON users;
DROP FUNCTION user_replicated();
DROP TABLE erased_people;
