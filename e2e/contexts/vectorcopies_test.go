package contexts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/vector"
	"canopy/search"
)

// copying is a platform that copies the vectors of every context, and a look into what it has copied.
type copying struct {
	*platform.Platform
	vectors *sqlx.DB
	// exact compares all vectors.
	exact *search.Engine
}

// patientCopies are of every context, and are waited for however busy the machine is.
var patientCopies = search.Copies{From: 1, Patience: platform.Patience}

func startCopying(t *testing.T) *copying {
	t.Helper()
	url, model := devtest.VectorDatabase(t), platform.NewModelServer(t)
	s := platform.Start(t, model.Use, func(c *config.Config) { c.VectorURL, c.VectorChunks = url, 1 })
	store := devtest.Must[*pgvector.Store](t)(pgvector.Open(url, 4))
	t.Cleanup(func() { _ = store.Close() })
	s.App.Resolver.Search.KeepCopies(t.Context(), store, patientCopies)
	c := &copying{Platform: s, exact: search.New(s.App.Store, s.App.Resolver.Search.Models, vector.NewCache(1<<30, platform.Patience))}
	c.vectors = devtest.Must[*sqlx.DB](t)(sqlx.Open("postgres", url+"&binary_parameters=yes"))
	t.Cleanup(func() { _ = c.vectors.Close() })
	return c
}

// exec changes what is copied, past the platform.
func (c *copying) exec(statement string, args ...any) {
	c.T.Helper()
	if _, err := c.vectors.ExecContext(context.Background(), statement, args...); err != nil {
		c.T.Fatal(err)
	}
}

// follow copies what there is, as a worker does.
func (c *copying) follow() {
	c.T.Helper()
	e := c.App.Resolver.Search
	before := e.CopyProgress().Faults
	for _, do := range []func(context.Context) error{e.FindLarge, e.FollowCopies, e.FollowCopies} { // once more to tell how far they are
		platform.Turn(c.T, do)
		e.AwaitCopies(c.T.Context())
	}
	if n := e.CopyProgress().Faults - before; n > 0 {
		c.T.Fatalf("%d copies failed: %s", n, c.Log.String())
	}
}

// hold keeps a copy from being brought up to date.
func (c *copying) hold(contextID int64) {
	c.T.Helper()
	c.exec(`UPDATE canopy_vectors.contexts SET busy_until = 'infinity', turn = turn + 1 WHERE context_id = $1`, contextID)
}

func (c *copying) letGo(contextID int64) {
	c.T.Helper()
	c.exec(`UPDATE canopy_vectors.contexts SET busy_until = '-infinity' WHERE context_id = $1`, contextID)
}

// filled makes a context of ready documents, each of some chunks, with an attribute that tells it.
func (c *copying) filled(token, name string, texts ...string) int64 {
	c.T.Helper()
	id := c.NewContext(token, name)
	c.Mutate(token, "updateContext", "context { id }", object{"id": id, "chunkSize": 40, "topN": 20})
	for i, text := range texts {
		c.add(token, id, fmt.Sprintf("%d.txt", i), text)
	}
	c.Settle(token, id)
	return id
}

func (c *copying) add(token string, contextID int64, name, text string) {
	c.T.Helper()
	body, contentType := platform.Form(c.T, platform.Part{Field: "attributes", Content: []byte(fmt.Sprintf(`{"name": %q}`, name))},
		platform.Part{Field: "file", Name: name, Content: []byte(text)})
	if a := c.Post(fmt.Sprintf("/context/upload/%d", contextID), token, contentType, body); a.Status != 200 {
		c.T.Fatalf("%d %s", a.Status, a.Body)
	}
}

// row reads a context of whomever.
func (c *copying) row(id int64) *db.Context {
	c.T.Helper()
	var account int64
	c.Look(&account, `SELECT account_id FROM contexts WHERE id = $1`, id)
	return devtest.Must[*db.Context](c.T)(c.App.Store.Context(context.Background(), db.Desk{AccountID: account}, id))
}

// compare asks both engines, and says which of them has answered for the platform.
func (c *copying) compare(name string, id int64, q search.Query, copied bool) []*search.Hit {
	c.T.Helper()
	row := c.row(id)
	_, before := c.App.Resolver.Search.Answers()
	got, err := c.App.Resolver.Search.Find(c.T.Context(), row, q)
	if err != nil {
		c.T.Fatal(name, err)
	}
	if _, after := c.App.Resolver.Search.Answers(); after > before != copied {
		c.T.Errorf("%s: the copy has answered: %v", name, after > before)
	}
	want, err := c.exact.Find(c.T.Context(), row, q)
	if err != nil {
		c.T.Fatal(name, err)
	}
	if len(got) != len(want) {
		c.T.Errorf("%s: %d hits, not %d", name, len(got), len(want))
		return got
	}
	for i, h := range got {
		if math.Abs(h.Similarity-want[i].Similarity) > 2e-3 || math.Abs(h.Relevance-want[i].Relevance) > 0.1 {
			c.T.Errorf("%s: hit %d is %v, %v of %d, not %v, %v of %d", name, i, h.Similarity, h.Relevance, h.Chunk.ID, want[i].Similarity, want[i].Relevance, want[i].Chunk.ID)
		}
	}
	return got
}

// compareWords asks both engines by words, which find the same to the last bit, and says whether the database of vectors has answered for the platform.
func (c *copying) compareWords(when string, id int64, prompt string, documents []int64, far bool) {
	c.T.Helper()
	row, e := c.row(id), c.App.Resolver.Search
	for name, q := range map[string]search.Query{
		"all": {}, "documents": {Documents: documents}, "attributes": {Attributes: []byte(`{"name": {"in": ["0.txt", "new.txt"]}}`)}, "unrelated": {IncludeUnrelated: true},
	} {
		q.Prompt, q.Mode = prompt, search.Lexical
		before := e.AnsweredWords()
		got, err := e.Find(c.T.Context(), row, q)
		want, err2 := c.exact.Find(c.T.Context(), row, q)
		if err := errors.Join(err, err2); err != nil {
			c.T.Fatal(when, name, err)
		}
		if answered := e.AnsweredWords() > before; answered != far {
			c.T.Errorf("%s, %s: the words have been found there: %v", when, name, answered)
		}
		if len(got) != len(want) || len(want) == 0 && name == "all" {
			c.T.Errorf("%s, %s: %d hits by words, not %d", when, name, len(got), len(want))
			continue
		}
		for i, h := range got {
			if h.Chunk.ID != want[i].Chunk.ID || h.Similarity != want[i].Similarity || h.Relevance != want[i].Relevance {
				c.T.Errorf("%s, %s: hit %d by words is chunk %d of %v, not %d of %v", when, name, i, h.Chunk.ID, h.Similarity, want[i].Chunk.ID, want[i].Similarity)
			}
		}
	}
}

// TestCopiesIsolate: contexts of two companies lie in one database of vectors, with the same texts. Each finds its own, by whatever is asked, and nothing
// else even where rows of the other stand among its own.
func TestCopiesIsolate(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	c.Work(nil)
	ours, theirs := c.Assistant(), c.TokenOf(c.Customer("Alpine Hydro"), "lukas@alpine-hydro.example", "assistant")
	texts := []string{platform.Sentences(1, 300), platform.Sentences(2, 300)}
	mine, other := c.filled(ours, "Mine", texts...), c.filled(theirs, "Other", texts...)
	c.follow()
	prompt := strings.Join(strings.Fields(texts[0])[:30], " ")
	only := func(when string, id, foreign int64) {
		t.Helper()
		name := "0.txt"
		for _, q := range []search.Query{
			{Prompt: prompt, Mode: search.Semantic},
			{Prompt: prompt, Mode: search.Hybrid},
			{Prompt: prompt, Mode: search.Semantic, Attributes: []byte(fmt.Sprintf(`{"name": {"eq": %q}}`, name))},
		} {
			hits, err := c.App.Resolver.Search.Find(t.Context(), c.row(id), q)
			if err != nil || len(hits) == 0 {
				t.Fatalf("%s: %d hits, %v", when, len(hits), err)
			}
			for _, h := range hits {
				if n := c.Number(`SELECT count(*) FROM documents WHERE id = $1 AND context_id = $2`, h.Chunk.DocumentID, id); n != 1 || h.ContextID != id {
					t.Errorf("%s: context %d shows a chunk of document %d", when, id, h.Chunk.DocumentID)
				}
			}
		}
		var documents []int64
		if err := c.DB.Select(&documents, `SELECT id FROM documents WHERE context_id = $1`, foreign); err != nil {
			t.Fatal(err)
		}
		hits, err := c.App.Resolver.Search.Find(t.Context(), c.row(id), search.Query{Prompt: prompt, Mode: search.Semantic, Documents: documents})
		if err != nil || len(hits) != 0 {
			t.Errorf("%s: by the other's documents context %d shows %d hits, %v", when, id, len(hits), err)
		}
	}
	_, before := c.App.Resolver.Search.Answers()
	only("as copied", mine, other)
	only("as copied", other, mine)
	if _, after := c.App.Resolver.Search.Answers(); after-before != 8 {
		t.Errorf("%d of 8 searches were answered by the copies", after-before)
	}
	if a := c.Do("POST", fmt.Sprintf("/context/relevant-docs/%d", other), ours, map[string]any{"prompt": prompt}); a.Status != 404 {
		t.Errorf("the other's context answers %d %s", a.Status, a.Body)
	}
	// What nothing of the platform writes: all of the other's rows, as if they were this context's.
	c.hold(mine)
	c.exec(`INSERT INTO canopy_vectors.chunks_26 SELECT $1, chunk_id, document_id, draw, embedding FROM canopy_vectors.chunks_26 WHERE context_id = $2`, mine, other)
	c.exec(`INSERT INTO canopy_vectors.documents SELECT $1, document_id, revision, stamp, chunks, whole FROM canopy_vectors.documents WHERE context_id = $2`, mine, other)
	only("with foreign rows", mine, other)
}

// TestCopiesFollow: a search is the same by a copy as by comparing all, at once after each change, whatever the copy is behind, lost or wrong.
func TestCopiesFollow(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	stop := c.Work(nil)
	token := c.Assistant()
	id := c.filled(token, "Followed", platform.Sentences(1, 400), platform.Sentences(2, 400), platform.Sentences(3, 400))
	prompt, threshold, documents := "Which bridge leads over the river?", 0.7, []int64{}
	if err := c.DB.Select(&documents, `SELECT id FROM documents WHERE context_id = $1 ORDER BY id LIMIT 2`, id); err != nil {
		t.Fatal(err)
	}
	all := func(when string, copied bool) {
		t.Helper()
		for name, q := range map[string]search.Query{
			"semantic": {Mode: search.Semantic}, "hybrid": {Mode: search.Hybrid}, "threshold": {Mode: search.Semantic, ScoreThreshold: &threshold},
			"documents": {Mode: search.Semantic, Documents: documents}, "attributes": {Mode: search.Hybrid, Attributes: []byte(`{"name": {"in": ["0.txt", "new.txt"]}}`)},
		} {
			q.Prompt = prompt
			c.compare(when+", "+name, id, q, copied)
		}
		c.compareWords(when, id, prompt, documents, when != "before there is a copy" && when != "thrown away")
	}
	stop() // from here on what a worker does is done when it is to be
	all("before there is a copy", false)
	c.follow()
	all("copied", true)
	if now := c.App.Resolver.Search.CopyProgress(); now.Contexts != 1 || now.Whole != 1 || now.Chunks == 0 || now.Chunks != now.Wanted {
		t.Errorf("%+v", now)
	}

	c.hold(id)
	stop = c.Work(nil)
	c.add(token, id, "new.txt", "Which bridge leads over the river? The old stone bridge leads over the river. "+platform.Sentences(4, 100))
	c.Settle(token, id)
	all("after an upload", true)
	if hits := c.compare("after an upload", id, search.Query{Prompt: prompt, Mode: search.Semantic}, true); !strings.Contains(hits[0].Content, "Which bridge") {
		t.Errorf("the new document is not found first: %.100s", hits[0].Content)
	}
	c.Mutate(token, "deleteDocument", "deletedId", object{"id": documents[0]})
	all("after a deletion", true)
	for _, h := range c.compare("after a deletion", id, search.Query{Prompt: prompt, Mode: search.Semantic, Documents: documents}, true) {
		if h.Chunk.DocumentID == documents[0] {
			t.Error("a deleted document appears")
		}
	}
	c.Mutate(token, "reprocessDocument", "document { id }", object{"id": documents[1]})
	c.Settle(token, id)
	all("processed anew", true)
	c.letGo(id)
	stop()
	c.follow()
	all("followed", true)
	if n := c.held(id); n != c.Number(`SELECT sum(chunks) FROM documents WHERE context_id = $1`, id) {
		t.Errorf("%d rows are held", n)
	}

	c.exec(`UPDATE canopy_vectors.contexts SET history = 'another'`) // as after a failover: the same versions, of another timeline
	c.exec(`UPDATE canopy_vectors.documents SET stamp = stamp + 1 WHERE document_id = $1`, documents[1])
	c.exec(`DELETE FROM canopy_vectors.chunks_26 WHERE document_id = $1`, documents[1])
	all("of another history", false)
	c.follow()
	all("of this history again", true)

	c.exec(`DELETE FROM canopy_vectors.documents WHERE document_id = $1`, documents[1])
	c.exec(`DELETE FROM canopy_vectors.chunks_26 WHERE document_id = $1`, documents[1])
	c.exec(`UPDATE canopy_vectors.contexts SET checked_at = checked_at - interval '61 minutes'`)
	c.follow()
	all("damaged, and checked", true)

	c.exec(`DROP TABLE canopy_vectors.chunks_26`)
	all("without its table", false)
	c.follow()
	all("with its table again", true)

	c.exec(`DROP SCHEMA canopy_vectors CASCADE`)
	all("thrown away", false)
	c.follow()
	all("back again", true)

	c.Mutate(token, "deleteContext", "deletedId", object{"id": id})
	c.follow()
	if n := c.held(id); n != 0 {
		t.Errorf("%d rows of a deleted context are held", n)
	}
}

// held counts the rows of a context.
func (c *copying) held(id int64) (n int64) {
	c.T.Helper()
	if err := c.vectors.Get(&n, `SELECT (SELECT count(*) FROM canopy_vectors.chunks_26 WHERE context_id = $1) + (SELECT count(*) * 1000000 FROM canopy_vectors.documents WHERE context_id = $1 AND NOT whole)`, id); err != nil {
		c.T.Fatal(err)
	}
	return n
}

// TestCopiesTakenOver: who dies while it copies leaves a part, which counts as nothing; the next one makes it whole. Whoever has lost the turn writes nothing.
func TestCopiesTakenOver(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	stop := c.Work(nil)
	token := c.Assistant()
	id := c.filled(token, "Taken over", platform.Sentences(1, 400), platform.Sentences(2, 400))
	stop()
	c.follow()
	whole := c.held(id)
	c.exec(`UPDATE canopy_vectors.contexts SET version = 0, busy_until = clock_timestamp() + interval '1 hour', turn = turn + 1`) // one who has died at it
	c.exec(`UPDATE canopy_vectors.documents SET whole = false WHERE document_id = (SELECT max(document_id) FROM canopy_vectors.documents)`)
	c.exec(`DELETE FROM canopy_vectors.chunks_26 WHERE chunk_id % 2 = 0 AND document_id = (SELECT max(document_id) FROM canopy_vectors.documents)`)
	q := search.Query{Prompt: "A bridge over the river", Mode: search.Semantic}
	c.follow()
	c.compare("while somebody else seems to be at it", id, q, false)
	c.letGo(id)
	c.follow()
	c.compare("taken over", id, q, true)
	if n := c.held(id); n != whole {
		t.Errorf("%d rows, not %d", n, whole)
	}
	// Of a context that has become small meanwhile no part stays.
	c.exec(`UPDATE canopy_vectors.contexts SET version = 0`)
	c.SQL(`UPDATE documents SET status = 'failed' WHERE context_id = $1`, id)
	c.follow()
	c.follow()
	if n := c.rowsOf(id); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestCopiesAway: where the database of vectors is away, all vectors are compared, and it is told.
func TestCopiesAway(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use, func(c *config.Config) {
		c.VectorURL, c.VectorChunks = "postgres://nobody:none@127.0.0.1:1/none?sslmode=disable", 1
	})
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Away")
	s.Upload(token, id, "a.txt", []byte("a bridge over the river"))
	s.Settle(token, id)
	if hits := s.Search(token, id, "bridge"); len(hits) != 1 {
		t.Errorf("%v", hits)
	}
	if log := s.Log.String(); !strings.Contains(log, "vectors are not copied") {
		t.Errorf("it is not told: %s", log)
	}
	if metrics := string(s.Must(200, "GET", "/metrics", "", nil).Body); !strings.Contains(metrics, `canopy_meaning_searches_total{engine="process"} 1`) {
		t.Error("/metrics does not tell which engine has answered")
	}
}

// TestCopiesSilent: a database of vectors that takes what it is asked and says nothing keeps no search from its answer, and no worker from its end.
func TestCopiesSilent(t *testing.T) {
	t.Parallel()
	silent := devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = silent.Close() })
	model := platform.NewModelServer(t)
	url := "postgres://nobody:hunter2@" + silent.Addr().String() + "/none?sslmode=disable"
	s := platform.Start(t, model.Use, func(c *config.Config) { c.VectorURL, c.VectorChunks = url, 1 })
	stop := s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Silent")
	s.Upload(token, id, "a.txt", []byte("a bridge over the river"))
	s.Settle(token, id)
	begun := time.Now()
	stop()
	if took := time.Since(begun); took > 20*time.Second { // a connection waits for 45
		t.Errorf("the worker has ended after %v", took)
	}
	store := devtest.Must[*pgvector.Store](t)(pgvector.Open(url, 1))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s.App.Resolver.Search.KeepCopies(gone, store, patientCopies) // whose looks wait for a minute
	ctx, cancel := context.WithTimeout(t.Context(), platform.Patience/2)
	defer cancel()
	row := (&copying{Platform: s}).row(id)
	for range 2 {
		hits, err := s.App.Resolver.Search.Find(ctx, row, search.Query{Prompt: "bridge", Mode: search.Semantic})
		if err != nil || len(hits) != 1 {
			t.Errorf("%d hits, %v", len(hits), err)
		}
	}
	if strings.Contains(s.Log.String(), "hunter2") {
		t.Error("the log has the password")
	}
}

// TestCopiesOfSeveral: the words of several contexts weigh what they do in one of all documents, wherever they are found.
func TestCopiesOfSeveral(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	c.Work(nil)
	token := c.Assistant()
	texts := []string{platform.Sentences(1, 300), platform.Sentences(2, 100)}
	one, two, both := c.filled(token, "One", texts[0]), c.filled(token, "Two", texts[1]), c.filled(token, "Both", texts...)
	c.follow()
	e, rows := c.App.Resolver.Search, []*db.Context{c.row(one), c.row(two)}
	top := 50
	q := search.Query{Prompt: strings.Join(strings.Fields(texts[0])[:8], " "), Mode: search.Lexical, TopN: &top}
	found := func(hits []*search.Hit) (list []string) {
		for _, h := range hits {
			list = append(list, fmt.Sprint(h.Similarity, h.Relevance, h.Content))
		}
		slices.Sort(list)
		return list
	}
	want := found(devtest.Must[[]*search.Hit](t)(c.exact.Find(t.Context(), c.row(both), q)))
	before := e.AnsweredWords()
	far := found(devtest.Must[[]*search.Hit](t)(e.FindAmong(t.Context(), rows, q)))
	if n := e.AnsweredWords() - before; n != 2 {
		t.Errorf("the words of %d contexts have been found there", n)
	}
	near := found(devtest.Must[[]*search.Hit](t)(c.exact.FindAmong(t.Context(), rows, q)))
	if len(want) == 0 || !slices.Equal(far, want) || !slices.Equal(near, want) {
		t.Errorf("%d hits there, %d here, not %d: %.200v\n%.200v\n%.200v", len(far), len(near), len(want), far, near, want)
	}
}

// TestCopiesOfWhatCounts: a context whose documents are by another model than it has now is not large, and no copy of it is begun over and over.
func TestCopiesOfWhatCounts(t *testing.T) {
	t.Parallel()
	c := startCopying(t)
	stop := c.Work(nil)
	c.filled(c.Assistant(), "Of before", platform.Sentences(1, 300))
	stop()
	c.follow()
	c.exec(`DELETE FROM canopy_vectors.contexts`)
	c.SQL(`UPDATE documents SET model = 'before'`)
	c.follow()
	var n int
	if err := c.vectors.Get(&n, `SELECT count(*) FROM canopy_vectors.contexts`); err != nil || n > 0 {
		t.Errorf("%d copies, %v", n, err)
	}
}
