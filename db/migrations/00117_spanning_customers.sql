-- +canopy compatible
-- The companies that have others below them in another cell, or are there themselves: each cell counts some of what is theirs. A home without cells has no row here, and customer_spans is behind a trigger
-- that is made with the first cell. One that does not span any more is kept, and costs a look at what it has.

-- +goose Up
CREATE TABLE spanning_customers (
    customer_id bigint PRIMARY KEY REFERENCES customers ON DELETE CASCADE
);

-- +goose StatementBegin
-- note_spanning notes those that there are.
CREATE FUNCTION note_spanning() RETURNS void LANGUAGE sql AS $$
    INSERT INTO spanning_customers (customer_id)
    SELECT DISTINCT above.id FROM customers c JOIN customers p ON p.id = c.parent_id
    LEFT JOIN cells z ON z.region_id = c.region_id LEFT JOIN cells y ON y.region_id = p.region_id CROSS JOIN unnest(p.lineage) above(id)
    WHERE z.region_id IS DISTINCT FROM y.region_id
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION customer_spans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO spanning_customers (customer_id)
    SELECT above.id FROM customers p LEFT JOIN cells y ON y.region_id = p.region_id LEFT JOIN cells z ON z.region_id = NEW.region_id CROSS JOIN unnest(p.lineage) above(id)
    WHERE p.id = NEW.parent_id AND (z.region_id IS DISTINCT FROM y.region_id OR EXISTS (SELECT FROM spanning_customers s WHERE s.customer_id = NEW.id))
        AND NOT EXISTS (SELECT FROM spanning_customers s WHERE s.customer_id = above.id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- spanning_behind is how a cell hears of them, by a role that has few rights at the home: in the order of their ids.
CREATE FUNCTION spanning_behind(behind bigint, most integer) RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT customer_id FROM spanning_customers WHERE customer_id > behind ORDER BY customer_id LIMIT most
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION spanning_behind(bigint, integer) FROM PUBLIC;

-- +goose Down
-- +goose StatementBegin
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgname = 'customer_spans') THEN
        DROP TRIGGER customer_spans ON customers;
    END IF;
END $$;
-- +goose StatementEnd
DROP FUNCTION spanning_behind(bigint, integer), customer_spans(), note_spanning();
DROP TABLE spanning_customers;
