package db

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/devstack/devtest"
	"canopy/internal/words"
)

// TestWordsAreThoseOfNames: a text is taken apart as the index takes names apart, whatever they are written in.
func TestWordsAreThoseOfNames(t *testing.T) {
	pool := ownPool(t, Options{MaxConns: 1})
	texts := []string{"Müller & Söhne GmbH", "ÅLAND/İzmir O'Brien", "ΑΘΗΝΑ Москва Ґанок", "東京 株式会社", "ﬁne № ½ ™", "anna.smith+x@acme.example", strings.Repeat("Long", 50), " - ", "\u1e9e\u0130\u01c5", "Łódź Þórdís ÆŒ " + strings.Repeat("ß", 200)}
	for _, letters := range []struct{ from, to rune }{{0x20, 0x2af}, {0x370, 0x52f}, {0x1e00, 0x20cf}, {0x3000, 0x30ff}} {
		for at := letters.from; at < letters.to; at += 16 {
			var b strings.Builder
			for r := at; r < min(at+16, letters.to); r++ {
				b.WriteRune('x')
				b.WriteRune(r)
			}
			texts = append(texts, b.String())
		}
	}
	for _, text := range texts {
		var plain string
		var said pq.StringArray
		devtest.Check(t, pool.QueryRowxContext(t.Context(), `SELECT plain($1), tsvector_to_array(words_of($1))`, text).Scan(&plain, &said))
		want := append(words.OfName(text), words.Of(text)...)
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(said)); !slices.Equal(got, slices.Compact(want)) || plain != words.Plain(text) {
			t.Errorf("%q: %q of %q, want %q of %q", text, got, plain, want, words.Plain(text))
		}
	}
}

// beforePlainWords is the schema as it was before names were found by plain letters.
func beforePlainWords(ctx context.Context, url string) error {
	m, err := NewMigrator(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	for _, source := range m.ListSources() {
		if strings.HasSuffix(source.Path, "_plain_words.sql") {
			_, err = m.UpTo(ctx, source.Version-1)
		}
	}
	return err
}

// namedBefore is a schema from before names were found by plain letters, with something of everything that has a name.
func namedBefore(t *testing.T) (url string, data planData) {
	t.Helper()
	url = devtest.Database(t, "before plain words "+Fingerprint(), beforePlainWords)
	data = planData{t, devtest.Must[*sqlx.DB](t)(Connect(url, Options{MaxConns: 3}))}
	t.Cleanup(func() { _ = data.pool.Close() })
	for _, text := range []string{
		`INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe')`,
		`INSERT INTO applications (id, code, name, app_type, auth_url) VALUES (1, 'tenant', 'Tenant', 1, '')`,
		`INSERT INTO app_instances (id, application_id, region_id, domain) VALUES (1, 1, 1, '')`,
		`INSERT INTO customers (id, parent_id, name, region_id) VALUES (1, NULL, 'Root', 1), (2, 1, 'Søren', 1), (3, 1, 'Jürgen', 1)`,
		`INSERT INTO accounts (id, customer_id, app_instance_id, name) VALUES (1, 2, 1, 'Søren')`,
		`INSERT INTO users (id, email, first_name) VALUES (1, 'one@x.example', 'Søren'), (2, 'two@x.example', 'Jürgen')`,
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT 2, id, email, first_name, '' FROM users`,
		`INSERT INTO contexts (id, account_id, user_id, name, description, caption, embedding_model, share_state) VALUES (1, 1, 1, 'Søren', '', '', 'canopy-lexical-1', 0)`,
		`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, branch_id)
			VALUES (1, 1, gen_random_uuid(), 'a.txt', 'Søren', 0, 'txt', 'text/plain', '', 1000, 'ready', 'canopy-lexical-1', 1000, .2, 2)`,
		`INSERT INTO agents (account_id, name, draft) VALUES (1, 'Søren', '{}')`,
		`INSERT INTO webhook_destinations (customer_id, name, url, secret) VALUES (1, 'Søren', 'https://x.example/', '')`,
	} {
		data.exec(text)
	}
	return url, data
}

// TestNamesOfBeforeArePlain: what was named before is found by plain letters, and by programs of before as it was.
func TestNamesOfBeforeArePlain(t *testing.T) {
	t.Parallel()
	url, data := namedBefore(t)
	devtest.Check(t, Migrate(t.Context(), url))
	conn := devtest.Must[*sqlx.Conn](t)(data.pool.Connx(t.Context()))
	defer func() { _ = conn.Close() }()
	devtest.Must[sql.Result](t)(conn.ExecContext(t.Context(), `SET enable_seqscan = off`))
	for _, from := range []string{
		`customer_words WHERE words @@ ?`, `member_names WHERE words_in(limb_id, said) @@ ?`, `contexts WHERE words_of(name) @@ ?`, `documents WHERE words_of(display_name) @@ ?`,
		`agents WHERE words_of(name) @@ ?`, `webhook_destinations WHERE words_of(name || ' ' || url) @@ ?`,
	} {
		for _, word := range []string{"soren", "søren"} {
			var n int
			if devtest.Check(t, conn.GetContext(t.Context(), &n, `SELECT count(*) FROM `+strings.ReplaceAll(from, "?", "$1::tsquery"), "'"+word+"'")); n != 1 {
				t.Errorf("%s: %q finds %d", from, word, n)
			}
		}
	}
}

// TestNamesChangeWhileTheyAreMadePlain: while the words of names of before wait for somebody who changes such a name, others go on, and what the name becomes is what is found.
func TestNamesChangeWhileTheyAreMadePlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ change, goesOn, found string }{
		{`UPDATE customers SET name = 'Łukasz' WHERE id = 2`, `UPDATE customers SET name = 'Đorđe' WHERE id = 3`, `customer_words WHERE words`},
		{`UPDATE memberships SET first_name = 'Łukasz' WHERE user_id = 1`, `UPDATE memberships SET first_name = 'Đorđe' WHERE user_id = 2`, `member_names WHERE words_in(limb_id, said)`},
		{`UPDATE documents SET display_name = 'Łukasz'`, `INSERT INTO agents (account_id, name, draft) VALUES (1, 'x', '{}')`, `documents WHERE words_of(display_name)`},
	} {
		t.Run(c.found, func(t *testing.T) {
			t.Parallel()
			url, data := namedBefore(t)
			writer := devtest.Must[*sqlx.Tx](t)(data.pool.Beginx())
			defer func() { _ = writer.Rollback() }()
			devtest.Must[sql.Result](t)(writer.ExecContext(t.Context(), c.change))
			done := make(chan error, 1)
			go func() { done <- Migrate(t.Context(), url) }()
			devtest.Eventually(t, "a migration waits for the writer", func() bool {
				var waiting bool
				devtest.Check(t, data.pool.GetContext(t.Context(), &waiting, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`))
				return waiting
			})
			other := devtest.Must[*sqlx.Tx](t)(data.pool.Beginx())
			defer func() { _ = other.Rollback() }()
			devtest.Must[sql.Result](t)(other.ExecContext(t.Context(), `SET LOCAL lock_timeout = 100`))
			devtest.Must[sql.Result](t)(other.ExecContext(t.Context(), c.goesOn))
			devtest.Check(t, other.Commit())
			devtest.Check(t, writer.Commit())
			devtest.Check(t, <-done)
			var n int
			if devtest.Check(t, data.pool.GetContext(t.Context(), &n, `SELECT count(*) FROM `+c.found+` @@ 'lukasz'`)); n != 1 {
				t.Errorf("%d are found", n)
			}
		})
	}
}
