package search

import (
	"os"
	"strings"
	"testing"

	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// readMeanings reads passages, each with a question that shares no word with it.
func readMeanings(t *testing.T) (p *topic) {
	t.Helper()
	lines, err := os.ReadFile("testdata/meanings.txt")
	if err != nil {
		t.Fatal(err)
	}
	p = &topic{}
	for line := range strings.Lines(string(lines)) {
		passage, asked, found := strings.Cut(strings.TrimSpace(line), " | ")
		if !found {
			continue // a comment
		}
		p.questions = append(p.questions, question{text{string: asked}, len(p.passages)})
		p.passages = append(p.passages, text{string: passage})
	}
	return p
}

// TestMeaningsAreFound: with the embedded model of meanings, half of the questions that share no word with their answer find it first. Words alone find none,
// but by chance.
func TestMeaningsAreFound(t *testing.T) {
	p := readMeanings(t)
	c := p.chunks(t, 1, -1)
	first := func(w way) (right int) {
		for _, q := range p.questions {
			list := c.search(t, q, w)
			if len(list) > 0 && list[0].right {
				right++
			}
		}
		return right
	}
	words, both := first(way{Lexical, lexical.Two}), first(way{Semantic, lexical.Two})
	t.Logf("of %d: words %d, words and meanings %d", len(p.questions), words, both)
	if len(p.questions) != 30 || both < 15 {
		t.Errorf("%d of %d are found first", both, len(p.questions))
	}
	if words > 1 {
		t.Errorf("%d are found by words", words)
	}
}

// TestQuestionsShareNoWord: no passage has a stem of its question.
func TestQuestionsShareNoWord(t *testing.T) {
	p := readMeanings(t)
	for i, q := range p.questions {
		b := vector.NewSparseBuilder(lexical.One, nil)
		b.Add(vector.SparseRow{Chunk: 1, Document: 1, Vector: lexical.One.Embed(p.passages[i].string)})
		if hits := b.Build().AskText(q.string).All(vector.Filter{}); len(hits) > 0 {
			t.Errorf("%q shares a word with its answer", q.string)
		}
	}
}
