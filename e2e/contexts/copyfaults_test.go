package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"canopy/db/pgvector"
	"canopy/e2e/platform"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/vector"
	"canopy/search"
)

// relay stands before a server: it counts what it is sent, and can hold back what has some words in it.
type relay struct {
	net.Listener
	sent, held atomic.Int64
	words      atomic.Pointer[string]
	silent     chan struct{}
	release    func()
}

func startRelay(t *testing.T, to string) (r *relay, address string) {
	t.Helper()
	u := devtest.Must[*url.URL](t)(url.Parse(to))
	r = &relay{Listener: devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")), silent: make(chan struct{})}
	r.release = sync.OnceFunc(func() { close(r.silent) })
	t.Cleanup(func() { r.release(); _ = r.Close() })
	server := u.Host
	go func() {
		for {
			client, err := r.Accept()
			if err != nil {
				return
			}
			go r.pass(client, server)
		}
	}()
	u.Host = r.Addr().String()
	return r, u.String()
}

func (r *relay) pass(client net.Conn, server string) {
	defer func() { _ = client.Close() }()
	behind, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = behind.Close() }()
	go func() { _, _ = io.Copy(client, behind) }()
	_, _ = io.Copy(behind, io.TeeReader(client, r))
}

// Write counts what the server is about to be sent, and waits while it is to hear nothing of it.
func (r *relay) Write(p []byte) (int, error) {
	r.sent.Add(int64(len(p)))
	if words := r.words.Load(); words != nil && bytes.Contains(p, []byte(*words)) {
		r.held.Add(1)
		<-r.silent
	}
	return len(p), nil
}

// hold has the server hear nothing any more that has these words in it, until release; "" is in all.
func (r *relay) hold(words string) { r.words.Store(&words) }

// connections is how many such a process has.
const connections = 4

// besides is another process that searches, with a database of vectors at an address.
func (c *copying) besides(address string, what search.Copies) *search.Engine {
	c.T.Helper()
	store := devtest.Must[*pgvector.Store](c.T)(pgvector.Open(address, connections))
	c.T.Cleanup(func() { _ = store.Close() })
	e := search.New(c.App.Store, c.App.Resolver.Search.Models, vector.NewCache(1<<30, platform.Patience))
	e.KeepCopies(c.T.Context(), store, what)
	return e
}

// TestCopiesAskNothingOfOthers: a context that has no copy asks nothing of the database of vectors, and one that has is found there by a process that has
// copied nothing. While that database is slow, those who wait for it hold nobody else's place, of their own company or another; and when it hangs, no
// search waits for long.
func TestCopiesAskNothingOfOthers(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	stop := c.Work(nil)
	token := c.Assistant()
	large := c.filled(token, "Large", platform.Sentences(1, 100))
	stop()
	c.follow()
	stop = c.Work(nil)
	small := c.filled(token, "Small", platform.Sentences(2, 100))
	stop()
	c.exec(`DELETE FROM canopy_vectors.contexts WHERE context_id = $1`, small)
	before, address := startRelay(t, c.App.Config.VectorURL)
	other := c.besides(address, patientCopies)
	find := func(e *search.Engine, id, branch int64, mode search.Mode) {
		t.Helper()
		hits, err := e.Find(access.WithBranch(t.Context(), branch), c.row(id), search.Query{Prompt: "A bridge over the river", Mode: mode})
		if err != nil || len(hits) == 0 {
			t.Errorf("%d hits, %v", len(hits), err)
		}
	}
	asked, begun := before.sent.Load(), time.Now()
	for range 20 {
		find(other, small, 7, search.Semantic)
	}
	if now := before.sent.Load(); now != asked && time.Since(begun) < 4*time.Second { // it looks anew after five
		t.Errorf("searches of a context without a copy have sent %d bytes", now-asked)
	}
	find(other, large, 7, search.Semantic)
	if compared, copied := other.Answers(); copied != 1 || compared != 20 {
		t.Errorf("%d searches were answered by the copy, %d without", copied, compared)
	}

	before.hold("BEGIN") // with which a search begins
	var slow sync.WaitGroup
	waiting := 4 * runtime.GOMAXPROCS(0) // as many as there are places to search
	for i := range waiting {
		slow.Go(func() { find(other, large, int64(7+i%2), search.Semantic) })
	}
	for before.held.Load() < connections {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		for branch := int64(7); branch < 10; branch++ {
			find(other, small, branch, search.Semantic)
			find(other, small, branch, search.Lexical)
		}
	}
	if _, copied := other.Answers(); copied != 1 {
		t.Errorf("%d searches were answered while the database was slow", copied-1)
	}
	before.release()
	slow.Wait()
	if _, copied := other.Answers(); copied != int64(1+waiting) {
		t.Errorf("%d of %d slow searches were answered by the copy", copied-1, waiting)
	}

	hangs, address := startRelay(t, c.App.Config.VectorURL)
	third := c.besides(address, search.Copies{From: 1, Patience: time.Second})
	hangs.hold("")
	begun = time.Now()
	find(third, large, 7, search.Semantic)
	if took := time.Since(begun); took > 30*time.Second { // a connection is given up after 45
		t.Errorf("it took %v", took)
	}
	if compared, _ := third.Answers(); compared != 1 {
		t.Errorf("%d searches have compared all", compared)
	}
}

// TestCopiesOfErasedCompanies: of a company that is erased no row stays in the database of vectors, and every row of the others.
func TestCopiesOfErasedCompanies(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	stop := c.Work(nil)
	hydro := c.Customer("Alpine Hydro")
	mine := c.filled(c.Assistant(), "Mine", platform.Sentences(1, 200))
	theirs := c.filled(c.TokenOf(hydro, "lukas@alpine-hydro.example", "assistant"), "Theirs", platform.Sentences(2, 200))
	stop()
	c.follow()
	kept := c.rowsOf(mine)
	if c.rowsOf(theirs) == 0 || kept == 0 {
		t.Fatal("nothing was copied")
	}
	c.Must(http.StatusAccepted, "DELETE", fmt.Sprintf("/tenant/customer/%d", hydro), c.Root(), nil)
	c.SQL(`UPDATE customers SET erase_at = now() WHERE id = $1`, hydro)
	if err := c.App.Worker(nil).EraseDue(t.Context()); err != nil || c.Number(`SELECT count(*) FROM customers WHERE id = $1`, hydro) > 0 {
		t.Fatalf("it is not erased: %v", err)
	}
	c.follow()
	if n := c.rowsOf(theirs); n != 0 {
		t.Errorf("%d rows of an erased company are held", n)
	}
	if n := c.rowsOf(mine); n != kept {
		t.Errorf("%d rows of another company are held, not %d", n, kept)
	}
}

// rowsOf counts all that is held of a context, in whatever table.
func (c *copying) rowsOf(id int64) (n int64) {
	c.T.Helper()
	var tables []string
	if err := c.vectors.Select(&tables, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'context_id'
		WHERE c.relnamespace = 'canopy_vectors'::regnamespace AND c.relkind = 'r'`); err != nil || len(tables) < 3 {
		c.T.Fatal(tables, err)
	}
	for _, table := range tables {
		var some int64
		if err := c.vectors.Get(&some, `SELECT count(*) FROM `+table+` WHERE context_id = $1`, id); err != nil {
			c.T.Fatal(err)
		}
		n += some
	}
	return n
}

// TestCopiesAmongChanges: while documents come, go, are taken away and brought back, and are processed anew, their copy is brought up to date without end. No search
// fails or shows what was deleted before it began, and at the end the copy has all that it should, once.
func TestCopiesAmongChanges(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	c.Work(nil)
	token := c.Assistant()
	id := c.filled(token, "Busy", platform.Sentences(1, 200), platform.Sentences(2, 200))
	c.follow()
	ctx, cancel := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	copying := c.besides(c.App.Config.VectorURL, patientCopies)
	for _, do := range []func(context.Context) error{copying.FindLarge, copying.FollowCopies} {
		beside.Go(func() {
			for ctx.Err() == nil {
				if err := do(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // a busy database is asked again
					t.Error(err)
					return
				}
				copying.AwaitCopies(ctx)
			}
		})
	}
	defer beside.Wait()
	defer cancel()
	var gone []int64
	for round := range 6 {
		c.exec(`UPDATE canopy_vectors.contexts SET checked_at = '-infinity'`) // so that all is compared, and not the changes alone
		c.add(token, id, fmt.Sprintf("new%d.txt", round), platform.Sentences(10+round, 100))
		var documents []int64
		if err := c.DB.Select(&documents, `SELECT id FROM documents WHERE context_id = $1 ORDER BY id`, id); err != nil {
			t.Fatal(err)
		}
		c.Mutate(token, "reprocessDocument", "document { id }", object{"id": documents[len(documents)/2]})
		switch oldest := documents[0]; round % 3 {
		case 0:
			c.Mutate(token, "deleteDocument", "deletedId", object{"id": oldest})
			gone = append(gone, oldest)
		case 1:
			c.Mutate(token, "deleteDocument", "deletedId", object{"id": oldest, "restorable": true})
			c.Mutate(token, "restoreDocument", "document { id }", object{"id": oldest})
		}
		hits, err := copying.Find(t.Context(), c.row(id), search.Query{Prompt: "A bridge over the river", Mode: search.Semantic})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if slices.Contains(gone, h.Chunk.DocumentID) {
				t.Errorf("round %d shows a deleted document", round)
			}
		}
	}
	c.Settle(token, id)
	cancel()
	beside.Wait()
	copying.AwaitCopies(t.Context())
	if n := copying.CopyProgress().Faults; n > 0 {
		t.Errorf("%d copies failed", n)
	}
	c.exec(`UPDATE canopy_vectors.contexts SET busy_until = '-infinity'`)
	c.follow()
	c.compare("after all", id, search.Query{Prompt: "A bridge over the river", Mode: search.Semantic}, true)
	if n, want := c.held(id), c.Number(`SELECT sum(chunks) FROM documents WHERE context_id = $1`, id); n != want {
		t.Errorf("%d rows are held of %d chunks", n, want)
	}
	later := c.besides(c.App.Config.VectorURL, patientCopies)
	if hits, err := later.Find(t.Context(), c.row(id), search.Query{Prompt: "A bridge over the river", Mode: search.Semantic}); err != nil || len(hits) == 0 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if _, copied := later.Answers(); copied != 1 {
		t.Error("who comes later does not search the copy")
	}
}
