package cl100k

// merges are the pairs of tokens that make one, in a hash table with linear probing: of each the two, and in the lowest bits what they
// make, so that most look-ups read memory once. A place is 0 where it is free: no pair makes the first token.
type merges []uint64

const (
	// idBits are those of an id, mergesBits those of the number of places: more than twice the pairs.
	idBits     = 17
	mergesBits = 18
)

func newMerges() merges { return make(merges, 1<<mergesBits) }

func pair(a, b uint32) uint64 { return uint64(a)<<idBits | uint64(b) }

func (m merges) add(a, b, id uint32) { m[m.place(pair(a, b))] = pair(a, b)<<idBits | uint64(id) }

// of gives the token that two make; none if they make none.
func (m merges) of(a, b uint32) uint32 {
	if found := m[m.place(pair(a, b))]; found != 0 {
		return uint32(found & (1<<idBits - 1))
	}
	return none
}

// place is where a pair is, or the free place where it would be.
func (m merges) place(pair uint64) uint64 {
	at := pair * 0x9e3779b97f4a7c15 >> (64 - mergesBits) // Fibonacci hashing
	for m[at] != 0 && m[at]>>idBits != pair {
		at = (at + 1) % (1 << mergesBits)
	}
	return at
}
