-- +canopy compatible
-- What companies knew of those who have left goes with the person who is erased, by whichever version of the program.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION users_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM former_members WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER users_erased AFTER UPDATE OF erased_at ON users FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION users_erased();

-- +goose Down
DROP TRIGGER users_erased ON users;
DROP FUNCTION users_erased();
