package pgvector

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
	"canopy/internal/models/static"
	"canopy/internal/vector"
)

func TestMain(m *testing.M) { devtest.Main(m) }

// collection is vectors of real texts, those of this repository, by the embedded model of meanings: in one context, and as many again in another that
// shares its partition.
type collection struct {
	store   *Store
	state   State
	exact   *vector.Dense
	queries [][]float32
	half    map[int64]struct{}
	// built is how long it took to fill the tables with so many rows.
	built time.Duration
	rows  int
}

const (
	perDocument = 100
	theContext  = 1
	queries     = 50
)

// texts cuts the papers and the code into pieces of some sentences.
func texts(t testing.TB, n int) (list []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(list) >= n {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "node_modules" || d.Name() == "generated") {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); d.IsDir() || ext != ".md" && ext != ".go" {
			return nil
		}
		content, err := os.ReadFile(path)
		words := strings.Fields(string(content))
		for i := 0; i+40 <= len(words); i += 15 {
			list = append(list, strings.Join(words[i:i+40], " "))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list[:min(n, len(list))]
}

func collect(t testing.TB, chunks int) *collection {
	t.Helper()
	ctx := context.Background()
	store := devtest.Must[*Store](t)(Open(devtest.VectorDatabase(t), 4))
	t.Cleanup(func() { _ = store.Close() })
	store.few = 0
	vectors := devtest.Must[[][]float32](t)(static.New().Embed(ctx, texts(t, 2*chunks+queries)))
	c := &collection{store: store, half: map[int64]struct{}{}}
	for i := range queries { // none of them is in the collection
		at := i * len(vectors) / queries
		c.queries = append(c.queries, vectors[at])
		vectors = append(vectors[:at], vectors[at+1:]...)
	}
	b := devtest.Must[*vector.DenseBuilder](t)(vector.NewDenseBuilder(static.Dimensions, nil))
	other := beside(t, store)
	for i, v := range vectors {
		if i%2 == 0 {
			document := int64(i/2/perDocument + 1)
			if err := b.Add(vector.DenseRow{Chunk: int64(i), Document: document, Revision: 1, Vector: v}); err != nil {
				t.Fatal(err)
			}
			if document%2 == 0 {
				c.half[document] = struct{}{}
			}
		}
	}
	c.exact = b.Build()
	begin := time.Now()
	for first, id := range []int64{theContext, other} {
		fill(t, store, id, vectors, first)
	}
	c.built, c.rows = time.Since(begin), len(vectors)
	c.state = devtest.Must[State](t)(store.State(ctx, theContext))
	return c
}

// beside gives a context whose rows lie in the same partition as the other's.
func beside(t testing.TB, s *Store) (id int64) {
	t.Helper()
	if err := s.Prepare(context.Background(), static.Dimensions); err != nil {
		t.Fatal(err)
	}
	err := s.pool.Get(&id, fmt.Sprintf(`SELECT min(i) FROM generate_series(2, 5000) i, generate_series(0, %d) n
		WHERE satisfies_hash_partition('%s'::regclass, %d, n, i::bigint) AND satisfies_hash_partition('%[2]s'::regclass, %[3]d, n, %[4]d::bigint)`,
		partitions-1, table(static.Dimensions), partitions, theContext))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func fill(t testing.TB, s *Store, id int64, vectors [][]float32, first int) {
	t.Helper()
	ctx := context.Background()
	turn := devtest.Must[*Turn](t)(s.Take(ctx, id, static.Name, static.Dimensions))
	var rows Rows
	add := func(document int64) {
		if err := turn.Add(ctx, Document{ID: document, Revision: 1, Whole: true}, rows); err != nil {
			t.Fatal(err)
		}
		rows = Rows{}
	}
	document := int64(1)
	for i := first; i < len(vectors); i += 2 {
		if now := int64(i/2/perDocument + 1); now != document {
			add(document)
			document = now
		}
		rows.Add(int64(i), devtest.Must[[]float32](t)(vector.Unit(vectors[i], static.Dimensions)))
	}
	add(document)
	if err := turn.Settle(ctx, "history", 1, true); err != nil {
		t.Fatal(err)
	}
}

// recall asks for the best ten by both ways: which part of the exact ones is found, and how long both took.
func (c *collection) recall(t testing.TB, documents map[int64]struct{}) (recall float64, exact, indexed time.Duration) {
	t.Helper()
	f := vector.Filter{Top: 10, Documents: documents}
	var some []int64
	for id := range documents {
		some = append(some, id)
	}
	found, wanted := 0, 0
	for _, q := range c.queries {
		begin := time.Now()
		want := devtest.Must[[]vector.Hit](t)(c.exact.Search(q, f))
		exact += time.Since(begin)
		begin = time.Now()
		got := devtest.Must[Found](t)(c.store.Search(context.Background(), Ask{
			State: c.state, Vector: devtest.Must[[]float32](t)(vector.Unit(q, static.Dimensions)), Top: f.Top, Documents: some,
		}))
		indexed += time.Since(begin)
		wanted += len(want)
		last := want[len(want)-1].Similarity
		for i, r := range got.Rows {
			if documents != nil {
				if _, is := documents[r.Document]; !is {
					t.Fatalf("document %d does not fit", r.Document)
				}
			}
			if r.Chunk%2 != 0 || i > 0 && r.Similarity > got.Rows[i-1].Similarity {
				t.Fatalf("%+v at %d", r, i)
			}
			if r.Similarity >= last-1e-3 { // as a copy keeps them, in half precision
				found++
			}
		}
		if len(got.Rows) != len(want) {
			t.Fatalf("%d rows, not %d", len(got.Rows), len(want))
		}
	}
	n := time.Duration(len(c.queries))
	return float64(found) / float64(wanted), exact / n, indexed / n
}

// TestRecall: of the ten best of real vectors an index finds 95 in a hundred at least, with a filter or without.
func TestRecall(t *testing.T) {
	c := collect(t, 600)
	for name, documents := range map[string]map[int64]struct{}{"all": nil, "half of the documents": c.half, "one document": {2: {}}} {
		if recall, _, _ := c.recall(t, documents); recall < 0.95 {
			t.Errorf("%s: %.3f", name, recall)
		}
	}
	var plan []string
	q := c.store.question(Ask{State: c.state, Vector: make([]float32, static.Dimensions), Top: 10})
	if err := c.store.transact(t.Context(), func(tx *sqlx.Tx) error {
		if err := q.begin(t.Context(), tx); err != nil {
			return err
		}
		return tx.SelectContext(t.Context(), &plan, `EXPLAIN `+q.byIndex(), q.args...)
	}); err != nil {
		t.Fatal(err)
	}
	if whole := strings.Join(plan, "\n"); !strings.Contains(whole, "_embedding_idx") || strings.Contains(whole, "Append") || strings.Contains(whole, "Sort") {
		t.Errorf("the index is not used: %s", whole)
	}
}

// BenchmarkRecall tells the part of the exact ten that an index finds in 15,000 vectors of 30,000 in its partition. The times are those of whichever server
// there is: PGlite's are many times those of a PostgreSQL.
func BenchmarkRecall(b *testing.B) {
	c := collect(b, 15_000)
	var size struct{ Rows, Index int64 }
	if err := c.store.pool.Get(&size, fmt.Sprintf(`SELECT sum(pg_table_size(i.inhrelid)) AS rows, sum(pg_indexes_size(i.inhrelid)) AS index FROM pg_inherits i WHERE i.inhparent = '%s'::regclass`,
		table(static.Dimensions))); err != nil {
		b.Fatal(err)
	}
	b.Run("fill", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(float64(c.built.Microseconds())/1000/float64(c.rows), "ms/vector")
			b.ReportMetric(float64(size.Rows)/float64(c.rows), "B-rows/vector")
			b.ReportMetric(float64(size.Index)/float64(c.rows), "B-indexes/vector")
		}
	})
	for name, documents := range map[string]map[int64]struct{}{"all": nil, "half": c.half} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				recall, exact, indexed := c.recall(b, documents)
				b.ReportMetric(recall, "recall@10")
				b.ReportMetric(float64(exact.Microseconds())/1000, "ms-exact")
				b.ReportMetric(float64(indexed.Microseconds())/1000, "ms-indexed")
			}
		})
	}
}

// BenchmarkSize tells what vectors of 1,024 dimensions take, and how long each takes to be added.
func BenchmarkSize(b *testing.B) {
	const dimensions, rows, context = 1024, 600, 1
	store := devtest.Must[*Store](b)(Open(devtest.VectorDatabase(b), 1))
	b.Cleanup(func() { _ = store.Close() })
	turn := devtest.Must[*Turn](b)(store.Take(b.Context(), context, "model", dimensions))
	random := rand.New(rand.NewPCG(1, 2))
	sizes := func() (rows, indexes int64) {
		if err := store.pool.QueryRow(fmt.Sprintf(`SELECT sum(pg_table_size(inhrelid)), sum(pg_indexes_size(inhrelid)) FROM pg_inherits WHERE inhparent = '%s'::regclass`,
			table(dimensions))).Scan(&rows, &indexes); err != nil {
			b.Fatal(err)
		}
		return rows, indexes
	}
	rowsBefore, indexesBefore := sizes()
	for b.Loop() {
		var r Rows
		for i := range int64(rows) {
			v := make([]float32, dimensions)
			for j := range v {
				v[j] = float32(random.NormFloat64())
			}
			r.Add(i, devtest.Must[[]float32](b)(vector.Unit(v, dimensions)))
		}
		if err := turn.Add(b.Context(), Document{ID: 1, Revision: 1, Whole: true}, r); err != nil {
			b.Fatal(err)
		}
	}
	rowsAfter, indexesAfter := sizes()
	b.ReportMetric(float64(rowsAfter-rowsBefore)/rows, "B-rows/vector")
	b.ReportMetric(float64(indexesAfter-indexesBefore)/rows, "B-indexes/vector")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/rows, "ms/vector")
}
