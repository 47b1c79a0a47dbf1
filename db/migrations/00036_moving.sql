-- Companies move in the tree, with everything below them.

-- +goose Up

-- What is written of a company follows from its place: counts, limits, who is known where. So a transaction that goes by the
-- place holds it first, together with others that do, and one that changes it has the whole branch for itself. It is locks of
-- branches that are held, and not rows: one lock is enough for 100,000 companies, and other branches notice nothing.

-- +goose StatementBegin
-- hold_places holds the places of companies until the transaction ends: what its later statements read of them is as it stays.
-- alone keeps all others away who go by them, and gives way to them: after a short wait for any lock the transaction fails, so
-- that nobody waits who is waited for. Branches that are held already are in canopy.held.
CREATE FUNCTION hold_places(companies bigint[], alone boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held bigint[] := '{}';
    own  bigint[];
BEGIN
    IF alone THEN
        PERFORM set_config('lock_timeout', '250ms', true);
    ELSE
        held := COALESCE(NULLIF(current_setting('canopy.held', true), ''), '{}');
    END IF;
    LOOP -- A company may have come into another branch while its own was waited for.
        own := ARRAY(SELECT DISTINCT c.lineage[LEAST(2, c.level + 1)] FROM customers c WHERE c.id = ANY (companies) ORDER BY 1);
        EXIT WHEN own <@ held;
        PERFORM CASE WHEN alone THEN pg_advisory_xact_lock(hashtextextended('canopy branch ' || b.id, 0))
            ELSE pg_advisory_xact_lock_shared(hashtextextended('canopy branch ' || b.id, 0)) END FROM unnest(own) b(id);
        held := held || own;
        IF NOT alone THEN
            PERFORM set_config('canopy.held', held::text, true);
        END IF;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION customers_set_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.parent_id IS DISTINCT FROM OLD.parent_id OR NEW.lineage <> OLD.lineage OR NEW.id <> OLD.id THEN
            RAISE check_violation USING MESSAGE = 'a company moves by move_customer alone', CONSTRAINT = 'customers_fixed_place';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.parent_id IS NULL THEN
        NEW.lineage := ARRAY[NEW.id];
    ELSE
        PERFORM hold_places(ARRAY[NEW.parent_id]);
        SELECT c.lineage || NEW.id INTO NEW.lineage FROM customers c WHERE c.id = NEW.parent_id;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION memberships_set_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    NEW.lineage := (SELECT c.lineage FROM customers c WHERE c.id = NEW.customer_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER customers_lineage_on_update ON customers;
CREATE TRIGGER customers_lineage_on_update BEFORE UPDATE OF id, parent_id, lineage ON customers
    FOR EACH ROW WHEN (current_setting('canopy.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION customers_set_lineage();
DROP TRIGGER memberships_lineage ON memberships;
CREATE TRIGGER memberships_lineage BEFORE INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION memberships_set_lineage();
CREATE TRIGGER memberships_lineage_on_update BEFORE UPDATE OF customer_id, lineage ON memberships
    FOR EACH ROW WHEN (current_setting('canopy.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION memberships_set_lineage();

-- A lineage ends with the company's id, and is unique without being held to it. So no foreign key refers to it, and a company
-- that moves waits for none who writes of it.
DROP INDEX customers_lineage;
CREATE INDEX customers_lineage ON customers (lineage);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_from(what text, today date, companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM hold_places(companies);
    PERFORM count_at(array_agg(what), array_agg(today), array_agg(above.id), array_agg(a.n))
    FROM unnest(companies, added) a(id, n) JOIN customers c ON c.id = a.id CROSS JOIN unnest(c.lineage) above(id) WHERE a.n <> 0;
END $$;

-- A company that goes had the place that its row tells: the row can't be taken away while it moves.
CREATE OR REPLACE FUNCTION customers_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY(SELECT DISTINCT x.parent_id FROM changed x WHERE x.parent_id IS NOT NULL));
    PERFORM count_at(array_agg('customers'::text), array_agg(NULL::date), array_agg(above.id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x CROSS JOIN unnest(x.lineage[1:x.level]) above(id);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION memberships_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    PERFORM hold_places(ARRAY(SELECT DISTINCT x.customer_id FROM changed x));
    SELECT array_agg(w.id), array_agg(w.user_id) INTO companies, people FROM (
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id)) w;
    PERFORM 1 FROM subtree_users s JOIN unnest(companies, people) k(customer_id, user_id) USING (customer_id, user_id)
    ORDER BY s.customer_id, s.user_id FOR UPDATE OF s;
    DELETE FROM subtree_users s USING unnest(companies, people) k(customer_id, user_id)
    WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id
      AND NOT EXISTS (SELECT FROM known_users(ARRAY[k.customer_id], ARRAY[k.user_id]));
    PERFORM know_users(companies, people);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hold_places(ARRAY[NEW.customer_id]);
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION users_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
BEGIN
    PERFORM hold_places(ARRAY(SELECT m.customer_id FROM memberships m WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL));
    companies := ARRAY(SELECT DISTINCT above.id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)
        WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL ORDER BY above.id);
    PERFORM know_users(companies, array_fill(NEW.id, ARRAY[cardinality(companies)]));
    RETURN NULL;
END $$;

-- move_users takes the persons of a company from those that it was below, and gives them to those that it is below now. A
-- person who is known there by another company, too, stays or is there already, and is looked at again.
CREATE FUNCTION move_users(moved bigint, past bigint[], joined bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    DELETE FROM subtree_users s USING subtree_users own, customers c
    WHERE own.customer_id = moved AND s.user_id = own.user_id AND s.customer_id = ANY (past) AND c.id = s.customer_id
      AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = s.user_id AND m.lineage >= c.lineage AND m.lineage < c.lineage[1:c.level] || (c.id + 1));
    SELECT array_agg(s.customer_id ORDER BY s.customer_id, s.user_id), array_agg(s.user_id ORDER BY s.customer_id, s.user_id) INTO companies, people
    FROM subtree_users own JOIN subtree_users s ON s.user_id = own.user_id AND s.customer_id = ANY (past || joined) WHERE own.customer_id = moved;
    INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password)
    SELECT j.id, s.user_id, s.email, s.name, s.created_at, s.accepted, s.has_password FROM subtree_users s CROSS JOIN unnest(joined) j(id)
    WHERE s.customer_id = moved ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    PERFORM know_users(companies, people);
END $$;

-- move_counts does the same with all else that is counted. What was done on a day stays counted where it was done. A company
-- that comes right below the root is bound by the limits of all that are there.
CREATE FUNCTION move_counts(moved bigint, past bigint[], joined bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    over record;
BEGIN
    PERFORM count_at(array_agg(u.name), array_agg(NULL::date), array_agg(k.id), array_agg(k.sign * u.n)) FROM (
        SELECT name, sum(n)::bigint + CASE name WHEN 'customers' THEN 1 ELSE 0 END AS n FROM (
            SELECT c.name, c.n FROM usage_counts c WHERE c.customer_id = moved AND c.day IS NULL AND c.name <> 'users'
            UNION ALL SELECT 'customers', 0) c GROUP BY name) u
    CROSS JOIN (SELECT id, -1 FROM unnest(past) id UNION ALL SELECT id, 1 FROM unnest(joined) id) k(id, sign);
    SELECT c.name, sum(c.n)::bigint AS used, limit_of(moved, c.name) AS most INTO over FROM usage_counts c
    WHERE c.customer_id = moved AND c.day IS NULL AND cardinality(past) > 0 GROUP BY c.name HAVING sum(c.n) > limit_of(moved, c.name) ORDER BY c.name LIMIT 1;
    IF FOUND AND (SELECT c.level FROM customers c WHERE c.id = moved) = 1 THEN
        RAISE EXCEPTION 'the limit % of company % is reached', over.name, moved USING ERRCODE = 'CL001',
            DETAIL = json_build_object('customerId', moved, 'name', over.name, 'used', over.used, 'max', over.most);
    END IF;
END $$;

-- move_work has what waits take its turns in the branch that it is in now. What a worker has in its hands at this moment is
-- not waited for, and keeps its place until it is done.
CREATE FUNCTION move_work(moved bigint, was bigint, branch bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place bigint[] := (SELECT c.lineage FROM customers c WHERE c.id = moved);
BEGIN
    UPDATE runs SET branch_id = branch WHERE id = ANY (ARRAY(
        SELECT r.id FROM runs r JOIN accounts a ON a.id = r.account_id JOIN customers c ON c.id = a.customer_id
        WHERE r.status = 'running' AND r.branch_id = was AND c.lineage[cardinality(place)] = moved FOR NO KEY UPDATE OF r SKIP LOCKED));
    UPDATE documents SET branch_id = branch WHERE id = ANY (ARRAY(
        SELECT d.id FROM documents d JOIN contexts x ON x.id = d.context_id JOIN accounts a ON a.id = x.account_id JOIN customers c ON c.id = a.customer_id
        WHERE d.status IN ('pending', 'processing') AND d.branch_id = was AND c.lineage[cardinality(place)] = moved FOR NO KEY UPDATE OF d SKIP LOCKED));
END $$;

-- move_customer puts a company, with everything below it, below another that is not among these. The transaction has the
-- branches of both for itself, by hold_places.
CREATE FUNCTION move_customer(moved bigint, below bigint) RETURNS void LANGUAGE plpgsql AS $$
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

-- A document that becomes work again takes its turn where it is then.
CREATE TRIGGER documents_branch_again BEFORE UPDATE OF status ON documents
    FOR EACH ROW WHEN (NEW.status = 'pending' AND OLD.status IN ('ready', 'failed')) EXECUTE FUNCTION documents_set_branch();

-- +goose Down
DROP TRIGGER documents_branch_again ON documents;
DROP FUNCTION move_customer(bigint, bigint), move_work(bigint, bigint, bigint), move_counts(bigint, bigint[], bigint[]), move_users(bigint, bigint[], bigint[]);
DROP INDEX customers_lineage;
CREATE UNIQUE INDEX customers_lineage ON customers (lineage);
DROP TRIGGER memberships_lineage_on_update ON memberships;
DROP TRIGGER memberships_lineage ON memberships;
CREATE TRIGGER memberships_lineage BEFORE INSERT OR UPDATE OF customer_id, lineage ON memberships
    FOR EACH ROW EXECUTE FUNCTION memberships_set_lineage();
DROP TRIGGER customers_lineage_on_update ON customers;
CREATE TRIGGER customers_lineage_on_update BEFORE UPDATE OF id, parent_id, lineage ON customers
    FOR EACH ROW EXECUTE FUNCTION customers_set_lineage();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION customers_set_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.parent_id IS DISTINCT FROM OLD.parent_id OR NEW.lineage <> OLD.lineage OR NEW.id <> OLD.id THEN
            RAISE check_violation USING MESSAGE = 'a company does not move in the tree',
                CONSTRAINT = 'customers_fixed_place';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.parent_id IS NULL THEN
        NEW.lineage := ARRAY[NEW.id];
    ELSE
        SELECT c.lineage || NEW.id INTO NEW.lineage FROM customers c WHERE c.id = NEW.parent_id;
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION memberships_set_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.lineage := (SELECT c.lineage FROM customers c WHERE c.id = NEW.customer_id);
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION count_from(what text, today date, companies bigint[], added bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM count_at(array_agg(what), array_agg(today), array_agg(above.id), array_agg(a.n))
    FROM unnest(companies, added) a(id, n) JOIN customers c ON c.id = a.id CROSS JOIN unnest(c.lineage) above(id) WHERE a.n <> 0;
END $$;
CREATE OR REPLACE FUNCTION customers_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_at(array_agg('customers'::text), array_agg(NULL::date), array_agg(above.id), array_agg(CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END::bigint))
    FROM changed x CROSS JOIN unnest(x.lineage[1:x.level]) above(id);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION memberships_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[];
    people    bigint[];
BEGIN
    SELECT array_agg(w.id), array_agg(w.user_id) INTO companies, people FROM (
        SELECT DISTINCT above.id, x.user_id FROM changed x JOIN customers c ON c.id = x.customer_id CROSS JOIN unnest(c.lineage) above(id)) w;
    PERFORM 1 FROM subtree_users s JOIN unnest(companies, people) k(customer_id, user_id) USING (customer_id, user_id)
    ORDER BY s.customer_id, s.user_id FOR UPDATE OF s;
    DELETE FROM subtree_users s USING unnest(companies, people) k(customer_id, user_id)
    WHERE s.customer_id = k.customer_id AND s.user_id = k.user_id
      AND NOT EXISTS (SELECT FROM known_users(ARRAY[k.customer_id], ARRAY[k.user_id]));
    PERFORM know_users(companies, people);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION memberships_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM know_users(NEW.lineage, array_fill(NEW.user_id, ARRAY[cardinality(NEW.lineage)]));
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION users_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    companies bigint[] := ARRAY(SELECT DISTINCT above.id FROM memberships m CROSS JOIN unnest(m.lineage) above(id)
        WHERE m.user_id = NEW.id AND m.accepted_at IS NOT NULL ORDER BY above.id);
BEGIN
    PERFORM know_users(companies, array_fill(NEW.id, ARRAY[cardinality(companies)]));
    RETURN NULL;
END $$;
-- +goose StatementEnd
DROP FUNCTION hold_places(bigint[], boolean);
