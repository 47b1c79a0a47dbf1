package graph

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// grow gives a company so many companies below it, each with users that have three permissions, and with
// a billing record, a role, keys, agents, secrets and webhooks of its own.
func grow(s *platform.Platform, parent int64, customers, users int) {
	s.T.Helper()
	for i := range customers {
		id := s.Number(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, $2, 1) RETURNING id`, parent, fmt.Sprintf("Grown %d.%d", parent, i))
		s.SQL(`INSERT INTO accounts (customer_id, app_instance_id, name) SELECT $1, i.id, 'Grown' FROM app_instances i WHERE i.region_id = 1`, id)
		s.SQL(`INSERT INTO billing (customer_id) VALUES ($1)`, id)
		s.SQL(`INSERT INTO roles (application_id, customer_id, name) VALUES (1, $1, 'Own')`, id)
		s.SQL(`WITH u AS (INSERT INTO users (email, first_name) SELECT 'grown' || $1::bigint || '.' || n || '@grown.example', 'G' FROM generate_series(1, $2) n RETURNING id, email),
			m AS (INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, created_by) SELECT $1, id, email, 'G', '', id FROM u),
			k AS (INSERT INTO api_keys (client_id, customer_id, user_id) SELECT 'grown' || id, $1, id FROM u)
			INSERT INTO permissions (account_id, user_id, role_id, created_by) SELECT a.id, u.id, r.id, u.id FROM u, accounts a
			JOIN app_instances i ON i.id = a.app_instance_id JOIN roles r ON r.application_id = i.application_id AND r.customer_id IS NULL AND r.name = 'Viewer'
			WHERE a.customer_id = $1`, id, users)
		growAgents(s, s.Account(id, "builder"), users)
		s.SQL(`INSERT INTO secrets (customer_id, name, value) SELECT $1, 'N' || n, '' FROM generate_series(1, $2) n`, id, users)
		s.SQL(`INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
			SELECT 1000000 + id, customer_id, name, '', now(), now(), 1, now() + interval '1 day' FROM secrets WHERE customer_id = $1`, id)
		s.SQL(`INSERT INTO agents (account_id, name, draft, deleted_at) SELECT $1, 'Gone', '{}'::json, now() FROM generate_series(1, $2)`, s.Account(id, "builder"), users)
		s.SQL(`INSERT INTO webhook_destinations (customer_id, url, secret, deleted_at) SELECT $1, $3, 'sealed'::bytea, now() FROM generate_series(1, $2)`, id, users, platform.PublicURL)
		s.SQL(`WITH p AS (INSERT INTO identity_providers (customer_id, name, issuer, client_id, client_secret, domains, default_role_id)
				SELECT $1, 'P', 'https://p.example', 'c', '', ARRAY['d' || n || '.example'], (SELECT max(id) FROM roles WHERE customer_id = $1) FROM generate_series(1, $2) n RETURNING id, domains),
				d AS (INSERT INTO domain_claims (customer_id, domain, token) SELECT $1, domains[1], 't' FROM p)
			INSERT INTO user_identities (user_id, provider_id, subject, email)
			SELECT m.user_id, p.id, m.user_id::text, m.email FROM memberships m, p WHERE m.customer_id = $1`, id, users)
		s.SQL(`INSERT INTO scim_tokens (customer_id, name, hash, created_by, acts_in, features, is_owner)
			SELECT customer_id, 'T', sha256((customer_id || ' ' || user_id)::bytea), user_id, customer_id, '{}', false FROM memberships WHERE customer_id = $1`, id)
		s.SQL(`WITH d AS (INSERT INTO webhook_destinations (customer_id, url, secret) SELECT $1, $3, '' FROM generate_series(1, $2) RETURNING id)
			INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, completed_at, log)
			SELECT $1, id, 'evt_' || id, 'run.started', '{}', 'delivered', now(), '[{"at": "2026-01-01T00:00:00Z", "durationMs": 1}]' FROM d`, id, users, platform.PublicURL)
	}
}

// growAgents gives an account so many published agents, each with a run of one step, and one that is at its first.
func growAgents(s *platform.Platform, account int64, agents int) {
	s.SQL(`WITH a AS (INSERT INTO agents (account_id, name, draft) SELECT $1, 'Grown', '{}' FROM generate_series(1, $2) RETURNING id),
			r AS (INSERT INTO agent_revisions (agent_id, number, diagram) SELECT id, 1, '{}' FROM a RETURNING id, agent_id),
			x AS (INSERT INTO runs (job_key, agent_id, revision_id, account_id, input, status, finished_at)
				SELECT gen_random_uuid(), agent_id, id, $1, '{}', 'finished', now() FROM r RETURNING id)
		INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) SELECT id, 0, 'a', 'set', now(), 1 FROM x`, account, agents)
	s.SQL(`INSERT INTO runs (job_key, agent_id, revision_id, account_id, input, status, due_at, step)
		SELECT gen_random_uuid(), agent_id, r.id, $1, '{}', 'running', now() + interval '1 day', '{"position": 0, "id": "a", "type": "set", "startedAt": "2026-01-01T00:00:00Z"}'
		FROM agent_revisions r JOIN agents a ON a.id = r.agent_id WHERE a.account_id = $1`, account)
	s.SQL(`UPDATE agents a SET published_id = r.id FROM agent_revisions r WHERE r.agent_id = a.id AND a.account_id = $1`, account)
}

// growContexts gives the assistant's account so many contexts, each with a tool, and a document of one chunk.
func growContexts(s *platform.Platform, contexts int) {
	account, builder := s.Account(s.Customer("Northwind Group"), "assistant"), s.Account(s.Customer("Northwind Group"), "builder")
	growAgents(s, builder, contexts)
	s.SQL(`WITH c AS (INSERT INTO contexts (account_id, user_id, name, description, caption, embedding_model, tools_json)
			SELECT $1, $3, 'Grown', '', '', 'canopy-lexical-1', replace($4, '4711', id::text) FROM agents WHERE account_id = $2 RETURNING id),
		r AS (INSERT INTO contexts (account_id, user_id, name, description, caption, embedding_model, removed_at, erase_at, home_id)
			SELECT $1, $3, 'Removed', '', '', 'canopy-lexical-1', now(), now() + interval '1 day', id FROM c RETURNING id),
		o AS (INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap)
			SELECT id, gen_random_uuid(), 'a.txt', 'a.txt', 0, 'txt', 'text/plain', '', 1, 'ready', 'canopy-lexical-1', 1000, 0.2 FROM r),
		p AS (INSERT INTO context_reprocessings (context_id, until_id, documents, status) SELECT id, 0, 0, 'DONE' FROM c),
		q AS (INSERT INTO context_queries (context_id, user_id, text, mode, hits, relevance) SELECT id, $3, 'a', 'LEXICAL', 1, .5 FROM c),
		d AS (INSERT INTO documents (context_id, created_by, file_name, original_name, display_name, name_index, format, content_type, content_hash, size,
				status, warnings, chunks, model, chunk_size, overlap)
			SELECT id, $3, gen_random_uuid(), 'a.txt', 'a.txt', 0, 'txt', 'text/plain', '', 1, 'ready', '[{"code": "no_text", "message": "page 2 has no text", "page": 2}]', 1, 'canopy-lexical-1', 1000, 0.2 FROM c RETURNING id)
		INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, sparse) SELECT id, 1, 0, 'a', 0, 1, '' FROM d`,
		account, builder, s.UserID(s.Demo.AdminEmail), strings.Replace(platform.OneTool(4711), "}]", `,"parameters":[{"paramName":"p","type":"string","required":true,"description":"d"}]}]`, 1))
}

// TestTreeInNineStatements asks for 20 companies with 10 users each and 3 permissions each, with
// everything that these lead to.
func TestTreeInNineStatements(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	dune := s.Customer("Dune Retail")
	grow(s, dune, 20, 10)
	s.Must(200, "GET", "/tenant", root, nil)
	const tree = `query($c: ID!) { customer(id: $c) { name descendants(first: 20) { nodes { name users(first: 10) { nodes { name email
		permissions(first: 3) { nodes { disabled role { name } account { name } application { name } region { name } } } } } } } } }`
	var data map[string]any
	n := s.Statements(func() { data = s.MustGQL(root, tree, map[string]any{"c": dune}) })
	customers := platform.Member(t, data, "customer.descendants.nodes").([]any)
	leaves := 0
	for _, c := range customers {
		for _, u := range platform.Member(t, c, "users.nodes").([]any) {
			for _, p := range platform.Member(t, u, "permissions.nodes").([]any) {
				if platform.Member(t, p, "application.name") != "" && platform.Member(t, p, "region.name") == "Europe Central" && platform.Member(t, p, "role.name") == "Viewer" && platform.Member(t, p, "account.name") == "Grown" {
					leaves++
				}
			}
		}
	}
	if len(customers) != 20 || leaves != 600 {
		t.Fatalf("%d companies, %d permissions", len(customers), leaves)
	}
	if n > 9 {
		t.Errorf("%d statements, want at most 9", n)
	}
	t.Logf("%d statements", n)
}

// TestCompaniesTakeTwoStatements counts the statements of the smallest requests: one finds the caller, the other the
// company with all that is asked of its place.
func TestCompaniesTakeTwoStatements(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, hydro := s.Root(), s.Customer("Alpine Hydro")
	path := fmt.Sprintf("/tenant/%d", hydro)
	s.Must(200, "GET", path, root, nil) // notes that the key is used
	if n := s.Statements(func() { s.Must(200, "GET", path, root, nil) }); n > 2 {
		t.Errorf("REST: %d statements, want at most 2", n)
	}
	for _, asked := range []string{
		"id", "region { name }", "ancestors { name level }", "parent { name }", "effectiveStatus", "... on Customer { parent { name } }", "...place",
	} {
		query := "query($c: ID!) { customer(id: $c) { name region { name } " + asked + " } }"
		if asked == "...place" {
			query += " fragment place on Customer { ancestors { name } }"
		}
		var data map[string]any
		n := s.Statements(func() { data = s.MustGQL(root, query, map[string]any{"c": hydro}) })
		if n > 2 {
			t.Errorf("GraphQL, with %s: %d statements, want at most 2", asked, n)
		}
		if platform.Member(t, data, "customer.region.name") != "Europe Central" {
			t.Error(data)
		}
		if above, is := platform.Member(t, data, "customer").(map[string]any)["ancestors"]; is && len(above.([]any)) != 2 {
			t.Error(data)
		}
	}
}

// TestRefusalsTakeThreeStatements: where nothing is found by an id it is looked once, by one statement more, whether the caller's company is where it was.
func TestRefusalsTakeThreeStatements(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, account := s.As("Alpine Energy", "greta@alpine.example"), s.Account(s.Customer("Coral Logistics"), "tenant")
	ask := func() {
		s.Must(403, "GET", fmt.Sprintf("/v1/accounts/%d", account), greta, nil)
	}
	query := func() {
		s.Refused(t, "FORBIDDEN", greta, `query($id: ID!) { account(id: $id) { name } }`, map[string]any{"id": account})
	}
	for door, do := range map[string]func(){"REST": ask, "GraphQL": query} {
		do() // notes that the permission is used
		if n := s.Statements(do); n > 3 {
			t.Errorf("%s: %d statements, want at most 3", door, n)
		}
	}
}

// TestAgentsAndRunsTakeThreeStatements counts the statements of what is done most, with BEGIN and COMMIT where there are any: one finds the caller, one
// the new id, and one, which is a transaction by itself, writes what is made and what is told of it.
func TestAgentsAndRunsTakeThreeStatements(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, platform.DeliverLocally(t))
	token := s.Token(s.Demo.ClientID, s.Demo.ClientSecret, "builder")
	s.Subscribe(s.Token(s.Demo.ClientID, s.Demo.ClientSecret, "tenant"), platform.NewReceiver(t, nil).URL, "agent.created", "run.started")
	const create = `mutation { createAgent(input: {name: "Counted", diagram: {steps: [{id: "a", type: "set", values: {b: 1}}], output: {}}}) { agent { databaseId } } }`
	id := platform.Member(t, s.MustGQL(token, create, nil), "createAgent.agent.databaseId")
	s.MustGQL(token, `mutation($id: ID!) { publishAgent(input: {id: $id}) { agent { runnable } } }`, map[string]any{"id": id})
	for _, mutation := range []string{create, `mutation($id: ID!) { startRun(input: {agentId: $id}) { jobKey } }`} {
		fewest := int64(math.MaxInt64)
		for range 10 { // work in the background has statements, too
			fewest = min(fewest, s.Statements(func() { s.MustGQL(token, mutation, map[string]any{"id": id}) }))
		}
		if fewest > 3 {
			t.Errorf("%d statements, want at most 3: %s", fewest, mutation)
		}
	}
}
