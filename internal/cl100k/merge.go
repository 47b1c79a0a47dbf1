package cl100k

import (
	"math/bits"

	"canopy/internal/recent"
)

// word encodes pieces one after the other. Byte pair encoding merges the pair of lowest rank until
// there is none; what comes of it is the only sequence of tokens whose neighbours are all
// compatible, that is, encoded by themselves to the same two (van Antwerpen and Neubeck, "So many
// tokens, so little time", 2024). So a piece is walked from the left, the longest compatible token
// first, and a step is taken back where none fits; no place is tried twice.
type word struct {
	*Encoder
	tokens []uint32
	dead   []bool // places at which no encoding goes on
	recent *recent.Table[uint64]
}

func (e *Encoder) word() word {
	table, ok := e.recents.Get().(*recent.Table[uint64])
	if !ok {
		table = new(recent.Table[uint64])
	}
	return word{Encoder: e, recent: table}
}

func (w *word) count(piece string) int {
	if ends := w.recall(piece); ends != 0 {
		return bits.OnesCount64(ends)
	}
	w.encode(piece)
	return len(w.tokens)
}

func (w *word) appendEnds(ends []int, piece string, at int) []int {
	if rest := w.recall(piece); rest != 0 {
		for ; rest != 0; rest &= rest - 1 {
			ends = append(ends, at+bits.TrailingZeros64(rest))
		}
		return ends
	}
	w.encode(piece)
	for _, t := range w.tokens {
		at += int(w.lengths[t])
		ends = append(ends, at)
	}
	return ends
}

// recall gives where the tokens of a piece end, as bits, and remembers it; 0 for a longer one.
func (w *word) recall(piece string) uint64 {
	key, short := recent.KeyOf(piece)
	if !short {
		return w.recallLong(piece)
	}
	ends, found := w.recent.Find(key)
	if !found {
		*ends = w.recallLong(piece)
	}
	return *ends
}

// recallLong is recall by the memo.
func (w *word) recallLong(piece string) uint64 {
	if len(piece) > memoLongest {
		return 0
	}
	r, at := w.memo.find(piece)
	if r != nil {
		return r.ends
	}
	w.encode(piece)
	return w.remember(at, piece, w.tokens).ends
}

// encode sets the tokens of a piece.
func (w *word) encode(piece string) {
	next := w.trie.longest(piece)
	if next != none && int(w.lengths[next]) == len(piece) {
		w.tokens = append(w.tokens[:0], next)
		return
	}
	w.tokens = w.tokens[:0]
	if cap(w.dead) <= len(piece) {
		w.dead = make([]bool, len(piece)+1)
	}
	w.dead = w.dead[:len(piece)+1]
	clear(w.dead)
	at := 0
	for at < len(piece) {
		if t := w.fitting(next, at); t != none {
			w.tokens = append(w.tokens, t)
			at += int(w.lengths[t])
			next = w.trie.longest(piece[at:])
			continue
		}
		last := w.tokens[len(w.tokens)-1]
		w.dead[at] = true
		w.tokens = w.tokens[:len(w.tokens)-1]
		at -= int(w.lengths[last])
		next = w.prefix[last]
	}
}

// fitting gives the longest of a token and its prefixes that can stand at an offset; none if none can.
func (w *word) fitting(t uint32, at int) uint32 {
	for ; t != none; t = w.prefix[t] {
		if w.dead[at+int(w.lengths[t])] {
			continue
		}
		if n := len(w.tokens); n == 0 || w.compatible(w.tokens[n-1], t) {
			return t
		}
	}
	return none
}

// compatible tells whether two tokens side by side are encoded to these two. It takes their merges
// back, the later one first, and looks whether a pair across the border would have merged before.
func (e *Encoder) compatible(a, b uint32) bool {
	limit := none
	for {
		if e.merges.of(a, b) < limit {
			return false
		}
		if a > b {
			limit = a
			if a = e.right[a]; a != limit {
				continue
			}
			limit = b + 1
			if b = e.left[b]; b+1 == limit {
				return true
			}
			continue
		}
		limit = b + 1
		if b = e.left[b]; b+1 != limit {
			continue
		}
		limit = a
		if a = e.right[a]; a == limit {
			return true
		}
	}
}
