-- +canopy compatible
-- What is asked with each row of a log, a document or a run keeps its plan: a function in SQL is planned anew for each statement that calls it, which takes
-- more than what it does.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION branch_of(customer bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT c.lineage[LEAST(2, cardinality(c.lineage))] FROM customers c WHERE c.id = customer);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION limb_of(place bigint[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT l.id FROM unnest(place) WITH ORDINALITY a(id, nth) CROSS JOIN LATERAL (SELECT id FROM limbs WHERE id = a.id OFFSET 0) l ORDER BY a.nth DESC LIMIT 1);
END $$;
-- +goose StatementEnd

-- +goose Down
CREATE OR REPLACE FUNCTION limb_of(place bigint[]) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT l.id FROM unnest(place) WITH ORDINALITY a(id, nth) CROSS JOIN LATERAL (SELECT id FROM limbs WHERE id = a.id OFFSET 0) l ORDER BY a.nth DESC LIMIT 1
$$;
CREATE OR REPLACE FUNCTION branch_of(customer bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT c.lineage[LEAST(2, cardinality(c.lineage))] FROM customers c WHERE c.id = customer
$$;
