package db

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/devstack/devtest"
)

// planData fills a database for the test of plans.
type planData struct {
	t    testing.TB
	pool *sqlx.DB
}

// planGrown gives a database of 10 companies and what hangs below, with the rows that statements make: a copy of what the first test with the same ones has filled.
// More statements are run on the copy alone.
func planGrown(t *testing.T, rows []string, more ...string) *sqlx.DB {
	t.Helper()
	_, pool := grownAt(t, rows, more)
	return pool
}

// storeGrown is the same for what is asked of a store, and compared with what the database says beside it.
func storeGrown(t *testing.T, rows []string, more ...string) (*Store, *sqlx.DB) {
	t.Helper()
	url, pool := grownAt(t, rows, more)
	s := devtest.Must[*Store](t)(Open(t.Context(), url, Options{MaxConns: 2}))
	t.Cleanup(func() { _ = s.Close() })
	return s, pool
}

func grownAt(t *testing.T, rows, more []string) (url string, pool *sqlx.DB) {
	t.Helper()
	fingerprint := strings.Join(append([]string{plansBegun.String()}, rows...), "; ")
	schema := devtest.Template{Fingerprint: Fingerprint(), Fill: Migrate}
	url = schema.Upon(t, fingerprint, func(_ context.Context, url string) error { return fillGrown(t, url, rows) })
	pool = devtest.Must[*sqlx.DB](t)(Connect(url, Options{MaxConns: 1, patient: true}))
	t.Cleanup(func() { _ = pool.Close() })
	data := planData{t, pool}
	for _, text := range more {
		data.exec(text)
	}
	return url, pool
}

func fillGrown(t *testing.T, url string, rows []string) error {
	t.Helper()
	pool, err := Connect(url, Options{MaxConns: 1, patient: true})
	if err != nil {
		return err
	}
	data := planData{t, pool}
	data.begin()
	data.grow(0, 10)
	for _, text := range rows {
		data.exec(text)
	}
	return pool.Close()
}

func (d planData) exec(text string) {
	d.t.Helper()
	if _, err := d.pool.ExecContext(d.t.Context(), text); err != nil {
		d.t.Fatalf("%s: %v", text, err)
	}
}

// forgetStatistics leaves the tables as if nobody had ever analysed them.
const forgetStatistics = `
	DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace);
	UPDATE pg_class SET reltuples = CASE relkind WHEN 'r' THEN -1 ELSE 0 END, relpages = 0, relallvisible = 0
	WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace`

// begin makes what there are few of. PostgreSQL gathers no statistics by itself.
func (d planData) begin() {
	d.t.Helper()
	d.exec(`SET statement_timeout = 0`)
	d.exec(`DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
			EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', r.name);
		END LOOP;
		FOR r IN SELECT pg_get_serial_sequence(quote_ident(table_name), column_name) AS name FROM information_schema.columns
				WHERE table_schema = 'public' AND is_identity = 'YES' LOOP
			PERFORM setval(r.name, 50000000);
		END LOOP;
	END $$`)
	for _, text := range fewRows {
		d.exec(text)
	}
}

// plansBegun is when the first row was made that has a time: of each table the row with the id n is n seconds younger.
var plansBegun = time.Now().Add(-10_000_000 * time.Second)

// manyAtOnce is from how many companies on indexes are made after the rows; among fewer, that takes longer.
const manyAtOnce = 50_000

// grow adds companies until there are n, where there are some already, and what belongs to them. No trigger runs.
func (d planData) grow(some, n int) {
	d.t.Helper()
	conn := devtest.Must[*sqlx.Conn](d.t)(d.pool.Connx(d.t.Context()))
	defer func() { devtest.Check(d.t, conn.Close()) }()
	texts := append([]string{`SET session_replication_role = replica`, `SET work_mem = '256MB'`, `SET maintenance_work_mem = '512MB'`}, manyRows...)
	if n >= manyAtOnce {
		texts = append(texts, devtest.Must[[]string](d.t)(setAside(d.t.Context(), conn))...)
	}
	bounds := strings.NewReplacer(":some", strconv.Itoa(some), ":n", strconv.Itoa(n), ":begun", pq.QuoteLiteral(plansBegun.Format(time.RFC3339Nano))+"::timestamptz")
	for _, text := range append(texts, `RESET session_replication_role`, `RESET work_mem`, `RESET maintenance_work_mem`) {
		if _, err := conn.ExecContext(d.t.Context(), bounds.Replace(text)); err != nil {
			d.t.Fatalf("%s: %v", text, err)
		}
	}
}

// fewer are the tables that have no row for each company, and why: what an index is for is not seen there.
var fewer = map[string]string{
	"applications": "the platform's", "app_instances": "the platform's", "default_limits": "the platform's", "goose_db_version": "the platform's",
	"regions": "the platform's", "sealing_keys": "the platform's", "signing_keys": "the platform's",
	"minutes_told": "limits of two minutes", "splits": "the platform's", "moved_ids": "ranges", "moved_runs": "what has moved",
	"cell": "one row", "cells": "the platform's", "pulse": "one row", "use_marks": "what waits for the home", "cell_erasures": "what is due", "spanning_customers": "companies with others in several cells", "erased_people": "what is due",
	"events_for_cells": "what is due", "heard_events": "what is due",
	"blob_deletions": "what is due", "delivery_holds": "what is due", "webhook_due": "what is due", "delivery_look": "where workers are",
	"tree_changes":  "what processes are told",
	"email_changes": "found by a person or a hash, both of which are unique",
	"limbs":         "of the upper levels alone",
}

// whole names the tables that have no row for each company, give or take a few.
func (d planData) whole(companies int) {
	d.t.Helper()
	var tables []string
	devtest.Check(d.t, d.pool.SelectContext(d.t.Context(), &tables, `
		SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY relname`))
	for _, table := range tables {
		var n int
		devtest.Check(d.t, d.pool.GetContext(d.t.Context(), &n, `SELECT count(*) FROM `+table))
		if n < companies*9/10 && fewer[table] == "" {
			d.t.Errorf("%s has %d rows among %d companies: manyRows makes one for each, or fewer says why not", table, n, companies)
		}
	}
}

var fewRows = []string{
	`INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe'), (2, 'us', 'America')`,
	`INSERT INTO applications (id, code, name, app_type, auth_url) VALUES (1, 'tenant', 'Tenant', 1, ''), (2, 'assistant', 'Assistant', 2, ''), (3, 'builder', 'Builder', 3, '')`,
	`INSERT INTO app_instances (id, application_id, region_id, domain) SELECT a + 3 * (r - 1), a, r, '' FROM generate_series(1, 3) a, generate_series(1, 2) r`,
	`INSERT INTO roles (id, application_id, name, is_owner, features) SELECT a + 3 * o, a, 'Role ' || o, o = 0, '{}' FROM generate_series(1, 3) a, generate_series(0, 1) o`,
	`INSERT INTO signing_keys (kid, private_key, activates_at) SELECT 'key ' || k, '', now() FROM generate_series(1, 3) k`,
	`INSERT INTO sealing_keys (id) VALUES ('old'), ('new')`,
	`INSERT INTO default_limits (name, most) VALUES ('users', 1000000000), ('agents', 1000000000)`,
}

// A company has up to twenty below it, in the order of their ids, and one of everything, of its own id. A thousand more of
// most belong to company 5 and what is its own, and to user 7 in other companies. What is at work and what is due are some
// of a hundred.
var manyRows = []string{
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		WITH RECURSIVE tree(id, parent_id, lineage) AS (
			SELECT 1::bigint, NULL::bigint, ARRAY[1]::bigint[]
			UNION ALL
			SELECT c, t.id, t.lineage || c FROM tree t CROSS JOIN LATERAL generate_series(20 * t.id - 18, LEAST(20 * t.id + 1, :n)) c)
		SELECT id, parent_id, lineage, 'Company ' || id, 1, :begun + id * interval '1 second' FROM tree WHERE id > :some ORDER BY id`,
	`INSERT INTO users (id, email, first_name, last_name, created_at)
		SELECT i, 'user' || i || '@x.example', 'First', 'Last', :begun + i * interval '1 second' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, lineage, accepted_at, created_at)
		SELECT c.id, u.id, u.email, 'First', 'Last', c.lineage, CASE WHEN u.id % 2 = 0 THEN now() END, u.created_at
		FROM (SELECT i, i FROM generate_series(:some + 1, :n) i
			UNION SELECT 5, i FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000
			UNION SELECT i, 7 FROM generate_series(:some + 1, :n) i WHERE i % 10 = 1 AND i <= 10000) m(customer_id, user_id)
		JOIN customers c ON c.id = m.customer_id JOIN users u ON u.id = m.user_id ORDER BY u.id, c.id`,
	`INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password, unused)
		SELECT DISTINCT ON (a.id, m.user_id) a.id, m.user_id, m.email, 'First Last ' || m.user_id, m.created_at, m.accepted_at IS NOT NULL, false, m.user_id % 20 = 0
		FROM memberships m CROSS JOIN unnest(m.lineage) a(id) ORDER BY a.id, m.user_id ON CONFLICT DO NOTHING`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id > :some AND level <= 3`,
	`INSERT INTO customer_words (customer_id, words, named, created_at, limb_id)
		SELECT id, words_of(name), lower(name), created_at, limb_of(lineage) FROM customers WHERE id > :some`,
	`INSERT INTO member_names (customer_id, user_id, limb_id, said, named, emailed, created_at)
		SELECT m.customer_id, m.user_id, limb_of(m.lineage), 'First Last ' || m.email, 'first last ' || m.user_id, m.email, m.created_at FROM memberships m WHERE m.user_id > :some OR m.customer_id > :some ON CONFLICT DO NOTHING`,
	`INSERT INTO accounts (id, customer_id, app_instance_id, name, limb_id)
		SELECT id, id, 1 + id % 3, 'Account', limb_of(lineage) FROM customers WHERE id > :some ORDER BY id`,
	`INSERT INTO roles (id, application_id, customer_id, name) SELECT 10 + i, 1, i, 'Own' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO permissions (id, account_id, user_id, role_id, limb_id, application_id, created_at, last_access)
		SELECT p.id, a.id, p.user_id, p.role_id, a.limb_id, i.application_id, :begun + p.id::bigint % 10000000 * interval '1 second', CASE WHEN p.user_id % 20 > 0 THEN now() - p.id::bigint * 7919 % 100003 * interval '1 minute' END FROM (
			SELECT i, i, i, 1 + i % 3 FROM generate_series(:some + 1, :n) i
			UNION ALL SELECT 10000000 + i, 5, i, 3 + i / 10 % 2 * 3 FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000
			UNION ALL SELECT 20000000 + i, i, 7, 1 + i % 3 FROM generate_series(:some + 1, :n) i WHERE i % 10 = 1 AND i <= 10000) p(id, account_id, user_id, role_id)
		JOIN accounts a ON a.id = p.account_id JOIN app_instances i ON i.id = a.app_instance_id ORDER BY p.id`,
	`INSERT INTO billing (customer_id) SELECT i FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO api_keys (id, client_id, customer_id, user_id, name, created_at)
		SELECT i, 'client ' || i, i, i, 'Company ' || i, :begun + i * interval '1 second' FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 'client of 5: ' || i, 5, 5, 'Company ' || i, :begun + i * interval '1 second' FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO api_key_secrets (api_key_id, hash) SELECT i, sha256(('secret ' || i)::bytea) FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO link_tokens (hash, user_id, kind, customer_id, expires_at)
		SELECT sha256(('link ' || i)::bytea), i, 'invitation', i, now() + interval '1 day' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO former_members (id, customer_id, user_id, email, first_name, last_name)
		SELECT i, i, i, 'user' || i || '@x.example', '', '' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO invitations (id, customer_id, user_id, email, status, ended_at)
		SELECT i, i, i, 'user' || i || '@x.example', CASE WHEN i % 2 = 0 THEN 'ACCEPTED' ELSE 'PENDING' END, CASE WHEN i % 2 = 0 THEN now() END FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, i, 'user' || i || '@x.example', 'WITHDRAWN', now() FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO recovery_codes (user_id, hash) SELECT i, sha256(('code ' || i)::bytea) FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO login_networks (user_id, network) SELECT i, '192.0.2.0/24' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO sessions (id, user_id, customer_id, key, user_agent, address, expires_at)
		SELECT i, i, i, 'sealed'::bytea, '', '', now() + interval '1 day' FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, 5, 'sealed'::bytea, '', '', now() + interval '1 day' FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 1000`,
	`INSERT INTO passkeys (id, user_id, name, credential_id, public_key, sign_count, transports, synced, backed_up)
		SELECT i, i, 'Phone', ('c' || i)::bytea, 'key', 1, '{internal}', true, true FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO identity_providers (id, customer_id, name, issuer, client_id, client_secret, domains)
		SELECT i, i, 'Provider', 'https://login.example', 'canopy', 'sealed'::bytea, ARRAY['d' || i || '.example'] FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO domain_claims (id, customer_id, domain, token, proven_at, checked_at)
		SELECT i, i, 'd' || i || '.example', 'token', now(), now() - i * interval '1 second' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO user_identities (id, user_id, provider_id, subject, email) SELECT i, i, i, 's' || i, 'user' || i || '@x.example' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO provider_sessions (session_id, provider_id, subject, sid, id_token, signed_in_at)
		SELECT i, i, 's' || i, '', 'sealed'::bytea, now() FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO used_states (hash, expires_at) SELECT sha256(('state ' || i)::bytea), now() + interval '1 minute' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO scim_tokens (id, customer_id, name, hash, created_by, acts_in, features, is_owner)
		SELECT i, i, 'Token', sha256(('scim ' || i)::bytea), i, i, '{}', false FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO scim_users (customer_id, user_id, external_id) SELECT i, i, 'e' || i FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO idempotency_keys (id, caller, branch_id, customer_id, user_id, request, answer, leased_until)
		SELECT 'key:' || i || ' once', 'key:' || i, 2 + i % 20, i, i, 'sealed'::bytea, 'sealed'::bytea, now() FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO idempotency_bytes (owner, slot, bytes) SELECT 'key:' || i, 0, 1000 FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO audit_events (id, customer_id, actor_user_id, action, object_type, object_id, created_at, limb_id)
		SELECT CASE h WHEN 0 THEN i ELSE 10000000 + i END, w.customer_id, i, 'run.started', 'Run', i, :begun + i * interval '1 second', w.limb_id
		FROM generate_series(:some + 1, :n) i CROSS JOIN generate_series(0, CASE WHEN i % 10 = 0 AND i <= 10000 THEN 1 ELSE 0 END) h
		JOIN customer_words w ON w.customer_id = CASE h WHEN 0 THEN i ELSE 5 END`,
	`INSERT INTO mail_outbox (id, user_id, kind, message, branch_id, sent_at, handed_out, next_attempt_at)
		SELECT i, i, 'invitation', '', 2 + i % 20, CASE WHEN i % 100 > 1 THEN now() END, i = 101, now() + CASE WHEN i = 101 THEN interval '1 day' ELSE interval '-1 minute' END
		FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO contexts (id, account_id, user_id, name, description, caption, embedding_model, share_state)
		SELECT i, i, i, 'Context', '', '', 'canopy-lexical-1', i % 2 FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, 5, 'Context', '', '', 'canopy-lexical-1', 1 FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO context_queries (id, context_id, user_id, text, mode, hits, relevance, created_at)
		SELECT i, i, i, 'words', 'LEXICAL', 0, 0, :begun + i * interval '1 second' FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, 5, 'words', 'LEXICAL', 0, 0, now() FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, branch_id, handed_out, next_attempt_at)
		SELECT CASE h WHEN 0 THEN i ELSE 10000000 + i END, CASE h WHEN 0 THEN i ELSE 5 END, gen_random_uuid(), 'a.txt', 'a.txt', i, 'txt', 'text/plain', 'hash ' || i / 5, 1000,
			CASE WHEN i % 100 = 0 THEN 'pending' WHEN i % 100 = 1 AND h = 0 THEN 'processing' ELSE 'ready' END, 'canopy-lexical-1', 1000, .2, 2 + i % 20, i = 101, now() + CASE WHEN i = 101 THEN interval '1 day' ELSE interval '-1 minute' END
		FROM generate_series(:some + 1, :n) i CROSS JOIN generate_series(0, CASE WHEN i % 10 = 0 AND i <= 10000 THEN 1 ELSE 0 END) h`,
	`INSERT INTO contexts (id, account_id, user_id, name, description, caption, embedding_model, removed_at, erase_at, home_id)
		SELECT 20000000 + i, i, i, 'Removed', '', '', 'canopy-lexical-1', now(), now() + interval '1 day', i FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 30000000 + i, i, i, 'Removed', '', '', 'canopy-lexical-1', now(), now() + interval '1 day', NULL FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, branch_id)
		SELECT 20000000 + i, 20000000 + i, gen_random_uuid(), 'a.txt', 'a.txt', 0, 'txt', 'text/plain', '', 1000, 'ready', 'canopy-lexical-1', 1000, .2, 2 + i % 20
		FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO context_reprocessings (context_id, after_id, until_id, documents, begun, status, next_at, ended_at)
		SELECT i, i, i, 1, 1, CASE WHEN i % 100 = 0 THEN 'RUNNING' ELSE 'DONE' END, :begun + i * interval '1 second', CASE WHEN i % 100 > 0 THEN now() END FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO context_deferrals (context_id, after_id, turn_at) SELECT i, 0, :begun + i * interval '1 second' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO context_sizes (context_id, size) SELECT i, 1000 FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO context_changes (context_id, version, document_id) SELECT i, 1, i FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO chunks (id, document_id, revision, position, content, overlap_bytes, tokens, sparse)
		SELECT i, i, 1, 0, 'words', 0, 1, 'vector'::bytea FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, 1, i, 'words', 0, 1, 'vector'::bytea FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block)
		SELECT i, 1, false, 0, int8send(i), 'vectors'::bytea FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 5, 1, false, i, int8send(10000000 + i), 'vectors'::bytea FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO blob_deletions (key, next_attempt_at)
		SELECT 'documents/' || i, now() + CASE WHEN i % 100 = 0 THEN interval '0' ELSE interval '1 day' END FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO agents (id, account_id, name, draft, published_id)
		SELECT i, i, 'Agent', '{}'::json, i FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, 'Agent', '{}'::json, NULL FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO agent_revisions (id, agent_id, number, diagram)
		SELECT i, i, 1, '{}'::json FROM generate_series(:some + 1, :n) i
		UNION ALL SELECT 10000000 + i, 5, i, '{}'::json FROM generate_series(:some + 1, :n) i WHERE i % 10 = 0 AND i <= 10000`,
	`INSERT INTO runs (id, job_key, agent_id, revision_id, account_id, user_id, input, status, finished_at, due_at, branch_id, created_at, limb_id)
		SELECT CASE h WHEN 0 THEN i ELSE 10000000 + i END, CASE h WHEN 0 THEN md5(i::text)::uuid ELSE gen_random_uuid() END, CASE h WHEN 0 THEN i ELSE 5 END, CASE h WHEN 0 THEN i ELSE 5 END,
			CASE h WHEN 0 THEN i ELSE 5 END, i, '{}', CASE WHEN i % 100 < 2 THEN 'running' ELSE 'finished' END, CASE WHEN i % 100 > 1 THEN now() END,
			now() + CASE WHEN i = 101 THEN interval '1 day' ELSE interval '-1 minute' END, 2 + i % 20, :begun + i * interval '1 second', w.limb_id
		FROM generate_series(:some + 1, :n) i CROSS JOIN generate_series(0, CASE WHEN i % 10 = 0 AND i <= 10000 THEN 1 ELSE 0 END) h
		JOIN customer_words w ON w.customer_id = CASE h WHEN 0 THEN i ELSE 5 END`,
	`INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms)
		SELECT i, p, 'step', 'http', now(), 1 FROM generate_series(:some + 1, :n) i, generate_series(0, 1) p`,
	`INSERT INTO secrets (id, customer_id, name, value) SELECT i, i, 'S', 'sealed' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
		SELECT 20000000 + i, i, 'S', 'sealed', now(), now(), 1, now() + i * interval '1 second' - interval '5 minutes' FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO webhook_destinations (id, customer_id, url, name, secret, events, failing_since, failures, created_at)
		SELECT CASE h WHEN 0 THEN i ELSE 10000000 + i END, CASE h WHEN 0 THEN i ELSE 5 END, 'https://x.example', CASE h WHEN 0 THEN '' ELSE 'Company ' || i END, 'sealed', '{run.finished}',
			CASE WHEN i % 100 = 0 THEN now() - interval '1 day' END, 1, :begun + i * interval '1 second'
		FROM generate_series(:some + 1, :n) i CROSS JOIN generate_series(0, CASE WHEN i % 10 = 0 AND i <= 10000 THEN 1 ELSE 0 END) h`,
	`INSERT INTO webhook_deliveries (id, customer_id, destination_id, event_id, type, payload, status, lost, completed_at, created_at, limb_id)
		SELECT CASE h WHEN 0 THEN i ELSE 10000000 + i END, w.customer_id, CASE h WHEN 0 THEN i ELSE 5 END, 'event ' || i, 'run.finished', '',
			CASE WHEN i % 100 < 2 THEN 'pending' WHEN i % 100 = 2 THEN 'failed' ELSE 'delivered' END, i % 100 = 2, CASE WHEN i % 100 > 1 THEN now() END, :begun + i * interval '1 second', w.limb_id
		FROM generate_series(:some + 1, :n) i CROSS JOIN generate_series(0, CASE WHEN i % 10 = 0 AND i <= 10000 THEN 1 ELSE 0 END) h
		JOIN customer_words w ON w.customer_id = CASE h WHEN 0 THEN i ELSE 5 END`,
	`INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id, claimed_at)
		SELECT destination_id, id % 100 = 1, CASE WHEN id = 101 THEN '2100-01-01' ELSE created_at END, id, CASE WHEN id = 101 THEN now() END
		FROM webhook_deliveries WHERE status = 'pending' AND (id > :some AND id <= :n OR id > 10000000 + :some AND id <= 10000000 + :n)`,
	`INSERT INTO customer_exports (id, customer_id, asked_by, rights, branch_id, status, expires_at)
		SELECT i, i, 'user:' || i, '{}', 2 + i % 20, CASE WHEN i % 100 < 2 THEN 'PENDING' ELSE 'READY' END, CASE WHEN i % 100 > 1 THEN now() + interval '1 day' END
		FROM generate_series(:some + 1, :n) i WHERE i % 300 <> 0`,
	`INSERT INTO customer_imports (customer_id, parent_id, archive, space, active_then, report)
		SELECT i, 1, sha256(i::text::bytea), gen_random_uuid(), true, '{}' FROM generate_series(:some + 1, :n) i WHERE i % 300 <> 0`,
	`INSERT INTO import_requests (id, parent_id, user_id, client_id, file, archive, size, dry_run, made_id, branch_id, status, expires_at)
		SELECT i, i, i, '', md5(i::text)::uuid, sha256(i::text::bytea), 1, false, CASE WHEN i % 100 > 1 THEN i END, 2 + i % 20,
			CASE WHEN i % 100 < 2 THEN 'PENDING' ELSE 'READY' END, CASE WHEN i % 100 > 1 THEN now() + interval '1 day' END
		FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO customer_limits (customer_id, name, most) SELECT i, 'users', 1000000000 FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO usage_counts (customer_id, name, n) SELECT i, name, 1 FROM generate_series(:some + 1, :n) i, unnest(ARRAY['users', 'users', 'agents']) name`,
	`INSERT INTO counts_elsewhere (customer_id, name, cell, n, as_of) SELECT i, 'chunks', 9, 1, now() FROM generate_series(:some + 1, :n) i`,
	`INSERT INTO limit_notices (customer_id, name, level, day, used, most, told_at)
		SELECT i, 'users', 80, '2020-01-01', 1, 1, CASE WHEN i % 100 > 0 THEN now() END FROM generate_series(:some + 1, :n) i`,
}
