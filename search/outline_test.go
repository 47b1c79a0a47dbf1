package search

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/models/lexical"
	"canopy/internal/spill/spilltest"
	"canopy/internal/vector"
)

// TestLargeContextsAreSearchedAtOnce: a search that reads only what it needs of a context finds what one with the whole index finds, also
// after documents have changed; behind the first one the index is loaded, unless it is larger than what is kept.
func TestLargeContextsAreSearchedAtOnce(t *testing.T) {
	c := newStoredContext(t)
	for i := range 20 {
		c.document(fmt.Sprintf("document %d tells of honey, house number %d and the river by the garden", i, i%7), fmt.Sprintf("another part of %d, about stones", i))
	}
	kept, none := c.engine(1<<30, 1), c.engine(1, 1)
	c.same(kept, none)
	for end := time.Now().Add(time.Minute); !kept.vectors.Has(wordsKey(c.row)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the index is not loaded")
		}
	}
	for range 3 {
		c.document("a new one has honey in the garden, too")
		c.sql(`UPDATE documents SET status = 'failed' WHERE id = (SELECT min(id) FROM documents WHERE status = 'ready')`)
		c.sql(`UPDATE contexts SET version = version + 1`)
		c.same(kept, none)
	}
	if none.vectors.Has(wordsKey(c.row)) || none.behind.under != nil {
		t.Error("an index was loaded that is too large to keep")
	}
}

// TestLargerThanMemory: an index that is larger than the memory for indexes is loaded once, into files, and found in from there, also after
// documents have changed.
func TestLargerThanMemory(t *testing.T) {
	c := newLongContext(t)
	folder, _ := spilltest.Folder(t, 1<<30)
	const budget = 1 << 20
	e := c.engine(budget, 1)
	e.vectors.KeepFiles(folder, func(err error) { t.Error(err) })
	c.same(e)
	for end := time.Now().Add(time.Minute); !e.vectors.Has(wordsKey(c.row)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the index is not kept: %+v", e.Stats())
		}
	}
	loads := e.Stats().Loads
	c.same(e)
	if s := e.Stats(); s.Loads != loads || s.Bytes > budget || s.OnDisk < budget {
		t.Errorf("%+v, after %d loads", s, loads)
	}
	c.document("a new one has honey in the garden, too")
	c.sql(`UPDATE documents SET status = 'failed' WHERE id = (SELECT min(id) FROM documents WHERE status = 'ready')`)
	c.sql(`UPDATE contexts SET version = version + 1`)
	c.same(e)
}

// TestLargerThanMemoryOnAFullDisk: an index that neither memory nor the disk has room for is not loaded to its end for nothing, which would take the
// memory of all of it; nobody has to know of it, and who can't do without has it nevertheless.
func TestLargerThanMemoryOnAFullDisk(t *testing.T) {
	c := newLongContext(t)
	folder, _ := spilltest.Folder(t, 1<<30)
	folder.Spare = func(disk uint64) uint64 { return disk }
	e := c.engine(1<<20, 1)
	e.vectors.KeepFiles(folder, func(error) {})
	c.same(e)
	tooLarge := func() bool {
		e.behind.mu.Lock()
		defer e.behind.mu.Unlock()
		return len(e.behind.tooLarge) == 1 && len(e.behind.under) == 0
	}
	for end := time.Now().Add(time.Minute); !tooLarge(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is not remembered: %+v", e.Stats())
		}
	}
	loads := e.Stats().Loads
	c.same(e)
	if s := e.Stats(); s.Oversize > 0 || s.Failures != 1 || s.Loads != loads {
		t.Errorf("%+v, after %d loads", s, loads)
	}
	if x, err := e.sparseIndex(t.Context(), c.row); err != nil || x.Len() < 2800 {
		t.Errorf("no whole index: %v", err)
	}
}

// newLongContext makes one of 2,800 chunks, whose index takes some megabytes.
func newLongContext(t *testing.T) *storedContext {
	t.Helper()
	c := newStoredContext(t)
	const documents, chunks = 4, 700
	for d := range documents {
		list := make([]string, chunks)
		for i := range list {
			list[i] = fmt.Sprintf("part %d of %d tells of honey in the garden of house number %d, %s", i, d, i%9, someWords(d*chunks+i, 150))
		}
		c.document(list...)
	}
	return c
}

// someWords are so many words, others for each number.
func someWords(number, n int) string {
	r := rand.New(rand.NewPCG(uint64(number), 1))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%d ", r.IntN(5000))
	}
	return b.String()
}

// TestDamageIsTold: where the index can't be loaded behind a search, the next one says so.
func TestDamageIsTold(t *testing.T) {
	c := newStoredContext(t)
	c.document("honey of the hive")
	c.document("captain and harbour")
	c.sql(`UPDATE vector_blocks SET block = set_byte(block, length(block) - 1, get_byte(block, length(block) - 1) # 1)`) // the sum
	e := c.engine(1<<30, 1)
	if hits, err := e.Find(t.Context(), c.row, Query{Prompt: "honey"}); err != nil || len(hits) != 1 {
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := e.Find(t.Context(), c.row, Query{Prompt: "honey"}); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("nobody hears of the damage")
		}
	}
}

// storedContext is a context whose documents are stored as workers store them.
type storedContext struct {
	t    *testing.T
	s    *db.Store
	pool *sqlx.DB
	row  *db.Context
}

func newStoredContext(t *testing.T) *storedContext {
	t.Helper()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	c := &storedContext{t: t, s: devtest.Must[*db.Store](t)(db.Open(t.Context(), url, db.Options{})), pool: devtest.Must[*sqlx.DB](t)(db.Connect(url, db.Options{}))}
	t.Cleanup(func() {
		_ = c.s.Close()
		_ = c.pool.Close()
	})
	account, _ := accounts(t, c.s)
	c.row = devtest.Must[*db.Context](t)(c.s.InsertContext(t.Context(), db.Context{
		AccountID: account, Name: "Large", ToolsJSON: "[]", StarterPrompts: []string{}, EmbeddingModel: lexical.Two.Name,
	}))
	return c
}

// engine makes one that keeps so much, and to which contexts of so many bytes are large.
func (c *storedContext) engine(budget, large int64) *Engine {
	e := New(c.s, Models{}, vector.NewCache(budget, time.Minute))
	e.largeContext = large
	return e
}

func (c *storedContext) sql(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.pool.ExecContext(c.t.Context(), statement, args...); err != nil {
		c.t.Fatal(err)
	}
}

// document stores one of some chunks.
func (c *storedContext) document(chunks ...string) {
	c.t.Helper()
	p := vector.NewSparsePacker(lexical.Two)
	defer p.Done()
	for i, text := range chunks {
		p.Add(i, lexical.Two.Embed(text))
	}
	c.sql(`
		WITH made AS (
			INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, packed, model, chunk_size, overlap)
			VALUES ($1, gen_random_uuid(), 'a', 'a', 0, 'txt', 'text/plain', 'h', 100, 'ready', 1, $2, 1000, .2) RETURNING id),
		cut AS (
			INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens)
			SELECT id, 1, n - 1, content, 0, 1 FROM made, unnest($3::text[]) WITH ORDINALITY u(content, n) RETURNING id, document_id, position)
		INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block)
		SELECT document_id, 1, false, 0, string_agg(int8send(id), '' ORDER BY position), $4 FROM cut GROUP BY document_id`,
		c.row.ID, lexical.Two.Name, chunks, p.Pack())
	c.sql(`UPDATE contexts SET version = version + 1`)
}

// same has engines find what one with the whole index finds, twice each.
func (c *storedContext) same(engines ...*Engine) {
	c.t.Helper()
	c.row = devtest.Must[*db.Context](c.t)(c.s.Context(c.t.Context(), db.Desk{AccountID: c.row.AccountID}, c.row.ID))
	whole := c.engine(1<<30, 1<<40)
	for _, prompt := range []string{"honey in the garden", "house number 3", "stones of 7", "nothing"} {
		top := 50
		q := Query{Prompt: prompt, TopN: &top, IncludeUnrelated: true}
		want := devtest.Must[[]*Hit](c.t)(whole.Find(c.t.Context(), c.row, q))
		for i, e := range append(engines, engines...) {
			if got := devtest.Must[[]*Hit](c.t)(e.Find(c.t.Context(), c.row, q)); !reflect.DeepEqual(seen(got), seen(want)) {
				c.t.Errorf("%q, engine %d: %v\nnot %v", prompt, i, seen(got), seen(want))
			}
		}
	}
}

// seen is what is seen of hits.
func seen(hits []*Hit) (list []string) {
	for _, h := range hits {
		list = append(list, fmt.Sprint(h.Chunk.ID, h.Similarity, h.Relevance, h.Content, h.Highlights))
	}
	return list
}

// TestFewLoadBehind: so many indexes are loaded behind searches and no more, and of those that could not be loaded as many are remembered.
func TestFewLoadBehind(t *testing.T) {
	var b behindSearches
	key := func(n int) vector.Key { return vector.Key{Context: int64(n), Kind: vector.KindSparse} }
	for n := range mostBehind {
		if !b.begin(key(n)) {
			t.Fatalf("the index %d is not loaded", n)
		}
	}
	if b.begin(key(0)) || b.begin(key(mostBehind)) {
		t.Error("one is loaded twice, or one more")
	}
	b.end(key(0), noContext(1))
	if !b.begin(key(mostBehind)) || b.hasFailed(key(0)) {
		t.Error("there is no place for another, or a deleted context is remembered")
	}
	for n := range 3 * mostBehind {
		b.end(key(n), db.ErrAway)
	}
	if len(b.failed) > mostBehind || !b.hasFailed(key(3*mostBehind-1)) || b.hasFailed(key(3*mostBehind-1)) {
		t.Errorf("%d are remembered, or the last one is not told of once", len(b.failed))
	}
}
