package operations

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// heardEvent is what a destination is told of an audit event.
type heardEvent struct {
	ID, Timestamp string
	Data          struct {
		AuditEventID, ObjectID, CustomerID int64
		ActorID                            *int64
		Action, ObjectType, ActorKind      string
		ClientID                           *string
		Details                            any
		CreatedAt                          time.Time
	}
}

// heardBy are the audit events that a receiver was told of, by their ids. However often a delivery comes, an event has one.
func heardBy(t *testing.T, r *platform.Receiver) map[int64]heardEvent {
	t.Helper()
	heard := map[int64]heardEvent{}
	for _, got := range r.All() {
		var e heardEvent
		devtest.Check(t, json.Unmarshal(got.Body, &e))
		if before, known := heard[e.Data.AuditEventID]; known && before.ID != e.ID {
			t.Errorf("the event %d is told of by %s and %s", e.Data.AuditEventID, before.ID, e.ID)
		}
		heard[e.Data.AuditEventID] = e
	}
	return heard
}

// renamer gives a company one name after the other at the home, and keeps those that were acknowledged.
type renamer struct {
	*platform.Platform
	token   string
	company int64

	mu    sync.Mutex
	names []string
}

func (r *renamer) rename(ended <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
		name := fmt.Sprint("Solar ", n)
		switch a := r.Do("PUT", "/tenant", r.token, object{"customerId": r.company, "name": name}); a.Status {
		case 204:
			r.mu.Lock()
			r.names = append(r.names, name)
			r.mu.Unlock()
		case 503:
		default:
			r.T.Errorf("a new name is answered %d %s", a.Status, a.Body)
		}
	}
}

func (r *renamer) renamed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.names)
}

// namesHeard are the names that a receiver was told of, each with the ids of the events that told it.
func namesHeard(t *testing.T, r *platform.Receiver) map[string][]int64 {
	t.Helper()
	names := map[string][]int64{}
	for id, e := range heardBy(t, r) {
		name := platform.Member(t, e.Data.Details, "name.new").(string)
		names[name] = append(names[name], id)
	}
	return names
}

// TestCellHearsOfItsHome: destinations in a cell hear of what is done at the home to who is who in their company, each event once, as if it had been done in the cell: also what was done while there
// was no way to the home, and when the worker was killed before the home knew what the cell has. Nobody else hears of it.
func TestCellHearsOfItsHome(t *testing.T) {
	t.Parallel()
	own, above, beside := platform.NewReceiver(t, nil), platform.NewReceiver(t, nil), platform.NewReceiver(t, nil)
	c := platform.StartCells(t, "eu-central", platform.DeliverLocally(t))
	home, cell := c.Home, c.Cell
	way, url := devtest.WayTo(t, c.HomeServer.URL())
	settings := append(c.Settings(), "CANOPY_HOME_URL="+url)
	worker := cell.StartProgram(t, "worker", settings...)
	t.Cleanup(func() { worker.Kill() })
	key := func(company, email string) (id, plain, token string) {
		id, plain = c.Key(t, home.Customer(company), email)
		return id, plain, cell.Token(id, plain, "tenant")
	}
	hydro := home.Customer("Alpine Hydro")
	id, plain, tenant := key("Alpine Hydro", "lukas@alpine-hydro.example")
	_, _, parent := key("Alpine Energy", "greta@alpine.example")
	_, _, sibling := key("Alpine Solar", "nina@alpine-solar.example")
	waits := func() int64 { return home.Number(`SELECT count(*) FROM events_for_cells`) }
	settled := func() {
		t.Helper()
		devtest.Eventually(t, "the cell has heard of all", func() bool { return waits() == 0 && cell.Number(`SELECT count(*) FROM heard_events`) == 0 })
	}
	settled()
	cell.Subscribe(tenant, own.URL, "audit.*")
	cell.Subscribe(parent, above.URL, "audit.*")
	cell.Subscribe(sibling, beside.URL, "audit.user.created", "audit.permission.created")

	// What is done is told of each time that this is called, in the order in which it is done.
	atHome := home.Token(id, plain, "tenant")
	var want []string
	person := 0
	do := func() {
		t.Helper()
		person++
		user := home.Must(201, "POST", "/tenant/user", atHome, object{"email": fmt.Sprintf("person%d@alpine-hydro.example", person), "firstName": "Ada"}).ID(t, "id")
		home.Must(200, "POST", "/permission", atHome, object{"appAccountId": home.Account(hydro, "tenant"), "appRoleId": home.RoleID(hydro, "tenant", "Member"), "userIdentityId": user})
		made := home.Mutate(atHome, "createApiKey", "apiKey { id }", object{"name": fmt.Sprint("key ", person), "features": []string{"webhook.read"}})
		home.Mutate(atHome, "revokeApiKey", "apiKey { clientId }", object{"id": platform.Member(t, made, "apiKey.id")})
		want = append(want, "user.created", "permission.created", "apiKey.created", "apiKey.revoked")
	}
	told := func() (list []string) {
		heard := heardBy(t, own)
		for _, id := range slices.Sorted(maps.Keys(heard)) {
			if action := heard[id].Data.Action; slices.Contains(want, action) {
				list = append(list, action)
			}
		}
		return list
	}
	all := func() {
		t.Helper()
		devtest.Eventually(t, "the destination has heard of all", func() bool { return len(told()) >= len(want) })
		settled()
		if got := told(); !slices.Equal(got, want) {
			t.Errorf("it hears of %v", got)
		}
	}
	do()
	all()

	// It is told as all is that is in the log.
	for id, e := range heardBy(t, own) {
		at := home
		if id > 10_000_000_000_000 {
			at = cell
		}
		var row struct {
			Action, ObjectType, ClientID, Details string
			ObjectID, CustomerID                  int64
			ActorID                               *int64
			CreatedAt                             time.Time
		}
		devtest.Check(t, at.DB.Get(&row, `SELECT action, object_type AS objecttype, client_id AS clientid, details::text, object_id AS objectid, customer_id AS customerid, actor_user_id AS actorid,
			created_at AS createdat FROM audit_events WHERE id = $1`, id))
		var details any
		devtest.Check(t, json.Unmarshal([]byte(row.Details), &details))
		d := e.Data
		if d.Action != row.Action || d.ObjectType != row.ObjectType || d.ObjectID != row.ObjectID || d.CustomerID != row.CustomerID || row.CustomerID != hydro || d.ActorKind != "apiKey" ||
			d.ClientID == nil || *d.ClientID != row.ClientID || d.ActorID == nil || *d.ActorID != *row.ActorID || !platform.SameJSON(d.Details, details) || !d.CreatedAt.Equal(row.CreatedAt.Truncate(time.Millisecond)) {
			t.Errorf("%+v is told of %+v", d, row)
		}
		if at == home && e.Timestamp != row.CreatedAt.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("what was done at %v is of %s", row.CreatedAt, e.Timestamp)
		}
	}

	// It is sent again as all is.
	sent := func() (n int) {
		for _, typ := range own.Types() {
			if typ == "audit.user.created" {
				n++
			}
		}
		return n
	}
	before := sent()
	delivery := cell.Number(`SELECT id FROM webhook_deliveries WHERE type = 'audit.user.created'`)
	cell.Must(202, "POST", platform.Hooks+"/deliveries/"+platform.Decimal(delivery)+"/resend", tenant, nil)
	devtest.Eventually(t, "it is sent again", func() bool { return sent() == before+1 })

	// No way to the home.
	way.Cut()
	home.Must(204, "PUT", "/tenant", atHome, object{"customerId": hydro, "name": "Alpine Hydro II"})
	want = append(want, "customer.updated")
	do()
	if got := told(); len(got) != 4 || waits() != 5 {
		t.Errorf("without a way %v are told of, and %d wait", got, waits())
	}
	way.Mend()
	all()

	// Killed when the cell has heard, and the home does not know.
	way.Cut()
	do()
	held := home.DB.MustBegin()
	held.MustExec(`SELECT FROM events_for_cells FOR UPDATE`)
	way.Mend()
	devtest.Eventually(t, "the cell has heard", func() bool { return cell.Number(`SELECT count(*) FROM heard_events`) > 0 })
	worker.Kill()
	devtest.Check(t, held.Rollback())
	if waits() != 4 {
		t.Error("the home was told")
	}
	worker = cell.StartProgram(t, "worker", settings...)
	all()
	if n := cell.Number(`SELECT count(*) FROM (SELECT convert_from(payload, 'UTF8')::json -> 'data' ->> 'auditEventId' AS id, destination_id FROM webhook_deliveries GROUP BY 1, 2 HAVING count(DISTINCT event_id) > 1) twice`); n != 0 {
		t.Errorf("%d events are told of by two deliveries", n)
	}

	for name, r := range map[string]*platform.Receiver{"the company above": above, "another company": beside} {
		for _, e := range heardBy(t, r) {
			if e.Data.CustomerID == hydro {
				t.Errorf("%s hears of %+v", name, e.Data)
			}
		}
	}
	home.Must(201, "POST", "/tenant/user", home.As("Alpine Energy", "greta@alpine.example"), object{"email": "above@alpine.example"})
	devtest.Eventually(t, "the company above hears of its own", func() bool { return slices.Contains(above.Types(), "audit.user.created") })
	if n := home.Number(`SELECT count(*) FROM webhook_deliveries d JOIN customers c ON c.id = d.customer_id WHERE d.type LIKE 'audit.%' AND c.region_id = $1`, cell.App.Store.Cell().Number); n != 0 {
		t.Errorf("the home has %d deliveries of the region's companies", n)
	}
}
