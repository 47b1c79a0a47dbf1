package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/rest"
)

// The fields of webhooks under the names that REST gives them.
const (
	parityCatalog     = `{ v: webhookCatalog { version events { type category description example schema } } }`
	parityDestination = `id: databaseId url name events enabled signing overlapEndsAt createdAt`
	parityDelivery    = `id: databaseId eventId destinationId type status attempts httpStatus error test createdAt completedAt`
	parityAttempts    = `attemptLog { at durationMs httpStatus error errorKind response }`
)

// webhookReads are the documented reads that these tests compare, and TestDeletedDestinationsComeBack.
var webhookReads = []string{
	"getJob", "getWebhookCatalog", "getWebhookDelivery", "getWebhookDestination", "listDeletedWebhookDestinations", "listWebhookDeliveries", "listWebhookDestinations",
}

// TestParityIsWhole: a read of runs or webhooks that is documented is compared here.
func TestParityIsWhole(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	_, registry := rest.New(s.App.Resolver, rest.Options{})
	var reads []string
	for _, e := range rest.Endpoints(registry) {
		if e.Method == http.MethodGet && (strings.HasPrefix(e.Path, platform.Hooks) || strings.HasPrefix(e.Path, "/job/")) {
			reads = append(reads, e.OperationID)
		}
	}
	slices.Sort(reads)
	if !slices.Equal(reads, webhookReads) {
		t.Errorf("documented are %v, compared %v", reads, webhookReads)
	}
}

// TestParityOfWebhooks compares the catalog, destinations of every kind, and deliveries in each of
// their states, whole and through every filter.
func TestParityOfWebhooks(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, func(x platform.Received, n int) int {
		switch {
		case x.Typ == "agent.deleted":
			return http.StatusNotFound
		case x.Typ == "agent.enabled" && n < 2:
			return http.StatusBadGateway
		}
		return http.StatusOK
	})
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("tenant")
	all, _ := s.Subscribe(token, r.URL)
	some, _ := s.Subscribe(token, r.URL, "run.started", "agent.deleted")
	blocked, _ := s.Subscribe(token, platform.PublicURL)
	s.SQL(`UPDATE webhook_destinations SET url = 'https://10.0.0.1/' WHERE id = $1`, blocked)
	s.Must(200, "PATCH", platform.Hooks+"/destinations/"+platform.Decimal(some), token, object{"enabled": false, "name": "Ünder <&>"})
	s.Must(200, "POST", platform.Hooks+"/destinations/"+platform.Decimal(some)+"/rotate-secret", token, object{"overlap": true})
	test := func(destination int64, typ string) int64 {
		t.Helper()
		return s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(destination)+"/test", token, object{"type": typ}).ID(t, "deliveryId")
	}
	var ids []int64
	for _, typ := range []string{"run.started", "agent.deleted", "agent.enabled"} {
		ids = append(ids, test(all, typ))
	}
	ids = append(ids, test(some, "run.started"), test(blocked, "run.failed"))
	stop := s.Work(nil)
	states := map[string]bool{}
	for _, id := range ids {
		states[s.Ended(token, id)["status"].(string)] = true
	}
	stop()
	ids = append(ids, test(all, "run.completed"))
	if len(states) != 3 {
		t.Fatalf("the deliveries ended %v only", states)
	}
	t.Run("catalog", func(t *testing.T) { sameRead(t, s, token, "/catalog", parityCatalog) })
	t.Run("destinations", func(t *testing.T) {
		sameRead(t, s, token, "/destinations", `{ v: webhookDestinations { nodes { `+parityDestination+` } } }`)
		for _, id := range []int64{all, some, blocked} {
			sameRead(t, s, token, "/destinations/"+platform.Decimal(id), `{ v: webhookDestination(id: `+platform.Decimal(id)+`) { `+parityDestination+` } }`)
		}
	})
	t.Run("deliveries", func(t *testing.T) { sameDeliveries(t, s, token, all) })
	for _, id := range ids {
		t.Run("delivery "+platform.Decimal(id), func(t *testing.T) { sameDelivery(t, s, token, id) })
	}
}

// sameRead compares one read of webhooks.
func sameRead(t *testing.T, s *platform.Platform, token, path, query string) {
	t.Helper()
	got := s.Must(200, "GET", platform.Hooks+path, token, nil).JSON(t)
	if list, ok := got.([]any); ok && len(list) == 0 {
		t.Errorf("%s is empty", path)
	}
	platform.SameAnswers(t, path, got, s.MustGQL(token, query, nil)["v"])
}

// sameDeliveries compares the log through every filter.
func sameDeliveries(t *testing.T, s *platform.Platform, token string, destination int64) {
	t.Helper()
	since := s.Must(200, "GET", platform.Hooks+"/deliveries?limit=3", token, nil).JSON(t).([]any)[2].(map[string]any)["createdAt"].(string)
	for _, c := range []struct{ rest, graph string }{
		{"", ""},
		{"?destinationId=" + platform.Decimal(destination), fmt.Sprintf(`(destinationId: %d)`, destination)},
		{"?type=run.started", `(type: "run.started")`},
		{"?status=pending", `(status: pending)`},
		{"?status=delivered", `(status: delivered)`},
		{"?status=failed", `(status: failed)`},
		{"?status=blocked", `(status: blocked)`},
		{"?since=" + url.QueryEscape(since), `(since: "` + since + `")`},
		{"?limit=2", `(first: 2)`},
	} {
		sameRead(t, s, token, "/deliveries"+c.rest, `{ v: webhookDeliveries`+c.graph+` { nodes { `+parityDelivery+` } } }`)
	}
}

// sameDelivery compares one delivery with its log, and the captured bytes to the byte.
func sameDelivery(t *testing.T, s *platform.Platform, token string, id int64) {
	t.Helper()
	a := s.Must(200, "GET", platform.Hooks+"/deliveries/"+platform.Decimal(id), token, nil)
	want := s.MustGQL(token, `{ v: webhookDelivery(id: `+platform.Decimal(id)+`) { `+parityDelivery+` payload `+parityAttempts+` } }`, nil)["v"].(map[string]any)
	payload := want["payload"].(string)
	if !bytes.Contains(a.Body, []byte(`"payload":`+payload)) {
		t.Errorf("the captured bytes differ: %s and %s", a.Body, payload)
	}
	var event any
	if err := json.Unmarshal([]byte(payload), &event); err != nil {
		t.Fatal(err)
	}
	want["payload"] = event
	platform.SameAnswers(t, "delivery", a.JSON(t), want)
}
