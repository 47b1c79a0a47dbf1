package vector

import "slices"

// keeper keeps postings that are counted until they are scored, so that each is read once.
type keeper struct {
	room int // bytes; negative once there was too little
	// found are the postings of a bucket in each segment. Those that lay in another buffer have copies in this one, and copied says which these are.
	found  []postings
	buffer []byte
	copied []int
}

const (
	// mostKept is how much of a question's postings is kept: a prompt has up to ten thousand components, each of them with postings in each segment.
	mostKept = 2 << 20
	// postingsBytes is the memory of what is known of postings.
	postingsBytes = 32
)

// begin takes up the next bucket, of so many segments.
func (k *keeper) begin(segments int) {
	k.room -= segments * postingsBytes
	k.found, k.buffer, k.copied = k.found[:0], k.buffer[:0], k.copied[:0]
	if k.room >= 0 {
		k.found = slices.Grow(k.found, segments)[:segments]
	}
}

// add takes in the postings of a segment, while there is room.
func (k *keeper) add(segment int, p postings, buffered bool) {
	if k.room < 0 {
		return
	}
	if buffered {
		b := p.alone()
		if k.room -= len(b); k.room < 0 {
			return
		}
		from := len(k.buffer)
		k.buffer = append(k.buffer, b...)
		p.data, k.copied = k.buffer[from:], append(k.copied, segment)
	}
	k.found[segment] = p
}

// kept gives the postings of the bucket in each segment, to be kept; nil where there was no room.
func (k *keeper) kept() []postings {
	if k.room < 0 {
		return nil
	}
	list, own := slices.Clone(k.found), slices.Clone(k.buffer)
	for _, i := range k.copied {
		n := len(list[i].data)
		list[i].data, own = own[:n:n], own[n:]
	}
	return list
}

// forget lets go of what lies elsewhere.
func (k *keeper) forget() {
	clear(k.found[:cap(k.found)])
	k.found = k.found[:0]
}
