package agents

import (
	"fmt"
	"net/http"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// done posts to the path of a company, as the root company's owner.
func done(s *platform.Platform, customer int64, what string) {
	s.T.Helper()
	s.Must(http.StatusOK, "POST", fmt.Sprintf("/tenant/customer/%d/%s", customer, what), s.Root(), nil)
}

// TestRunsWaitForSuspendedCompanies suspends a company while a run of it is at a step: the step comes to its end and is not done
// again, the next waits, and so do runs that have not begun, also where they would all be first.
func TestRunsWaitForSuspendedCompanies(t *testing.T) {
	t.Parallel()
	reached, goOn := make(chan string, 8), make(chan struct{})
	r := platform.NewReceiver(t, func(x platform.Received, _ int) int {
		if reached <- x.ID; x.ID == "run 0, step 0" {
			<-goOn
		}
		return http.StatusOK
	})
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	hydro := s.Customer("Alpine Hydro")
	lukas := s.TokenOf(hydro, "lukas@alpine-hydro.example", "builder")
	greta := s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder")
	below, above := s.Publish(lukas, platform.PostingSteps(2, r.URL)), s.Publish(greta, platform.Greeter)
	s.Work(nil)
	keys := []string{s.Start(lukas, below, object{"run": 0})}
	if at := <-reached; at != "run 0, step 0" {
		t.Fatal(at)
	}
	done(s, hydro, "suspend")
	for i := 1; i <= 2; i++ { // by those above, whom nobody has suspended
		keys = append(keys, s.Mutate(greta, "startRun", "jobKey", object{"agentId": below, "input": object{"run": i}})["jobKey"].(string))
	}
	close(goOn)
	if a := s.Poll(greta, s.Start(greta, above, object{"name": "Ada"})); a.Status != http.StatusOK { // of the same branch
		t.Errorf("%d %s", a.Status, a.Body)
	}
	waitFor(t, s, `SELECT count(*) FROM runs WHERE status = 'running' AND due_at = 'infinity'`, 3)
	if n := len(r.All()); n != 1 {
		t.Errorf("%d requests were made while the company was suspended", n)
	}
	if n := s.Number(`SELECT count(*) FROM run_steps`); n != 2 { // that of the other company is the second
		t.Errorf("%d steps are kept", n)
	}
	s.SQL(`UPDATE runs SET suspended_at = suspended_at - interval '1 hour', started_at = started_at - interval '1 hour' WHERE suspended_at IS NOT NULL`) // longer than a run may take
	done(s, hydro, "resume")
	for _, key := range keys {
		if a := s.Poll(greta, key); a.Status != http.StatusOK {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if n := len(r.All()); n != 6 {
		t.Errorf("%d requests: each step of three runs is made once", n)
	}
}

// TestDeliveriesWaitForSuspendedCompanies: what happens is recorded, and told once the company goes on.
func TestDeliveriesWaitForSuspendedCompanies(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	hydro, solar := s.Customer("Alpine Hydro"), s.Customer("Alpine Solar")
	lukas, nina := s.TokenOf(hydro, "lukas@alpine-hydro.example", "tenant"), s.TokenOf(solar, "nina@alpine-solar.example", "tenant")
	s.Subscribe(lukas, r.URL, "audit.customer.updated")
	s.Subscribe(nina, r.URL, "audit.customer.updated")
	s.Work(nil)
	rename := func(customer int64, name string) {
		s.Must(http.StatusNoContent, "PUT", "/tenant", s.Root(), object{"customerId": customer, "name": name})
	}
	rename(hydro, "One")
	r.Wait(t, 1)
	done(s, hydro, "suspend")
	rename(hydro, "Two")
	rename(solar, "Three") // which is told, as the next of all
	r.Wait(t, 2)
	waitFor(t, s, `SELECT count(*) FROM webhook_due WHERE NOT begun`, 1)
	done(s, hydro, "resume")
	r.Wait(t, 3)
	waitFor(t, s, `SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered' AND attempts = 1`, 3)
}

// TestDocumentsWaitForSuspendedCompanies: what was uploaded before is processed once the company goes on.
func TestDocumentsWaitForSuspendedCompanies(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	hydro := s.Customer("Alpine Hydro")
	lukas := s.TokenOf(hydro, "lukas@alpine-hydro.example", "assistant")
	context := s.NewContext(lukas, "Dams")
	for i := range 3 {
		s.Upload(lukas, context, fmt.Sprint(i, ".txt"), []byte(platform.Sentences(i, 5)))
	}
	done(s, hydro, "suspend")
	s.Work(nil)
	waitFor(t, s, `SELECT count(*) FROM documents WHERE status = 'pending' AND attempts = 0 AND next_attempt_at = 'infinity'`, 3)
	done(s, hydro, "resume")
	for _, d := range s.Settle(lukas, context) {
		if d["status"] != "ready" {
			t.Error(d)
		}
	}
}

// waitFor waits until a query counts so many.
func waitFor(t *testing.T, s *platform.Platform, query string, want int64) {
	t.Helper()
	devtest.Eventually(t, query, func() bool { return s.Number(query) == want })
}
