package db_test

import (
	"database/sql"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// auditRows is how many events TestAuditPlans looks for few among.
const auditRows = 200_000

// TestAuditPlans looks for pages of every filter among many events, nearly all of them of one busy
// company: each is read by an index, and no more than a few hundred rows are read for it.
func TestAuditPlans(t *testing.T) {
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), address, db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	root, busy, user := tree(t, s)
	quiet := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &root.ID, Name: "Quiet", RegionID: root.RegionID}))
	pool := devtest.Must[*sql.DB](t)(sql.Open("postgres", address))
	t.Cleanup(func() { _ = pool.Close() })
	exec := func(text string, args ...any) {
		t.Helper()
		devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), text, args...))
	}
	// As many events as the busy company's are those of a hundred others.
	exec(`INSERT INTO customers (parent_id, name, region_id) SELECT $1, 'Other ' || i, $2 FROM generate_series(1, 100) i`, root.ID, root.RegionID)
	exec(`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, details, created_at)
		SELECT CASE WHEN i % 10000 = 0 THEN $3::bigint WHEN i % 100 = 0 THEN $1 WHEN i % 2 = 0 THEN $2
				ELSE (SELECT min(id) FROM customers WHERE name LIKE 'Other %') + i / 2 % 100 END, CASE WHEN i % 5000 = 0 THEN $4::bigint END,
			CASE WHEN i % 2000 = 0 THEN 'role.updated' ELSE 'run.started' END, CASE WHEN i % 2000 = 0 THEN 'Role' ELSE 'Run' END, i, '{}',
			now() - ($5 - i) * interval '10 seconds'
		FROM generate_series(1, $5::bigint) i`, root.ID, busy.ID, quiet.ID, user.ID, auditRows)
	exec(`VACUUM ANALYZE audit_events, customers`)

	ago := func(share float64) time.Time {
		return time.Now().Add(-time.Duration(share * auditRows * 10 * float64(time.Second)))
	}
	filters := map[string]db.AuditFilter{
		"all": {}, "action": {Action: "role.updated"}, "no such action": {Action: "role.deleted"},
		"object": {ObjectType: "Run", ObjectID: 4711}, "object alone": {ObjectID: 4711}, "type": {ObjectType: "Run"},
		"actor": {ActorID: user.ID}, "customer": {CustomerID: quiet.ID}, "ids": {IDs: []int64{1, 4711, auditRows}},
		"since": {Since: ago(.1)}, "until": {Until: ago(.9)}, "between": {Since: ago(.5), Until: ago(.4999)},
		"all told": {Action: "run.started", ObjectType: "Run", Since: ago(.9), Until: ago(.1)},
		"or":       {Until: ago(.5), Or: []db.AuditFilter{{ActorID: user.ID}, {Action: "role.updated"}, {ObjectID: 5}}},
	}
	scopes := map[string]access.Scope{"root": root.Lineage.Subtree(), "busy": busy.Lineage.Subtree(), "quiet": quiet.Lineage.Subtree()}
	middle := paging.NewPage(50, paging.Cursor{ago(.5).UnixMicro(), auditRows / 2})
	for scope, within := range scopes {
		for name, f := range filters {
			for place, page := range map[string]paging.Page{"begin": paging.NewPage(50, nil), "middle": middle} {
				for _, ascending := range []bool{false, true} {
					t.Run(scope+"/"+name+"/"+place, func(t *testing.T) {
						text, args := db.AuditPage(within, f, ascending, page)
						if plan := devtest.Must[db.PlanNode](t)(db.Explain(t.Context(), pool, text, args...)); plan.Reads() > 500 {
							t.Errorf("%.0f rows were read:\n%s", plan.Reads(), plan)
						}
					})
				}
			}
		}
	}
}

// TestAuditFilter compares the pages of filters with what a look at every event gives.
func TestAuditFilter(t *testing.T) {
	s := openStore(t)
	root, child, user := tree(t, s)
	var told []db.NewAudit
	for i := range 60 {
		e := db.AuditEvent{CustomerID: []int64{root.ID, child.ID}[i%2], Action: []string{"a.b", "c.d", "e.f"}[i%3], ObjectType: "X", ObjectID: int64(i % 5), Details: json.RawMessage("{}")}
		if i%4 == 0 {
			e.ActorUserID = &user.ID
		}
		told = append(told, db.NewAudit{AuditEvent: e})
	}
	if written, deliveries, err := s.Tell(t.Context(), told, nil); err != nil || len(written) != 60 || deliveries != 0 {
		t.Fatal(written, deliveries, err)
	}
	all := devtest.Must[[]*db.AuditEvent](t)(s.AuditEvents(t.Context(), root.Lineage.Subtree(), db.AuditFilter{}, true, paging.NewPage(100, nil)))
	if len(all) != 60 || !slices.IsSortedFunc(all, func(a, b *db.AuditEvent) int { return int(a.ID - b.ID) }) {
		t.Fatalf("%d events", len(all))
	}
	cut := all[30].CreatedAt
	for name, c := range map[string]struct {
		filter db.AuditFilter
		fits   func(*db.AuditEvent) bool
	}{
		"all":    {db.AuditFilter{}, func(*db.AuditEvent) bool { return true }},
		"action": {db.AuditFilter{Action: "c.d"}, func(e *db.AuditEvent) bool { return e.Action == "c.d" }},
		"object": {db.AuditFilter{ObjectID: 3, ObjectType: "X"}, func(e *db.AuditEvent) bool { return e.ObjectID == 3 }},
		"type":   {db.AuditFilter{ObjectType: "Y"}, func(*db.AuditEvent) bool { return false }},
		"actor":  {db.AuditFilter{ActorID: user.ID}, func(e *db.AuditEvent) bool { return e.ActorUserID != nil }},
		"ids":    {db.AuditFilter{IDs: []int64{all[1].ID, all[4].ID}}, func(e *db.AuditEvent) bool { return e.ID == all[1].ID || e.ID == all[4].ID }},
		"none":   {db.AuditFilter{IDs: []int64{}}, func(*db.AuditEvent) bool { return false }},
		"since":  {db.AuditFilter{Since: cut}, func(e *db.AuditEvent) bool { return !e.CreatedAt.Before(cut) }},
		"until":  {db.AuditFilter{Until: cut}, func(e *db.AuditEvent) bool { return e.CreatedAt.Before(cut) }},
		"or": {
			db.AuditFilter{Action: "a.b", Or: []db.AuditFilter{{ObjectID: 1}, {ActorID: user.ID, Or: []db.AuditFilter{{ObjectID: 2}, {ObjectID: 3}}}, {ObjectID: 1}}},
			func(e *db.AuditEvent) bool {
				return e.Action == "a.b" && (e.ObjectID == 1 || e.ActorUserID != nil && (e.ObjectID == 2 || e.ObjectID == 3))
			},
		},
		"customer": {db.AuditFilter{CustomerID: child.ID}, func(e *db.AuditEvent) bool { return e.CustomerID == child.ID }},
	} {
		for scope, top := range map[string]*db.Customer{"root": root, "child": child} {
			t.Run(name+"/"+scope, func(t *testing.T) {
				var want, got []int64
				for _, e := range all {
					if c.fits(e) && (top == root || e.CustomerID == child.ID) {
						want = append(want, e.ID)
					}
				}
				n := devtest.Must[int](t)(s.AuditCount(t.Context(), top.Lineage.Subtree(), c.filter))
				for _, ascending := range []bool{false, true} {
					slices.Reverse(want)
					got = nil
					for page := paging.NewPage(7, nil); ; {
						rows := devtest.Must[[]*db.AuditEvent](t)(s.AuditEvents(t.Context(), top.Lineage.Subtree(), c.filter, ascending, page))
						for _, e := range rows[:min(7, len(rows))] {
							got = append(got, e.ID)
						}
						if len(rows) < 8 {
							break
						}
						page = paging.NewPage(7, rows[6].At())
					}
					if !slices.Equal(got, want) || n != len(want) {
						t.Errorf("%v (%d), want %v", got, n, want)
					}
				}
			})
		}
	}
	if rows := devtest.Must[[]*db.AuditEvent](t)(s.AuditEvents(t.Context(), access.Scope{}, db.AuditFilter{IDs: []int64{all[0].ID}}, false, paging.NewPage(7, nil))); len(rows) != 0 {
		t.Error("the zero scope finds something")
	}
}
