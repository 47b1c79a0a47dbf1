package vector

import (
	"encoding/binary"

	"canopy/internal/models/lexical"
)

// sparseSegment holds the postings of the vectors of up to segmentChunks chunks, in the form in which they are stored, too. Buckets
// are taken together in groups of 1 << shift; those of group g are data[starts[g]:starts[g+1]], where each bucket that
// occurs has, in ascending order,
//
//   - the distance to the bucket before, of the first one to the group's first, and how many postings there are, from 1
//     to 3, or 0 for more; more are followed by their number and their length in bytes;
//   - for each posting the distance to the vector before, of the first one to vector 0, and the shape of its counts; two
//     bytes of counts follow one of shape anyCounts.
//
// All numbers are variable-length integers, the second of a pair in the lowest two bits.
type sparseSegment struct {
	places
	count  int // of chunks
	norms  []float32
	bits   uint8 // of the model's buckets
	shift  uint8
	starts []uint32
	data   []byte
	// stripe has the data where they are in a file, as those of its nth segment, and data is nil; otherwise it is nil.
	stripe *stripe
	nth    int
	// some are the groups that there are where not all are in memory.
	some map[uint32][]byte
}

// size is the length of the groups together, in bytes.
func (s *sparseSegment) size() int { return int(s.starts[len(s.starts)-1]) }

// segmentRows is how many vectors a segment has at most.
const segmentRows = segmentChunks * MostParts

// segmentChunks is how many chunks a segment of postings has at most: so many that their buckets are found quickly,
// and so few that making one needs little memory, and stays in a processor's cache.
const segmentChunks = 1024

// groupPostings is about how many postings a group of buckets has.
const groupPostings = 64

// The shapes of a posting's counts, and the bits that tell them.
const (
	oneWord = iota
	onePair
	anyCounts
	lowBits = 2
	lowMask = 1<<lowBits - 1
)

// fewPostings is the greatest number of postings of a bucket that is told with its distance.
const fewPostings = lowMask

// groups is the number of groups of buckets.
func (s *sparseSegment) groups() int { return (1<<s.bits-1)>>s.shift + 1 }

// bytes is the memory in use.
func (s *sparseSegment) bytes() int64 {
	return int64(len(s.chunks))*(placeBytes+4) + int64(len(s.starts))*4 + s.dataBytes()
}

// dataBytes is the memory of the groups.
func (s *sparseSegment) dataBytes() int64 { return int64(len(s.data)) }

// postings are those of one bucket, encoded.
type postings struct {
	n    int
	data []byte
}

// next reads the first number of some bytes. It is binary.Uvarint, short where it is short.
func next(b []byte) (uint64, []byte) {
	if b[0] < 0x80 {
		return uint64(b[0]), b[1:]
	}
	if b[1] < 0x80 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, b[2:]
	}
	n, size := binary.Uvarint(b)
	return n, b[size:]
}

// bucket reads the head of the next bucket: its distance, and its postings; rest is what comes after them where that
// is known already, otherwise nil.
func bucket(b []byte) (distance uint32, p postings, rest []byte) {
	head, b := next(b)
	if n := int(head & lowMask); n > 0 {
		return uint32(head >> lowBits), postings{n, b}, nil
	}
	n, b := next(b)
	size, b := next(b)
	return uint32(head >> lowBits), postings{int(n), b[:size]}, b[size:]
}

// lookup returns the postings of a bucket, where read gives its group. They may lie in the buffer of what reads, until it is used again.
func (s *sparseSegment) lookup(wanted uint32, read func(*sparseSegment, uint32) []byte) postings {
	group := wanted >> s.shift
	at := group << s.shift
	for b := read(s, group); len(b) > 0; {
		distance, p, rest := bucket(b)
		switch at += distance; {
		case at == wanted:
			return p
		case at > wanted:
			return postings{}
		case rest != nil:
			b = rest
		default:
			b = p.skip()
		}
	}
	return postings{}
}

// skip returns what follows the postings.
func (p postings) skip() []byte {
	b := p.data
	for range p.n {
		var v uint64
		if v, b = next(b); v&lowMask == anyCounts {
			b = b[2:]
		}
	}
	return b
}

// alone gives the bytes of the postings without what follows them.
func (p postings) alone() []byte {
	if p.n > fewPostings {
		return p.data
	}
	return p.data[:len(p.data)-len(p.skip())]
}

// read decodes postings to the end of what is given, each as the vector's number within the segment (high 16 bits) and
// its counts of words and of pairs, and returns what follows them.
func (p postings) read(to []uint32) ([]uint32, []byte) {
	b, number := p.data, uint32(0)
	for range p.n {
		var v uint64
		v, b = next(b)
		number += uint32(v >> lowBits)
		switch v & lowMask {
		case oneWord:
			to = append(to, number<<16|1<<8)
		case onePair:
			to = append(to, number<<16|1)
		default:
			to, b = append(to, number<<16|uint32(b[0])<<8|uint32(b[1])), b[2:]
		}
	}
	return to, b
}

// score adds to the vectors' scores what the postings weigh, times a weight.
func (p postings) score(scores []float32, weight float32) {
	word, pair := weight*lexical.Count{Words: 1}.Weight(), weight*lexical.Count{Pairs: 1}.Weight()
	b, number := p.data, 0
	for range p.n {
		var v uint64
		v, b = next(b)
		number += int(v >> lowBits)
		switch v & lowMask {
		case oneWord:
			scores[number] += word
		case onePair:
			scores[number] += pair
		default:
			scores[number] += weight * lexical.Count{Words: b[0], Pairs: b[1]}.Weight()
			b = b[2:]
		}
	}
}

// appendPostings encodes the head and the postings of a bucket behind the bytes. The postings are as read gives them,
// in the order of their chunks; scratch is for what has to be measured first.
func appendPostings(b []byte, distance uint32, list []uint32, scratch *[]byte) []byte {
	if n := len(list); n <= fewPostings {
		return appendCounts(binary.AppendUvarint(b, uint64(distance)<<lowBits|uint64(n)), list)
	}
	*scratch = appendCounts((*scratch)[:0], list)
	b = binary.AppendUvarint(b, uint64(distance)<<lowBits)
	b = binary.AppendUvarint(b, uint64(len(list)))
	b = binary.AppendUvarint(b, uint64(len(*scratch)))
	return append(b, *scratch...)
}

func appendCounts(b []byte, list []uint32) []byte {
	before := uint32(0)
	for _, posting := range list {
		distance := (posting>>16 - before) << lowBits
		before = posting >> 16
		switch counts := posting & 0xffff; counts {
		case 1 << 8:
			b = appendNumber(b, distance|oneWord) //nolint:staticcheck // oneWord is the kind 0, written out
		case 1:
			b = appendNumber(b, distance|onePair)
		default:
			b = append(appendNumber(b, distance|anyCounts), byte(counts>>8), byte(counts))
		}
	}
	return b
}

// appendNumber is binary.AppendUvarint, short where it is short.
func appendNumber(b []byte, n uint32) []byte {
	switch {
	case n < 0x80:
		return append(b, byte(n))
	case n < 0x4000:
		return append(b, byte(n)|0x80, byte(n>>7))
	}
	return binary.AppendUvarint(b, uint64(n))
}
