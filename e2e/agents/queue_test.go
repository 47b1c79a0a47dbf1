package agents

import (
	"net/http"
	"testing"

	"github.com/hibiken/asynq"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestRunsWaitInTheDatabase starts more runs than are executed at once: the others wait in the database,
// where those of another branch pass them, and not in the queue.
func TestRunsWaitInTheDatabase(t *testing.T) {
	t.Parallel()
	const atOnce, rest = 64, 40
	begun, end := make(chan struct{}, atOnce+rest), make(chan struct{})
	r := platform.NewReceiver(t, func(platform.Received, int) int {
		begun <- struct{}{}
		<-end
		return http.StatusOK
	})
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	agent := s.Publish(token, platform.PostingSteps(1, r.URL))
	for range atOnce + rest {
		s.Start(token, agent, object{"run": 1})
	}
	s.Work(nil)
	for range atOnce {
		<-begun
	}
	inspector := asynq.NewInspector(s.App.Queue)
	defer func() { _ = inspector.Close() }()
	q, err := inspector.GetQueueInfo("runs")
	if err != nil {
		t.Fatal(err)
	}
	if due := s.Number(`SELECT count(*) FROM runs WHERE due_at <= now()`); q.Pending != 0 || due != rest {
		t.Errorf("%d runs wait in the queue, %d in the database", q.Pending, due)
	}
	close(end)
	devtest.Eventually(t, "all runs are finished", func() bool { return s.Number(`SELECT count(*) FROM runs WHERE status <> 'finished'`) == 0 })
}
