-- +canopy compatible
-- Whoever accepts a company is called there by the own name from then on: a change of that name which is under way is waited for, and one that comes later
-- finds the membership accepted.

-- +goose Up
-- +goose StatementBegin
-- The person is held before the names, as who changes it does, and so that several who accept for one person come one after another: of two who hold it
-- together, neither could change it.
CREATE OR REPLACE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.accepted_at IS NULL AND NEW.accepted_at IS NOT NULL THEN
        PERFORM FROM users o WHERE o.id = NEW.user_id FOR NO KEY UPDATE;
    END IF;
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    PERFORM name_members(ARRAY[NEW.customer_id], NEW.user_id);
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    PERFORM name_members(ARRAY[NEW.customer_id], NEW.user_id);
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;
-- +goose StatementEnd
