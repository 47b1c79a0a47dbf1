package db

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// ofEveryStatus are companies, runs and deliveries of which some have each status.
var ofEveryStatus = []string{
	`UPDATE customers SET suspended = true WHERE id % 9 = 4`,
	`UPDATE customers SET erase_at = now() WHERE id = 300`,
	`UPDATE runs SET status = 'failed' WHERE status = 'finished' AND id % 7 = 0`,
	`UPDATE webhook_deliveries SET status = 'failed', lost = true WHERE status = 'delivered' AND id % 11 = 0`,
	`UPDATE webhook_deliveries SET status = 'blocked', lost = true WHERE status = 'delivered' AND id % 13 = 0`,
}

// TestListsByStatus: what is ordered by its status is found whole, in that order and each once, whether pages go on forward or backward, of the whole tree,
// of a branch, of one company and of one status.
func TestListsByStatus(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, Fingerprint(), Migrate)
	pool := devtest.Must[*sqlx.DB](t)(Connect(url, Options{MaxConns: 1}))
	t.Cleanup(func() { _ = pool.Close() })
	data := planData{t, pool}
	data.begin()
	data.grow(0, 400)
	for _, text := range ofEveryStatus {
		data.exec(text)
	}
	s := devtest.Must[*Store](t)(Open(t.Context(), url, Options{MaxConns: 2}))
	t.Cleanup(func() { _ = s.Close() })
	for _, l := range []struct {
		name, from, status, time string
		ids                      func(context.Context, access.Scope, Ask) ([]int64, [][]string, error)
	}{
		{"companies", "customers l JOIN customers c USING (id)", "l.status", "l.created_at", idsAndPlaces(s, (*Store).FindCustomers, func(c *Customer) int64 { return c.ID })},
		{"runs", "runs l JOIN accounts a ON a.id = l.account_id JOIN customers c ON c.id = a.customer_id", "l.status", "l.created_at", idsAndPlaces(s, (*Store).FindRuns, func(r *Run) int64 { return r.ID })},
		{"deliveries", "webhook_deliveries l JOIN customers c ON c.id = l.customer_id", "l.status", "l.created_at", idsAndPlaces(s, (*Store).FindDeliveries, func(d *Delivery) int64 { return d.ID })},
	} {
		then := l.time + ", "
		if l.name == "companies" {
			then = ""
		}
		for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
			for _, where := range []struct {
				terms []Term
				text  string
			}{
				{nil, "true"},
				{[]Term{{"status", "failed"}}, "l.status = 'failed'"},
				{[]Term{{"status", "pending"}}, "l.status = 'pending'"},
				{[]Term{{"customerId", "5"}}, "c.id = 5"},
			} {
				if l.name == "companies" && where.terms != nil {
					where.terms, where.text = []Term{{"status", CustomerSuspended}}, "l.status = 'SUSPENDED'"
				}
				var want []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want, fmt.Sprintf(`SELECT l.id FROM %s WHERE %s AND c.lineage >= $1 AND c.lineage < $2
					AND NOT EXISTS (SELECT FROM customers d WHERE d.id = ANY (c.lineage) AND d.status = 'DELETED') ORDER BY %s COLLATE "C", %sl.id`, l.from, where.text, l.status, then), scope.From(), scope.To()))
				t.Run(fmt.Sprint(l.name, scope.From(), where.text), func(t *testing.T) {
					tryBothWays(t, Where{Terms: where.terms}, scope, want, l.ids)
				})
			}
		}
	}
}

// idsAndPlaces reads a page of a list: the ids of the rows, and their places.
func idsAndPlaces[V any, R interface {
	*V
	FoundAt() []string
}](s *Store, find func(*Store, context.Context, access.Scope, Ask) ([]R, error), id func(R) int64) func(context.Context, access.Scope, Ask) ([]int64, [][]string, error) {
	return func(ctx context.Context, scope access.Scope, a Ask) (ids []int64, places [][]string, err error) {
		rows, err := find(s, ctx, scope, a)
		for _, r := range rows {
			ids, places = append(ids, id(r)), append(places, r.FoundAt())
		}
		return ids, places, err
	}
}

// tryBothWays walks the list in the order of the status, and in its reverse, from both ends.
func tryBothWays(t *testing.T, where Where, scope access.Scope, want []int64, read func(context.Context, access.Scope, Ask) ([]int64, [][]string, error)) {
	t.Helper()
	for _, order := range []string{"STATUS", "-STATUS"} {
		const size = 100
		walk := func(page func(paging.Cursor) paging.Page) (got []int64) {
			for at := (paging.Cursor{}); ; {
				ids, places, err := read(t.Context(), scope, NewAsk(where, order, page(at)))
				devtest.Check(t, err)
				more := len(ids) > size
				if more {
					ids, places = ids[:size], places[:size]
				}
				if got = append(got, ids...); !more {
					return got
				}
				at = paging.Cursor{Order: order, Keys: places[size-1]}
			}
		}
		reversed := slices.Clone(want)
		slices.Reverse(reversed)
		forward, backward := want, reversed
		if order == "-STATUS" {
			forward, backward = reversed, want
		}
		if got := walk(func(c paging.Cursor) paging.Page { return paging.NewPage(size, c) }); !slices.Equal(got, forward) {
			t.Errorf("%s: %d rows, %v, want %d, %v", order, len(got), got, len(forward), forward)
		}
		before := func(c paging.Cursor) paging.Page {
			p := paging.NewPage(size, c)
			p.Backward = true
			return p
		}
		if got := walk(before); !slices.Equal(got, backward) {
			t.Errorf("%s, backward: %d rows, %v, want %d, %v", order, len(got), got, len(backward), backward)
		}
	}
}
