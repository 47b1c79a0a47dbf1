package lexical

import (
	"iter"
	"math"
	"slices"
	"sync"

	"canopy/internal/models/static"
	"canopy/internal/radix"
)

// Model is a way to make vectors of texts. Any change to its vectors needs a new one.
type Model struct {
	Name string // in a context's embeddingModel
	// Mark is the first byte of what is stored of it.
	Mark byte
	// Bits is the binary logarithm of the number of buckets.
	Bits uint8
	// Features appends what a text's vector is made of, in no order: words, pairs of them and parts of them, each as the bucket that it falls into
	// and, in the lowest bits below that, its kind, which Feature takes apart.
	Features func(to []uint32, text string) []uint32
	// kindBits is how many bits below the bucket tell a feature's kind.
	kindBits uint8
	// factors are what the weight of a bucket is multiplied by, by its bits from kindShift on.
	factors [4]float32
	// once tells, by the same bits, what counts once in a text however often it occurs.
	once [4]bool
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
var One = &Model{Name: "canopy-lexical-1", Mark: 1, Bits: bitsOne, Features: featuresOne, kindBits: 1, factors: [4]float32{1, 1, 1, 1}, Counts: func(uint32, int, int) bool { return true }, Words: func(string) []Word { return nil }}

// Two is the model for texts of many languages.
var Two = &Model{Name: "canopy-lexical-2", Mark: 2, Bits: bitsTwo, Features: featuresTwo, factors: factorsTwo, once: [4]bool{kindPart: true}, Counts: countsTwo, Words: wordsTwo}

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
func (m *Model) Embed(text string) Vector {
	s := sums.Get().(*sum)
	if len(text) <= longText {
		defer sums.Put(s)
	}
	s.features = m.Features(s.features[:0], text)
	s.spare = slices.Grow(s.spare[:0], len(s.features))
	radix.Sort(s.features, s.spare[:len(s.features)], int(m.Bits+m.kindBits))
	v := slices.Grow(Vector(nil), len(s.features))
	for _, feature := range s.features {
		c := m.Feature(feature)
		if n := len(v); n > 0 && v[n-1].Bucket == c.Bucket {
			v[n-1] = m.Sum(v[n-1], c)
		} else {
			v = append(v, c)
		}
	}
	return v
}

// Buckets gives the buckets of a text, in no order and as often as they occur in it. It takes half the work of a vector.
func (m *Model) Buckets(text string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		s := sums.Get().(*sum)
		if len(text) <= longText {
			defer sums.Put(s)
		}
		s.features = m.Features(s.features[:0], text)
		for _, feature := range s.features {
			if !yield(m.Feature(feature).Bucket) {
				return
			}
		}
	}
}

// sum is what making a vector takes.
type sum struct{ features, spare []uint32 }

var sums = sync.Pool{New: func() any { return new(sum) }}

// Feature gives the bucket of a feature, and what it counts there.
func (m *Model) Feature(feature uint32) Count {
	c := Count{Bucket: feature >> m.kindBits, Words: 1}
	if feature&(1<<m.kindBits-1) == aPair {
		c.Words, c.Pairs = 0, 1
	}
	return c
}

// Sum adds what falls into one bucket of a text.
func (m *Model) Sum(a, b Count) Count {
	if m.once[a.Bucket>>kindShift] {
		return a
	}
	return Count{a.Bucket, addSaturated(a.Words, b.Words), addSaturated(a.Pairs, b.Pairs)}
}

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
