package contexts

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/search"
)

type slowRelay struct{ delay atomic.Int64 }

func (r *slowRelay) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("BEGIN")) {
		time.Sleep(time.Duration(r.delay.Load()))
	}
	return len(p), nil
}

func startSlow(t *testing.T, to string) (*slowRelay, string) {
	u := devtest.Must[*url.URL](t)(url.Parse(to))
	l := devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = l.Close() })
	r, server := &slowRelay{}, u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				behind, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer behind.Close()
				go func() { _, _ = io.Copy(client, behind) }()
				_, _ = io.Copy(behind, io.TeeReader(client, r))
			}()
		}
	}()
	u.Host = l.Addr().String()
	return r, u.String()
}

func TestAdvSlow(t *testing.T) {
	c := startCopying(t)
	stop := c.Work(nil)
	token := c.Assistant()
	large := c.filled(token, "Large", platform.Sentences(1, 300))
	stop()
	c.follow()
	stop = c.Work(nil)
	small := c.filled(token, "Small", platform.Sentences(2, 300))
	stop()
	c.exec(`DELETE FROM canopy_vectors.contexts WHERE context_id = $1`, small)
	slow, address := startSlow(t, c.App.Config.VectorURL)
	other := c.besides(address)
	find := func(id, branch int64, mode search.Mode) time.Duration {
		begun := time.Now()
		if hits, err := other.Find(access.WithBranch(t.Context(), branch), c.row(id), search.Query{Prompt: "A bridge over the river", Mode: mode}); err != nil || len(hits) == 0 {
			t.Errorf("%d hits, %v", len(hits), err)
		}
		return time.Since(begun).Round(10 * time.Millisecond)
	}
	for range 3 {
		fmt.Println("ADV quick: large", find(large, 7, search.Semantic), "small", find(small, 7, search.Semantic), "words", find(small, 7, search.Lexical))
	}
	slow.delay.Store(int64(8 * time.Second))
	var all sync.WaitGroup
	for branch := int64(7); branch < 9; branch++ {
		for i := range 2 {
			all.Go(func() { fmt.Println("ADV slow: large, branch", branch, i, find(large, branch, search.Semantic)) })
		}
	}
	time.Sleep(1500 * time.Millisecond)
	for range 3 {
		fmt.Println("ADV slow: small, branch 7", find(small, 7, search.Semantic), "words", find(small, 7, search.Lexical), "branch 9", find(small, 9, search.Lexical))
	}
	all.Wait()
	compared, copied := other.Answers()
	fmt.Println("ADV compared", compared, "copied", copied)
}

func TestAdvLeft(t *testing.T) {
	c := startCopying(t)
	stop := c.Work(nil)
	token := c.Assistant()
	id := c.filled(token, "Left", platform.Sentences(1, 300))
	stop()
	c.follow()
	state := func(when string) {
		var s []struct {
			History         string
			Version, Chunks int64
		}
		if err := c.vectors.Select(&s, `SELECT history, version, chunks FROM canopy_vectors.contexts WHERE context_id = $1`, id); err != nil {
			t.Fatal(err)
		}
		var wanted int64
		c.Look(&wanted, `SELECT version FROM contexts WHERE id = $1`, id)
		fmt.Println("ADV", when, fmt.Sprintf("%+v", s), "rows", c.rowsOf(id), "context's version", wanted)
	}
	state("whole")
	c.exec(`UPDATE canopy_vectors.contexts SET history = 'another'`) // what a failover does to all: the same versions, another timeline
	for range 3 {
		c.follow()
	}
	state("other history, followed three times")
	c.compare("other history", id, search.Query{Prompt: "A bridge over the river", Mode: search.Semantic}, false)
	if err := c.App.Resolver.Search.CheckCopies(t.Context()); err != nil {
		t.Fatal(err)
	}
	state("checked")
	c.exec(`UPDATE canopy_vectors.contexts SET version = 0`) // whoever copied it has died at it
	var documents []int64
	if err := c.DB.Select(&documents, `SELECT id FROM documents WHERE context_id = $1`, id); err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		c.Mutate(token, "deleteDocument", "deletedId", object{"id": d})
	}
	for range 3 {
		c.follow()
		if err := c.App.Resolver.Search.CheckCopies(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	state("half made, all documents deleted, followed and checked three times")
}
