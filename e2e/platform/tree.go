package platform

// untrue selects what contradicts the tree, in words: whatever is derived from the places of companies is held against them.
const untrue = `
	WITH counted(name, customer_id, n) AS (
		SELECT 'customers', parent_id, count(*) FROM customers WHERE parent_id IS NOT NULL GROUP BY 2
		UNION ALL SELECT 'contexts', a.customer_id, count(*) FROM contexts x JOIN accounts a ON a.id = x.account_id GROUP BY 2
		UNION ALL SELECT 'documents', a.customer_id, count(*) FROM documents d JOIN contexts x ON x.id = d.context_id JOIN accounts a ON a.id = x.account_id GROUP BY 2
		UNION ALL SELECT 'storageBytes', a.customer_id, sum(d.size) FROM documents d JOIN contexts x ON x.id = d.context_id JOIN accounts a ON a.id = x.account_id GROUP BY 2
		UNION ALL SELECT 'chunks', a.customer_id, sum(d.chunks) FROM documents d JOIN contexts x ON x.id = d.context_id JOIN accounts a ON a.id = x.account_id GROUP BY 2
		UNION ALL SELECT 'agents', a.customer_id, count(*) FROM agents g JOIN accounts a ON a.id = g.account_id WHERE g.deleted_at IS NULL GROUP BY 2
		UNION ALL SELECT 'secrets', customer_id, count(*) FROM secrets GROUP BY 2
		UNION ALL SELECT 'apiKeys', customer_id, count(*) FROM api_keys WHERE revoked_at IS NULL GROUP BY 2
		UNION ALL SELECT 'concurrentRuns', a.customer_id, count(*) FROM runs r JOIN accounts a ON a.id = r.account_id WHERE r.status = 'running' GROUP BY 2
		UNION ALL SELECT 'destinations', customer_id, count(*) FROM webhook_destinations WHERE deleted_at IS NULL GROUP BY 2),
	there(name, customer_id, n) AS (
		SELECT t.name, above.id, sum(t.n)::bigint FROM counted t JOIN customers c ON c.id = t.customer_id CROSS JOIN unnest(c.lineage) above(id) GROUP BY 1, 2
		UNION ALL SELECT 'users', above.id, count(DISTINCT m.user_id) FROM memberships m JOIN customers c ON c.id = m.customer_id CROSS JOIN unnest(c.lineage) above(id) GROUP BY 2),
	known(customer_id, user_id) AS (
		SELECT DISTINCT above.id, m.user_id FROM memberships m JOIN customers c ON c.id = m.customer_id CROSS JOIN unnest(c.lineage) above(id))
	SELECT 'the lineage of ' || c.id || ' is ' || c.lineage::text || ' below ' || p.lineage::text FROM customers c JOIN customers p ON p.id = c.parent_id WHERE c.lineage <> p.lineage || c.id
	UNION ALL SELECT 'user ' || m.user_id || ' belongs to ' || m.customer_id || ' at ' || m.lineage::text FROM memberships m JOIN customers c ON c.id = m.customer_id WHERE m.lineage <> c.lineage
	UNION ALL SELECT 'user ' || user_id || ' is known in ' || customer_id || ': ' || (s.user_id IS NOT NULL) FROM subtree_users s FULL JOIN known k USING (customer_id, user_id) WHERE s.email IS NULL OR k.user_id IS NULL
	UNION ALL SELECT 'user ' || s.user_id || ' is known in ' || s.customer_id || ' as ' || s.email FROM subtree_users s
		CROSS JOIN LATERAL known_users(ARRAY[s.customer_id], ARRAY[s.user_id]) k
		WHERE (s.email, s.name, s.created_at, s.accepted, s.has_password) IS DISTINCT FROM (k.email, k.name, k.created_at, k.accepted, k.has_password)
	UNION ALL SELECT 'company ' || customer_id || ' has ' || COALESCE(t.n, 0) || ' ' || name || ', and ' || COALESCE(u.n, 0) || ' are counted'
		FROM there t FULL JOIN (SELECT name, customer_id, sum(n) AS n FROM usage_counts WHERE day IS NULL GROUP BY 1, 2) u USING (name, customer_id)
		WHERE COALESCE(t.n, 0) <> COALESCE(u.n, 0)`

// TrueTree holds all that follows from the places of companies against them.
func (s *Platform) TrueTree() {
	s.T.Helper()
	var faults []string
	if err := s.DB.Select(&faults, untrue); err != nil {
		s.T.Fatal(err)
	}
	for _, f := range faults {
		s.T.Error(f)
	}
}
