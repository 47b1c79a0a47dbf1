-- +canopy compatible
-- A company knows how often it was moved, by itself or with one above it: that it is where it was says nothing where it was elsewhere meanwhile.

-- +goose Up
ALTER TABLE customers ADD COLUMN moves integer NOT NULL DEFAULT 0;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION move_customer(moved bigint, below bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    was    bigint[] := (SELECT c.lineage FROM customers c WHERE c.id = moved);
    above  bigint[] := (SELECT c.lineage FROM customers c WHERE c.id = below);
    deep   integer  := cardinality(was);
    past   bigint[] := ARRAY(SELECT id FROM unnest(was[1:deep - 1]) id WHERE id <> ALL (above) ORDER BY id);
    joined bigint[] := ARRAY(SELECT id FROM unnest(above) id WHERE id <> ALL (was) ORDER BY id);
    whole  bigint[] := ARRAY(SELECT c.id FROM customers c WHERE c.lineage >= was AND c.lineage < was[1:deep - 1] || (moved + 1));
BEGIN
    PERFORM set_config('canopy.moving', 'on', true);
    UPDATE customers SET parent_id = below, lineage = above || moved, moves = moves + 1 WHERE id = moved;
    UPDATE customers c SET lineage = above || c.lineage[deep:], moves = moves + 1 WHERE c.lineage > was AND c.lineage < was[1:deep - 1] || (moved + 1);
    UPDATE memberships m SET lineage = above || m.lineage[deep:] WHERE m.customer_id = ANY (whole);
    PERFORM set_config('canopy.moving', 'off', true);
    PERFORM move_users(moved, past, joined);
    PERFORM move_counts(moved, past, joined);
    IF was[2] <> (above || moved)[2] THEN
        PERFORM move_work(moved, was[2], (above || moved)[2]);
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION move_customer(moved bigint, below bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    was    bigint[] := (SELECT c.lineage FROM customers c WHERE c.id = moved);
    above  bigint[] := (SELECT c.lineage FROM customers c WHERE c.id = below);
    deep   integer  := cardinality(was);
    past   bigint[] := ARRAY(SELECT id FROM unnest(was[1:deep - 1]) id WHERE id <> ALL (above) ORDER BY id);
    joined bigint[] := ARRAY(SELECT id FROM unnest(above) id WHERE id <> ALL (was) ORDER BY id);
    whole  bigint[] := ARRAY(SELECT c.id FROM customers c WHERE c.lineage >= was AND c.lineage < was[1:deep - 1] || (moved + 1));
BEGIN
    PERFORM set_config('canopy.moving', 'on', true);
    UPDATE customers SET parent_id = below, lineage = above || moved WHERE id = moved;
    UPDATE customers c SET lineage = above || c.lineage[deep:] WHERE c.lineage > was AND c.lineage < was[1:deep - 1] || (moved + 1);
    UPDATE memberships m SET lineage = above || m.lineage[deep:] WHERE m.customer_id = ANY (whole);
    PERFORM set_config('canopy.moving', 'off', true);
    PERFORM move_users(moved, past, joined);
    PERFORM move_counts(moved, past, joined);
    IF was[2] <> (above || moved)[2] THEN
        PERFORM move_work(moved, was[2], (above || moved)[2]);
    END IF;
END $$;
-- +goose StatementEnd

ALTER TABLE customers DROP COLUMN moves;
