-- +canopy compatible
-- Invitations tell who has added the person; nobody where the platform did, or before this.

-- +goose Up
ALTER TABLE memberships ADD COLUMN created_by bigint;
ALTER TABLE invitations ADD COLUMN created_by bigint;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION invitations_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO invitations (customer_id, user_id, email, created_by)
    SELECT customer_id, user_id, email, created_by FROM changed WHERE accepted_at IS NULL;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION invitations_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO invitations (customer_id, user_id, email) SELECT customer_id, user_id, email FROM changed WHERE accepted_at IS NULL;
    RETURN NULL;
END $$;
-- +goose StatementEnd
ALTER TABLE invitations DROP COLUMN created_by;
ALTER TABLE memberships DROP COLUMN created_by;
