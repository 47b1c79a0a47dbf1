-- A move changes the version of the company that moves, and not those of the companies below it: of these nothing is changed that is shown.

-- +goose Up
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
    UPDATE customers c SET parent_id = CASE c.id WHEN moved THEN below ELSE c.parent_id END, lineage = above || c.lineage[deep:]
    WHERE c.lineage >= was AND c.lineage < was[1:deep - 1] || (moved + 1);
    UPDATE memberships m SET lineage = above || m.lineage[deep:] WHERE m.customer_id = ANY (whole);
    PERFORM set_config('canopy.moving', 'off', true);
    PERFORM move_users(moved, past, joined);
    PERFORM move_counts(moved, past, joined);
    IF was[2] <> (above || moved)[2] THEN
        PERFORM move_work(moved, was[2], (above || moved)[2]);
    END IF;
END $$;
-- +goose StatementEnd
