package tenancy

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestAuditFilters asks both doors for the same events, and for what is out of reach.
func TestAuditFilters(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, hydro, coral := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro"), s.Customer("Coral Logistics")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	for i := range 5 {
		s.Must(204, "PUT", "/tenant", greta, map[string]any{"customerId": hydro, "name": fmt.Sprint("Hydro ", i)})
		s.Must(204, "POST", "/tenant/billing", greta, map[string]any{"city": fmt.Sprint("Graz ", i)})
	}
	ids := func(rows any, id string) string {
		var list []string
		for _, r := range rows.([]any) {
			list = append(list, fmt.Sprint(platform.Member(t, r, id)))
		}
		return strings.Join(list, " ")
	}
	graph := func(filter map[string]any, order any) string {
		t.Helper()
		d := s.MustGQL(greta, `query($f: AuditEventFilter, $o: [AuditEventOrder!]) { auditEvents(filter: $f, orderBy: $o, first: 200) { totalCount nodes { databaseId } } }`,
			map[string]any{"f": filter, "o": order})
		found := ids(platform.Member(t, d, "auditEvents.nodes"), "databaseId")
		if n := platform.Member(t, d, "auditEvents.totalCount"); int(n.(float64)) != len(strings.Fields(found)) {
			t.Errorf("%v: %v events of %s", filter, n, found)
		}
		return found
	}
	user := s.UserID("greta@alpine.example")
	middle := platform.Member(t, s.MustGQL(greta, `{ auditEvents(first: 5) { nodes { databaseId createdAt } } }`, nil), "auditEvents.nodes.4").(map[string]any)
	for _, c := range []struct {
		query  string
		filter map[string]any
	}{
		{"", nil},
		{"action=customer.updated", map[string]any{"action": "customer.updated"}},
		{"objectType=Billing", map[string]any{"objectType": "Billing"}},
		{"objectType=Customer&objectId=" + platform.Decimal(hydro), map[string]any{"objectType": "Customer", "objectId": hydro}},
		{"actorId=" + platform.Decimal(user), map[string]any{"actorId": user}},
		{"actorKind=apiKey", map[string]any{"actorKind": "API_KEY"}},
		{"actorKind=platform", map[string]any{"actorKind": "PLATFORM"}},
		{"actorKind=apiKey&objectType=Billing", map[string]any{"actorKind": "API_KEY", "objectType": "Billing"}},
		{"customerId=" + platform.Decimal(alpine), map[string]any{"customerId": alpine}},
		{"createdSince=" + url.QueryEscape(middle["createdAt"].(string)), map[string]any{"createdSince": middle["createdAt"]}},
		{"createdUntil=" + url.QueryEscape(middle["createdAt"].(string)), map[string]any{"createdUntil": middle["createdAt"]}},
		{fmt.Sprintf("ids=%.0f,1", middle["databaseId"]), map[string]any{"ids": []any{middle["databaseId"], 1}}},
		{"actorId=" + platform.Decimal(user) + "&action=role.deleted", map[string]any{"actorId": user, "action": "role.deleted"}},
	} {
		want := graph(c.filter, nil)
		if got := ids(s.Must(200, "GET", "/v1/audit?limit=1000&"+c.query, greta, nil).JSON(t), "id"); got != want || want == "" && !strings.Contains(c.query, "role.deleted") {
			t.Errorf("%s: %s, by GraphQL %s", c.query, got, want)
		}
		oldest := strings.Fields(graph(c.filter, []any{map[string]any{"field": "CREATED_AT", "direction": "ASC"}}))
		got := strings.Fields(ids(s.Must(200, "GET", "/v1/audit?limit=1000&orderBy=createdAt&"+c.query, greta, nil).JSON(t), "id"))
		if strings.Join(oldest, " ") != strings.Join(got, " ") || len(got) > 0 && got[0] != strings.Fields(want)[len(got)-1] {
			t.Errorf("%s: oldest first %v and %v", c.query, got, oldest)
		}
	}
	if got := graph(map[string]any{"customerId": hydro, "or": []any{map[string]any{"objectType": "Billing"}, map[string]any{"action": "customer.updated"}}}, nil); len(strings.Fields(got)) != 5 {
		t.Errorf("or: %s", got)
	}

	t.Run("of a company with all below it", func(t *testing.T) {
		s.T = t
		below := func(customer int64) string {
			d := s.MustGQL(s.Root(), `query($c: ID) { auditEvents(customerId: $c, first: 200) { nodes { databaseId } } }`, map[string]any{"c": customer})
			found := ids(platform.Member(t, d, "auditEvents.nodes"), "databaseId")
			if got := ids(s.Must(200, "GET", "/v1/audit?limit=1000&subtree=true&customerId="+platform.Decimal(customer), s.Root(), nil).JSON(t), "id"); got != found {
				t.Errorf("%s, by REST %s", found, got)
			}
			return found
		}
		if got := below(alpine); got != graph(nil, nil) {
			t.Errorf("from above %s, as the company itself %s", got, graph(nil, nil))
		}
		if got := below(hydro); got == "" || got != graph(map[string]any{"customerId": hydro}, nil) {
			t.Errorf("of one without companies below it: %s", got)
		}
		alone := s.MustGQL(greta, `query($c: ID) { auditEvents(customerId: $c, subtree: false, first: 200) { nodes { databaseId } } }`, map[string]any{"c": alpine})
		if got := ids(platform.Member(t, alone, "auditEvents.nodes"), "databaseId"); got != graph(map[string]any{"customerId": alpine}, nil) {
			t.Errorf("without those below it: %s", got)
		}
	})
	t.Run("by pages", func(t *testing.T) {
		s.T = t
		path, pages, seen := "/v1/audit?limit=4&action=customer.updated", 0, ""
		for path != "" && pages < 9 {
			a := s.Must(200, "GET", path, greta, nil)
			seen, pages = strings.TrimSpace(seen+" "+ids(a.JSON(t), "id")), pages+1
			path, _, _ = strings.Cut(strings.TrimPrefix(a.Header.Get("Link"), "<"+s.URL), ">")
		}
		if want := graph(map[string]any{"action": "customer.updated"}, nil); pages != 2 || seen != want {
			t.Errorf("%s in %d pages, want %s", seen, pages, want)
		}
	})
	t.Run("refused", func(t *testing.T) {
		s.T = t
		for query, status := range map[string]int{
			"customerId=" + platform.Decimal(coral): 403, "customerId=" + platform.Decimal(coral) + "&subtree=true": 403, "subtree=x": 400, "actorId=" + platform.Decimal(s.UserID(platform.DemoAdmin)): 403, "actorId=999999": 403,
			"action=customer": 400, "actorKind=above": 400, "actorKind=API_KEY": 400, "createdSince=yesterday": 400, "createdSince=0000-12-31T23:59:59Z": 400, "createdUntil=9999-12-31T23:59:59-14:00": 400, "ids=x": 400, "orderBy=name": 400, "after=xyz": 400,
		} {
			name, _, _ := strings.Cut(query, "=")
			if a := s.Do("GET", "/v1/audit?"+query, greta, nil); a.Status != status || status == 400 && !strings.Contains(string(a.Body), name) {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
		if a := s.Do("GET", "/v1/audit?orderBy=CREATED_AT", greta, nil); a.Status != 400 || !strings.Contains(string(a.Body), "createdAt") {
			t.Errorf("a field by its name in the graph: %d %s", a.Status, a.Body)
		}
		deep := map[string]any{}
		for range 6 {
			deep = map[string]any{"or": []any{deep}}
		}
		wide := make([]any, 7)
		for i := range wide {
			wide[i] = map[string]any{"or": []any{map[string]any{}, map[string]any{}, map[string]any{}}}
		}
		many := make([]any, 21) // more than are looked up at all
		for i := range many {
			many[i] = map[string]any{"actorId": 1 << 40}
		}
		for _, f := range []map[string]any{deep, {"or": wide}, {"or": []any{map[string]any{"or": many[:20]}, many[20]}}, {"ids": make([]int, 201)}, {"action": "x"}, {"actorKind": "apiKey"}} {
			s.Refused(t, "BAD_REQUEST", greta, `query($f: AuditEventFilter) { auditEvents(filter: $f) { totalCount } }`, map[string]any{"f": f})
		}
	})
}

// TestOldAuditEventsAreForgotten: the upkeep keeps them for as long as is set.
func TestOldAuditEventsAreForgotten(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	s.SQL(`UPDATE audit_events SET created_at = now() - (CASE WHEN id < (SELECT min(id) + 3 FROM audit_events) THEN 401 ELSE 399 END) * interval '1 day'`)
	left := s.Number(`SELECT count(*) - 3 FROM audit_events`)
	if left == 0 || s.Number(`SELECT count(*) FROM audit_events`) == left {
		t.Fatalf("%d events are not as old", left)
	}
	s.Work(nil)
	devtest.Eventually(t, "the older ones are gone", func() bool { return s.Number(`SELECT count(*) FROM audit_events`) <= left })
	if n := s.Number(`SELECT count(*) FROM audit_events`); n != left {
		t.Errorf("%d of %d events are left", n, left)
	}
}
