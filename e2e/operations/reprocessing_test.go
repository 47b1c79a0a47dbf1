package operations

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// TestReprocessingOutlivesWorkers kills the worker at random moments while a context is processed anew, and empties Redis once: each
// document has its turn once, and what is told of it at the end is true.
func TestReprocessingOutlivesWorkers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const documents, kills = 230, 6 // more than have their turn at the same time
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	for i := range documents {
		if a := s.Upload(token, id, fmt.Sprintf("%d.txt", i), []byte(platform.Sentences(i, 400))); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	first := s.StartWorker(t)
	settled := func(open func() bool) {
		for end := time.Now().Add(4 * time.Minute); open() && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
		}
	}
	settled(func() bool { return s.Number(`SELECT count(*) FROM documents WHERE status <> 'ready'`) > 0 })
	first.Kill()
	before := s.Number(`SELECT sum(revision) FROM documents`)

	model.Pause = 100 * time.Millisecond // so that there is work to interrupt all the time
	path := fmt.Sprintf("/v1/contexts/%d/reprocess", id)
	s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 64, overlap: 0}) { context { id } } }`, map[string]any{"id": id})
	if a := s.Do("POST", path, token, nil); a.Status/100 != 2 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	state := func() map[string]any { return s.Do("GET", path, token, nil).JSON(t).(map[string]any) }
	for i := range kills {
		began := time.Now()
		w := s.StartWorker(t)
		settled(func() bool { return s.Number(`SELECT count(*) FROM documents WHERE started_at > $1`, began) == 0 })
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond) // the random moment
		if i == kills/2 {
			flushRedis(t, s)
		}
		w.Kill()
		t.Logf("killed for the %d. time: %v", i+1, state())
	}
	last := s.StartWorker(t)
	t.Cleanup(last.Kill)
	settled(func() bool { return state()["status"] == "running" })
	if got := state(); got["status"] != "done" || got["documents"] != float64(documents) || got["done"] != float64(documents) {
		t.Errorf("%v", got)
	}
	if again := s.Number(`SELECT sum(revision) FROM documents`) - before; again != documents {
		t.Errorf("%d turns of %d documents", again, documents)
	}
	if n := s.Number(`SELECT count(*) FROM documents WHERE status = 'ready' AND chunk_size = 64`); n != documents {
		t.Errorf("%d of %d documents are ready by the settings of now", n, documents)
	}
	if n := s.Number(`SELECT count(*) FROM chunks k JOIN documents d ON d.id = k.document_id WHERE k.revision <> d.revision`); n != 0 {
		t.Errorf("%d chunks are left of before", n)
	}
	if t.Failed() {
		t.Log(last.Log)
	}
}
