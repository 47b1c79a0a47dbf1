package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/internal/models/lexical"
)

func TestCover(t *testing.T) {
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		b := NewSparseBuilder(model, nil)
		for i, text := range []string{"The pump is red.", "The pump is loud.", "The pump is old.", "A goose sleeps."} {
			b.Add(SparseRow{Chunk: int64(i), Document: 1, Vector: model.Embed(text)})
		}
		a := b.Build().Ask(model.Embed("red pump"))
		all, rare, common := a.Cover("A red pump, which is where it always was."), a.Cover("red"), a.Cover("pump")
		if all < 0.99 || rare <= common || common <= 0 || a.Cover("A goose sleeps.") != 0 {
			t.Errorf("%s: %v of all, %v of what one has, %v of what most have", model.Name, all, rare, common)
		}
		if got := b.Build().Ask(nil).Cover("red"); got != 0 {
			t.Errorf("%s: %v of no question", model.Name, got)
		}
	}
}

// TestCoverOfSubject: what only asks to be told something is no part of what an answer must have, unless nothing else is asked.
func TestCoverOfSubject(t *testing.T) {
	const answer = "In a storm the harbour master raises two black flags."
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		b := NewSparseBuilder(model, nil)
		for i, text := range []string{answer, "The boat house opens at nine."} {
			b.Add(SparseRow{Chunk: int64(i), Document: 1, Vector: model.Embed(text)})
		}
		x := b.Build()
		want := x.AskText("storm").Cover(answer)
		for _, question := range []string{"What happens in a storm?", "Please explain: a storm!", "What HAPPENED in the storm"} {
			if got := x.AskText(question).Cover(answer); got != want || got < 0.9 {
				t.Errorf("%s: %q is covered by %.2f, the storm alone by %.2f", model.Name, question, got, want)
			}
		}
		if got := x.AskText("What happens?").Cover(answer); got != 0 {
			t.Errorf("%s: %.2f of what asks for nothing", model.Name, got)
		}
	}
}

// TestCoverOfForms: a word in another form counts, but less than the word itself, and one that is like it in little does not.
func TestCoverOfForms(t *testing.T) {
	b := NewSparseBuilder(lexical.Two, nil)
	for i, text := range []string{"Die Überwachungsanlage steht im Keller.", "Der Garten blüht.", "Das Haus ist alt."} {
		b.Add(SparseRow{Chunk: int64(i), Document: 1, Vector: lexical.Two.Embed(text)})
	}
	a := b.Build().AskText("Überwachungsanlagen")
	same, other, little := a.Cover("Überwachungsanlagen"), a.Cover("Überwachungskamera"), a.Cover("Überweisung")
	if same < 0.99 || other >= same || other < 0.3 || little > 0.2 {
		t.Errorf("%.2f of itself, %.2f of a word with the same beginning, %.2f of another", same, other, little)
	}
}

// TestCoverOfFew: in the only chunk there is, a word that it lacks does not weigh more than those that it has.
func TestCoverOfFew(t *testing.T) {
	const answer = "Bees make honey. Honey keeps for years when it is dry."
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		b := NewSparseBuilder(model, nil)
		b.Add(SparseRow{Chunk: 1, Document: 1, Vector: model.Embed(answer)})
		if got := b.Build().Ask(model.Embed("How long does honey keep?")).Cover(answer); got < 0.4 {
			t.Errorf("%s: %.2f", model.Name, got)
		}
	}
}

// TestAskedTogether: indexes that are asked together find, and tell of texts, what one index of all their chunks does, to the last bit; so does one of
// which only what is asked for was read.
func TestAskedTogether(t *testing.T) {
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		blocks := outlined(model, 12)
		build := func(blocks []OutlinedBlock) *Sparse {
			b := NewSparseBuilder(model, nil)
			for _, of := range blocks {
				if err := b.AddBlock(of.Document, of.Revision, of.Chunks, of.Start); err != nil {
					t.Fatal(err)
				}
			}
			return b.Build()
		}
		without := NewSparseBuilder(model, build(blocks))
		without.Remove(blocks[1].Document)
		whole, few, none := without.Build(), NewSparseBuilder(model, build(blocks[:3])), NewSparseBuilder(model, nil).Build()
		few.Remove(blocks[1].Document)
		one, two := few.Build(), build(blocks[3:4])
		z := rand.NewZipf(rand.New(rand.NewPCG(5, 6)), 1.1, 8, 50_000)
		for range 30 {
			text, f := zipfText(z, 8), Filter{Top: 40}
			var got []Hit
			for _, a := range AskTexts([]*Sparse{one, none, two, partly(t, outlineOf(t, model, blocks[4:]), blocks, text)}, text) {
				got = append(got, a.Search(f)...)
				if cover, want := a.Cover(text[:len(text)/2]), whole.AskText(text).Cover(text[:len(text)/2]); cover != want {
					t.Fatalf("%s: %q is covered by %v, not %v", model.Name, text, cover, want)
				}
			}
			if got, want := f.Best(got), whole.AskText(text).Search(f); len(want) == 0 || !slices.Equal(got, want) {
				t.Fatalf("%s: %q finds %v, not %v", model.Name, text, got, want)
			}
		}
	}
}

// TestRise: what is told of a cosine does not depend on the level of a model's cosines, once there are some.
func TestRise(t *testing.T) {
	rises := func(level float32) (of [2]float32) {
		var c cosines
		for i := range 1000 {
			c.add(level + 0.1*float32(math.Sin(float64(i))))
		}
		return [2]float32{c.rise(level), c.rise(level + 0.3)}
	}
	low, high := rises(0.1), rises(0.6)
	for i := range low {
		if math.Abs(float64(low[i]-high[i])) > 0.1 {
			t.Errorf("%v at a low level, %v at a high one", low, high)
		}
	}
	if low[0] > 0.1 || low[1] < 1 {
		t.Errorf("%v of what is as most are, %v of what stands out", low[0], low[1])
	}
	var none cosines
	if got := none.rise(priorMean); got > 1e-6 {
		t.Errorf("%v of the only one", got)
	}
}

// TestRiseIsOfHits: hits of a search by meaning have it, fused or not.
func TestRiseIsOfHits(t *testing.T) {
	b, err := NewDenseBuilder(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range [][]float32{{1, 0}, {0.2, 1}, {0.1, 1}} {
		if err := b.Add(DenseRow{Chunk: int64(i), Document: 1, Vector: v}); err != nil {
			t.Fatal(err)
		}
	}
	x, f := b.Build(), Filter{Top: 3}
	hits, err := x.Search([]float32{1, 0}, f)
	if err != nil || hits[0].Rise <= hits[1].Rise {
		t.Fatalf("%v, %v", hits, err)
	}
	all, err := x.All([]float32{1, 0}, f)
	if err != nil {
		t.Fatal(err)
	}
	fused := Fuse(f, 0.5, all, []Hit{{Chunk: 9, Document: 1, Similarity: 0.1}})
	for _, h := range fused {
		if want := map[int64]float32{0: hits[0].Rise, 1: hits[1].Rise, 2: hits[2].Rise}[h.Chunk]; h.Rise != want {
			t.Errorf("chunk %d: %v, want %v", h.Chunk, h.Rise, want)
		}
	}
}
