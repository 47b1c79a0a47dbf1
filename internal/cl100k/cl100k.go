// Package cl100k encodes text as cl100k_base does, the encoding by which the usual embedding models
// are limited, in time linear in the text: a word of a million letters takes no longer than a
// million letters of prose. It tells where tokens end, which is all that cutting and counting need.
//
// The vocabulary is that of github.com/tiktoken-go/tokenizer, whose own encoder is the tests'
// reference. It differs on purpose where that library strays from the encoding: U+007F counts as
// the symbol that it is, and a run of white space is one piece up to its last line break.
package cl100k

import (
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Encoder encodes text. It is safe for concurrent use.
type Encoder struct {
	// A token's id is its rank: the lower merges first.
	trie    *trie
	lengths []uint8
	// prefix is the longest token that a token begins with, itself left out; none for single bytes.
	prefix []uint32
	// left and right are the two tokens that a token was merged from; of a single byte, itself.
	left, right []uint32
	merges      merges
	memo        memo
	// recents are the tables of words that are done, which have the commonest pieces before the memo.
	recents sync.Pool
}

// none is the id of no token.
const none = ^uint32(0)

// MaxToken is the length of the longest tokens, in bytes.
const MaxToken = 128

// Load gives the encoder, which is made at the first call and takes a tenth of a second.
var Load = sync.OnceValues(load)

func load() (*Encoder, error) {
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		return nil, fmt.Errorf("cl100k: %w", err)
	}
	var tokens []string
	for id := uint(0); ; id++ {
		token, err := codec.Decode([]uint{id})
		if err != nil {
			break // behind the last one
		}
		tokens = append(tokens, token)
	}
	if len(tokens) != vocabulary {
		return nil, fmt.Errorf("cl100k: the vocabulary has %d tokens, not %d", len(tokens), vocabulary)
	}
	return build(tokens), nil
}

// vocabulary is how many tokens cl100k_base has, the special ones left out.
const vocabulary = 100_256

// Count gives the number of tokens of a text.
func (e *Encoder) Count(text string) int {
	n := 0
	w := e.word()
	defer e.recents.Put(w.recent)
	for at := 0; at < len(text); {
		end := pieceEnd(text, at)
		n += w.count(text[at:end])
		at = end
	}
	return n
}

// AppendEnds appends where each token of a text ends, counted from base on.
func (e *Encoder) AppendEnds(ends []int, text string, base int) []int {
	w := e.word()
	defer e.recents.Put(w.recent)
	for at := 0; at < len(text); {
		end := pieceEnd(text, at)
		ends = w.appendEnds(ends, text[at:end], base+at)
		at = end
	}
	return ends
}
