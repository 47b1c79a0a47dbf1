package vector

import (
	"fmt"
	"maps"
	"slices"
)

// DenseRow is one chunk to index.
type DenseRow struct {
	Chunk    int64
	Document int64
	Revision int64     // of the document; see Documents
	Vector   []float32 // of any length above 0; copied
}

// DenseBuilder makes an index from an earlier one, or from nothing. The earlier one stays as it is.
type DenseBuilder struct {
	dimensions int
	parts      []densePart
	documents  Documents
	fresh      *denseSegment
	room       *Room
	// memory is that of the codes.
	memory int64
}

// NewDenseBuilder begins with the content of an index of the same number of dimensions; nil for none.
func NewDenseBuilder(dimensions int, from *Dense) (*DenseBuilder, error) {
	if dimensions < 1 {
		return nil, fmt.Errorf("%w: %d", ErrDimensions, dimensions)
	}
	b := &DenseBuilder{dimensions: dimensions, documents: Documents{}, fresh: &denseSegment{}}
	if from != nil {
		if from.dimensions != dimensions {
			return nil, fmt.Errorf("%w: the index has %d, not %d", ErrDimensions, from.dimensions, dimensions)
		}
		b.parts = append(b.parts, from.segments...)
		b.documents = maps.Clone(from.documents)
		for _, p := range b.parts {
			b.memory += p.codes.bytes()
		}
	}
	return b, nil
}

// SpillTo has the vectors lie in files, with codes of them in memory, and of the codes what is too much for it.
func (b *DenseBuilder) SpillTo(room *Room) { b.room = room }

// hold takes in a segment that is complete.
func (b *DenseBuilder) hold(s *denseSegment) densePart {
	if region := b.room.take(view(s.values)); region != nil {
		s.codes, s.region, s.values = newDenseCodes(s.values, b.dimensions), region, nil
		if b.room.passed(b.memory + s.codes.bytes()) {
			s.codes.move(b.room)
		}
		b.memory += s.codes.bytes()
	}
	return densePart{denseSegment: s}
}

// Remove takes out all chunks of these documents. A document to replace is removed before its new
// chunks are added.
func (b *DenseBuilder) Remove(documents ...int64) {
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

// Add takes in a chunk. The error is ErrDimensions or ErrNotFinite, and the chunk is left out.
func (b *DenseBuilder) Add(row DenseRow) error {
	at := len(b.fresh.values)
	b.fresh.values = append(b.fresh.values, make([]float32, b.dimensions)...)
	if err := normalise(b.fresh.values[at:], row.Vector, b.dimensions); err != nil {
		b.fresh.values = b.fresh.values[:at]
		return fmt.Errorf("chunk %d: %w", row.Chunk, err)
	}
	b.documents[row.Document] = row.Revision
	b.fresh.places.add(row.Chunk, row.Document)
	if len(b.fresh.chunks) == b.segmentChunks() {
		b.flush()
	}
	return nil
}

// AddBlock takes in a block of a document that a DensePacker made. chunks are the ids of the chunks at all positions
// that it covers. The error is ErrDimensions or ErrBlock, and the block is left out.
func (b *DenseBuilder) AddBlock(document, revision int64, chunks []int64, block []byte) error {
	head, values, err := readDense(block, document, chunks, b.dimensions)
	if err != nil {
		return err
	}
	if n := len(b.fresh.chunks); n > 0 && n+len(head.chunks) > b.segmentChunks() {
		b.flush()
	}
	b.documents[document] = revision
	b.fresh.chunks = append(b.fresh.chunks, head.chunks...)
	b.fresh.documents = append(b.fresh.documents, head.documents...)
	b.fresh.values = AppendFloats(b.fresh.values, values)
	return nil
}

// denseSegmentBytes is about how large a segment of dense vectors gets: what is to grow further needs no more memory
// than that at once.
const denseSegmentBytes = 8 << 20

func (b *DenseBuilder) segmentChunks() int { return max(1, denseSegmentBytes/4/b.dimensions) }

func (b *DenseBuilder) flush() {
	if len(b.fresh.chunks) > 0 {
		if v := b.fresh.values; cap(v) > len(v)+len(v)/8 { // what appending left over
			b.fresh.values = slices.Clone(v)[:len(v):len(v)]
		}
		b.parts = append(b.parts, b.hold(b.fresh))
		b.fresh = &denseSegment{}
	}
}

// Build returns the index. The builder must not be used afterwards.
func (b *DenseBuilder) Build() *Dense {
	b.flush()
	sizes := make([]size, len(b.parts))
	for i := range b.parts {
		sizes[i] = size{live: len(b.parts[i].chunks) - b.parts[i].goneCount, gone: b.parts[i].goneCount}
	}
	x := &Dense{dimensions: b.dimensions, documents: b.documents}
	for _, run := range mergePlan(sizes, b.segmentChunks()) {
		if part := b.merge(b.parts[run.from:run.to], run.rewrite); part != nil {
			x.segments = append(x.segments, *part)
			x.live += len(part.chunks) - part.goneCount
			x.bytes += part.bytes()
			x.onDisk += part.onDisk()
		}
	}
	x.bytes += int64(len(x.documents)) * documentBytes
	return x
}

func (p *densePart) bytes() int64 {
	return int64(len(p.chunks))*placeBytes + int64(len(p.gone))*8 + p.codes.bytes() + int64(cap(p.values))*4
}

func (p *densePart) onDisk() int64 {
	if p.region == nil {
		return 0
	}
	return p.region.Len() + p.codes.region.Len()
}

// merge returns one segment for several, without what was removed; nil for an empty one.
func (b *DenseBuilder) merge(parts []densePart, rewrite bool) *densePart {
	if !rewrite {
		return &parts[0]
	}
	live := 0
	for i := range parts {
		live += len(parts[i].chunks) - parts[i].goneCount
	}
	if live == 0 {
		return nil
	}
	merged := &denseSegment{values: make([]float32, 0, live*b.dimensions)}
	for i := range parts {
		p := &parts[i]
		values := p.values
		if p.region != nil {
			values = make([]float32, p.region.Len()/4)
			p.region.Read(view(values), 0)
		}
		for j := range p.gone.live(len(p.chunks)) {
			merged.places.add(p.chunks[j], p.documents[j])
			merged.values = append(merged.values, values[j*b.dimensions:(j+1)*b.dimensions]...)
		}
	}
	part := b.hold(merged)
	return &part
}
