package operations

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/mail"
)

// noRoute is a mail server that can't be reached.
type noRoute struct{}

// Send sends nothing.
func (noRoute) Send(context.Context, mail.Message) error {
	return errors.New("no route to somebody@private.example")
}

// shownTask is a task as the dashboard of the queues shows it.
type shownTask struct {
	Payload, Result, State string
	Error                  string `json:"error_message"`
}

// tasks are the tasks of a queue that are in a state, as soon as there is one.
func tasks(t *testing.T, s *platform.Platform, queue, state string) (list []shownTask) {
	t.Helper()
	devtest.Eventually(t, queue+" has a task that is "+state, func() bool {
		var body struct{ Tasks []shownTask }
		a := s.Do("GET", "/monitoring/api/queues/"+queue+"/"+state+"_tasks?page=1&size=100", "", nil)
		if a.Status != http.StatusOK || json.Unmarshal(a.Body, &body) != nil {
			return false
		}
		list = body.Tasks
		return len(list) > 0
	})
	return list
}

// failing is an agent whose run fails.
const failing = `{"steps": [{"id": "end", "type": "fail", "message": "a reason of its own"}], "output": {}}`

// TestQueuesTellTheTruth: a task that did not do what it was for has failed, in the dashboard and in the
// metrics, and says so in words that name nobody; one that did its work says what it did.
func TestQueuesTellTheTruth(t *testing.T) {
	t.Parallel()
	refusing := platform.NewReceiver(t, func(platform.Received, int) int { return http.StatusGone })
	taking := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t), func(c *config.Config) { c.MonitorUser = "" })
	s.Work(noRoute{})
	token, assistant := s.RootAs("builder"), s.Assistant()
	s.Subscribe(token, refusing.URL, "run.failed")
	s.Subscribe(token, taking.URL, "run.completed")
	s.Poll(token, s.Start(token, s.Publish(token, failing), object{}))
	s.Poll(token, s.Start(token, s.Publish(token, platform.Greeter), object{"name": "Ada"}))
	id := s.NewContext(assistant, "truth")
	s.Upload(assistant, id, "good.txt", []byte("Some words to find."))
	s.Upload(assistant, id, "bad.pdf", []byte("%PDF-1.7\nnothing that could be read"))
	s.Settle(assistant, id)

	for queue, words := range map[string]string{
		"mail": "did not get out", "runs": "The run failed", "documents": "The document failed", "webhooks": "1 failed",
	} {
		list := tasks(t, s, queue, "archived")
		if !strings.Contains(list[0].Error, words) {
			t.Errorf("%s: a failed task says %q, not %q", queue, list[0].Error, words)
		}
		for _, task := range list {
			for _, secret := range []string{"@", "a reason of its own", refusing.URL} {
				if strings.Contains(task.Error+task.Payload, secret) {
					t.Errorf("%s: a task tells %q: %+v", queue, secret, task)
				}
			}
		}
	}
	for queue, words := range map[string]string{"runs": "The run finished.", "documents": "The document is ready.", "webhooks": "1 delivered"} {
		// The queue may be told twice of what is due: the second task finds it under way.
		devtest.Eventually(t, queue+" has a task that says "+words, func() bool {
			return slices.ContainsFunc(tasks(t, s, queue, "completed"), func(task shownTask) bool { return strings.Contains(task.Result, words) })
		})
	}
	figures := string(s.Must(200, "GET", "/metrics", "", nil).Body)
	for _, sample := range []string{
		`canopy_queue_failed_total{queue="runs"} 1`, `canopy_queue_failed_total{queue="documents"} 1`, `canopy_queue_failed_total{queue="webhooks"} 1`,
		`canopy_runs_total{outcome="failed"} 1`, `canopy_runs_total{outcome="finished"} 1`,
		`canopy_documents_total{outcome="ready"} 1`, `canopy_documents_total{outcome="failed"} 1`, `canopy_mails_total{outcome="sent"} 0`,
	} {
		if !strings.Contains(figures, sample+"\n") {
			t.Errorf("/metrics lacks %s", sample)
		}
	}
	if strings.Contains(figures, `canopy_mails_total{outcome="late"} 0`) {
		t.Error("a mail that did not get out is not counted")
	}
	said := s.Log.String()
	for _, words := range []string{"a mail did not get out; it is tried again", "a document can't be processed"} {
		if !strings.Contains(said, words) {
			t.Errorf("the log lacks %q", words)
		}
	}
	if strings.Contains(said, "xhausted") {
		t.Error("the log tells of tries that are over, while the database has others")
	}
}
