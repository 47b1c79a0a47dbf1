-- +canopy compatible
-- A move makes very many people known to one company: they are counted before they are handed on, not one by one.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subtree_users_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at(array_agg('users'::text), array_agg(NULL::date), array_agg(x.customer_id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -x.n ELSE x.n END))
    FROM (SELECT customer_id, count(*) AS n FROM changed GROUP BY customer_id) x;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subtree_users_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at(array_agg('users'::text), array_agg(NULL::date), array_agg(x.customer_id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x;
    RETURN NULL;
END $$;
-- +goose StatementEnd
