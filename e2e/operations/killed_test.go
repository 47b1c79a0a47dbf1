package operations

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// TestWorkersAreKilled kills the worker at random moments while documents are processed, empties
// Redis once and restarts PostgreSQL once: every document ends ready, each of its chunks there once.
func TestWorkersAreKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute or two")
	}
	const documents, kills = 50, 20
	p, model := platform.OwnPostgres(t), platform.NewModelServer(t)
	model.Pause = 400 * time.Millisecond // so that there is work to interrupt all the time
	s := platform.Start(t, model.Use, func(c *config.Config) { c.DatabaseURL = p.URL() })
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 100}) { context { id } } }`, map[string]any{"id": id})
	texts := map[string]string{}
	for i := range documents {
		name := fmt.Sprintf("%d.txt", i)
		texts[name] = platform.Sentences(i, 3000)
		if a := s.Upload(token, id, name, []byte(texts[name])); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	ready := func() int64 { return s.Number(`SELECT count(*) FROM documents WHERE status = 'ready'`) }
	for i := range kills {
		w := s.StartWorker(t)
		time.Sleep(time.Duration(200+rand.IntN(1200)) * time.Millisecond) // the random moment
		switch i {
		case kills / 3:
			flushRedis(t, s)
		case 2 * kills / 3:
			if err := p.Restart(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		w.Kill()
		t.Logf("killed for the %d. time, with %d documents ready", i+1, ready())
	}
	w := s.StartWorker(t)
	t.Cleanup(w.Kill)
	for end := time.Now().Add(4 * time.Minute); ready() < documents && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
	}
	list := s.Documents(token, id)
	for _, d := range list {
		if d["status"] != "ready" {
			t.Errorf("%v", d)
		}
		name := d["originalName"].(string)
		if got := s.Text(d["id"]); got != texts[name] {
			t.Errorf("%s: the chunks do not make its text: %d bytes of %d", name, len(got), len(texts[name]))
		}
		if n := s.Number(`SELECT count(*) FROM chunks WHERE document_id = $1`, d["id"]); float64(n) != d["chunks"] || n < 5 {
			t.Errorf("%s: %d chunks of %v", name, n, d["chunks"])
		}
	}
	// Each chunk stands in exactly one block of each kind.
	if n := s.Number(`SELECT count(*) FROM chunks k WHERE (SELECT count(*) FROM vector_blocks b
		WHERE b.document_id = k.document_id AND b.revision = k.revision AND position(int8send(k.id) IN b.chunks) % 8 = 1) <> 2`); n != 0 || len(list) != documents {
		t.Errorf("%d documents, %d chunks without a vector", len(list), n)
	}
	if t.Failed() {
		t.Log(w.Log)
	}
}

func flushRedis(t *testing.T, s *platform.Platform) {
	t.Helper()
	o, err := redis.ParseURL(s.App.Config.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }()
	if err := c.FlushDB(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
}
