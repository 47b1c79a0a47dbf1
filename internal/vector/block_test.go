package vector

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"canopy/internal/models/lexical"
)

// spread gives chunks' ids in order, with an id between any two for a chunk without a vector.
func spread[V any](chunks map[int64]V) (ids []int64) {
	for _, id := range slices.Sorted(maps.Keys(chunks)) {
		ids = append(ids, -id, id)
	}
	return ids
}

func addSparseBlock(t rapid.TB, by *lexical.Model, b *SparseBuilder, document, revision int64, chunks map[int64]lexical.Vector) {
	t.Helper()
	ids := spread(chunks)
	p := NewSparsePacker(by)
	for i, id := range ids {
		if v, ok := chunks[id]; ok {
			p.Add(i, v)
		}
	}
	if err := b.AddBlock(document, revision, ids, p.Pack()); err != nil {
		t.Fatal(err)
	}
}

// TestBlocksOfFeatures: a block of texts' features is the block of their vectors, to the last byte.
func TestBlocksOfFeatures(t *testing.T) {
	z := rand.NewZipf(rand.New(rand.NewPCG(5, 6)), 1.1, 8, 5_000)
	texts := []string{
		"", "the of", "wing wings Wing", "morning mornings morningside", "境界層の成長 境界層", "ISO 9001 VX2291-B maxRetryCount 1234,56",
		"Die Wärmepumpen werden von einem Techniker gewartet, und die Wärmepumpe auch.", "تتم صيانة المضخات", strings.Repeat("wing flat plate ", 300),
	}
	for range 500 {
		texts = append(texts, zipfText(z, 150))
	}
	for _, m := range []*lexical.Model{lexical.One, lexical.Two} {
		t.Run(m.Name, func(t *testing.T) {
			ofVectors, ofFeatures := NewSparsePacker(m), NewSparsePacker(m)
			for range 2 { // a packer can be used again
				for i, text := range texts {
					ofVectors.Add(i/2, m.Embed(text))
					ofFeatures.AddFeatures(i/2, m.Features(nil, text))
				}
				if !slices.Equal(ofVectors.Pack(), ofFeatures.Pack()) {
					t.Fatal("the blocks differ")
				}
			}
		})
	}
}

func addDenseBlock(t rapid.TB, b *DenseBuilder, document, revision int64, chunks map[int64][]float32) {
	t.Helper()
	ids := spread(chunks)
	var p DensePacker
	for i, id := range ids {
		if v, ok := chunks[id]; ok {
			if err := p.Add(i, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.AddBlock(document, revision, ids, p.Pack()); err != nil {
		t.Fatal(err)
	}
}

// TestBlocksChangeNoHit: an index of blocks, however long they are, gives exactly the hits of one that was made of
// vectors, to the last bit of their similarities.
func TestBlocksChangeNoHit(t *testing.T) {
	rows := sparseRows(lexical.One, 3000, 60)
	queries := make([]lexical.Vector, 50)
	z := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.1, 8, 50_000)
	for i := range queries {
		queries[i] = lexical.Embed(zipfText(z, 8))
	}
	want := buildSparse(lexical.One, rows, nil)
	for _, length := range []int{1, 7, 200, wholeBlock, BlockChunks} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			b := NewSparseBuilder(lexical.One, nil)
			p := NewSparsePacker(lexical.One)
			for first := 0; first < len(rows); first += length {
				ids := []int64{}
				for i, row := range rows[first:min(first+length, len(rows))] {
					p.Add(i, row.Vector)
					ids = append(ids, row.Chunk)
				}
				if err := b.AddBlock(rows[first].Document, 1, ids, p.Pack()); err != nil {
					t.Fatal(err)
				}
			}
			got := b.Build()
			if got.Len() != want.Len() {
				t.Fatalf("%d chunks, not %d", got.Len(), want.Len())
			}
			for _, q := range queries {
				f := Filter{Top: 40, Zeros: true}
				a, b := got.Search(q, f), want.Search(q, f)
				for i := range a {
					if a[i].Chunk != b[i].Chunk || a[i].Similarity != b[i].Similarity {
						t.Fatalf("hit %d: %+v, not %+v", i, a[i], b[i])
					}
				}
			}
		})
	}
}

func TestForeignBlocksAreRefused(t *testing.T) {
	words := NewSparsePacker(lexical.One)
	words.Add(0, lexical.Embed("lift wing"))
	words.Add(2, lexical.Embed("drag"))
	var dense DensePacker
	if err := errors.Join(dense.Add(0, []float32{1, 2}), dense.Add(2, []float32{3, 4})); err != nil {
		t.Fatal(err)
	}
	ids := []int64{1, 2, 3}
	for name, c := range map[string]struct {
		block []byte
		add   func(ids []int64, block []byte) error
	}{
		"words": {words.Pack(), func(ids []int64, block []byte) error {
			return NewSparseBuilder(lexical.One, nil).AddBlock(1, 1, ids, block)
		}},
		"dense": {dense.Pack(), func(ids []int64, block []byte) error {
			b, _ := NewDenseBuilder(2, nil)
			return b.AddBlock(1, 1, ids, block)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.add(ids, c.block); err != nil {
				t.Fatal(err)
			}
			if err := c.add(ids[:2], c.block); !errors.Is(err, ErrBlock) {
				t.Errorf("with too few chunks: %v", err)
			}
			for cut := range c.block {
				if err := c.add(ids, c.block[:cut]); !errors.Is(err, ErrBlock) {
					t.Errorf("the first %d bytes: %v", cut, err)
				}
				// A sum that fits doesn't make what is before it any better.
				if err := c.add(ids, appendSum(slices.Clone(c.block[:cut]))); cut < len(c.block)-4 && !errors.Is(err, ErrBlock) {
					t.Errorf("the first %d bytes with their sum: %v", cut, err)
				}
			}
			other := slices.Clone(c.block)
			other[len(other)/2] ^= 1
			if err := c.add(ids, other); !errors.Is(err, ErrBlock) {
				t.Errorf("with another byte: %v", err)
			}
		})
	}
	t.Run("other dimensions", func(t *testing.T) {
		if err := dense.Add(0, []float32{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		if err := dense.Add(1, []float32{1, 2}); !errors.Is(err, ErrDimensions) {
			t.Errorf("two of three: %v", err)
		}
		b, _ := NewDenseBuilder(2, nil)
		if err := b.AddBlock(1, 1, ids, dense.Pack()); !errors.Is(err, ErrDimensions) {
			t.Errorf("three of two: %v", err)
		}
	})
}
