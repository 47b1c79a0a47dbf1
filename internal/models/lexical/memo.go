package lexical

import (
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// memoSize is how many words are remembered with their stems. Most of any text is made of fewer, and
// stemming one anew takes as long as all else that is done to it.
const memoSize = 1 << 15

// stemmed is a remembered word.
type stemmed struct{ word, stem string }

// memo remembers at each place the last word that fell there.
var memo [memoSize]atomic.Pointer[stemmed]

// stemEnglish stems a word of ASCII letters in lower case; "" for a stop word.
func stemEnglish(word string) string {
	at := &memo[hash(word)%memoSize]
	if m := at.Load(); m != nil && m.word == word {
		return m.stem
	}
	m := &stemmed{word: strings.Clone(word)} // not the text that the word was cut from
	if !english.IsStopWord(word) {
		m.stem = english.Stem(m.word, true)
	}
	at.Store(m)
	return m.stem
}
