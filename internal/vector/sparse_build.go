package vector

import (
	"maps"
	"math"

	"canopy/internal/models/lexical"
)

// SparseRow is one chunk to index.
type SparseRow struct {
	Chunk    int64
	Document int64
	Revision int64 // of the document; see Documents
	Vector   lexical.Vector
}

// SparseBuilder makes an index from an earlier one, or from nothing. The earlier one stays as it is.
type SparseBuilder struct {
	parts     []sparsePart
	documents Documents
	fresh     sparseBuffer
}

// NewSparseBuilder begins with the content of an index; nil for none.
func NewSparseBuilder(from *Sparse) *SparseBuilder {
	b := &SparseBuilder{documents: Documents{}}
	if from != nil {
		b.parts = append(b.parts, from.segments...)
		b.documents = maps.Clone(from.documents)
	}
	return b
}

// Remove takes out all chunks of these documents. A document to replace is removed before its new
// chunks are added.
func (b *SparseBuilder) Remove(documents ...int64) {
	if len(documents) == 0 {
		return
	}
	b.flush()
	set := make(map[int64]struct{}, len(documents))
	for _, d := range documents {
		set[d] = struct{}{}
		delete(b.documents, d)
	}
	for i := range b.parts {
		p := &b.parts[i]
		var added int
		p.gone, added = p.gone.remove(&p.places, set)
		p.goneCount += added
	}
}

// Add takes in a chunk.
func (b *SparseBuilder) Add(row SparseRow) {
	b.documents[row.Document] = row.Revision
	b.fresh.add(row)
	if len(b.fresh.chunks) == maxSegment {
		b.flush()
	}
}

func (b *SparseBuilder) flush() {
	if len(b.fresh.chunks) == 0 {
		return
	}
	b.parts = append(b.parts, sparsePart{sparseSegment: b.fresh.segment()})
	b.fresh = sparseBuffer{}
}

// Build returns the index. The builder must not be used afterwards.
func (b *SparseBuilder) Build() *Sparse {
	b.flush()
	sizes := make([]size, len(b.parts))
	for i := range b.parts {
		sizes[i] = size{live: len(b.parts[i].chunks) - b.parts[i].goneCount, gone: b.parts[i].goneCount}
	}
	x := &Sparse{documents: b.documents}
	for _, run := range mergePlan(sizes, maxSegment) {
		if part := mergeSparse(b.parts[run.from:run.to], run.rewrite); part != nil {
			x.segments = append(x.segments, *part)
			x.live += len(part.chunks) - part.goneCount
			x.bytes += part.bytes()
		}
	}
	x.bytes += int64(len(x.documents)) * documentBytes
	return x
}

// documentBytes is about the memory of one entry of Documents.
const documentBytes = 40

func (p *sparsePart) bytes() int64 {
	return int64(len(p.chunks))*(placeBytes+4) + int64(len(p.keys))*8 + int64(len(p.postings))*4 + int64(len(p.gone))*8
}

// mergeSparse returns one segment for several, without what was removed; nil for an empty one.
func mergeSparse(parts []sparsePart, rewrite bool) *sparsePart {
	if !rewrite {
		return &parts[0]
	}
	var buffer sparseBuffer
	for i := range parts {
		buffer.addSegment(&parts[i])
	}
	if len(buffer.chunks) == 0 {
		return nil
	}
	return &sparsePart{sparseSegment: buffer.segment()}
}

// sparseBuffer collects postings in any order of buckets.
type sparseBuffer struct {
	places
	norms    []float32
	buckets  []uint32
	postings []uint32 // parallel to buckets
}

func (b *sparseBuffer) add(row SparseRow) {
	number := uint32(len(b.chunks))
	b.places.add(row.Chunk, row.Document)
	b.norms = append(b.norms, row.Vector.Norm())
	for _, c := range row.Vector {
		b.buckets = append(b.buckets, c.Bucket)
		b.postings = append(b.postings, number<<16|uint32(c.Words)<<8|uint32(c.Pairs))
	}
}

func (b *sparseBuffer) addSegment(p *sparsePart) {
	renumbered := make([]uint32, len(p.chunks))
	for i := range p.gone.live(len(p.chunks)) {
		renumbered[i] = uint32(len(b.chunks))
		b.places.add(p.chunks[i], p.documents[i])
		b.norms = append(b.norms, p.norms[i])
	}
	for k, bucket := range p.keys {
		for _, posting := range p.postings[p.starts[k]:p.starts[k+1]] {
			if i := posting >> 16; !p.gone.has(int(i)) {
				b.buckets = append(b.buckets, bucket)
				b.postings = append(b.postings, renumbered[i]<<16|posting&0xffff)
			}
		}
	}
}

// segment sorts the postings by bucket, by counting.
func (b *sparseBuffer) segment() *sparseSegment {
	s := &sparseSegment{places: b.places, norms: b.norms, postings: make([]uint32, len(b.postings))}
	next := make([]uint32, lexical.Buckets)
	for _, bucket := range b.buckets {
		next[bucket]++
	}
	distinct := 0
	for _, n := range next {
		if n > 0 {
			distinct++
		}
	}
	s.keys = make([]uint32, 0, distinct)
	s.starts = make([]uint32, 0, distinct+1)
	start := uint32(0)
	for bucket, n := range next {
		if n > 0 {
			s.keys = append(s.keys, uint32(bucket))
			s.starts = append(s.starts, start)
			next[bucket], start = start, start+n
		}
	}
	s.starts = append(s.starts, start)
	for i, bucket := range b.buckets {
		s.postings[next[bucket]] = b.postings[i]
		next[bucket]++
	}
	return s
}

func sqrt32(x float64) float32 { return float32(math.Sqrt(x)) }
