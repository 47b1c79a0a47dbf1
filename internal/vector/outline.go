package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"canopy/internal/models/lexical"
)

// Outline knows of blocks of words where each bucket is, and not what is there: so a question can be answered that comes before the
// blocks have been read, by the few groups of buckets that it is about. It is immutable.
type Outline struct {
	model     *lexical.Model
	parts     []outlinePart
	documents Documents
	rows      int
	bytes     int64
	// whole is about the memory that the index of all that the outline knows of takes.
	whole int64
}

type outlinePart struct {
	*sparseSegment // without data
	revision       int64
	first          int // position of the block
	groups         int // where they begin in the block
}

// Len returns the number of chunks and of further parts of chunks.
func (o *Outline) Len() int { return o.rows }

// Bytes returns the memory in use.
func (o *Outline) Bytes() int64 { return o.bytes }

// OnDisk returns the bytes in files: it has none.
func (o *Outline) OnDisk() int64 { return 0 }

// Documents returns the documents with their revisions; a nil outline has none. The map must not be changed.
func (o *Outline) Documents() Documents {
	if o == nil {
		return nil
	}
	return o.documents
}

// OutlineBuilder makes an outline from an earlier one, or from nothing. The earlier one stays as it is.
type OutlineBuilder struct{ made *Outline }

// NewOutlineBuilder begins with the content of an outline of the same model, but for some documents; nil for none.
func NewOutlineBuilder(model *lexical.Model, from *Outline, without []int64) *OutlineBuilder {
	o := &Outline{model: model, documents: Documents{}}
	if from != nil {
		o.parts = slices.DeleteFunc(slices.Clone(from.parts), func(p outlinePart) bool {
			_, gone := slices.BinarySearch(without, p.documents[0])
			return gone
		})
		o.documents = maps.Clone(from.documents)
		for _, id := range without {
			delete(o.documents, id)
		}
	}
	return &OutlineBuilder{o}
}

// OutlinedBlock is what an outline takes of a block of words that a SparsePacker made.
type OutlinedBlock struct {
	Document, Revision int64
	First              int     // position
	Chunks             []int64 // the ids of the chunks at all positions that it covers
	Start              []byte  // how the block begins
	Length             int     // of all of it, in bytes
}

// Add takes in a block. The error is ErrCut where its start is too short, ErrBlock, or ErrModel, and the block is left out.
func (b *OutlineBuilder) Add(block OutlinedBlock) error {
	s, groups, err := readOutline(b.made.model, block.Start, block.Length, block.Document, block.Chunks)
	if err != nil {
		return err
	}
	b.made.documents[block.Document] = block.Revision
	if len(s.chunks) > 0 {
		b.made.parts = append(b.made.parts, outlinePart{sparseSegment: s, revision: block.Revision, first: block.First, groups: groups})
	}
	return nil
}

// Build returns the outline. The builder must not be used afterwards.
func (b *OutlineBuilder) Build() *Outline {
	o := b.made
	for _, p := range o.parts {
		o.rows += len(p.chunks)
		o.bytes += p.sparseSegment.bytes()
		o.whole += p.sparseSegment.bytes() + int64(p.size())
	}
	o.bytes += int64(len(o.documents)) * documentBytes
	return o
}

// Slice is a group of buckets, as a part of a block.
type Slice struct {
	Document, Revision int64
	First              int // position of the block
	From, Length       int // in bytes, from 0
	part               int
	group              uint32
}

// Slices gives what a query is about, in the order of blocks; ok is false where that is more than so many slices.
func (o *Outline) Slices(query lexical.Vector, most int) (list []Slice, ok bool) {
	for i, p := range o.parts {
		before := -1
		for _, q := range query {
			group := int(q.Bucket >> p.shift)
			from, end := p.starts[group], p.starts[group+1]
			if group == before || from == end {
				continue
			}
			before = group
			if len(list) == most {
				return nil, false
			}
			list = append(list, Slice{
				Document: p.documents[0], Revision: p.revision, First: p.first, From: p.groups + int(from), Length: int(end - from), part: i, group: uint32(group),
			})
		}
	}
	return list, true
}

// With makes an index that answers the query whose slices were read as well as that of all blocks would, and no other.
// The error is ErrBlock.
func (o *Outline) With(list []Slice, read [][]byte) (*Sparse, error) {
	x := &Sparse{model: o.model, documents: o.documents, live: o.rows, bytes: o.bytes, segments: make([]sparsePart, len(o.parts))}
	for i, p := range o.parts {
		s := *p.sparseSegment
		s.some = map[uint32][]byte{}
		x.segments[i].sparseSegment = &s
	}
	x.putInOrder()
	for i, s := range list {
		p := &x.segments[s.part]
		if len(read[i]) != s.Length || checkGroup(read[i], len(p.chunks)) != nil {
			return nil, fmt.Errorf("%w: of words, from byte %d on", ErrBlock, s.From)
		}
		p.some[s.group] = read[i]
	}
	return x, nil
}

// errGroup says that something is no group of buckets.
var errGroup = errors.New("vector: not a group of buckets")

// checkGroup looks whether a group of buckets can be read, as the sum of its block can't be made of it: it is of so many vectors.
func checkGroup(b []byte, rows int) error {
	number := func() (n uint64, err error) {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return 0, errGroup
		}
		b = b[size:]
		return n, nil
	}
	for len(b) > 0 {
		n, err := number()
		if err != nil {
			return err
		}
		end := -1 // of the postings, where that is told
		if n &= lowMask; n == 0 {
			count, err := number()
			size, err2 := number()
			if err != nil || err2 != nil || size > uint64(len(b)) {
				return errGroup
			}
			n, end = count, len(b)-int(size)
		}
		for at := uint64(0); n > 0; n-- {
			v, err := number()
			if at += v >> lowBits; err != nil || at >= uint64(rows) {
				return errGroup
			}
			if v&lowMask == anyCounts {
				if len(b) < 2 {
					return errGroup
				}
				b = b[2:]
			}
		}
		if end >= 0 && len(b) != end {
			return errGroup
		}
	}
	return nil
}
