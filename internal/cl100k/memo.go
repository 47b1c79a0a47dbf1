package cl100k

import (
	"strings"
	"sync/atomic"
)

// The size of the memo in pieces, and the longest piece in it, in bytes. Most of any text is made of fewer pieces than
// that, and encoding one anew takes many times as long as finding it.
const (
	memoSize    = 1 << 15
	memoLongest = 48
)

// memo remembers at each place the last piece that fell there.
type memo [memoSize]atomic.Pointer[remembered]

// remembered is a piece, and where its tokens end.
type remembered struct {
	piece string
	ends  []uint8
}

// place is where a piece is remembered, by the hash FNV-1a.
func (m *memo) place(piece string) *atomic.Pointer[remembered] {
	h := uint32(2166136261)
	for i := range len(piece) {
		h = (h ^ uint32(piece[i])) * 16777619
	}
	return &m[(h^h>>15)%memoSize]
}

// remember keeps the tokens of a piece, which is not to keep the text that it was cut from.
func (e *Encoder) remember(at *atomic.Pointer[remembered], piece string, tokens []uint32) *remembered {
	r := &remembered{piece: strings.Clone(piece), ends: make([]uint8, 0, len(tokens))}
	end := uint8(0)
	for _, t := range tokens {
		end += e.lengths[t]
		r.ends = append(r.ends, end)
	}
	at.Store(r)
	return r
}
