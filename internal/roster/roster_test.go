package roster

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/internal/devstack/devtest"
	"canopy/internal/redisconn"
)

func TestMain(m *testing.M) { devtest.Main(m) }

func client(t *testing.T) redis.UniversalClient {
	t.Helper()
	c := devtest.Must[redis.UniversalClient](t)(redisconn.Client(devtest.Redis(t)))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestWorkersAreListedWhileTheyRun(t *testing.T) {
	t.Parallel()
	r := New(client(t))
	if list := devtest.Must[[]*Worker](t)(r.Workers(t.Context())); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Keep(ctx, "v1.2.3", []string{"mail", "runs"})
	}()
	var list []*Worker
	for len(list) == 0 {
		list = devtest.Must[[]*Worker](t)(r.Workers(t.Context()))
	}
	if w := list[0]; len(list) != 1 || w.Version != "v1.2.3" || w.PID != os.Getpid() || !slices.Equal(w.Queues, []string{"mail", "runs"}) || w.SeenAt.Before(w.StartedAt) {
		t.Errorf("%+v", *w)
	}
	end()
	<-ended
	if list := devtest.Must[[]*Worker](t)(r.Workers(t.Context())); len(list) != 0 {
		t.Errorf("one that has ended is listed: %+v", list)
	}
}

func TestThoseThatEndedWithoutAWordAreLeftOut(t *testing.T) {
	t.Parallel()
	c := client(t)
	old := devtest.Must[[]byte](t)(json.Marshal(Worker{Host: "gone", SeenAt: time.Now().Add(-time.Minute)}))
	if err := c.HSet(t.Context(), name, "gone", old, "broken", "{").Err(); err != nil {
		t.Fatal(err)
	}
	if list := devtest.Must[[]*Worker](t)(New(c).Workers(t.Context())); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if n := devtest.Must[int64](t)(c.HLen(t.Context(), name).Result()); n != 0 {
		t.Errorf("%d are kept", n)
	}
}

func TestRedisAway(t *testing.T) {
	t.Parallel()
	if _, err := New(nil).Workers(t.Context()); !errors.Is(err, ErrAway) {
		t.Errorf("%v", err)
	}
	away := devtest.Must[redis.UniversalClient](t)(redisconn.Client("redis://127.0.0.1:1"))
	defer func() { _ = away.Close() }()
	if _, err := New(away).Workers(t.Context()); !errors.Is(err, ErrAway) {
		t.Errorf("%v", err)
	}
}
