package db

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// farNames are documents of context 5, and contexts and agents of account 5, of which a fifth by name, the last ones, share a word, and some hundred another.
var farNames = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, branch_id, created_at)
		SELECT 50000000 + i, 5, gen_random_uuid(), 'f' || i, ` + farName + `, 0, CASE WHEN i % 9 = 0 THEN 'pdf' ELSE 'txt' END, 'text/plain', 'far ' || i, 1 + i * 7919 % 10007, 'ready', 'canopy-lexical-1', 1000, .2, 2, now() - i * interval '1 second'
		FROM generate_series(1, 15000) i`,
	`INSERT INTO contexts (id, account_id, user_id, name, description, caption, embedding_model, share_state)
		SELECT 50000000 + i, 5, 5, ` + farName + `, '', '', 'canopy-lexical-1', 1 FROM generate_series(1, 15000) i`,
	`INSERT INTO agents (id, account_id, name, draft) SELECT 50000000 + i, 5, ` + farName + `, '{}'::json FROM generate_series(1, 15000) i`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

const farName = `CASE WHEN i <= 12000 THEN 'Alder ' ELSE 'Zinnia far ' END || i % 100 || CASE WHEN i % 120 = 0 THEN ' quince' ELSE '' END`

// TestFarNames: what a search finds among very many documents, contexts and agents is found whole and in order, each once, be the word rare, common or misspelt, and wherever those that
// have it stand.
func TestFarNames(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, Fingerprint(), Migrate)
	pool := devtest.Must[*sqlx.DB](t)(Connect(url, Options{MaxConns: 1}))
	t.Cleanup(func() { _ = pool.Close() })
	data := planData{t, pool}
	data.begin()
	data.grow(0, 10)
	for _, text := range farNames {
		data.exec(text)
	}
	s := devtest.Must[*Store](t)(Open(t.Context(), url, Options{MaxConns: 2}))
	t.Cleanup(func() { _ = s.Close() })
	desk := Desk{AccountID: 5}
	ofDesk := func(ctx context.Context, a Ask) ([]*Document, error) { return s.FindDocuments(ctx, desk, a) }
	ofContext := func(ctx context.Context, a Ask) ([]*Document, error) {
		found, err := pagesOf[Document](documentsOfContext)(ctx, s, scopedAsk{ask: a}, []int64{5})
		return found[5], err
	}
	contexts := func(ctx context.Context, a Ask) ([]*Context, error) { return s.FindContexts(ctx, desk, a) }
	agents := func(h hung, of int64) func(context.Context, Ask) ([]*Agent, error) {
		return func(ctx context.Context, a Ask) ([]*Agent, error) {
			found, err := pagesOf[Agent](h)(ctx, s, scopedAsk{ask: a}, []int64{of})
			return found[of], err
		}
	}
	ofDocument := func(d *Document) int64 { return d.ID }
	ofAgent := func(g *Agent) int64 { return g.ID }
	for _, l := range []struct {
		name, table, called string
		terms               []Term
		read                func(context.Context, Ask) ([]int64, [][]string, error)
	}{
		{"documents of a desk", "documents", "display_name", nil, idsOf(ofDesk, ofDocument)},
		{"documents of a context on a desk", "documents", "display_name", []Term{{"contextId", "5"}}, idsOf(ofDesk, ofDocument)},
		{"documents of a context", "documents", "display_name", nil, idsOf(ofContext, ofDocument)},
		{"contexts", "contexts", "name", nil, idsOf(contexts, func(x *Context) int64 { return x.ID })},
		{"agents of an account", "agents", "name", nil, idsOf(agents(agentsOfAccount, 5), ofAgent)},
		{"agents of a company", "agents", "name", nil, idsOf(agents(agentsOfCustomer, 5), ofAgent)},
	} {
		for text, word := range map[string]string{"zinnia": "zinnia", "zinnai": "zinnia", "quince": "quince", "far quince": "far.*quince", "alder 7": "alder 7"} {
			for order, by := range map[string]string{"NAME": `lower(` + l.called + `) COLLATE "C"`, "-NAME": `lower(` + l.called + `) COLLATE "C"`, "-CREATED_AT": "created_at"} {
				direction := ""
				if order[0] == '-' {
					direction = " DESC"
				}
				var want []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want,
					fmt.Sprintf(`SELECT id FROM %s WHERE lower(%s) ~ $1 ORDER BY %s%s, id%s LIMIT 250`, l.table, l.called, by, direction, direction), word))
				t.Run(fmt.Sprint(l.name, " ", text, " ", order), func(t *testing.T) {
					const size = 100
					where := Where{Terms: append(slices.Clone(l.terms), Term{searched, text})}
					var got []int64
					for at := (paging.Cursor{}); len(got) < len(want); {
						ids, places, err := l.read(t.Context(), NewAsk(where, order, paging.NewPage(size, at)))
						devtest.Check(t, err)
						if got = append(got, ids[:min(len(ids), size)]...); len(ids) <= size {
							break
						}
						at = paging.Cursor{Order: order, Keys: places[size-1]}
					}
					if got = got[:min(len(got), len(want))]; !slices.Equal(got, want) {
						t.Errorf("%d rows, %v, want %d, %v", len(got), got, len(want), want)
					}
				})
			}
		}
	}
}

// idsOf reads a page of a list: the ids of the rows, and their places.
func idsOf[V any, R interface {
	*V
	FoundAt() []string
}](find func(context.Context, Ask) ([]R, error), id func(R) int64) func(context.Context, Ask) ([]int64, [][]string, error) {
	return func(ctx context.Context, a Ask) (ids []int64, places [][]string, err error) {
		rows, err := find(ctx, a)
		for _, r := range rows {
			ids, places = append(ids, id(r)), append(places, r.FoundAt())
		}
		return ids, places, err
	}
}

// TestFarNamesReadLittle: of very many documents, contexts and agents no more are read for that than the index finds, with a walk of what may be near.
func TestFarNamesReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, farNames...)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, l := range []listExample{
		{name: "documents", list: Documents, ways: documentsOnDesk, args: Desk{AccountID: 5}.args(), most: 12_500},
		{name: "documents of a context", list: Documents, of: documentsOfContext, ways: documentsOfContext.ways, args: []any{"{5}"}, hung: "$1", most: 12_500},
		{name: "contexts", list: Contexts, ways: contextsOnDesk, args: Desk{AccountID: 5}.args(), most: 12_500},
		{name: "agents", list: Agents, of: agentsOfAccount, ways: agentsOfAccount.ways, args: []any{"{5}"}, hung: "$1", most: 12_500},
	} {
		for _, order := range []string{"NAME", "-NAME", "CREATED_AT"} {
			l.run(t, conn, 10, NewAsk(Where{Terms: []Term{{searched, "zinnia"}}}, order, paging.NewPage(20, paging.Cursor{})), false)
			l.run(t, conn, 10, NewAsk(Where{}, order, paging.NewPage(20, paging.Cursor{})), false)
		}
	}
}
