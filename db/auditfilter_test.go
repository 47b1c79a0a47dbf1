package db_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

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
	t.Parallel()
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), address, db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	root, busy, user := tree(t, s)
	quiet := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &root.ID, Name: "Quiet", RegionID: root.RegionID}))
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{}))
	t.Cleanup(func() { _ = pool.Close() })
	exec := func(text string, args ...any) {
		t.Helper()
		devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), text, args...))
	}
	// As many events as the busy company's are those of a hundred others.
	exec(`INSERT INTO customers (parent_id, name, region_id) SELECT $1, 'Other ' || i, $2 FROM generate_series(1, 100) i`, root.ID, root.RegionID)
	const atOnce = 10_000 // which a busy machine writes within the time of a statement
	for from := 0; from < auditRows; from += atOnce {
		exec(`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, details, created_at)
		SELECT CASE WHEN i % 10000 = 0 THEN $3::bigint WHEN i % 100 = 0 THEN $1 WHEN i % 2 = 0 THEN $2
				ELSE (SELECT min(id) FROM customers WHERE name LIKE 'Other %') + i / 2 % 100 END, CASE WHEN i % 5000 = 0 THEN $4::bigint END,
			CASE WHEN i % 2000 = 0 THEN 'role.updated' ELSE 'run.started' END, CASE WHEN i % 2000 = 0 THEN 'Role' ELSE 'Run' END, i, '{}',
			now() - ($5::bigint - i) * interval '10 seconds'
		FROM generate_series($6::bigint + 1, $6 + $7::bigint) i`, root.ID, busy.ID, quiet.ID, user.ID, auditRows, from, atOnce)
	}
	// One who has caused very many events has caused one that a company deep in the tree has, among a few hundred.
	deep, much := busy, devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), db.Given{Email: "much@x.example", FirstName: "Much", LastName: "Done"}))
	for level := range 4 {
		deep = devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &deep.ID, Name: fmt.Sprint("Deep ", level), RegionID: root.RegionID}))
	}
	exec(`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, created_at)
		SELECT CASE WHEN i % 100 = 7 THEN $1::bigint ELSE $2 END, CASE WHEN i = 7 OR i % 100 <> 7 THEN $3::bigint END, 'run.started', 'Run', i, now() - i * interval '1 minute' FROM generate_series(1, 10000) i`, deep.ID, root.ID, much.ID)
	// What a sample of the rows tells of their limbs varies.
	exec(`ALTER TABLE audit_events ALTER limb_id SET (n_distinct = 1)`)
	exec(`VACUUM ANALYZE audit_events, customers`)

	ago := func(share float64) time.Time {
		return time.Now().Add(-time.Duration(share * auditRows * 10 * float64(time.Second)))
	}
	since := func(share float64) db.Term {
		return db.Term{Member: "createdSince", Value: ago(share).Format(time.RFC3339Nano)}
	}
	until := func(share float64) db.Term {
		return db.Term{Member: "createdUntil", Value: ago(share).Format(time.RFC3339Nano)}
	}
	is := func(member string, value any) db.Term { return db.Term{Member: member, Value: fmt.Sprint(value)} }
	filters := map[string]db.Where{
		"all": {}, "action": where(is("action", "role.updated")), "no such action": where(is("action", "role.deleted")),
		"object": where(is("objectType", "Run"), is("objectId", 4711)), "object alone": where(is("objectId", 4711)), "type": where(is("objectType", "Run")),
		"actor": where(is("actorId", user.ID)), "busy actor": where(is("actorId", much.ID)), "object of a busy actor": where(is("actorId", much.ID), is("objectType", "Run"), is("createdSince", "2020-01-01")), "few of a kind": where(is("actorKind", "USER")), "most are of a kind": where(is("actorKind", "PLATFORM")), "none of a kind": where(is("actorKind", "API_KEY")),
		"kind in a company": where(is("customerId", busy.ID), is("actorKind", "USER")), "kind and action": where(is("actorKind", "PLATFORM"), is("action", "role.updated")),
		"kind between": where(is("actorKind", "PLATFORM"), since(.5), until(.4999)), "customer": where(is("customerId", quiet.ID)), "ids": where(is("ids", "{1,4711,200000}")),
		"since": where(since(.1)), "until": where(until(.9)), "between": where(since(.5), until(.4999)),
		"all told": where(is("action", "run.started"), is("objectType", "Run"), since(.9), until(.1)),
		"twice":    {Terms: []db.Term{since(.9), until(.1)}, Or: []db.Where{where(since(.3), until(.2))}},
		"or":       {Terms: []db.Term{until(.5)}, Or: []db.Where{where(is("actorId", user.ID)), where(is("action", "role.updated")), where(is("objectId", 5))}},
	}
	scopes := map[string]access.Scope{"root": root.Lineage.Subtree(), "busy": busy.Lineage.Subtree(), "quiet": quiet.Lineage.Subtree(), "deep": deep.Lineage.Subtree()}
	middle := func(order string) paging.Page {
		return paging.NewPage(50, db.AuditEvents.At(order, []string{fmt.Sprint(ago(.5).UnixMicro()), fmt.Sprint(auditRows / 2)}))
	}
	for scope, within := range scopes {
		for name, f := range filters {
			for _, order := range []string{"-CREATED_AT", "CREATED_AT"} {
				for place, page := range map[string]paging.Page{"begin": paging.NewPage(50, paging.Cursor{}), "middle": middle(order)} {
					t.Run(scope+"/"+name+"/"+place, func(t *testing.T) {
						text, args := db.AuditPage(within, db.NewAsk(f, order, page))
						if plan := devtest.Must[db.PlanNode](t)(db.Explain(t.Context(), pool, text, args...)); plan.Reads() > 750 {
							t.Errorf("%.0f rows were read:\n%s", plan.Reads(), plan)
						}
					})
				}
			}
		}
	}
}

func where(terms ...db.Term) db.Where { return db.Where{Terms: terms} }

// TestAuditFilter compares the pages of filters with what a look at every event gives.
func TestAuditFilter(t *testing.T) {
	s := openStore(t)
	root, child, user := tree(t, s)
	var told []db.NewAudit
	var kinds []string
	for i := range 60 {
		e := db.AuditEvent{CustomerID: []int64{root.ID, child.ID}[i%2], Action: []string{"a.b", "c.d", "e.f"}[i%3], ObjectType: "X", ObjectID: int64(i % 5), Details: json.RawMessage("{}")}
		kind := "PLATFORM"
		if i%4 == 0 {
			e.ActorUserID, kind = &user.ID, "USER"
		}
		switch i % 20 {
		case 4:
			e.ClientID, kind = "cnpyid_4", "API_KEY"
		case 8:
			e.ClientID, kind = "scim:8", "DIRECTORY"
		case 9:
			e.ClientID, kind = "cnpyid_9", "API_KEY" // whose user is gone
		case 11:
			e.Action, kind = []string{"user.signInFailed", "user.resetRequested", "identityProvider.signInFailed"}[i/20], "UNKNOWN"
		case 12:
			e.Action = "user.signInFailed" // by whom is known
		}
		told, kinds = append(told, db.NewAudit{AuditEvent: e}), append(kinds, kind)
	}
	written, due, err := s.Tell(t.Context(), told, nil)
	if err != nil || len(written) != 60 || due != nil {
		t.Fatal(written, due, err)
	}
	all := devtest.Must[[]*db.AuditEvent](t)(s.FindAuditEvents(t.Context(), root.Lineage.Subtree(), db.NewAsk(db.Where{}, "CREATED_AT", paging.NewPage(100, paging.Cursor{}))))
	if len(all) != 60 || !slices.IsSortedFunc(all, func(a, b *db.AuditEvent) int { return int(a.ID - b.ID) }) {
		t.Fatalf("%d events", len(all))
	}
	for i, e := range all {
		if e.ActorKind != kinds[i] || written[i].ActorKind != kinds[i] || !slices.Contains(db.ActorKinds, kinds[i]) {
			t.Errorf("event %d is by %s, as written by %s, want %s", i, e.ActorKind, written[i].ActorKind, kinds[i])
		}
	}
	cut := all[30].CreatedAt
	is := func(member string, value any) db.Term { return db.Term{Member: member, Value: fmt.Sprint(value)} }
	type trial struct {
		filter db.Where
		fits   func(*db.AuditEvent) bool
	}
	trials := map[string]trial{
		"all":    {db.Where{}, func(*db.AuditEvent) bool { return true }},
		"action": {where(is("action", "c.d")), func(e *db.AuditEvent) bool { return e.Action == "c.d" }},
		"object": {where(is("objectId", 3), is("objectType", "X")), func(e *db.AuditEvent) bool { return e.ObjectID == 3 }},
		"type":   {where(is("objectType", "Y")), func(*db.AuditEvent) bool { return false }},
		"actor":  {where(is("actorId", user.ID)), func(e *db.AuditEvent) bool { return e.ActorUserID != nil }},
		"ids":    {where(is("ids", fmt.Sprintf("{%d,%d}", all[1].ID, all[4].ID))), func(e *db.AuditEvent) bool { return e.ID == all[1].ID || e.ID == all[4].ID }},
		"none":   {where(is("ids", "{}")), func(*db.AuditEvent) bool { return false }},
		"since":  {where(is("createdSince", cut.Format(time.RFC3339Nano))), func(e *db.AuditEvent) bool { return !e.CreatedAt.Before(cut) }},
		"twice since": {
			db.Where{Terms: []db.Term{is("createdSince", all[10].CreatedAt.Format(time.RFC3339Nano))}, Or: []db.Where{where(is("createdSince", cut.Format(time.RFC3339Nano)))}},
			func(e *db.AuditEvent) bool { return !e.CreatedAt.Before(cut) },
		},
		"twice until": {
			db.Where{Terms: []db.Term{is("createdUntil", cut.Format(time.RFC3339Nano))}, Or: []db.Where{where(is("createdUntil", all[10].CreatedAt.Format(time.RFC3339Nano)))}},
			func(e *db.AuditEvent) bool { return e.CreatedAt.Before(all[10].CreatedAt) },
		},
		"until": {where(is("createdUntil", cut.Format(time.RFC3339Nano))), func(e *db.AuditEvent) bool { return e.CreatedAt.Before(cut) }},
		"or": {
			db.Where{Terms: []db.Term{is("action", "a.b")}, Or: []db.Where{where(is("objectId", 1)), {Terms: []db.Term{is("actorId", user.ID)}, Or: []db.Where{where(is("objectId", 2)), where(is("objectId", 3))}}, where(is("objectId", 1))}},
			func(e *db.AuditEvent) bool {
				return e.Action == "a.b" && (e.ObjectID == 1 || e.ActorUserID != nil && (e.ObjectID == 2 || e.ObjectID == 3))
			},
		},
		"customer":        {where(is("customerId", child.ID)), func(e *db.AuditEvent) bool { return e.CustomerID == child.ID }},
		"kind and type":   {where(is("actorKind", "USER"), is("objectType", "X")), func(e *db.AuditEvent) bool { return e.ActorKind == "USER" }},
		"kind and action": {where(is("actorKind", "PLATFORM"), is("action", "a.b")), func(e *db.AuditEvent) bool { return e.ActorKind == "PLATFORM" && e.Action == "a.b" }},
		"or of kinds":     {db.Where{Or: []db.Where{where(is("actorKind", "USER")), where(is("actorKind", "DIRECTORY"))}}, func(e *db.AuditEvent) bool { return e.ActorKind == "USER" || e.ActorKind == "DIRECTORY" }},
	}
	for _, kind := range db.ActorKinds {
		trials[kind] = trial{where(is("actorKind", kind)), func(e *db.AuditEvent) bool { return e.ActorKind == kind }}
	}
	for name, c := range trials {
		for scope, top := range map[string]*db.Customer{"root": root, "child": child} {
			t.Run(name+"/"+scope, func(t *testing.T) {
				var want, got []int64
				for _, e := range all {
					if c.fits(e) && (top == root || e.CustomerID == child.ID) {
						want = append(want, e.ID)
					}
				}
				n := devtest.Must[int](t)(s.CountAuditEvents(t.Context(), top.Lineage.Subtree(), db.NewAsk(c.filter, "", paging.Page{})))
				for _, order := range []string{"-CREATED_AT", "CREATED_AT"} {
					slices.Reverse(want)
					got = nil
					for page := paging.NewPage(7, paging.Cursor{}); ; {
						rows := devtest.Must[[]*db.AuditEvent](t)(s.FindAuditEvents(t.Context(), top.Lineage.Subtree(), db.NewAsk(c.filter, order, page)))
						for _, e := range rows[:min(7, len(rows))] {
							got = append(got, e.ID)
						}
						if len(rows) < 8 {
							break
						}
						page = paging.NewPage(7, db.AuditEvents.At(order, rows[6].FoundAt()))
					}
					if !slices.Equal(got, want) || n != len(want) {
						t.Errorf("%v (%d), want %v", got, n, want)
					}
				}
			})
		}
	}
	none := db.NewAsk(where(is("ids", fmt.Sprintf("{%d}", all[0].ID))), "", paging.NewPage(7, paging.Cursor{}))
	if rows := devtest.Must[[]*db.AuditEvent](t)(s.FindAuditEvents(t.Context(), access.Scope{}, none)); len(rows) != 0 {
		t.Error("the zero scope finds something")
	}
}
