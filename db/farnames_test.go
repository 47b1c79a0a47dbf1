package db

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// farNames are documents of context 5, contexts and agents of account 5, and destinations of company 5, of which a fifth by name, the last ones, share a word, and some hundred another.
var farNames = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap, branch_id, created_at)
		SELECT 50000000 + i, 5, gen_random_uuid(), 'f' || i, ` + farName + `, 0, CASE WHEN i % 9 = 0 THEN 'pdf' ELSE 'txt' END, 'text/plain', 'far ' || i, 1 + i * 7919 % 10007, 'ready', 'canopy-lexical-1', 1000, .2, 2, now() - i * interval '1 second'
		FROM generate_series(1, 15000) i`,
	`INSERT INTO contexts (id, account_id, user_id, name, description, caption, embedding_model, share_state)
		SELECT 50000000 + i, 5, 5, ` + farName + `, '', '', 'canopy-lexical-1', 1 FROM generate_series(1, 15000) i`,
	`INSERT INTO agents (id, account_id, name, draft) SELECT 50000000 + i, 5, ` + farName + `, '{}'::json FROM generate_series(1, 15000) i`,
	`INSERT INTO webhook_destinations (id, customer_id, url, name, secret) SELECT 50000000 + i, 5, 'https://x.example', ` + farName + `, 'sealed' FROM generate_series(1, 15000) i`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

const farName = `CASE WHEN i <= 12000 THEN 'Alder ' ELSE 'Zinnia far ' END || i % 100 || CASE WHEN i % 120 = 0 THEN ' quince' ELSE '' END`

// TestFarNames: what a search finds among very many documents, contexts and agents is found whole and in order, each once, be the word rare, common or misspelt, and wherever those that
// have it stand.
func TestFarNames(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, farNames)
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
		for text, word := range map[string]string{"zinnia": "zinnia", "zinnai": "zinnia", "quince": "quince", "far quince": "far.*quince", "quince alder": "alder.*quince", "alder 7": "alder 7"} {
			for order, by := range map[string]string{"NAME": `lower(` + l.called + `) COLLATE "C"`, "-NAME": `lower(` + l.called + `) COLLATE "C"`, "-CREATED_AT": "created_at"} {
				direction := ""
				if order[0] == '-' {
					direction = " DESC"
				}
				var want []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want,
					fmt.Sprintf(`SELECT id FROM %s WHERE lower(%s) ~ $1 ORDER BY %s%s, id%s LIMIT 250`, l.table, l.called, by, direction, direction), word))
				t.Run(fmt.Sprint(l.name, " ", text, " ", order), func(t *testing.T) {
					got := pagesOfFound(t, l.read, Where{Terms: append(slices.Clone(l.terms), Term{searched, text})}, order, len(want))
					if !slices.Equal(got, want) {
						t.Errorf("%d rows, %v, want %d, %v", len(got), got, len(want), want)
					}
				})
			}
		}
	}
}

// TestFarNamesWithin: of the agents and the destinations of a part of the tree, too, what a search finds is found whole and in order, each once, and nothing of others.
func TestFarNamesWithin(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, farNames)
	for _, company := range []int64{1, 5, 6} {
		var place pq.Int64Array
		devtest.Check(t, pool.GetContext(t.Context(), &place, `SELECT lineage FROM customers WHERE id = $1`, company))
		scope := access.Lineage(place).Subtree()
		agents := func(ctx context.Context, a Ask) ([]*Agent, error) { return s.FindAgents(ctx, scope, a) }
		destinations := func(ctx context.Context, a Ask) ([]*Destination, error) { return s.FindDestinations(ctx, scope, a) }
		for _, l := range []struct {
			rows string
			read func(context.Context, Ask) ([]int64, [][]string, error)
		}{
			{"(SELECT g.*, a.customer_id FROM agents g JOIN accounts a ON a.id = g.account_id)", idsOf(agents, func(g *Agent) int64 { return g.ID })},
			{"webhook_destinations", idsOf(destinations, func(d *Destination) int64 { return d.ID })},
		} {
			for text, word := range map[string]string{"zinnia": "zinnia", "zinnai": "zinnia", "quince": "quince", "far quince": "far.*quince", "quince alder": "alder.*quince", "alder 7": "alder 7"} {
				for order, direction := range map[string]string{"ID": "", "-ID": " DESC"} {
					var want []int64
					devtest.Check(t, pool.SelectContext(t.Context(), &want, fmt.Sprintf(
						`SELECT x.id FROM %s x JOIN customers c ON c.id = x.customer_id WHERE $2 = ANY (c.lineage) AND lower(x.name) ~ $1 ORDER BY x.id%s LIMIT 250`, l.rows, direction), word, company))
					got := pagesOfFound(t, l.read, Where{Terms: []Term{{searched, text}}}, order, len(want))
					if len(want) > 0 != (company != 6) || !slices.Equal(got, want) {
						t.Errorf("%s within %d, %q by %s: %d rows, %v, want %d, %v", l.rows, company, text, order, len(got), got, len(want), want)
					}
				}
			}
		}
	}
}

// pagesOfFound reads the pages of a list until there are as many rows as are wanted, or no more.
func pagesOfFound(t *testing.T, read func(context.Context, Ask) ([]int64, [][]string, error), where Where, order string, most int) (got []int64) {
	t.Helper()
	const size = paging.MaxFirst
	for at := (paging.Cursor{}); ; {
		ids, places, err := read(t.Context(), NewAsk(where, order, paging.NewPage(size, at)))
		devtest.Check(t, err)
		if got = append(got, ids[:min(len(ids), size)]...); len(ids) <= size || len(got) >= most {
			return got[:min(len(got), most)]
		}
		at = paging.Cursor{Order: order, Keys: places[size-1]}
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
	pool := planGrown(t, farNames)
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
	none := listExample{name: "contexts of another account", list: Contexts, ways: contextsOnDesk, args: Desk{AccountID: 5}.args(), most: 100}
	none.run(t, conn, 10, NewAsk(Where{Terms: []Term{{searched, "zinnia"}, {"accountId", "6"}}}, "NAME", paging.NewPage(20, paging.Cursor{})), false)
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree(), access.Lineage{1, 6}.Subtree()} {
		args := []any{scope.From(), scope.To()}
		for _, l := range []listExample{
			{name: "agents within", list: Agents, ways: agentsWithin(scope), args: args, most: 12_500},
			{name: "destinations within", list: Destinations, ways: destinationsWithin(scope), args: args, most: 12_500},
		} {
			for _, order := range []string{"ID", "-ID"} {
				l.run(t, conn, 10, NewAsk(Where{Terms: []Term{{searched, "zinnia"}}}, order, paging.NewPage(20, paging.Cursor{})).Plainly(), false)
			}
		}
	}
}

// TestGroupsOfContextsReadLittle: of very many contexts those that have the first field of an order alike are found by themselves.
func TestGroupsOfContextsReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, farNames)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	g := grouping{list: Contexts, ask: NewAsk(Where{}, "NAME,CREATED_AT", paging.NewPage(20, paging.Cursor{})), ways: contextsOnDesk, args: Desk{AccountID: 5}.args()}
	first := g.statement(0).keys[0]
	text, args := g.text([]sortedKey{g.byID(false)}, nil, fewInGroup+1, g.within(first, "alder 7", true))
	tryPlan(t, conn, 10, "listed", text, example{most: 10}, args)
}
