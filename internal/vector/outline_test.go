package vector

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/internal/models/lexical"
)

// TestOutlinesChangeNoHit: by the slices of blocks that an outline names, a question finds what it finds in the whole index, to the last bit
// of the similarities; so it does where documents came and went.
func TestOutlinesChangeNoHit(t *testing.T) {
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		t.Run(model.Name, func(t *testing.T) {
			blocks := outlined(model, 12)
			without := blocks[3].Document
			o := NewOutlineBuilder(model, outlineOf(t, model, blocks[:8]), []int64{without})
			for _, b := range blocks[8:] {
				add(t, o, b)
			}
			whole := NewSparseBuilder(model, nil)
			for _, b := range blocks {
				if b.Document != without {
					if err := whole.AddBlock(b.Document, b.Revision, b.Chunks, b.Start); err != nil {
						t.Fatal(err)
					}
				}
			}
			got, want := o.Build(), whole.Build()
			if got.Len() != want.Len() || len(got.Documents()) != len(want.Documents()) {
				t.Fatalf("%d vectors of %d documents, not %d of %d", got.Len(), len(got.Documents()), want.Len(), len(want.Documents()))
			}
			z := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.1, 8, 50_000)
			for range 50 {
				text := zipfText(z, 8)
				f := Filter{Top: 40, Zeros: true}
				a, b := partly(t, got, blocks, text).AskText(text), want.AskText(text)
				if !slices.Equal(a.Search(f), b.Search(f)) || a.Cover(text) != b.Cover(text) {
					t.Fatalf("%q finds something else", text)
				}
			}
		})
	}
}

// TestOutlinesRefuse: an outline takes no part of a block for all of it, and nothing that can't be read.
func TestOutlinesRefuse(t *testing.T) {
	b := outlined(lexical.Two, 1)[0]
	o := outlineOf(t, lexical.Two, []OutlinedBlock{b})
	begin := o.parts[0].groups
	for n := range begin {
		cut := b
		if cut.Start = b.Start[:n]; n > 0 && !errors.Is(NewOutlineBuilder(lexical.Two, nil, nil).Add(cut), ErrCut) {
			t.Fatalf("%d bytes of %d are enough", n, begin)
		}
	}
	short := b
	short.Start = b.Start[:begin]
	add(t, NewOutlineBuilder(lexical.Two, nil, nil), short)
	short.Length--
	if err := NewOutlineBuilder(lexical.Two, nil, nil).Add(short); !errors.Is(err, ErrBlock) {
		t.Errorf("of another length: %v", err)
	}
	if err := NewOutlineBuilder(lexical.One, nil, nil).Add(b); !errors.Is(err, ErrModel) {
		t.Errorf("of another model: %v", err)
	}
	list, ok := o.Slices(lexical.Two.Embed("w1 w2 w3 w4"), 100)
	if !ok || len(list) < 2 {
		t.Fatalf("%d slices, %v", len(list), ok)
	}
	if _, ok := o.Slices(lexical.Two.Embed("w1 w2 w3 w4"), len(list)-1); ok {
		t.Error("more slices than wanted")
	}
	read := readSlices([]OutlinedBlock{b}, list)
	read[0] = read[0][1:]
	if _, err := o.With(list, read); !errors.Is(err, ErrBlock) {
		t.Errorf("a slice that is too short: %v", err)
	}
}

// FuzzCheckGroup: what is taken for a group of buckets can be read, whatever it is.
func FuzzCheckGroup(f *testing.F) {
	for _, b := range outlined(lexical.Two, 1) {
		o := outlineOf(f, lexical.Two, []OutlinedBlock{b})
		list, _ := o.Slices(lexical.Two.Embed("w1 w2 w3 w4"), 100)
		for _, slice := range readSlices([]OutlinedBlock{b}, list) {
			f.Add(slice)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const rows = 100
		if checkGroup(b, rows) != nil {
			return
		}
		s := sparseSegment{some: map[uint32][]byte{0: b}, bits: 32, shift: 20}
		scores := make([]float32, rows)
		for bucket := range uint32(2000) {
			s.lookup(bucket, new(groups).of).score(scores, 1)
		}
	})
}

// outlined are blocks of as many documents, with all of their bytes.
func outlined(model *lexical.Model, n int) (list []OutlinedBlock) {
	rows := sparseRows(model, n*300, 60)
	p := NewSparsePacker(model)
	for d := range n {
		b := OutlinedBlock{Document: int64(100 + d), Revision: int64(d), First: 7 * d}
		for i, row := range rows[d*300 : d*300+300] {
			p.Add(i/2, row.Vector) // two parts of each chunk
			if i%2 == 0 {
				b.Chunks = append(b.Chunks, row.Chunk)
			}
		}
		b.Start = p.Pack()
		b.Length = len(b.Start)
		list = append(list, b)
	}
	return list
}

func add(t testing.TB, o *OutlineBuilder, b OutlinedBlock) {
	t.Helper()
	if err := o.Add(b); err != nil {
		t.Fatal(err)
	}
}

func outlineOf(t testing.TB, model *lexical.Model, blocks []OutlinedBlock) *Outline {
	t.Helper()
	o := NewOutlineBuilder(model, nil, nil)
	for _, b := range blocks {
		add(t, o, b)
	}
	return o.Build()
}

// readSlices reads slices of blocks.
func readSlices(blocks []OutlinedBlock, list []Slice) [][]byte {
	read := make([][]byte, len(list))
	for i, s := range list {
		for _, b := range blocks {
			if b.Document == s.Document && b.Revision == s.Revision && b.First == s.First {
				read[i] = b.Start[s.From : s.From+s.Length]
			}
		}
	}
	return read
}

// partly is the index for a text.
func partly(t *testing.T, o *Outline, blocks []OutlinedBlock, text string) *Sparse {
	t.Helper()
	list, ok := o.Slices(o.model.Embed(text), 1000)
	if !ok {
		t.Fatal(fmt.Sprint("too many slices for ", text))
	}
	x, err := o.With(list, readSlices(blocks, list))
	if err != nil {
		t.Fatal(err)
	}
	return x
}
