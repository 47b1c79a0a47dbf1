package lexical

import (
	"math"

	"canopy/internal/models/static"
)

// Model is a way to make vectors of texts. Any change to its vectors needs a new one.
type Model struct {
	Name string // in a context's embeddingModel
	// Mark is the first byte of what is stored of it.
	Mark byte
	// Bits is the binary logarithm of the number of buckets.
	Bits uint8
	// Append appends the vector of a text.
	Append func(v Vector, text string) Vector
	// factors are what the weight of a bucket is multiplied by, by its bits from kindShift on.
	factors [4]float32
	// Counts tells whether a bucket of a question counts that df of n texts have.
	Counts func(bucket uint32, n, df int) bool
	// Words gives the distinct words of a text that have parts; none where the model knows no parts.
	Words func(text string) []Word
}

// Word is a word by its bucket, and those of its parts.
type Word struct {
	Bucket uint32
	Parts  []uint32
}

// One is the first model.
var One = &Model{Name: "canopy-lexical-1", Mark: 1, Bits: bitsOne, Append: appendOne, factors: [4]float32{1, 1, 1, 1}, Counts: func(uint32, int, int) bool { return true }, Words: func(string) []Word { return nil }}

// Two is the model for texts of many languages.
var Two = &Model{Name: "canopy-lexical-2", Mark: 2, Bits: bitsTwo, Append: appendTwo, factors: factorsTwo, Counts: countsTwo, Words: wordsTwo}

var models = []*Model{One, Two}

// Named gives the model of a name; nil for another one's.
func Named(name string) *Model {
	for _, m := range models {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Newest gives the name of the model that has taken the place of an embedded one; other names as they are.
func Newest(name string) string {
	if Named(name) == nil {
		return name
	}
	return Two.Name
}

// For gives the model by which the words of a context are compared: its own embedding model, the second one beside the embedded one of meanings,
// and the first one beside that of a server.
func For(embeddingModel string) *Model {
	if m := Named(embeddingModel); m != nil {
		return m
	}
	if embeddingModel == static.Name {
		return Two
	}
	return One
}

// Names lists the models.
func Names() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	return names
}

// Embed returns the vector of a text; empty for a text without indexed words.
func (m *Model) Embed(text string) Vector { return m.Append(nil, text) }

// Factor is what the weight of a bucket is multiplied by.
func (m *Model) Factor(bucket uint32) float32 { return m.factors[bucket>>kindShift] }

// Norm returns the length of a vector before normalisation.
func (m *Model) Norm(v Vector) float32 {
	var squares float64
	for _, c := range v {
		w := float64(c.Weight() * m.Factor(c.Bucket))
		squares += w * w
	}
	return float32(math.Sqrt(squares))
}
