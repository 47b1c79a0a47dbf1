-- +canopy compatible
-- A cell, too, refuses what belongs to companies of other regions: it has its own region as the second argument of the trigger, which the home leaves out.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION refused_elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    holder bigint;
    own    bigint := TG_ARGV[1]; -- NULL at the home, which keeps what no cell has
    there  record;
BEGIN
    IF TG_ARGV[0] = 'account_id' THEN
        SELECT customer_id INTO holder FROM accounts WHERE id = NEW.account_id;
    ELSE
        holder := NEW.customer_id;
    END IF;
    SELECT CASE WHEN z.region_id IS NULL THEN '' ELSE r.code END AS code, COALESCE(z.address, '') AS address INTO there
    FROM customers c JOIN regions r ON r.id = c.region_id LEFT JOIN cells z ON z.region_id = r.id
    WHERE c.id = holder AND CASE WHEN own IS NULL THEN z.region_id IS NOT NULL ELSE c.region_id <> own END;
    IF FOUND THEN
        RAISE EXCEPTION 'a row of % lives in the cell of %', TG_TABLE_NAME, there.code USING ERRCODE = 'CC002', DETAIL = there.code, HINT = there.address;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
DECLARE
    held regclass;
BEGIN
    FOR held IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'refused_elsewhere' AND tgnargs > 1 LOOP
        EXECUTE format('DROP TRIGGER refused_elsewhere ON %s', held);
    END LOOP;
END $$;
CREATE OR REPLACE FUNCTION refused_elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    holder bigint;
    there  record;
BEGIN
    IF TG_ARGV[0] = 'account_id' THEN
        SELECT customer_id INTO holder FROM accounts WHERE id = NEW.account_id;
    ELSE
        holder := NEW.customer_id;
    END IF;
    SELECT r.code, z.address INTO there FROM customers c JOIN cells z ON z.region_id = c.region_id JOIN regions r ON r.id = z.region_id WHERE c.id = holder;
    IF FOUND THEN
        RAISE EXCEPTION 'a row of % lives in the cell of %', TG_TABLE_NAME, there.code USING ERRCODE = 'CC002', DETAIL = there.code, HINT = there.address;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
