package db

import (
	"context"
	"maps"
	"slices"
	"testing"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// ordersOf are all orders of one and two fields of a list, in all directions, and one of each three.
func ordersOf(l *List) (orders []string) {
	fields := slices.Sorted(maps.Keys(l.orders))
	for _, a := range fields {
		orders = append(orders, a, "-"+a)
		for _, b := range fields {
			orders = append(orders, a+","+b, "-"+a+","+b, a+",-"+b, "-"+a+",-"+b)
			for _, c := range fields {
				if a != b && b != c {
					orders = append(orders, a+",-"+b+","+c)
				}
			}
		}
	}
	return orders
}

// TestEveryOrder: in each order of some fields, whichever of them comes first, a list is read to its other end from either one, each row once.
func TestEveryOrder(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, nil)
	data := planData{t, pool}
	data.grow(10, 20)
	data.exec(`SET session_replication_role = replica; UPDATE contexts SET account_id = (SELECT min(account_id) FROM contexts); RESET session_replication_role`)
	var desk Desk
	devtest.Check(t, pool.GetContext(t.Context(), &desk.AccountID, `SELECT min(account_id) FROM contexts`))
	for name, l := range map[string]struct {
		list *List
		read func(context.Context, access.Scope, Ask) ([]int64, [][]string, error)
	}{
		"companies":   {Customers, idsAndPlaces(s, (*Store).FindCustomers, func(r *Customer) int64 { return r.ID })},
		"users":       {Users, idsAndPlaces(s, (*Store).FindUsers, func(r *User) int64 { return r.ID })},
		"permissions": {Permissions, idsAndPlaces(s, (*Store).FindPermissions, func(r *Permission) int64 { return r.ID })},
		"contexts": {Contexts, idsAndPlaces(s, func(s *Store, ctx context.Context, _ access.Scope, a Ask) ([]*Context, error) {
			return s.FindContexts(ctx, desk, a)
		}, func(r *Context) int64 { return r.ID })},
		"documents": {Documents, idsAndPlaces(s, func(s *Store, ctx context.Context, _ access.Scope, a Ask) ([]*Document, error) {
			return s.FindDocuments(ctx, desk, a)
		}, func(r *Document) int64 { return r.ID })},
		"runs":       {Runs, idsAndPlaces(s, (*Store).FindRuns, func(r *Run) int64 { return r.ID })},
		"deliveries": {Deliveries, idsAndPlaces(s, (*Store).FindDeliveries, func(r *Delivery) int64 { return r.ID })},
		"audit":      {AuditEvents, idsAndPlaces(s, (*Store).FindAuditEvents, func(r *AuditEvent) int64 { return r.ID })},
	} {
		t.Run(name, func(t *testing.T) {
			const size = 7
			walk := func(order string, page func(paging.Cursor) paging.Page) (got []int64) {
				for at := (paging.Cursor{}); ; {
					ids, places, err := l.read(t.Context(), access.Lineage{1}.Subtree(), NewAsk(Where{}, order, page(at)))
					if err != nil || len(got) > 1000 {
						t.Fatalf("%s: %d rows, %v", order, len(got), err)
					}
					if got = append(got, ids[:min(size, len(ids))]...); len(ids) <= size {
						return got
					}
					at = paging.Cursor{Order: order, Keys: places[size-1]}
				}
			}
			onwards := func(at paging.Cursor) paging.Page { return paging.NewPage(size, at) }
			backwards := func(at paging.Cursor) paging.Page {
				p := onwards(at)
				p.Backward = true
				return p
			}
			all := slices.Sorted(slices.Values(walk("ID", onwards)))
			if len(all) <= 2*size {
				t.Fatalf("%d rows are too few", len(all))
			}
			for _, order := range ordersOf(l.list) {
				there, back := walk(order, onwards), walk(order, backwards)
				slices.Reverse(back)
				if !slices.Equal(there, back) || !slices.Equal(slices.Sorted(slices.Values(there)), all) {
					t.Errorf("%s: %v, and from the end %v", order, there, back)
				}
			}
		})
	}
}
