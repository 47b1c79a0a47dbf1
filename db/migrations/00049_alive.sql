-- Lists leave out what belongs to companies that are deleted, and to those below them. They ask by functions, which cost nothing in the
-- planner's eyes: no plan is made for what is seldom there.

-- +goose Up
-- +goose StatementBegin
-- alive_in tells whether a company is not deleted, nor one above it below the top of a part of the tree, whose lineage is given.
CREATE FUNCTION alive_in(company bigint, top bigint[]) RETURNS boolean LANGUAGE plpgsql STABLE COST 1 AS $$
DECLARE
    place bigint[] := (SELECT c.lineage FROM customers c WHERE c.id = company);
BEGIN
    RETURN NOT EXISTS (SELECT FROM unnest(place[cardinality(top) + 1:]) p(id) CROSS JOIN LATERAL (SELECT status FROM customers WHERE id = p.id OFFSET 0) c WHERE c.status = 'DELETED');
END $$;

-- known_alive_in tells whether a person belongs to such a company of a part of the tree, whose lineages are from the one on and before the other.
CREATE FUNCTION known_alive_in(person bigint, top bigint[], ends bigint[]) RETURNS boolean LANGUAGE plpgsql STABLE COST 1 AS $$
BEGIN
    RETURN EXISTS (SELECT FROM memberships m WHERE m.user_id = person AND m.lineage >= top AND m.lineage < ends AND NOT EXISTS (
        SELECT FROM unnest(m.lineage[cardinality(top) + 1:]) p(id) CROSS JOIN LATERAL (SELECT status FROM customers WHERE id = p.id OFFSET 0) c WHERE c.status = 'DELETED'));
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION known_alive_in(bigint, bigint[], bigint[]), alive_in(bigint, bigint[]);
