// Package recent remembers what belongs to short texts that come again and again, such as words: a table that one processor's cache holds, before a larger
// one that many share.
package recent

// Key is a text of at most LongestKey bytes: no two texts have the same one.
type Key struct{ low, high uint64 }

// LongestKey is how long a text with a key is at most, in bytes. Nearly all words are shorter.
const LongestKey = 15

// KeyOf gives the key of a text; false for one that is too long.
func KeyOf(text string) (Key, bool) {
	n := len(text)
	if n > LongestKey {
		return Key{}, false
	}
	k := Key{high: uint64(n+1) << 56} // never 0: a place of a new table has no text's key
	switch {                          // the ends of a text overlap where they are read, and have the same bytes there
	case n >= 8:
		k.low = eight(text)
		k.high |= eight(text[n-8:]) >> (8 * (16 - n))
	case n >= 4:
		k.low = four(text) | four(text[n-4:])<<(8*(n-4))
	case n > 0:
		k.low = uint64(text[0]) | uint64(text[n/2])<<(8*(n/2)) | uint64(text[n-1])<<(8*(n-1))
	}
	return k, true
}

func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func four(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// The size of a table in places, and its binary logarithm.
const (
	places     = 1 << placesBits
	placesBits = 12
)

// Table has at each place the last key that fell there, and what belongs to it. Its zero value is empty. It is not for several at the same time.
type Table[V any] struct{ list [places]place[V] }

type place[V any] struct {
	key   Key
	value V
}

// Find gives the place of a key, and whether it is the key's already; otherwise what is there belongs to another, and is to be replaced.
func (t *Table[V]) Find(k Key) (value *V, found bool) {
	p := &t.list[(k.low^k.high*0x9e3779b97f4a7c15)*0xff51afd7ed558ccd>>(64-placesBits)]
	if p.key == k {
		return &p.value, true
	}
	p.key = k
	return &p.value, false
}
