package pgvector

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// wordy keeps words alone, which takes no extension: on the PostgreSQL of the test run.
type wordy struct {
	testing.TB
	*Store
	turn *Turn
}

func newWordy(t testing.TB) *wordy {
	t.Helper()
	url := devtest.Database(t, "nothing for words", func(context.Context, string) error { return nil })
	w := &wordy{TB: t, Store: devtest.Must[*Store](t)(Open(url, 4))}
	t.Cleanup(func() { _ = w.Close() })
	for _, statement := range commonTables() {
		w.sql(statement)
	}
	w.sql(`INSERT INTO canopy_vectors.contexts (context_id, model, dimensions) VALUES (1, 'model', 3)`)
	w.turn = devtest.Must[*Turn](t)(w.TakeHeld(t.Context(), 1))
	return w
}

func (w *wordy) sql(statement string, args ...any) {
	w.Helper()
	if _, err := w.pool.Exec(statement, args...); err != nil {
		w.Fatal(err)
	}
}

func (w *wordy) number(statement string) (n int) {
	w.Helper()
	if err := w.pool.Get(&n, statement); err != nil {
		w.Fatal(err)
	}
	return n
}

// document is a document of chunks whose vectors are held.
func (w *wordy) document(id int64, chunks int) Document {
	w.Helper()
	w.sql(`INSERT INTO canopy_vectors.documents VALUES (1, $1, 1, 7, $2, true)`, id, chunks)
	return Document{ID: id, Revision: 1, Stamp: 7, Chunks: int64(chunks)}
}

// block is of words of so many chunks, whose ids begin with that of their document.
func block(document int64, chunks int, text func() string) ([]int64, []byte) {
	p := vector.NewSparsePacker(lexical.One)
	defer p.Done()
	ids := make([]int64, chunks)
	for i := range chunks {
		ids[i] = document*1000 + int64(i)
		p.Add(i, lexical.One.Embed(text()))
	}
	return ids, p.Pack()
}

// TestWordsGoByBatches: what somebody has left half done goes, as does a batch of which more than a third is outdated, with all of its rows; what counts is found.
// Whoever has lost the turn writes nothing.
func TestWordsGoByBatches(t *testing.T) {
	t.Parallel()
	w := newWordy(t)
	batches := make([]int64, 3)
	for i := range batches {
		batches[i] = devtest.Must[int64](t)(w.turn.NewBatch(t.Context()))
		p, list := vector.NewFarPacker(lexical.One), []Document{}
		for j := range int64(3) {
			d := w.document(int64(i)*10+j+1, 5)
			ids, bytes := block(d.ID, 5, func() string { return "tide tables of the harbour" })
			devtest.Check(t, p.Add(d.ID, ids, bytes))
			list = append(list, d)
		}
		devtest.Check(t, w.turn.AddWords(t.Context(), batches[i], p.Pack()))
		if i < 2 { // the last one is left half done
			devtest.Check(t, w.turn.SettleWords(t.Context(), batches[i], list))
		}
	}
	devtest.Check(t, w.turn.WordsReady(t.Context()))
	held := func() (segments []int64) {
		words := devtest.Must[Words](t)(w.Words(t.Context(), 1))
		for _, s := range words.Segments {
			segments = append(segments, s.ID)
		}
		return segments
	}
	if known := devtest.Must[map[int64]int64](t)(w.WordBatches(t.Context())); !reflect.DeepEqual(known, map[int64]int64{1: batches[1]}) {
		t.Errorf("%v are the latest batches, not %d", known, batches[1])
	}
	if lacking := devtest.Must[[]Document](t)(w.turn.WithoutWords(t.Context())); len(lacking) != 3 || lacking[0].ID != 21 || lacking[0].Chunks != 5 {
		t.Errorf("%v have no words", lacking)
	}
	before := held()
	groups := vector.NewSparseBuilder(lexical.One, nil).Build().FarGroups("tide harbour")
	if rows := devtest.Must[[]vector.FarGroup](t)(w.WordGroups(t.Context(), 1, before, groups)); len(before) != 2 || len(rows) != 4 { // of the two words; the question has them side by side, the documents have not
		t.Errorf("%d rows in %v", len(rows), before)
	}

	w.sql(`DELETE FROM canopy_vectors.documents WHERE document_id = 1`)
	devtest.Check(t, w.turn.DropOutdatedWords(t.Context())) // a third is outdated, and not more
	if now := held(); !slices.Equal(now, before) {
		t.Errorf("%v are held, not %v", now, before)
	}
	w.sql(`UPDATE canopy_vectors.documents SET stamp = 8 WHERE document_id = 2`)
	devtest.Check(t, w.turn.DropOutdatedWords(t.Context()))
	if now := held(); !slices.Equal(now, before[1:]) {
		t.Errorf("%v are held, not %v", now, before[1:])
	}
	if n := w.number(`SELECT count(DISTINCT segment_id) FROM canopy_vectors.words`); n != 1 {
		t.Errorf("rows of %d segments are left", n)
	}
	if _, err := w.WordGroups(t.Context(), 1, before, groups); !errors.Is(err, ErrNone) {
		t.Errorf("a segment that has gone: %v", err)
	}

	lost := w.turn
	w.sql(`UPDATE canopy_vectors.contexts SET busy_until = '-infinity'`)
	w.turn = devtest.Must[*Turn](t)(w.TakeHeld(t.Context(), 1))
	for name, err := range map[string]error{"add": lost.AddWords(t.Context(), 1, vector.FarSegment{}), "settle": lost.SettleWords(t.Context(), batches[1], nil), "clear": lost.clearWords(t.Context())} {
		if !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	devtest.Check(t, w.turn.clearWords(t.Context()))
	if n := w.number(`SELECT (SELECT count(*) FROM canopy_vectors.words) + (SELECT count(*) FROM canopy_vectors.word_segments) + (SELECT count(*) FROM canopy_vectors.word_documents)
		+ (SELECT count(*) FROM canopy_vectors.word_contexts)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if _, err := w.Words(t.Context(), 1); !errors.Is(err, ErrNone) {
		t.Errorf("words of nothing: %v", err)
	}
}

// BenchmarkWords compares the words of 100,000 chunks of 400 words each, of the texts of this repository, in memory and from the database: 1,000 documents of 100.
func BenchmarkWords(b *testing.B) {
	const documents, each, asked = 1000, 100, 200
	w := newWordy(b)
	random := rand.New(rand.NewPCG(1, 2))
	pieces := texts(b, 60_000)
	text := func() string {
		var s []string
		for range 10 {
			s = append(s, pieces[random.IntN(len(pieces))])
		}
		return strings.Join(s, "\n")
	}
	whole, far, p := vector.NewSparseBuilder(lexical.One, nil), vector.NewSparseBuilder(lexical.One, nil), vector.NewFarPacker(lexical.One)
	revisions, took := map[int64]int64{}, time.Duration(0)
	batch := devtest.Must[int64](b)(w.turn.NewBatch(b.Context()))
	flush := func() {
		begun := time.Now()
		s := p.Pack()
		devtest.Check(b, w.turn.AddWords(b.Context(), batch, s))
		took += time.Since(begun)
	}
	for id := int64(1); id <= documents; id++ {
		ids, bytes := block(id, each, text)
		devtest.Check(b, whole.AddBlock(id, 1, ids, bytes))
		if !p.Room(each) {
			flush()
		}
		devtest.Check(b, p.Add(id, ids, bytes))
		revisions[id] = 1
	}
	flush()
	devtest.Check(b, w.turn.SettleWords(b.Context(), batch, nil))
	w.sql(`VACUUM ANALYZE`)
	for _, s := range devtest.Must[Words](b)(w.Words(b.Context(), 1)).Segments {
		far.AddFar(s.ID, devtest.Must[vector.FarSegment](b)(vector.ReadPlaces(s.Places)), revisions)
	}
	all, some := whole.Build(), far.Build()
	segments, _ := some.Far()
	for name, words := range map[string]int{"6 words": 6, "40 words": 40} {
		b.Run(name, func(b *testing.B) {
			var near, there []time.Duration
			found, rows, most := 0, 0, 0
			for b.Loop() {
				for i := range asked + 20 {
					question := strings.Join(strings.Fields(pieces[random.IntN(len(pieces))])[:words], " ")
					begun := time.Now()
					want := all.AskText(question).Search(vector.Filter{Top: 10})
					between := time.Now()
					read := devtest.Must[[]vector.FarGroup](b)(w.WordGroups(b.Context(), 1, segments, some.FarGroups(question)))
					got := devtest.Must[*vector.Sparse](b)(some.With(read)).AskText(question).Search(vector.Filter{Top: 10})
					if i < 20 {
						continue
					}
					near, there = append(near, between.Sub(begun)), append(there, time.Since(between))
					rows += len(read)
					most += len(want)
					for j := range want {
						if got[j] == want[j] {
							found++
						}
					}
				}
			}
			ms := func(list []time.Duration, part float64) float64 {
				slices.Sort(list)
				return float64(list[int(part*float64(len(list)-1))].Microseconds()) / 1000
			}
			b.ReportMetric(float64(found)/float64(most), "recall@10")
			b.ReportMetric(ms(near, .5), "ms-p50-memory")
			b.ReportMetric(ms(near, .99), "ms-p99-memory")
			b.ReportMetric(ms(there, .5), "ms-p50-database")
			b.ReportMetric(ms(there, .99), "ms-p99-database")
			b.ReportMetric(float64(rows)/float64(len(there)), "rows/question")
		})
	}
	b.Run("size", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(float64(all.Bytes())/documents/each, "B-memory/chunk")
			b.ReportMetric(float64(some.Bytes())/documents/each, "B-memory-database/chunk")
			b.ReportMetric(float64(w.number(`SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'canopy_vectors.words'::regclass`))/documents/each, "B-database/chunk")
			b.ReportMetric(float64(took.Microseconds())/1000/documents/each, "ms/chunk")
		}
	})
}
