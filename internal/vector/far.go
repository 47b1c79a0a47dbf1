package vector

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"canopy/internal/models/lexical"
)

// FarSegment holds the words of some chunks of a context as another place keeps them: where the chunks stand, which an index knows of all, and the
// postings by groups of buckets, of which a question reads its own.
type FarSegment struct {
	// Chunks and Documents are those of each vector, Norms their lengths.
	Chunks, Documents []int64
	Norms             []float32
	// Count is how many chunks there are.
	Count int
	// Groups are those that are not empty, by their numbers.
	Groups map[uint32][]byte
}

// SegmentChunks is how many chunks a segment has at most.
const SegmentChunks = segmentChunks

// farGroups is the binary logarithm of into how many groups far segments are divided: all alike, so that a question reads the same groups of each.
const farGroups = 13

// FarPlaces is how many groups a far segment has at most.
const FarPlaces = 1 << farGroups

// FarPacker makes far segments of blocks of words. Documents may lie in several.
type FarPacker struct {
	model  *lexical.Model
	buffer sparseBuffer
}

// NewFarPacker makes one for the vectors of a model.
func NewFarPacker(model *lexical.Model) *FarPacker {
	return &FarPacker{model, sparseBuffer{model: model, far: true}}
}

// Room tells whether a block of so many chunks fits into the segment under way.
func (p *FarPacker) Room(chunks int) bool { return p.buffer.count+chunks <= segmentChunks }

// Len is how many vectors the segment under way has.
func (p *FarPacker) Len() int { return len(p.buffer.chunks) }

// Add takes in a block, as AddBlock of a SparseBuilder does.
func (p *FarPacker) Add(document int64, chunks []int64, block []byte) error {
	s, err := readSparse(p.model, block, document, chunks)
	if err == nil {
		p.buffer.addSegment(&sparsePart{sparseSegment: s})
	}
	return err
}

// Pack gives the segment of what was added, and begins the next.
func (p *FarPacker) Pack() FarSegment {
	s := p.buffer.segment()
	far := FarSegment{Chunks: s.chunks, Documents: s.documents, Norms: s.norms, Count: s.count, Groups: map[uint32][]byte{}}
	for g := range s.groups() {
		if from, end := s.starts[g], s.starts[g+1]; from < end {
			far.Groups[uint32(g)] = s.data[from:end]
		}
	}
	return far
}

// farRow is how long what is told of a vector is in Places, in bytes.
const farRow = placeBytes + 4

// Places writes where the chunks of a segment stand, with their norms; ReadPlaces reads it.
func (s FarSegment) Places() []byte {
	b := make([]byte, 0, 1+farRow*len(s.Chunks)+crc32.Size)
	b = append(b, farMark)
	for i, chunk := range s.Chunks {
		b = binary.LittleEndian.AppendUint64(b, uint64(chunk))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Documents[i]))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s.Norms[i]))
	}
	return appendSum(b)
}

// ReadPlaces reads a segment without its groups. The error is ErrBlock.
func ReadPlaces(b []byte) (s FarSegment, err error) {
	r, err := openBlock(b)
	if err != nil {
		return s, err
	}
	n := len(r.rest) / farRow
	if r.mark != farMark || len(r.rest) != n*farRow || n > segmentRows {
		return s, fmt.Errorf("%w: no places", ErrBlock)
	}
	p := places{make([]int64, 0, n), make([]int64, 0, n)}
	for rest := r.rest; len(rest) > 0; rest = rest[farRow:] {
		p.add(int64(binary.LittleEndian.Uint64(rest)), int64(binary.LittleEndian.Uint64(rest[8:])))
		s.Norms = append(s.Norms, math.Float32frombits(binary.LittleEndian.Uint32(rest[placeBytes:])))
	}
	s.Chunks, s.Documents, s.Count = p.chunks, p.documents, p.distinct()
	return s, nil
}

// farMark begins what Places writes.
const farMark = 3

// AddFar takes in a segment that is kept elsewhere by an id, of documents at their revisions: those without one are not in the index. The segment stays as it is,
// whatever is removed of it.
func (b *SparseBuilder) AddFar(id int64, s FarSegment, revisions map[int64]int64) {
	part := sparsePart{far: id, sparseSegment: &sparseSegment{
		places: places{s.Chunks, s.Documents}, count: s.Count, norms: s.Norms, bits: b.model.Bits, shift: b.model.Bits - farGroups, some: map[uint32][]byte{},
	}}
	unknown := map[int64]struct{}{}
	for _, d := range s.Documents {
		if revision, is := revisions[d]; is {
			b.documents[d] = revision
		} else {
			unknown[d] = struct{}{}
		}
	}
	part.gone, part.goneCount = part.gone.remove(&part.places, unknown)
	b.parts = append(b.parts, part)
}

// Far gives the ids of the segments that are kept elsewhere, in ascending order, and how many vectors of the index are not.
func (x *Sparse) Far() (ids []int64, near int) {
	near = x.live
	for _, p := range x.segments {
		if p.far != 0 {
			ids = append(ids, p.far)
			near -= len(p.chunks) - p.goneCount
		}
	}
	slices.Sort(ids)
	return ids, near
}

// FarGroups gives the groups that a text is looked for in, in ascending order.
func (x *Sparse) FarGroups(text string) (groups []int64) {
	for _, c := range x.model.Embed(text) {
		groups = append(groups, int64(c.Bucket>>(x.model.Bits-farGroups)))
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// FarGroup is a group of a segment that is kept elsewhere.
type FarGroup struct {
	Segment int64
	Group   uint32
	Data    []byte
}

// With makes an index that answers the text whose groups were read as well as one that has all would, and no other. The error is ErrBlock.
func (x *Sparse) With(read []FarGroup) (*Sparse, error) {
	with := *x
	with.segments = slices.Clone(x.segments)
	at := make(map[int64]*sparseSegment, len(x.segments))
	for i := range with.segments {
		if p := &with.segments[i]; p.far != 0 {
			s := *p.sparseSegment
			s.some = map[uint32][]byte{}
			p.sparseSegment, at[p.far] = &s, &s
		}
	}
	for _, g := range read {
		s := at[g.Segment]
		if s == nil || checkGroup(g.Data, len(s.chunks)) != nil {
			return nil, fmt.Errorf("%w: group %d of segment %d", ErrBlock, g.Group, g.Segment)
		}
		s.some[g.Group] = g.Data
	}
	return &with, nil
}
