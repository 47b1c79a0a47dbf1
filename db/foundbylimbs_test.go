package db

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// deepLimb is a limb of three companies, one below the other, of which the lower two have permissions and deliveries that were made after all of the first one's; these are of another role
// and of another type.
var deepLimb = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id) VALUES (100001, 2, '{1,2,100001}', 'Third', 1), (100002, 100001, '{1,2,100001,100002}', 'Fourth', 1),
		(100003, 100002, '{1,2,100001,100002,100003}', 'Fifth', 1), (100004, 100003, '{1,2,100001,100002,100003,100004}', 'Sixth', 1)`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id IN (100001, 100002)`,
	`INSERT INTO customer_words (customer_id, words, named, created_at, limb_id) SELECT id, words_of(name), lower(name), created_at, limb_of(lineage) FROM customers WHERE id > 100000`,
	`INSERT INTO accounts (id, customer_id, app_instance_id, name, limb_id) SELECT id, id, 1, 'Account', limb_of(lineage) FROM customers WHERE id > 100000`,
	`INSERT INTO users (id, email, first_name, last_name) SELECT 100000 + i, 'person' || i || '@x.example', 'Number', i FROM generate_series(1, 9000) i`,
	`INSERT INTO permissions (id, account_id, user_id, role_id, limb_id, application_id, created_at)
		SELECT 100000 + i, CASE WHEN i <= 6000 THEN 100002 ELSE 100003 + i % 2 END, 100000 + i, CASE WHEN i <= 6000 THEN 1 ELSE 2 END, 100002, 1, now() + i / 7 * interval '1 second' FROM generate_series(1, 9000) i`,
	`INSERT INTO webhook_deliveries (id, customer_id, destination_id, event_id, type, payload, status, completed_at, created_at, limb_id)
		SELECT 100000 + i, CASE WHEN i <= 6000 THEN 100002 ELSE 100003 END, 5, 'far' || i, CASE WHEN i <= 6000 THEN 'run.finished' ELSE 'agent.published' END, '', 'delivered', now(), now() + i * interval '1 second', 100002
		FROM generate_series(1, 9000) i`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// TestPartsOfLimbs: what lies behind all others of its limb, in the order of the time, by its account, its role or its type, is found whole and in order, each once, from both ends, without a look at these.
func TestPartsOfLimbs(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, deepLimb)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	whole, branch, fifth := access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree(), access.Lineage{1, 2, 100001, 100002, 100003}.Subtree()
	for _, l := range []struct {
		list   *List
		scope  access.Scope
		where  Where
		orders map[string]string
		want   string
	}{
		{Permissions, fifth, Where{}, map[string]string{"CREATED_AT": "created_at, id", "ID": "id"}, `permissions WHERE account_id > 100002`},
		{Permissions, whole, Where{Terms: []Term{{"roleId", "2"}}}, map[string]string{"ID": "id"}, `permissions WHERE role_id = 2`},
		{Permissions, branch, Where{Terms: []Term{{"accountId", "100003"}}}, map[string]string{"CREATED_AT": "created_at, id", "ID": "id"}, `permissions WHERE account_id = 100003`},
		{Deliveries, branch, Where{Terms: []Term{{"type", "agent.published"}}}, map[string]string{"CREATED_AT": "created_at, id"}, `webhook_deliveries WHERE type = 'agent.published'`},
	} {
		ways, read := permissionsWithin(l.scope), idsOf(func(ctx context.Context, a Ask) ([]*Permission, error) { return s.FindPermissions(ctx, l.scope, a) }, func(p *Permission) int64 { return p.ID })
		if l.list == Deliveries {
			ways, read = deliveriesWithin(l.scope), idsOf(func(ctx context.Context, a Ask) ([]*Delivery, error) { return s.FindDeliveries(ctx, l.scope, a) }, func(d *Delivery) int64 { return d.ID })
		}
		tried := listExample{name: l.want, list: l.list, ways: ways, args: []any{l.scope.From(), l.scope.To()}, most: usual}
		for order, by := range l.orders {
			var want []int64
			devtest.Check(t, conn.SelectContext(t.Context(), &want, fmt.Sprintf(`SELECT id FROM %s ORDER BY %s`, l.want, by)))
			if got := pagesOfFound(t, read, l.where, order, len(want)+1); !slices.Equal(got, want) {
				t.Errorf("%s by %s: %d rows, want %d", l.want, order, len(got), len(want))
			}
			last := paging.Page{Size: 50, Backward: true}
			got, _, err := read(t.Context(), NewAsk(l.where, order, last))
			if slices.Reverse(got); err != nil || !slices.Equal(got, want[len(want)-51:]) {
				t.Errorf("the last of %s by %s: %d rows, %v", l.want, order, len(got), err)
			}
			tried.run(t, conn, 10, NewAsk(l.where, order, paging.NewPage(50, paging.Cursor{})), false)
			tried.run(t, conn, 10, NewAsk(l.where, order, last), false)
		}
	}
}
