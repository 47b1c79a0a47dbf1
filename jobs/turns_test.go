package jobs

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/redisconn"
)

// TestPlacesGoOn: a place works on what is handed out next until there is nothing more, something fails, or the worker stops; what is handed out
// beside it goes to the queue.
func TestPlacesGoOn(t *testing.T) {
	client, err := redisconn.Client(devtest.Redis(t))
	devtest.Check(t, err)
	defer func() { _ = client.Close() }()
	alone := bus.New(nil, slog.New(slog.DiscardHandler))
	defer alone.Close()
	stop := make(chan struct{})
	var leases [][]int
	var done []string
	turn := &turns[int]{
		relay: &relay{client: asynq.NewClientFromRedisClient(client), bus: alone, log: slog.New(slog.DiscardHandler)},
		lease: func(_ context.Context, places int, _ time.Duration) (due []int, err error) {
			if places != 3 {
				t.Errorf("%d places", places)
			}
			if len(leases) > 0 {
				due, leases = leases[0], leases[1:]
			}
			return due, nil
		},
		task:    func(n int) (*asynq.Task, error) { return newTask("turn", "turns", n) },
		release: func(context.Context, []int) error { return errors.New("nothing is to be released") },
		stop:    stop,
		timeout: time.Hour,
	}
	var last time.Time
	work := turn.line(line{queue: "turns", handler: asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		if deadline, ok := ctx.Deadline(); !ok || !deadline.After(last) || time.Until(deadline) > time.Hour {
			t.Errorf("%s has time until %v, where the one before has until %v", task.Payload(), deadline, last)
		} else {
			last = deadline
		}
		switch done = append(done, string(task.Payload())); string(task.Payload()) {
		case "5":
			return missed("The document failed: its row tells why.")
		case "8":
			close(stop)
		}
		return nil
	})}).handler
	try := func(what string, more [][]int, want []string, failure string) {
		t.Helper()
		leases, done = more, nil
		err := work.ProcessTask(t.Context(), devtest.Must[*asynq.Task](t)(turn.task(1)))
		if !slices.Equal(done, want) {
			t.Errorf("%s: %v", what, done)
		}
		if told := missed(""); failure != "" && (!errors.As(err, &told) || err.Error() != failure) || failure == "" && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	try("where the queue is full", [][]int{{2}}, []string{"1"}, "")
	turn.places.Store(3)
	try("with places", [][]int{{2}, {3, 6, 7}, {4}}, []string{"1", "2", "3", "4"}, "")
	if n := client.LLen(t.Context(), "asynq:{turns}:pending").Val(); n != 2 {
		t.Errorf("%d tasks are in the queue", n)
	}
	try("where one fails", [][]int{{2}, {5}, {4}}, []string{"1", "2", "5"}, "The document failed: its row tells why. (5)")
	try("while the worker stops", [][]int{{8}, {9}}, []string{"1", "8"}, "")
}
