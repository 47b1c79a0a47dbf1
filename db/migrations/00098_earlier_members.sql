-- +canopy compatible
-- Of those who left before, the log tells who did something in the company that they left. They had accepted it, so they are called there as they call themselves.

-- +goose Up
INSERT INTO former_members (customer_id, user_id, email, first_name, last_name, created_at)
SELECT e.customer_id, u.id, u.email, u.first_name, u.last_name, max(e.created_at)
FROM audit_events e JOIN users u ON u.id = e.object_id AND u.erased_at IS NULL
WHERE e.action = 'user.removed' AND e.object_type = 'User'
  AND EXISTS (SELECT FROM audit_events d WHERE d.actor_user_id = u.id AND d.customer_id = e.customer_id)
GROUP BY e.customer_id, u.id;

-- +goose Down
SELECT 1;
