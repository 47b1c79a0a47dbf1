package vector

import "slices"

// keeper keeps postings that are counted until they are scored, so that each is read once.
type keeper struct {
	room int // bytes; negative once there was too little
	// buffer has copies of those that were in another one, and copied says which they are: of what is counted and scored, keep makes copies of their own.
	buffer []byte
	copied []int
}

const (
	// mostKept is how much of a question's postings is kept: a prompt has up to ten thousand components, each of them with postings in each segment.
	mostKept = 2 << 20
	// postingsBytes is the memory of what is known of postings.
	postingsBytes = 32
)

// add adds postings to a list while there is room. Those in a buffer are copied.
func (k *keeper) add(list []postings, p postings, buffered bool) []postings {
	k.room -= postingsBytes
	if buffered {
		b := p.alone()
		if k.room -= len(b); k.room >= 0 {
			from := len(k.buffer)
			k.buffer = append(k.buffer, b...)
			p.data, k.copied = k.buffer[from:], append(k.copied, len(list))
		}
	}
	if k.room < 0 {
		return nil
	}
	return append(list, p)
}

// keep has a list not lie in the buffer any more.
func (k *keeper) keep(list []postings) []postings {
	own := slices.Clone(k.buffer)
	for _, i := range k.copied {
		n := len(list[i].data)
		list[i].data, own = own[:n:n], own[n:]
	}
	return list
}

// next empties the buffer.
func (k *keeper) next() { k.buffer, k.copied = k.buffer[:0], k.copied[:0] }
