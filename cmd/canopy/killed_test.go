package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// programProcess is the program in a process of its own.
type programProcess struct {
	cmd *exec.Cmd
	log *devtest.Log
}

func (s *stack) startWorker(t *testing.T) *programProcess {
	t.Helper()
	return s.startProgram(t, "worker")
}

// startProgram runs a command of the program on the platform's settings, and those given beside.
func (s *stack) startProgram(t *testing.T, command string, settings ...string) *programProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := s.p.Config
	var allow []string
	for _, p := range c.WebhookAllow {
		allow = append(allow, p.String())
	}
	w := &programProcess{cmd: exec.Command(program), log: &devtest.Log{}}
	w.cmd.Env = append(os.Environ(), runVariable+"="+command, "DATABASE_URL="+c.DatabaseURL, "REDIS_URL="+c.RedisURL, "CANOPY_BLOB_URL="+c.BlobURL,
		"CANOPY_SECRET_KEY="+base64.StdEncoding.EncodeToString(c.SecretKey), "CANOPY_EMBEDDINGS_URL="+c.Embeddings.URL,
		"CANOPY_EMBEDDINGS_API_KEY="+c.Embeddings.APIKey, "CANOPY_EMBEDDINGS_MODEL="+c.Embeddings.Model,
		"CANOPY_WEBHOOK_ALLOW="+strings.Join(allow, ","), "CANOPY_WEBHOOK_CA="+c.WebhookCA)
	w.cmd.Env = append(w.cmd.Env, settings...)
	w.cmd.Stdout, w.cmd.Stderr = w.log, w.log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// kill ends it as nothing can be caught that ends it.
func (w *programProcess) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// TestWorkersAreKilled kills the worker at random moments while documents are processed, empties
// Redis once and restarts PostgreSQL once: every document ends ready, each of its chunks there once.
func TestWorkersAreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute or two")
	}
	const documents, kills = 50, 20
	p, model := ownPostgres(t), newModelServer(t)
	model.pause = 400 * time.Millisecond // so that there is work to interrupt all the time
	s := newStack(t, model.use, func(c *config.Config) { c.DatabaseURL = p.URL() })
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	s.mustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 100}) { context { id } } }`, map[string]any{"id": id})
	texts := map[string]string{}
	for i := range documents {
		name := fmt.Sprintf("%d.txt", i)
		texts[name] = sentences(i, 3000)
		if a := s.upload(token, id, name, []byte(texts[name])); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	ready := func() int64 { return s.number(`SELECT count(*) FROM documents WHERE status = 'ready'`) }
	for i := range kills {
		w := s.startWorker(t)
		time.Sleep(time.Duration(200+rand.IntN(1200)) * time.Millisecond) // the random moment
		switch i {
		case kills / 3:
			s.flushRedis(t)
		case 2 * kills / 3:
			if err := p.Restart(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		w.kill()
		t.Logf("killed for the %d. time, with %d documents ready", i+1, ready())
	}
	w := s.startWorker(t)
	t.Cleanup(w.kill)
	for end := time.Now().Add(4 * time.Minute); ready() < documents && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
	}
	list := s.documents(token, id)
	for _, d := range list {
		if d["status"] != "ready" {
			t.Errorf("%v", d)
		}
		name := d["originalName"].(string)
		if got := s.text(d["id"]); got != texts[name] {
			t.Errorf("%s: the chunks do not make its text: %d bytes of %d", name, len(got), len(texts[name]))
		}
		if n := s.number(`SELECT count(*) FROM chunks WHERE document_id = $1`, d["id"]); float64(n) != d["chunks"] || n < 5 {
			t.Errorf("%s: %d chunks of %v", name, n, d["chunks"])
		}
	}
	if n := s.number(`SELECT count(*) FROM chunks WHERE dense IS NULL`); n != 0 || len(list) != documents {
		t.Errorf("%d documents, %d chunks without a vector", len(list), n)
	}
	if t.Failed() {
		t.Log(w.log)
	}
}

// text puts a document's chunks together, without their overlaps.
func (s *stack) text(documentID any) string {
	s.t.Helper()
	var text string
	s.look(&text, `SELECT string_agg(convert_from(substr(convert_to(content, 'UTF8'), overlap_bytes + 1), 'UTF8'), '' ORDER BY position)
		FROM chunks WHERE document_id = $1`, documentID)
	return text
}

func (s *stack) flushRedis(t *testing.T) {
	t.Helper()
	o, err := redis.ParseURL(s.p.Config.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }()
	if err := c.FlushDB(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
}

// sentences makes a text of n words, another one for each seed.
func sentences(seed, n int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	words := strings.Fields("bees honey hive flower dance ship harbour captain anchor sail mountain river stone bridge road lamp window garden winter summer")
	var b strings.Builder
	for i := range n {
		b.WriteString(words[r.IntN(len(words))])
		if i%12 == 11 {
			b.WriteString(". ")
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String())
}
