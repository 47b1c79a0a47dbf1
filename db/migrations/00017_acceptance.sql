-- A person belongs to many companies, and is known to each as far as it has accepted it.

-- +goose Up

-- email, first_name, last_name: as the company has entered the person. known: the person had a password, or belonged to
-- a company outside of this one's subtree, when it was added. accepted_at: when the person redeemed an invitation of the
-- company, or first signed in to it; until then the company sees what it has entered, and no more.
ALTER TABLE memberships ADD COLUMN email text, ADD COLUMN first_name text, ADD COLUMN last_name text,
    ADD COLUMN known boolean NOT NULL DEFAULT false, ADD COLUMN accepted_at timestamptz;

-- Of the people who are here already, those with a password have accepted the company that made them, and those where
-- they have a permission that is enabled, or that they have used.
UPDATE memberships m SET email = u.email, first_name = u.first_name, last_name = u.last_name,
    known = EXISTS (
        SELECT FROM memberships o JOIN customers c ON c.id = o.customer_id JOIN customers own ON own.id = m.customer_id
        WHERE o.user_id = m.user_id AND o.created_at < m.created_at AND c.lineage[own.level + 1] IS DISTINCT FROM own.id),
    accepted_at = CASE WHEN u.password_hash IS NOT NULL AND (m.created_at = u.created_at OR EXISTS (
        SELECT FROM permissions p JOIN accounts a ON a.id = p.account_id
        WHERE p.user_id = m.user_id AND a.customer_id = m.customer_id AND (NOT p.disabled OR p.last_access IS NOT NULL)))
        THEN now() END
FROM users u WHERE u.id = m.user_id;

ALTER TABLE memberships ALTER COLUMN email SET NOT NULL, ALTER COLUMN first_name SET NOT NULL, ALTER COLUMN last_name SET NOT NULL;

-- An invitation is a company's; NULL for the link of a reset.
ALTER TABLE link_tokens ADD COLUMN customer_id bigint REFERENCES customers ON DELETE CASCADE;
CREATE INDEX link_tokens_customer ON link_tokens (customer_id);
UPDATE link_tokens l SET customer_id = (
    SELECT m.customer_id FROM memberships m WHERE m.user_id = l.user_id ORDER BY m.created_at, m.customer_id LIMIT 1)
WHERE l.kind = 'invitation';

-- +goose Down
ALTER TABLE link_tokens DROP COLUMN customer_id;
ALTER TABLE memberships DROP COLUMN email, DROP COLUMN first_name, DROP COLUMN last_name, DROP COLUMN known, DROP COLUMN accepted_at;
