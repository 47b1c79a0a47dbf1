package vector

import (
	"os"
	"strings"
	"testing"

	"canopy/internal/models/lexical"
)

// tongueSet is a collection of one language: passages, and questions with the number of the passage that answers.
type tongueSet struct {
	passages  []string
	questions map[string]int64
}

func readTongues(t *testing.T) map[string]*tongueSet {
	t.Helper()
	all, err := os.ReadFile("../models/lexical/testdata/tongues.txt")
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*tongueSet{}
	var s *tongueSet
	for line := range strings.Lines(string(all)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "#" {
			s = &tongueSet{questions: map[string]int64{}}
			sets[rest] = s
			continue
		}
		passage, question, ok := strings.Cut(rest, " | ")
		if ok {
			s.questions[question] = int64(len(s.passages))
		}
		s.passages = append(s.passages, passage)
	}
	return sets
}

func (s *tongueSet) index(model *lexical.Model) *Sparse {
	b := NewSparseBuilder(model, nil)
	for i, p := range s.passages {
		b.Add(SparseRow{Chunk: int64(i), Document: 1, Vector: model.Embed(p)})
	}
	return b.Build()
}

// TestQuestionsInManyLanguages: of ten questions whose words have other forms than their answers', at least nine find them.
func TestQuestionsInManyLanguages(t *testing.T) {
	sets := readTongues(t)
	if len(sets) != 13 {
		t.Fatalf("%d languages", len(sets))
	}
	for name, s := range sets {
		if len(s.passages) < 30 || len(s.questions) != 10 {
			t.Fatalf("%s: %d passages, %d questions", name, len(s.passages), len(s.questions))
		}
		found := map[*lexical.Model]int{}
		for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
			x := s.index(model)
			for question, want := range s.questions {
				hits := x.Search(model.Embed(question), Filter{Top: 1})
				if len(hits) == 1 && hits[0].Chunk == want {
					found[model]++
				} else if model == lexical.Two {
					t.Logf("%s: %q finds %v", name, question, hits)
				}
			}
		}
		t.Logf("%s: %d of 10 (%s: %d)", name, found[lexical.Two], lexical.One.Name, found[lexical.One])
		if found[lexical.Two] < 9 {
			t.Errorf("%s: %d of 10", name, found[lexical.Two])
		}
	}
}
