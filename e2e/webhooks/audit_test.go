package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/audit"
)

// TestAuditEventsAreDelivered makes changes in three companies: a destination gets those of its own company that
// it has named, and one that asked for all gets none.
func TestAuditEventsAreDelivered(t *testing.T) {
	t.Parallel()
	all, every, some := platform.NewReceiver(t, nil), platform.NewReceiver(t, nil), platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	alpine := s.Customer("Alpine Energy")
	token, root, builder := s.As("Alpine Energy", "greta@alpine.example"), s.Root(), s.TokenOf(alpine, "greta@alpine.example", "builder")
	s.Subscribe(token, all.URL)
	some1, _ := s.Subscribe(token, some.URL, "audit.billing.saved", "agent.created")
	s.Subscribe(token, every.URL, "audit.*")
	s.Must(204, "POST", "/tenant/billing", token, object{"city": "Graz"})
	s.Must(204, "PUT", "/tenant", root, object{"customerId": alpine, "name": "Alpine & Sons"})             // by who is out of its reach
	s.Must(204, "PUT", "/tenant", root, object{"customerId": s.Customer("Alpine Hydro"), "name": "Other"}) // below: its own business
	s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(some1)+"/test", token, object{"type": "audit.user.created"})
	if a := s.Do("POST", "/tenant/user", token, object{"email": "nobody"}); a.Status != 400 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	s.Mutate(builder, "createAgent", "agent { name }", object{"name": "Heard"})

	got := every.Wait(t, 5)
	types := every.Types()
	slices.Sort(types)
	// The destination hears of its own making, too.
	if want := []string{"audit.agent.created", "audit.billing.saved", "audit.customer.updated", "audit.webhookDestination.created", "audit.webhookDestination.tested"}; !slices.Equal(types, want) {
		t.Errorf("%v", types)
	}
	some.Wait(t, 3)
	if types := some.Types(); len(types) != 3 || slices.Contains(types, "audit.customer.updated") {
		t.Errorf("of those it named and a test: %v", types)
	}
	if types := all.Wait(t, 1); len(types) != 1 || types[0].Typ != "agent.created" {
		t.Errorf("who asked for all got %v", all.Types())
	}
	for _, x := range got {
		var e struct {
			Category string `json:"event_category"`
			Data     struct {
				Action, ObjectType, ClientID string
				ActorKind                    string
				AuditEventID, CustomerID     int64
				ActorID                      *int64
				Details                      map[string]map[string]any
			}
		}
		if err := json.Unmarshal(x.Body, &e); err != nil || e.Category != "audit" || "audit."+e.Data.Action != x.Typ || e.Data.CustomerID != alpine || e.Data.ClientID == "" {
			t.Errorf("%s (%v)", x.Body, err)
		}
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE id = $1 AND action = $2 AND customer_id = $3`, e.Data.AuditEventID, e.Data.Action, alpine); n != 1 {
			t.Errorf("%s tells of no event of the log", x.Body)
		}
		if e.Data.ActorKind != "apiKey" { // of above and of its own alike
			t.Errorf("by which kind of actor: %s", x.Body)
		}
		switch above := x.Typ == "audit.customer.updated"; {
		case above != (e.Data.ActorID == nil):
			t.Errorf("who did it: %s", x.Body)
		case above && !platform.SameJSON(e.Data.Details["name"], object{"old": "Alpine Energy", "new": "Alpine & Sons"}):
			t.Errorf("%s", x.Body)
		}
	}
}

// TestWhoMaySubscribeAudit: the log is for who may read it, however it is read.
func TestWhoMaySubscribeAudit(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine := s.Customer("Alpine Energy")
	owner := s.As("Alpine Energy", "greta@alpine.example")
	made := s.MustGQL(owner, `mutation($in: CreateRoleInput!) { createRole(input: $in) { role { databaseId } } }`,
		object{"in": object{"applicationId": 1, "name": "Hooks", "features": []string{"webhook.read", "webhook.write"}}})
	role := int64(platform.Member(t, made, "createRole.role.databaseId").(float64))
	user := s.Must(201, "POST", "/tenant/user", owner, object{"email": "hooks@alpine.example"}).ID(t, "id")
	s.Must(200, "POST", "/permission", owner, object{"appAccountId": s.Account(alpine, "tenant"), "appRoleId": role, "userIdentityId": user})
	hooks := s.As("Alpine Energy", "hooks@alpine.example")
	destinations := platform.Hooks + "/destinations"
	body := object{"url": platform.PublicURL, "events": []string{"audit.user.created"}}
	denied := func(a platform.Answer) {
		t.Helper()
		if a.Status != http.StatusForbidden || !bytes.Contains(a.Body, []byte("audit.read")) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	denied(s.Do("POST", destinations, hooks, body))
	plain, _ := s.Subscribe(hooks, platform.PublicURL)
	denied(s.Do("PATCH", destinations+"/"+platform.Decimal(plain), hooks, object{"events": []string{"audit.*"}}))
	heard, _ := s.Subscribe(owner, platform.PublicURL, "audit.*")
	denied(s.Do("PATCH", destinations+"/"+platform.Decimal(heard), hooks, object{"url": platform.PublicURL + "/mine"}))
	// Whoever may not read the log ends no stream of it, for a while or for good.
	denied(s.Do("PATCH", destinations+"/"+platform.Decimal(heard), hooks, object{"enabled": false}))
	denied(s.Do("DELETE", destinations+"/"+platform.Decimal(heard), hooks, nil))
	s.Refused(t, "FORBIDDEN", hooks, `mutation($id: ID!) { deleteWebhookDestination(input: {id: $id}) { deletedId } }`, object{"id": heard})
	own, _ := s.Subscribe(owner, platform.PublicURL, "audit.*")
	s.Must(204, "DELETE", destinations+"/"+platform.Decimal(own), owner, nil)
	s.Must(201, "POST", destinations, s.TokenOf(alpine, "greta@alpine.example", "builder"), body)
	for _, wrong := range []string{"audit", "audit.", "audit.x", "audit.user.*", "*"} {
		if a := s.Do("POST", destinations, owner, object{"url": platform.PublicURL, "events": []string{wrong}}); a.Status != 400 {
			t.Errorf("%s: %d %s", wrong, a.Status, a.Body)
		}
	}

	t.Run("what was delivered", func(t *testing.T) {
		s.T = t
		s.Must(204, "POST", "/tenant/billing", owner, object{"city": "Graz"})
		id := s.Number(`SELECT max(id) FROM webhook_deliveries WHERE type = 'audit.billing.saved'`)
		s.SQL(`UPDATE webhook_deliveries SET log = jsonb_build_array(jsonb_build_object('at', now(), 'response', convert_from(payload, 'UTF8'))) WHERE id = $1`, id) // a receiver that answers with what it gets
		at := platform.Hooks + "/deliveries/" + platform.Decimal(id)
		if a := s.Must(200, "GET", at, owner, nil); bytes.Count(a.Body, []byte("Graz")) != 2 {
			t.Errorf("%s", a.Body)
		}
		if a := s.Must(200, "GET", at, hooks, nil); bytes.Contains(a.Body, []byte("Graz")) || !bytes.Contains(a.Body, []byte(`"payload":null`)) {
			t.Errorf("%s", a.Body)
		}
		query := `query($id: ID!) { webhookDelivery(id: $id) { payload attemptLog { response } } }`
		for _, member := range []string{"webhookDelivery.payload", "webhookDelivery.attemptLog.0.response"} {
			if d := s.MustGQL(hooks, query, object{"id": id}); platform.Member(t, d, member) != "" {
				t.Errorf("%s: %v", member, d)
			}
			if d := s.MustGQL(owner, query, object{"id": id}); !strings.Contains(platform.Member(t, d, member).(string), "Graz") {
				t.Errorf("%s: %v", member, d)
			}
		}
	})
	t.Run("sent elsewhere", func(t *testing.T) {
		s.T = t
		id := s.Number(`SELECT max(id) FROM webhook_deliveries WHERE type = 'audit.billing.saved'`)
		at, mine := destinations+"/"+platform.Decimal(heard), platform.PublicURL+"/mine"
		denied(s.Do("PATCH", at, hooks, object{"url": mine, "events": []string{"agent.created"}}))
		denied(s.Do("PATCH", at, hooks, object{"events": []string{"agent.created"}}))
		denied(s.Do("POST", platform.Hooks+"/deliveries/"+platform.Decimal(id)+"/resend", hooks, nil))
		denied(s.Do("POST", at+"/rotate-secret", hooks, object{}))
		s.Must(200, "PATCH", at, owner, object{"events": []string{"agent.created"}})
		denied(s.Do("PATCH", at, hooks, object{"url": mine})) // while some are on their way
		s.SQL(`DELETE FROM webhook_due`)
		s.SQL(`UPDATE webhook_deliveries SET status = 'failed', lost = true, completed_at = now()`)
		s.Must(200, "PATCH", at, hooks, object{"url": mine})
		denied(s.Do("POST", platform.Hooks+"/deliveries/"+platform.Decimal(id)+"/resend", hooks, nil))
		since := object{"since": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}
		s.Must(202, "POST", at+"/recover", hooks, since)
		if n := s.Number(`SELECT count(*) FROM webhook_due`); n != 0 {
			t.Errorf("%d deliveries of the log are on their way to who may not read it", n)
		}
		s.Must(202, "POST", at+"/recover", owner, since)
		if n := s.Number(`SELECT count(*) FROM webhook_due`); n == 0 {
			t.Error("the owner recovered nothing")
		}
	})
	t.Run("catalog", func(t *testing.T) {
		s.T = t
		count := func(path string) int {
			return len(platform.Member(t, s.Must(200, "GET", path, owner, nil).JSON(t), "events").([]any))
		}
		if n, more := count(platform.Hooks+"/catalog"), count(platform.Hooks+"/catalog?extended=true"); n != 9 || more < n+len(audit.Actions()) {
			t.Errorf("%d and %d types", n, more)
		}
		d := s.MustGQL(owner, `{ webhookCatalog(extended: true) { events { type category } } }`, nil)
		if !strings.Contains(fmt.Sprint(d), "audit.customer.created") {
			t.Errorf("%v", d)
		}
	})
}
