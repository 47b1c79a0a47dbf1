// Package passage finds the sentences of a text that say most of what is looked for, and the words that they share with it,
// whatever has found the text. It knows no language: words are alike when they are the same but for accents and their endings.
package passage

import (
	"math"
	"strings"
	"unicode"
)

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// maxSentences bounds a passage.
const maxSentences = 3

// A further sentence has to bring more than this part of what the others have.
const perSentence = 0.15

// maxWords bounds the words of a text that are marked.
const maxWords = 200

// Find gives the passage of a text that has most of what is sought, and the words in the text that are sought, in order. Where
// there are none, the passage is the first sentence of the text's own part, which begins at an offset. What stands before begin is
// passed over. starts are offsets at which a sentence begins whatever stands before, as with a row of a table.
func (s *Sought) Find(text string, begin, own int, starts []int) (Span, []Span) {
	list := sentences(text, begin, starts)
	if len(list) == 0 {
		return Span{own, len(text)}, nil
	}
	found := s.words(text, begin)
	if len(found) == 0 {
		return first(list, own), nil
	}
	best := s.best(list, found)
	return best, marked(found)
}

// Says tells whether a sentence has a word; the number of an item has none.
func Says(sentence string) bool { return strings.IndexFunc(sentence, unicode.IsLetter) >= 0 }

// first is the sentence at an offset or behind it.
func first(list []Span, at int) Span {
	for _, one := range list {
		if one.End > at {
			return one
		}
	}
	return list[len(list)-1]
}

// marked are the words to show, of which neighbours in a script without spaces are one.
func marked(found []word) (list []Span) {
	for _, w := range found {
		if n := len(list); n > 0 && list[n-1].End >= w.Start {
			list[n-1].End = max(list[n-1].End, w.End)
			continue
		}
		if len(list) == maxWords {
			break
		}
		list = append(list, w.Span)
	}
	return list
}

// best is the run of sentences with the most weight, where a word counts once, and the more the fewer sentences have it.
func (s *Sought) best(list []Span, found []word) Span {
	has := terms(list, found)
	weights := s.weights(has)
	best, most := list[0], -1.0
	for i := range list {
		seen, weight := map[int]bool{}, 0.0
		for n := 0; n < maxSentences && i+n < len(list); n++ {
			for _, term := range has[i+n] {
				if !seen[term] {
					seen[term] = true
					weight += weights[term]
				}
			}
			if score := weight * (1 - perSentence*float64(n)); score > most {
				best, most = Span{list[i].Start, list[i+n].End}, score
			}
			if n == 0 && len(has[i]) == 0 {
				break
			}
		}
	}
	return best
}

// terms lists what each sentence has of the terms.
func terms(list []Span, found []word) [][]int {
	has := make([][]int, len(list))
	i := 0
	for _, w := range found {
		for i < len(list)-1 && list[i].End <= w.Start {
			i++
		}
		has[i] = append(has[i], w.term)
	}
	return has
}

func (s *Sought) weights(has [][]int) []float64 {
	in := make([]int, len(s.terms))
	last := make([]int, len(s.terms))
	for i, list := range has {
		for _, term := range list {
			if last[term] != i+1 {
				last[term] = i + 1
				in[term]++
			}
		}
	}
	weights := make([]float64, len(s.terms))
	for term, n := range in {
		if n > 0 {
			weights[term] = math.Log(1+float64(len(has))/float64(n)) * s.terms[term].weight
		}
	}
	return weights
}
