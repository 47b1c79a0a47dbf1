package main

import (
	"canopy/db"
	"canopy/internal/access"
)

// manyOfOne is how many agents, destinations and API keys one company has, in the figures of finding. Contexts are fewer: a page of documents asks each context of a desk, whose figure is to be that of the documents.
const (
	manyOfOne  = 20_000
	manyOfDesk = 2_000
)

// agentOfRuns is the id of the agent that half of all runs are of.
const agentOfRuns = 900_000_000

// fillLists fills what lists read that no seed makes: as many deliveries, events and runs as there are companies below top, a context of very many documents, and what one company
// may have very many of.
func (b *bencher) fillLists(top int64) error {
	d := &desk{b.as(access.Assistant, b.lab.platform), b.ctx}
	id, err := d.newContext("found")
	if err != nil {
		return err
	}
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	var destination, revision int64
	if err := pool.GetContext(b.ctx, &destination, `INSERT INTO webhook_destinations (customer_id, url, name, secret, enabled) VALUES (1, 'https://found.example/', 'found', '', false) RETURNING id`); err != nil {
		return err
	}
	if err := pool.GetContext(b.ctx, &revision, agentsOfRuns, agentOfRuns, top); err != nil {
		return err
	}
	for _, fill := range []struct {
		text string
		rows int
		args []any
	}{
		{deliveriesOfMany, b.o.customers, []any{b.o.customers, top, destination}},
		{eventsOfMany, b.o.customers, []any{b.o.customers, top}},
		{runsOfMany, b.o.customers, []any{b.o.customers, agentOfRuns}},
		{documentsOfOne, wideDocuments, []any{wideDocuments, id}},
		{agentsOfOne, manyOfOne, []any{manyOfOne, revision}},
		{contextsOfOne, manyOfDesk, []any{manyOfDesk}},
		{destinationsOfOne, manyOfOne, []any{manyOfOne}},
		{keysOfOne, manyOfOne, []any{manyOfOne, top}},
	} {
		for from := 0; from < fill.rows; from += widePart {
			if _, err := pool.ExecContext(b.ctx, fill.text, append([]any{from + 1, min(from+widePart, fill.rows)}, fill.args...)...); err != nil {
				return err
			}
		}
	}
	_, err = pool.ExecContext(b.ctx, `VACUUM ANALYZE webhook_deliveries, audit_events, documents, runs, agents, contexts, webhook_destinations, api_keys`)
	return err
}

// What lists are measured on, rows $1 to $2 of $3: of logs for companies below $4, and of others for one context or company.
const (
	deliveriesOfMany = `
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, lost, completed_at, created_at)
		SELECT $4::bigint + 1 + i * 7919 % $3::bigint, $5::bigint, 'found' || i, CASE WHEN i % 5000 = 0 THEN 'agent.deleted' WHEN i % 50 = 1 THEN 'agent.published' ELSE 'run.completed' END, '{}',
			CASE WHEN i % 100 = 5 THEN 'failed' ELSE 'delivered' END, i % 100 = 5, now(), now() - ($3::bigint - i) * interval '0.1 seconds'
		FROM generate_series($1::bigint, $2::bigint) i`
	eventsOfMany = `
		INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, created_at)
		SELECT $4::bigint + 1 + i * 7919 % $3::bigint, 1, CASE WHEN i % 5000 = 0 THEN 'context.deleted' WHEN i % 50 = 1 THEN 'user.created' ELSE 'run.started' END,
			CASE WHEN i % 5000 = 0 THEN 'Context' WHEN i % 50 = 1 THEN 'User' ELSE 'Run' END, i % 100000, now() - ($3::bigint - i) * interval '0.1 seconds'
		FROM generate_series($1::bigint, $2::bigint) i`
	// Half of all runs are of one account, which has the agent of runs; the others are of the other accounts, each with an agent of its own.
	runsOfMany = `
		INSERT INTO runs (job_key, agent_id, revision_id, account_id, user_id, input, status, finished_at, due_at, created_at)
		SELECT gen_random_uuid(), r.agent_id, r.id, g.account_id, 1, '{}', s.status, CASE WHEN s.status <> 'running' THEN now() END, 'infinity',
			now() - ($3::bigint - i) * interval '0.1 seconds'
		FROM (SELECT count(*) - 1 AS others FROM agents WHERE id >= $4::bigint) n CROSS JOIN generate_series($1::bigint, $2::bigint) i
		CROSS JOIN LATERAL (SELECT CASE WHEN i % 1000 = 7 THEN 'running' WHEN i % 100 = 5 THEN 'failed' ELSE 'finished' END AS status) s
		JOIN agents g ON g.id = $4::bigint + CASE WHEN i % 2 = 0 THEN 0 ELSE 1 + i * 7919 % GREATEST(n.others, 1) END JOIN agent_revisions r ON r.agent_id = g.id`
	documentsOfOne = `
		INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, packed, created_at)
		SELECT $4::bigint, gen_random_uuid(), i || '.txt', CASE WHEN i % 10 = 0 THEN 'Report ' ELSE 'Paper ' END || i || '.txt', 0, CASE WHEN i % 100 = 0 THEN 'pdf' ELSE 'txt' END, 'text/plain',
			'found ' || i, 1000 + i % 7777, CASE WHEN i % 1000 = 3 THEN 'failed' ELSE 'ready' END, 'canopy-lexical-2', 1000, 0.2, 1, now() - ($3::bigint - i) * interval '1 second'
		FROM generate_series($1::bigint, $2::bigint) i`
	// The root company's account for an application of a code is the one that its tokens stand on.
	accountOfRoot = `(SELECT a.id FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id JOIN applications p ON p.id = i.application_id
		WHERE a.customer_id = 1 AND p.code = '`
	// An agent for each account of companies from $2 on. The first one, $1, is that of an account amid them.
	agentsOfRuns = `
		WITH places AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n, count(*) OVER () AS all_of FROM accounts WHERE customer_id >= $2::bigint),
		made AS (INSERT INTO agents (id, account_id, name, draft) SELECT $1::bigint + (n + all_of / 2) % all_of, id, 'Found', '{}' FROM places RETURNING id),
		revisions AS (INSERT INTO agent_revisions (agent_id, number, diagram) SELECT id, 1, '{}' FROM made RETURNING id, agent_id)
		SELECT id FROM revisions WHERE agent_id = $1::bigint`
	// The first half is published, as revision $4.
	agentsOfOne = `
		INSERT INTO agents (account_id, name, draft, enabled, published_id, created_at, updated_at)
		SELECT ` + accountOfRoot + `builder' ORDER BY a.id LIMIT 1), CASE WHEN i % 10 = 0 THEN 'Report ' ELSE 'Writer ' END || i * 7919 % $3::bigint, '{}', i % 100 <> 5, CASE WHEN i * 2 < $3::bigint THEN $4::bigint END,
			now() - ($3::bigint - i) * interval '1 second', now() - i * 7919 % $3::bigint * interval '1 second'
		FROM generate_series($1::bigint, $2::bigint) i`
	contextsOfOne = `
		INSERT INTO contexts (account_id, user_id, name, description, caption, embedding_model, share_state, created_at)
		SELECT ` + accountOfRoot + `assistant' ORDER BY a.id LIMIT 1), 1, CASE WHEN i % 10 = 0 THEN 'Report ' ELSE 'Paper ' END || i * 7919 % $3::bigint, '', '', 'canopy-lexical-2', (i % 100 = 5)::integer,
			now() - ($3::bigint - i) * interval '1 second'
		FROM generate_series($1::bigint, $2::bigint) i`
	destinationsOfOne = `
		INSERT INTO webhook_destinations (customer_id, url, name, events, secret, enabled, failing_since, created_at)
		SELECT 1, 'https://found.example/' || i, CASE WHEN i % 100 = 7 THEN '' WHEN i % 10 = 0 THEN 'Report ' || i * 7919 % $3::bigint ELSE 'Paper ' || i * 7919 % $3::bigint END, '{run.completed}', '', i % 100 = 5,
			CASE WHEN i % 1000 = 5 THEN now() END, now() - ($3::bigint - i) * interval '1 second'
		FROM generate_series($1::bigint, $2::bigint) i`
	keysOfOne = `
		INSERT INTO api_keys (client_id, customer_id, user_id, name, created_at, revoked_at, expires_at, last_used_at)
		SELECT 'found ' || i, $4::bigint, CASE WHEN i % 1000 = 3 THEN 1 ELSE 2 END, CASE WHEN i % 10 = 0 THEN 'Report ' ELSE 'Paper ' END || i * 7919 % $3::bigint, now() - ($3::bigint - i) * interval '1 second',
			CASE WHEN i % 100 <> 5 THEN now() END, CASE WHEN i % 3 = 0 THEN now() + i * interval '1 second' END, CASE WHEN i % 2 = 0 THEN now() - i * 7919 % $3::bigint * interval '1 second' END
		FROM generate_series($1::bigint, $2::bigint) i`
)
