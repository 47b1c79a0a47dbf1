package webhooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// dayOf gives how many deliveries of a day a company has used, and how many it may have, as both doors tell it.
func dayOf(t *testing.T, s *platform.Platform, token string, customer int64) (used, limit any) {
	t.Helper()
	for _, u := range s.Must(http.StatusOK, "GET", "/tenant/usage/"+platform.Decimal(customer), token, nil).JSON(t).([]any) {
		if u := u.(map[string]any); u["name"] == "deliveriesPerDay" {
			used, limit = u["used"], u["limit"]
		}
	}
	data := s.MustGQL(token, `query($id: ID!) { customer(id: $id) { usage { name used limit } } }`, map[string]any{"id": customer})
	want := map[string]any{"name": "DELIVERIES_PER_DAY", "used": used, "limit": limit}
	if list := platform.Member(t, data, "customer.usage").([]any); !slices.ContainsFunc(list, func(u any) bool { return platform.SameJSON(u, want) }) {
		t.Errorf("the graph has %v, and not %v", list, want)
	}
	return used, limit
}

// try sends test deliveries to a destination.
func try(s *platform.Platform, token string, destination int64, n int) {
	s.T.Helper()
	for range n {
		s.Must(http.StatusAccepted, "POST", platform.Hooks+"/destinations/"+platform.Decimal(destination)+"/test", token, map[string]any{"type": "agent.created"})
	}
}

// TestDeliveriesWaitForRoom: what is over a company's day waits and says so, and goes out once each when there is more room, or on the
// next day. No change is refused for it, and nobody else waits. Retries need no room, and neither does what tells of the limit.
func TestDeliveriesWaitForRoom(t *testing.T) {
	t.Parallel()
	limited := platform.NewReceiver(t, func(_ platform.Received, n int) int {
		if n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	others, told := platform.NewReceiver(t, nil), platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	root, hydro := s.Root(), s.Customer("Alpine Hydro")
	lukas, hooks := s.As("Alpine Hydro", "lukas@alpine-hydro.example"), s.TokenOf(hydro, "lukas@alpine-hydro.example", "builder")
	set := func(limit any) {
		t.Helper()
		s.MustGQL(root, `mutation($id: ID!, $limit: Long) { setLimits(input: {customerId: $id, limits: [{name: DELIVERIES_PER_DAY, limit: $limit}]}) { customer { id } } }`,
			map[string]any{"id": hydro, "limit": limit})
	}
	set(3)
	to, _ := s.Subscribe(hooks, limited.URL, "agent.created")
	s.Subscribe(hooks, told.URL, "limit.warning", "limit.reached")
	delivered := func(n int64) {
		t.Helper()
		devtest.Eventually(t, fmt.Sprintf("%d are delivered, each by its second attempt", n), func() bool {
			return s.Number(`SELECT count(*) FROM webhook_deliveries WHERE destination_id = $1 AND status = 'delivered' AND attempts = 2`, to) == n
		})
	}
	for range 5 {
		s.Mutate(hooks, "createAgent", "agent { id }", map[string]any{"name": "Greeter", "diagram": json.RawMessage(platform.Greeter)})
	}
	delivered(3)
	told.Wait(t, 1)
	if used, limit := dayOf(t, s, lukas, hydro); used != 3.0 || limit != 3.0 {
		t.Errorf("used are %v of %v", used, limit)
	}
	if used, limit := dayOf(t, s, root, s.Customer("Alpine Energy")); used != 3.0 || limit != 100_000_000.0 {
		t.Errorf("above, used are %v of %v", used, limit)
	}
	list := s.Must(http.StatusOK, "GET", platform.Hooks+"/deliveries?status=pending&destinationId="+platform.Decimal(to), hooks, nil).JSON(t).([]any)
	if len(list) != 2 {
		t.Errorf("%d wait", len(list))
	}
	for _, d := range list {
		d := d.(map[string]any)
		if reason, _ := d["error"].(string); d["attempts"] != 0.0 || !strings.Contains(reason, "deliveriesPerDay") {
			t.Errorf("%v", d)
		}
		one := s.MustGQL(hooks, `query($id: ID!) { webhookDelivery(id: $id) { status error } }`, map[string]any{"id": d["id"]})
		if want := map[string]any{"status": "pending", "error": d["error"]}; !platform.SameJSON(platform.Member(t, one, "webhookDelivery"), want) {
			t.Errorf("the graph has %v", one)
		}
	}

	beside := map[string]string{"Alpine Solar": "nina@alpine-solar.example", "Alpine Energy": "greta@alpine.example", "Brightwater Health": "olivia@brightwater.example"}
	for name, person := range beside {
		token := s.TokenOf(s.Customer(name), person, "builder")
		id, _ := s.Subscribe(token, others.URL)
		try(s, token, id, 4)
	}
	others.Wait(t, 4*len(beside))

	set(5)
	delivered(5)
	try(s, hooks, to, 2)
	devtest.Eventually(t, "two more wait", func() bool {
		list := s.Must(http.StatusOK, "GET", platform.Hooks+"/deliveries?status=pending&destinationId="+platform.Decimal(to), hooks, nil).JSON(t).([]any)
		return len(list) == 2 && strings.Contains(fmt.Sprint(list...), "deliveriesPerDay")
	})
	s.SQL(`UPDATE usage_counts SET day = day - 1, grown = 0 WHERE day IS NOT NULL`)
	s.SQL(`UPDATE delivery_holds SET day = day - 1`)
	delivered(7)
	if used, _ := dayOf(t, s, lukas, hydro); used != 2.0 {
		t.Errorf("on the next day %v are used", used)
	}
	if got := len(limited.All()); got != 14 {
		t.Errorf("%d requests came", got)
	}
	if got := told.Types(); !slices.Equal(got, []string{"limit.reached"}) {
		t.Errorf("told were %v", got)
	}
}

// TestBadDays: a limit of the deliveries of a day is a whole number that is not below zero, at both doors.
func TestBadDays(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, hydro := s.Root(), s.Customer("Alpine Hydro")
	for _, bad := range []any{-1, 1.5, "many", 1 << 60} {
		a := s.Must(http.StatusBadRequest, "PUT", "/tenant/limits/"+platform.Decimal(hydro), root, map[string]any{"limits": map[string]any{"deliveriesPerDay": bad}})
		if !strings.Contains(string(a.Body), "deliveriesPerDay") {
			t.Errorf("%v: %s", bad, a.Body)
		}
		s.Refused(t, "BAD_REQUEST", root, `mutation($id: ID!, $limit: Long) { setLimits(input: {customerId: $id, limits: [{name: DELIVERIES_PER_DAY, limit: $limit}]}) { customer { id } } }`,
			map[string]any{"id": hydro, "limit": bad})
	}
	set := func(limit any) {
		t.Helper()
		s.Must(http.StatusOK, "PUT", "/tenant/limits/"+platform.Decimal(hydro), root, map[string]any{"limits": map[string]any{"deliveriesPerDay": limit}})
	}
	for _, limit := range []any{0, 7} {
		set(limit)
		if used, is := dayOf(t, s, root, hydro); used != 0.0 || !platform.SameJSON(is, limit) {
			t.Errorf("used are %v of %v", used, is)
		}
	}
	set(nil)
	if _, is := dayOf(t, s, root, hydro); is != 100_000_000.0 {
		t.Errorf("what binds is %v, and not the limit above", is)
	}
}
