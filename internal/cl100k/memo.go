package cl100k

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// The size of the memo in pieces, and the longest piece in it, in bytes. Most of any text is made of fewer pieces than
// that, and encoding one anew takes many times as long as finding it.
const (
	memoSize    = 1 << 16
	memoLongest = 48
)

// memo has a piece at one of the two places that follow from it: so the pieces of a text hardly ever drive out each other.
type memo [memoSize]atomic.Pointer[remembered]

// remembered is a piece, and where its tokens end, as bits.
type remembered struct {
	piece string
	ends  uint64
}

var memoSeed = maphash.MakeSeed()

// find gives what is remembered of a piece, or nil, and the place for it.
func (m *memo) find(piece string) (*remembered, *atomic.Pointer[remembered]) {
	h := maphash.String(memoSeed, piece)
	first, second := &m[h%memoSize], &m[h>>32%memoSize]
	if r := first.Load(); r != nil && r.piece == piece {
		return r, nil
	}
	switch r := second.Load(); {
	case r == nil:
		return nil, second
	case r.piece == piece:
		return r, nil
	}
	return nil, first
}

// remember keeps the tokens of a piece, which is not to keep the text that it was cut from.
func (e *Encoder) remember(at *atomic.Pointer[remembered], piece string, tokens []uint32) *remembered {
	r := &remembered{piece: strings.Clone(piece)}
	end := uint8(0)
	for _, t := range tokens {
		end += e.lengths[t]
		r.ends |= 1 << end
	}
	at.Store(r)
	return r
}
