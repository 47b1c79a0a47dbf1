package agents

import (
	"net/http"
	"testing"

	"github.com/hibiken/asynq"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestRunsWaitInTheDatabase starts more runs than are executed at once: the queue holds some of the
// others, and the database the rest, so that no task is put in again and again while it waits.
func TestRunsWaitInTheDatabase(t *testing.T) {
	t.Parallel()
	const atOnce, queued, rest = 64, 256, 20
	begun, end := make(chan struct{}, atOnce+queued+rest), make(chan struct{})
	r := platform.NewReceiver(t, func(platform.Received, int) int {
		begun <- struct{}{}
		<-end
		return http.StatusOK
	})
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	agent := s.Publish(token, platform.PostingSteps(1, r.URL))
	for range atOnce + queued + rest {
		s.Start(token, agent, object{"run": 1})
	}
	// One account has no more than its share: let all of them wait.
	s.SQL(`WITH builders AS (SELECT a.id, row_number() OVER (ORDER BY a.id) - 1 AS n, count(*) OVER () AS many FROM accounts a
			JOIN app_instances i ON i.id = a.app_instance_id JOIN applications p ON p.id = i.application_id WHERE p.code = 'builder')
		UPDATE runs r SET account_id = b.id FROM builders b WHERE b.n = r.id % b.many`)
	s.Work(nil)
	for range atOnce {
		<-begun
	}
	inspector := asynq.NewInspector(s.App.Queue)
	defer func() { _ = inspector.Close() }()
	waiting := func() int {
		q, err := inspector.GetQueueInfo("runs")
		if err != nil {
			t.Fatal(err)
		}
		return q.Pending
	}
	devtest.Eventually(t, "the queue is full", func() bool { return waiting() >= queued })
	if n, due := waiting(), s.Number(`SELECT count(*) FROM runs WHERE due_at <= now()`); n != queued || due != rest {
		t.Errorf("%d runs wait in the queue, %d in the database", n, due)
	}
	close(end)
	devtest.Eventually(t, "all runs are finished", func() bool { return s.Number(`SELECT count(*) FROM runs WHERE status <> 'finished'`) == 0 })
}
