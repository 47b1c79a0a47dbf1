package vector

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"canopy/internal/models/lexical"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is what an index must be equal to: its chunks by document, in plain maps.
type model[V any] map[int64]map[int64]V

// bruteSparse ranks all chunks of a model by the definition of the similarity.
func bruteSparse(by *lexical.Model, m model[lexical.Vector], query lexical.Vector, f Filter) []Hit {
	df, n := map[uint32]int{}, 0
	for _, chunks := range m {
		for _, v := range chunks {
			n++
			for _, c := range v {
				df[c.Bucket]++
			}
		}
	}
	weights, squares := map[uint32]float64{}, 0.0
	for _, c := range query {
		w := float64(c.Weight()) * float64(by.Factor(c.Bucket)) * float64(lexical.IDF(n, df[c.Bucket]))
		weights[c.Bucket] = w
		squares += w * w
	}
	return brute(m, f, func(v lexical.Vector) float64 {
		var dot float64
		for _, c := range v {
			dot += weights[c.Bucket] * float64(c.Weight()) * float64(by.Factor(c.Bucket))
		}
		return dot / (math.Sqrt(squares) * float64(by.Norm(v)))
	})
}

func bruteDense(m model[[]float32], query []float32, f Filter) []Hit {
	return brute(m, f, func(v []float32) float64 { return max(0, cosine(v, query)) })
}

// cosine is that of the angle between two vectors; no number where one of them is zero.
func cosine(v, w []float32) float64 {
	var dot, a, b float64
	for i := range v {
		dot += float64(v[i]) * float64(w[i])
		a += float64(v[i]) * float64(v[i])
		b += float64(w[i]) * float64(w[i])
	}
	return dot / math.Sqrt(a*b)
}

// onTheEdge tells that rounding decides whether a filter lets something pass. What is similar to nothing has no rounding.
func onTheEdge(m model[[]float32], query []float32, f Filter) bool {
	for _, chunks := range m {
		for _, v := range chunks {
			if s := cosine(v, query); math.Abs(s) < rounding || math.Abs(s-float64(f.MinScore)) < rounding {
				return true
			}
		}
	}
	return false
}

func brute[V any](m model[V], f Filter, similarity func(V) float64) []Hit {
	var hits []Hit
	for document, chunks := range m {
		if !f.wants(document) {
			continue
		}
		for chunk, v := range chunks {
			s := float32(similarity(v))
			if math.IsNaN(float64(s)) {
				s = 0
			}
			if f.accepts(s) {
				hits = append(hits, Hit{Chunk: chunk, Document: document, Similarity: s})
			}
		}
	}
	slices.SortFunc(hits, better)
	return hits
}

// rounding is by how much similarities may differ from the definition.
const rounding = 1e-5

// sameRanking compares a search's hits with all hits of the definition: the same similarities in the
// same order, and each hit's own similarity right; hits that differ by rounding may change places.
func sameRanking(t rapid.TB, got, all []Hit, top int) {
	t.Helper()
	want := all[:min(top, len(all))]
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	byChunk := map[int64]Hit{}
	for _, h := range all {
		byChunk[h.Chunk] = h
	}
	seen := map[int64]bool{}
	for i, h := range got {
		w, ok := byChunk[h.Chunk]
		if !ok || seen[h.Chunk] || h.Document != w.Document {
			t.Fatalf("hit %d: %+v is not to be found, or twice", i, h)
		}
		seen[h.Chunk] = true
		if math.Abs(float64(h.Similarity-w.Similarity)) > rounding || math.Abs(float64(h.Similarity-want[i].Similarity)) > rounding {
			t.Fatalf("hit %d: %+v, want the similarity of %+v and of %+v", i, h, w, want[i])
		}
		if i > 0 && better(got[i-1], h) >= 0 {
			t.Fatalf("hits %d and %d are out of order: %+v, %+v", i-1, i, got[i-1], h)
		}
	}
}

// ranked sorts hits, which it changes.
func ranked(hits []Hit) []Hit {
	slices.SortFunc(hits, better)
	return hits
}

func drawFilter(t *rapid.T) Filter {
	f := Filter{
		Top:      rapid.IntRange(0, 12).Draw(t, "top"),
		MinScore: rapid.SampledFrom([]float32{0, 0, 0.05, 0.3}).Draw(t, "minScore"),
		Zeros:    rapid.Bool().Draw(t, "zeros"),
	}
	if rapid.Bool().Draw(t, "filtered") {
		f.Documents = map[int64]struct{}{}
		for _, d := range rapid.SliceOf(rapid.Int64Range(1, 12)).Draw(t, "documents") {
			f.Documents[d] = struct{}{}
		}
	}
	return f
}

// step is one change of a context: documents removed, then documents added with some chunks.
func step[V any](t *rapid.T, m model[V], next *int64, draw func() V) (removed []int64, added map[int64]map[int64]V) {
	added = map[int64]map[int64]V{}
	for _, d := range rapid.SliceOfDistinct(rapid.Int64Range(1, 12), rapid.ID[int64]).Draw(t, "changed") {
		if _, ok := m[d]; ok {
			removed = append(removed, d)
			delete(m, d)
		}
		if !rapid.Bool().Draw(t, "add") {
			continue
		}
		added[d] = map[int64]V{}
		for range rapid.IntRange(1, 8).Draw(t, "chunks") {
			*next++
			added[d][*next] = draw()
		}
		m[d] = added[d]
	}
	return removed, added
}

func TestSparseEqualsTheDefinition(t *testing.T) {
	for _, by := range []*lexical.Model{lexical.One, lexical.Two} {
		t.Run(by.Name, func(t *testing.T) { sparseEqualsTheDefinition(t, by, nil) })
		t.Run(by.Name+" in files", func(t *testing.T) { sparseEqualsTheDefinition(t, by, filesOnly(t)) })
	}
}

func sparseEqualsTheDefinition(t *testing.T, by *lexical.Model, room *Room) {
	words := []string{"lift", "wing", "drag", "plate", "flow", "shock", "layer", "heat", "of"}
	rapid.Check(t, func(t *rapid.T) {
		text := func() lexical.Vector {
			var s string
			for _, w := range rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(t, "words") {
				s += w + " "
			}
			return by.Embed(s)
		}
		m := model[lexical.Vector]{}
		var index *Sparse
		var next int64
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			removed, added := step(t, m, &next, text)
			b := NewSparseBuilder(by, index)
			b.SpillTo(room)
			b.Remove(removed...)
			for d, chunks := range added {
				if rapid.Bool().Draw(t, "packed") {
					addSparseBlock(t, by, b, d, next, chunks)
					continue
				}
				for id, v := range chunks {
					b.Add(SparseRow{Chunk: id, Document: d, Revision: next, Vector: v})
				}
			}
			index = b.Build()
			query, f := text(), drawFilter(t)
			all := bruteSparse(by, m, query, f)
			sameRanking(t, index.Search(query, f), all, f.Top)
			sameRanking(t, ranked(index.Ask(query).All(f)), all, len(all))
			checkContent(t, index, slices.Collect(maps.Keys(m)))
		}
	})
}

func TestDenseEqualsTheDefinition(t *testing.T) {
	t.Run("in memory", func(t *testing.T) { denseEqualsTheDefinition(t, nil) })
	t.Run("in files", func(t *testing.T) { denseEqualsTheDefinition(t, filesOnly(t)) })
}

func denseEqualsTheDefinition(t *testing.T, room *Room) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "dimensions")
		draw := func() []float32 {
			return rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "vector")
		}
		m := model[[]float32]{}
		var index *Dense
		var next int64
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			removed, added := step(t, m, &next, draw)
			b, err := NewDenseBuilder(n, index)
			if err != nil {
				t.Fatal(err)
			}
			b.SpillTo(room)
			b.Remove(removed...)
			for d, chunks := range added {
				if rapid.Bool().Draw(t, "packed") {
					addDenseBlock(t, b, d, next, chunks)
					continue
				}
				for id, v := range chunks {
					if err := b.Add(DenseRow{Chunk: id, Document: d, Revision: next, Vector: v}); err != nil {
						t.Fatal(err)
					}
				}
			}
			index = b.Build()
			query, f := draw(), drawFilter(t)
			if onTheEdge(m, query, f) {
				f.MinScore, f.Zeros = 0, true
			}
			got, err := index.Search(query, f)
			if err != nil {
				t.Fatal(err)
			}
			all := bruteDense(m, query, f)
			sameRanking(t, got, all, f.Top)
			compared, err := index.All(query, f)
			if err != nil {
				t.Fatal(err)
			}
			sameRanking(t, ranked(compared.Hits()), all, len(all))
			checkContent(t, index, slices.Collect(maps.Keys(m)))
		}
	})
}

func checkContent(t rapid.TB, index Index, documents []int64) {
	t.Helper()
	got := slices.Sorted(maps.Keys(index.Documents()))
	slices.Sort(documents)
	if !slices.Equal(got, documents) {
		t.Fatalf("documents %v, want %v", got, documents)
	}
	if (index.Len() == 0) != (len(documents) == 0) || index.Bytes() < int64(index.Len())*placeBytes || index.OnDisk() < 0 {
		t.Fatalf("%d chunks, %d bytes, of %d documents", index.Len(), index.Bytes(), len(documents))
	}
}

func TestAnOldIndexStaysAsItWas(t *testing.T) {
	b := NewSparseBuilder(lexical.One, nil)
	for i := range int64(20) {
		b.Add(SparseRow{Chunk: i, Document: i, Vector: lexical.Embed("wing")})
	}
	old := b.Build()
	b = NewSparseBuilder(lexical.One, old)
	b.Remove(3, 4)
	b.Add(SparseRow{Chunk: 100, Document: 100, Vector: lexical.Embed("wing")})
	changed := b.Build()
	all := Filter{Top: 100}
	query := lexical.Embed("wings")
	if n := len(old.Search(query, all)); n != 20 || old.Len() != 20 || len(old.Documents()) != 20 {
		t.Errorf("the old index has %d hits, %d chunks", n, old.Len())
	}
	if n := len(changed.Search(query, all)); n != 19 || changed.Len() != 19 {
		t.Errorf("the new index has %d hits, %d chunks", n, changed.Len())
	}
}

func TestMoreChunksThanASegmentHolds(t *testing.T) {
	b := NewSparseBuilder(lexical.One, nil)
	const n = segmentChunks + 10
	words := lexical.Embed("lift wing")
	for i := range int64(n) {
		b.Add(SparseRow{Chunk: i, Document: i % 7, Vector: words})
	}
	x := b.Build()
	if len(x.segments) != 2 || x.Len() != n {
		t.Fatalf("%d segments, %d chunks", len(x.segments), x.Len())
	}
	hits := x.Search(words, Filter{Top: n + 1})
	if len(hits) != n || hits[0].Chunk != 0 || hits[n-1].Chunk != n-1 {
		t.Errorf("%d hits", len(hits))
	}
}

func TestDenseRefuses(t *testing.T) {
	b, err := NewDenseBuilder(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name   string
		vector []float32
		want   error
	}{
		{"short", []float32{1}, ErrDimensions},
		{"long", []float32{1, 2, 3}, ErrDimensions},
		{"NaN", []float32{1, nan}, ErrNotFinite},
		{"infinity", []float32{inf, 1}, ErrNotFinite},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := b.Add(DenseRow{Vector: tt.vector}); !errors.Is(err, tt.want) {
				t.Errorf("added: %v", err)
			}
			if _, err := (&Dense{dimensions: 2}).Search(tt.vector, Filter{Top: 1}); !errors.Is(err, tt.want) {
				t.Errorf("searched: %v", err)
			}
		})
	}
	x := b.Build()
	if x.Len() != 0 {
		t.Errorf("%d chunks", x.Len())
	}
	for _, n := range []int{0, 3} {
		if _, err := NewDenseBuilder(n, x); !errors.Is(err, ErrDimensions) {
			t.Errorf("%d dimensions: %v", n, err)
		}
	}
}

// randomVectors are n dense vectors with a fixed seed.
func randomVectors(n, dimensions int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dimensions)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.NormFloat64())
		}
	}
	return vectors
}

func TestRecallIsComplete(t *testing.T) {
	t.Run("in memory", func(t *testing.T) { recallIsComplete(t, nil) })
	t.Run("in files", func(t *testing.T) { recallIsComplete(t, filesOnly(t)) })
}

func recallIsComplete(t *testing.T, room *Room) {
	vectors := randomVectors(3000, 128)
	m := model[[]float32]{}
	b, _ := NewDenseBuilder(128, nil)
	b.SpillTo(room)
	for i, v := range vectors {
		id := int64(i)
		m[id] = map[int64][]float32{id: v}
		if err := b.Add(DenseRow{Chunk: id, Document: id, Vector: v}); err != nil {
			t.Fatal(err)
		}
	}
	x := b.Build()
	for _, query := range randomVectors(20, 128) {
		f := Filter{Top: 10}
		got, err := x.Search(query, f)
		if err != nil {
			t.Fatal(err)
		}
		sameRanking(t, got, bruteDense(m, query, f), f.Top)
	}
}
