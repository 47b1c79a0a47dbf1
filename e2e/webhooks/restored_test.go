package webhooks

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
	"canopy/internal/webhook"
)

// TestDeletedAgentsComeBack: within 30 days, as they were, at both doors; afterwards not.
func TestDeletedAgentsComeBack(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	token := s.RootAs("builder")
	id := s.Publish(token, platform.Greeter)
	in := map[string]any{"id": id}
	const shown = "agent { id name enabled runnable published { number } }"
	before := s.Mutate(token, "enableAgent", shown, in)
	s.Subscribe(token, r.URL)
	s.Mutate(token, "deleteAgent", "deletedId", in)
	if after := s.Mutate(token, "restoreAgent", shown, in); !platform.SameJSON(after, before) {
		t.Errorf("before %v, brought back %v", before, after)
	}
	r.Wait(t, 3)
	types := r.Types()
	slices.Sort(types)
	if !slices.Equal(types, []string{"agent.created", "agent.deleted", "agent.enabled"}) {
		t.Errorf("told of it: %v", types)
	}
	if _, codes := s.GQL(token, `mutation($id: ID!) { restoreAgent(input: {id: $id}) { agent { id } } }`, in); !slices.Equal(codes, []string{"NOT_FOUND"}) {
		t.Errorf("an agent that is there was brought back: %v", codes)
	}
	comesBackInTime(s, token, fmt.Sprint("/v1/agents/", id), "agents")
	s.SQL(`UPDATE agents SET deleted_at = now() - interval '1 hour', name = 'First' WHERE id = $1`, id)
	s.SQL(`INSERT INTO agents (account_id, name, draft, deleted_at)
		SELECT account_id, 'Last', '{}'::json, now() FROM agents WHERE id = $1 UNION ALL SELECT account_id, 'Long gone', '{}'::json, now() - interval '31 days' FROM agents WHERE id = $1`, id)
	canComeBack(s, token, "deletedAgents", "/v1/agents/deleted", "Last", "First")
	s.Must(http.StatusOK, "POST", fmt.Sprintf("/v1/agents/%d/restore", id), token, nil)
	canComeBack(s, token, "deletedAgents", "/v1/agents/deleted", "Last")
}

// canComeBack compares what both doors list as deleted and restorable with some names.
func canComeBack(s *platform.Platform, token, field, path string, names ...string) {
	s.T.Helper()
	shown := platform.Member(s.T, s.MustGQL(token, `{ me { customer { `+field+` { id: databaseId name deletedAt restorableUntil } } } }`, nil), "me.customer."+field)
	if byREST := s.Must(http.StatusOK, "GET", path, token, nil).JSON(s.T); !platform.SameJSON(shown, byREST) {
		s.T.Errorf("%s: GraphQL has %v, REST %v", field, shown, byREST)
	}
	var got []string
	for _, row := range shown.([]any) {
		got = append(got, platform.Member(s.T, row, "name").(string))
		deleted, err := time.Parse(time.RFC3339, platform.Member(s.T, row, "deletedAt").(string))
		until, otherErr := time.Parse(time.RFC3339, platform.Member(s.T, row, "restorableUntil").(string))
		if err != nil || otherErr != nil || until.Sub(deleted) != 30*24*time.Hour {
			s.T.Errorf("%s: deleted %v, restorable until %v", field, deleted, until)
		}
	}
	if !slices.Equal(got, names) {
		s.T.Errorf("%s: %v, want %v", field, got, names)
	}
}

// comesBackInTime deletes something and brings it back, by REST, too late and in time.
func comesBackInTime(s *platform.Platform, token, path, table string) {
	s.T.Helper()
	if a := s.Do(http.MethodDelete, path, token, nil); a.Status != http.StatusNoContent {
		s.T.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, c := range []struct{ days, status int }{{31, http.StatusNotFound}, {29, http.StatusOK}} {
		s.SQL(`UPDATE `+table+` SET deleted_at = now() - $1 * interval '1 day' WHERE deleted_at IS NOT NULL`, c.days)
		if a := s.Do(http.MethodPost, path+"/restore", token, nil); a.Status != c.status {
			s.T.Errorf("%d days after: %d %s", c.days, a.Status, a.Body)
		}
	}
}

// TestWhatWaitedIsNotSentAfterAll: a destination that is deleted and brought back at once gets nothing of what waited when it was deleted, though no worker has ended that yet.
func TestWhatWaitedIsNotSentAfterAll(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	id, _ := s.Subscribe(token, r.URL)
	try := func(typ string) {
		s.Mutate(token, "testWebhookDestination", "delivery { id }", map[string]any{"id": id, "type": typ})
	}
	for range 3 {
		try("run.started")
	}
	in := map[string]any{"id": id}
	if a := s.Do(http.MethodPost, fmt.Sprint(platform.Hooks, "/destinations/", id, "/restore"), token, nil); a.Status != http.StatusNotFound || s.Number(`SELECT count(*) FROM webhook_due`) != 3 {
		t.Errorf("one that is not deleted: %d %s", a.Status, a.Body)
	}
	s.Mutate(token, "deleteWebhookDestination", "deletedId", in)
	strangerKeepsNobodyWaiting(s, id)
	s.Mutate(token, "restoreWebhookDestination", "destination { id }", in)
	if n := s.Number(`SELECT count(*) FROM webhook_deliveries WHERE status = 'failed' AND lost AND completed_at IS NOT NULL AND error = 'the destination was deleted'`); n != 3 {
		t.Errorf("%d have failed", n)
	}
	try("run.failed")
	s.Work(nil)
	if got := r.Wait(t, 1); got[0].Typ != "run.failed" || s.Number(`SELECT count(*) FROM webhook_due WHERE claimed_at IS NULL`) != 0 {
		t.Errorf("sent after it was brought back: %s", got[0].Typ)
	}
}

// strangerKeepsNobodyWaiting asks for a deleted destination as another company, while what waits for it is held: there is none for who asks, and
// nothing of it is touched.
func strangerKeepsNobodyWaiting(s *platform.Platform, id any) {
	s.T.Helper()
	tx, err := s.DB.Begin()
	devtest.Check(s.T, err)
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(`SELECT FROM webhook_due FOR UPDATE`); err != nil {
		s.T.Fatal(err)
	}
	stranger := s.TokenOf(s.Customer("Brightwater Health"), "marcus@brightwater.example", "builder")
	if a := s.Do(http.MethodPost, fmt.Sprint(platform.Hooks, "/destinations/", id, "/restore"), stranger, nil); a.Status != http.StatusNotFound {
		s.T.Errorf("a stranger's: %d %s", a.Status, a.Body)
	}
	if n := s.Number(`SELECT count(*) FROM webhook_deliveries WHERE status = 'failed'`); n != 0 {
		s.T.Errorf("a stranger has ended %d", n)
	}
}

// TestDeletedDestinationsComeBack: with their secret, for who may subscribe to what they are told, until their time is over; then
// nobody has the secret any more.
func TestDeletedDestinationsComeBack(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	stop := s.Work(nil)
	token := s.RootAs("builder")
	id, secret := s.Subscribe(token, r.URL)
	in := map[string]any{"id": id}
	const shown = "destination { id url name enabled events }"
	before := s.Mutate(token, "updateWebhookDestination", shown, map[string]any{"id": id, "name": "Mine"})
	s.Mutate(token, "deleteWebhookDestination", "deletedId", in)
	s.Publish(token, platform.Greeter)
	if after := s.Mutate(token, "restoreWebhookDestination", shown, in); !platform.SameJSON(after, before) {
		t.Errorf("before %v, brought back %v", before, after)
	}
	s.Mutate(token, "testWebhookDestination", "delivery { id }", map[string]any{"id": id, "type": "run.failed"})
	if got := r.Wait(t, 1); got[0].Typ != "run.failed" || !webhook.VerifyHeader(got[0].Header, got[0].Body, secret) {
		t.Errorf("sent after it was brought back: %s %v", got[0].Typ, got[0].Header)
	}
	path := fmt.Sprint(platform.Hooks+"/destinations/", id)
	stop() // it would forget the secret when its time seems to be over
	comesBackInTime(s, token, path, "webhook_destinations")
	s.SQL(`UPDATE webhook_destinations SET deleted_at = now() - interval '1 hour' WHERE id = $1`, id)
	s.SQL(`INSERT INTO webhook_destinations (customer_id, url, secret, deleted_at) SELECT customer_id, 'https://last.example/', 'sealed'::bytea, now() FROM webhook_destinations WHERE id = $1
		UNION ALL SELECT customer_id, 'https://old.example/', 'sealed'::bytea, now() - interval '31 days' FROM webhook_destinations WHERE id = $1`, id)
	canComeBack(s, token, "deletedWebhookDestinations", platform.Hooks+"/destinations/deleted", "https://last.example/", "Mine")
	s.SQL(`DELETE FROM webhook_destinations WHERE id <> $1`, id)

	s.SQL(`UPDATE webhook_destinations SET deleted_at = now() - interval '31 days'`)
	if n, err := s.App.Store.ForgetDestinationSecrets(t.Context(), 10); err != nil || n != 1 {
		t.Errorf("secrets forgotten: %d, %v", n, err)
	}
	if s.Number(`SELECT count(*) FROM webhook_destinations WHERE secret <> ''`) != 0 {
		t.Error("a secret outlives its destination")
	}
	s.SQL(`UPDATE webhook_destinations SET deleted_at = now()`)
	if a := s.Do(http.MethodPost, path+"/restore", token, nil); a.Status != http.StatusNotFound {
		t.Errorf("one without a secret: %d %s", a.Status, a.Body)
	}
}
