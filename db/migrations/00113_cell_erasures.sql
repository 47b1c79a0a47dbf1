-- +canopy compatible
-- Which cells have nothing left of deleted companies whose time is over. The home erases these once all have that are theirs.

-- +goose Up
CREATE TABLE cell_erasures (
    customer_id bigint      NOT NULL REFERENCES customers ON DELETE CASCADE,
    region_id   bigint      NOT NULL REFERENCES regions,
    erased_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (customer_id, region_id)
);

-- erased_in_cell is how the home is told, by a role that has few rights there. What can be restored is not erased.
-- +goose StatementBegin
CREATE FUNCTION erased_in_cell(region bigint, customer bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO cell_erasures (customer_id, region_id)
    SELECT c.id, region FROM customers c WHERE c.id = customer AND c.status = 'DELETED' AND c.erase_at <= now()
    ON CONFLICT DO NOTHING;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION erased_in_cell(bigint, bigint) FROM PUBLIC;

-- +goose Down
DROP FUNCTION erased_in_cell(bigint, bigint);
DROP TABLE cell_erasures;
