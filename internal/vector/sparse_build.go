package vector

import (
	"errors"
	"maps"
	"math"
	"slices"

	"canopy/internal/models/lexical"
	"canopy/internal/radix"
)

// SparseRow is one chunk to index, or a part of one: those of a chunk come one behind the other.
type SparseRow struct {
	Chunk    int64
	Document int64
	Revision int64 // of the document; see Documents
	Vector   lexical.Vector
}

// SparseBuilder makes an index from an earlier one, or from nothing. The earlier one stays as it is.
type SparseBuilder struct {
	model     *lexical.Model
	parts     []sparsePart
	documents Documents
	fresh     sparseBuffer
	files     striper
	// memory is that of the groups of buckets, and all that of whole segments.
	memory, all int64
}

// NewSparseBuilder begins with the content of an index of the same model; nil for none.
func NewSparseBuilder(model *lexical.Model, from *Sparse) *SparseBuilder {
	b := &SparseBuilder{model: model, documents: Documents{}, fresh: sparseBuffer{model: model}}
	if from != nil {
		b.parts = append(b.parts, from.segments...)
		b.documents = maps.Clone(from.documents)
		for _, p := range b.parts {
			b.memory, b.all = b.memory+p.dataBytes(), b.all+p.bytes()
		}
	}
	return b
}

// SpillTo has what is too much for the memory lie in files.
func (b *SparseBuilder) SpillTo(room *Room) { b.files.room = room }

// ErrNoRoom is the error for an index that memory and files together have no room for.
var ErrNoRoom = errors.New("vector: no room for the index")

// hold takes in a segment that is complete.
func (b *SparseBuilder) hold(s *sparseSegment) sparsePart {
	if b.files.room.passed(b.memory + s.dataBytes()) {
		if region := b.files.room.take(s.data); region != nil {
			b.files.add(s, region)
		}
	}
	b.memory, b.all = b.memory+s.dataBytes(), b.all+s.bytes()
	return sparsePart{sparseSegment: s}
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
	if b.fresh.count == segmentChunks && b.fresh.begins(row.Chunk) || len(b.fresh.chunks) == segmentRows {
		b.flush()
	}
	b.documents[row.Document] = row.Revision
	b.fresh.add(row)
}

// AddBlock takes in a block of a document that a SparsePacker made. chunks are the ids of the chunks at all positions
// that it covers. The block is not to change any more: where it is large, the index keeps it. The error is ErrBlock, or ErrModel for a block of another model, and the block is left out; ErrNoRoom is that of a room which is bounded.
func (b *SparseBuilder) AddBlock(document, revision int64, chunks []int64, block []byte) error {
	if b.files.room.exceeded(b.all) {
		return ErrNoRoom
	}
	s, err := readSparse(b.model, block, document, chunks)
	if err != nil {
		return err
	}
	b.documents[document] = revision
	if s.count >= wholeBlock {
		b.flush()
		b.parts = append(b.parts, b.hold(s))
		return nil
	}
	if b.fresh.count+s.count > segmentChunks {
		b.flush()
	}
	b.fresh.addSegment(&sparsePart{sparseSegment: s})
	return nil
}

// wholeBlock is from how many chunks on a block becomes a segment as it is; smaller ones are merged.
const wholeBlock = segmentChunks / 4

func (b *SparseBuilder) flush() {
	if len(b.fresh.chunks) == 0 {
		return
	}
	b.parts = append(b.parts, b.hold(b.fresh.segment()))
}

// Build returns the index. The builder must not be used afterwards.
func (b *SparseBuilder) Build() *Sparse {
	b.flush()
	x := &Sparse{model: b.model, documents: b.documents}
	var near []sparsePart
	var sizes []size
	for _, p := range b.parts {
		if p.far != 0 {
			x.segments = append(x.segments, p)
		} else {
			near, sizes = append(near, p), append(sizes, p.size())
		}
	}
	for _, run := range mergePlan(sizes, segmentChunks) {
		if part := b.merge(near[run.from:run.to], run.rewrite); part != nil {
			x.segments = append(x.segments, *part)
		}
	}
	b.files.end(x.segments)
	b.files.again(x.segments)
	for i := range x.segments {
		part := &x.segments[i]
		x.live += len(part.chunks) - part.goneCount
		x.bytes += part.bytes()
	}
	x.bytes += int64(len(x.documents)) * documentBytes
	x.putInOrder()
	return x
}

// putInOrder puts the segments of a stripe together, and counts what stripes have beyond them.
func (x *Sparse) putInOrder() {
	nth := map[*stripe]int{nil: 0}
	for i := range x.segments {
		p := &x.segments[i]
		if _, known := nth[p.stripe]; !known {
			nth[p.stripe] = len(nth)
			x.bytes, x.onDisk = x.bytes+p.stripe.bytes(), x.onDisk+p.stripe.region.Len()
		}
		if p.stripe != nil {
			x.bytes -= int64(len(p.starts)) * 4 // which the stripe has counted
		}
		x.order = append(x.order, i)
	}
	slices.SortStableFunc(x.order, func(a, b int) int { return nth[x.segments[a].stripe] - nth[x.segments[b].stripe] })
}

// documentBytes is about the memory of one entry of Documents.
const documentBytes = 40

// size is that of a part in chunks, of which each is taken to have as many vectors as any other.
func (p *sparsePart) size() size {
	gone := p.goneCount * p.count / max(1, len(p.chunks))
	return size{live: p.count - gone, gone: gone}
}

func (p *sparsePart) bytes() int64 { return p.sparseSegment.bytes() + int64(len(p.gone))*8 }

// merge returns one segment for several, without what was removed; nil for an empty one.
func (b *SparseBuilder) merge(parts []sparsePart, rewrite bool) *sparsePart {
	if !rewrite {
		return &parts[0]
	}
	for i := range parts {
		b.fresh.addSegment(&parts[i])
	}
	if len(b.fresh.chunks) == 0 {
		return nil
	}
	part := b.hold(b.fresh.segment())
	return &part
}

// sparseBuffer collects the postings of one segment in any order of buckets. It can be filled again and again.
type sparseBuffer struct {
	model *lexical.Model
	places
	count int // of chunks
	norms []float32
	// unsummed says that there are vectors of features: several postings of theirs may have to become one, and their norms are not known.
	unsummed bool
	// far says that the groups of buckets are those of a far segment.
	far bool
	// entries are the postings, each below its bucket: they sort by buckets, and those of a bucket by vectors.
	entries []uint64
	// What follows is for segment alone.
	spare   []uint64
	data    []byte
	scratch []byte
	list    []uint32
	squares []float64
}

// placed is a posting below its bucket.
func placed(bucket, posting uint32) uint64 { return uint64(bucket)<<32 | uint64(posting) }

func (b *sparseBuffer) add(row SparseRow) {
	number := uint32(len(b.chunks))
	b.place(row.Chunk, row.Document, b.model.Norm(row.Vector))
	b.grow(len(row.Vector))
	for _, c := range row.Vector {
		b.entries = append(b.entries, placed(c.Bucket, posting(number, c)))
	}
}

// addFeatures adds the vector of a chunk that is made of features.
func (b *sparseBuffer) addFeatures(chunk int64, features []uint32) {
	number := uint32(len(b.chunks))
	b.place(chunk, 0, 0)
	b.unsummed = true
	b.grow(len(features))
	for _, feature := range features {
		c := b.model.Feature(feature)
		b.entries = append(b.entries, placed(c.Bucket, posting(number, c)))
	}
}

// grow has room for so many entries more.
func (b *sparseBuffer) grow(n int) {
	if short := n - (cap(b.entries) - len(b.entries)); short > 0 {
		b.entries = slices.Grow(b.entries, max(short, len(b.entries)/2)) // a block has a million
	}
}

// posting is one of a vector.
func posting(number uint32, c lexical.Count) uint32 {
	return number<<16 | uint32(c.Words)<<8 | uint32(c.Pairs)
}

// countOf is what an entry counts in its bucket.
func countOf(entry uint64) lexical.Count {
	return lexical.Count{Bucket: uint32(entry >> 32), Words: uint8(entry >> 8), Pairs: uint8(entry)}
}

// sum makes one entry of those that are in order and of the same vector and bucket, and the norms, as Norm does.
func (b *sparseBuffer) sum() {
	squares := append(b.squares[:0], make([]float64, len(b.chunks))...)
	kept := 0
	for rest := b.entries; len(rest) > 0; kept++ {
		entry := rest[0]
		c := countOf(entry)
		for rest = rest[1:]; len(rest) > 0 && rest[0]>>16 == entry>>16; rest = rest[1:] {
			c = b.model.Sum(c, countOf(rest[0]))
		}
		number := uint16(entry >> 16)
		b.entries[kept] = placed(c.Bucket, posting(uint32(number), c))
		w := float64(c.Weight() * b.model.Factor(c.Bucket))
		squares[number] += w * w
	}
	for i, n := range squares {
		b.norms[i] = sqrt32(n)
	}
	b.entries, b.squares = b.entries[:kept], squares
}

// begins tells whether a chunk is another one than the last.
func (b *sparseBuffer) begins(chunk int64) bool {
	return len(b.chunks) == 0 || b.chunks[len(b.chunks)-1] != chunk
}

// place takes in whose vector the next one is.
func (b *sparseBuffer) place(chunk, document int64, norm float32) {
	if b.begins(chunk) {
		b.count++
	}
	b.places.add(chunk, document)
	b.norms = append(b.norms, norm)
}

// addSegment adds the chunks of a segment that are not removed.
func (b *sparseBuffer) addSegment(p *sparsePart) {
	first := uint32(len(b.chunks)) << 16
	var renumbered []uint32 // where some are removed
	if p.gone != nil {
		renumbered = make([]uint32, len(p.chunks))
	}
	for i := range p.gone.live(len(p.chunks)) {
		if renumbered != nil {
			renumbered[i] = uint32(len(b.chunks))
		}
		b.place(p.chunks[i], p.documents[i], p.norms[i])
	}
	all := p.whole()
	for group := range len(p.starts) - 1 {
		at := uint32(group) << p.shift
		for data := all[p.starts[group]:p.starts[group+1]]; len(data) > 0; {
			distance, of, rest := bucket(data)
			at += distance
			b.list, data = of.read(b.list[:0])
			if rest != nil {
				data = rest
			}
			for _, posting := range b.list {
				switch i := posting >> 16; {
				case renumbered == nil:
					b.entries = append(b.entries, placed(at, posting+first))
				case !p.gone.has(int(i)):
					b.entries = append(b.entries, placed(at, renumbered[i]<<16|posting&0xffff))
				}
			}
		}
	}
}

// segment makes a segment of what was collected, and empties the buffer.
func (b *sparseBuffer) segment() *sparseSegment {
	b.spare = slices.Grow(b.spare[:0], len(b.entries))
	radix.Sort(b.entries, b.spare[:len(b.entries)], 32+int(b.model.Bits))
	if b.unsummed {
		b.sum()
	}
	s := &sparseSegment{places: places{slices.Clone(b.chunks), slices.Clone(b.documents)}, count: b.count, norms: slices.Clone(b.norms), bits: b.model.Bits}
	if b.far {
		s.shift = s.bits - farGroups
	}
	for ; !b.far && s.groups() > 1 && s.groups()*groupPostings > len(b.entries); s.shift++ {
	}
	s.starts = make([]uint32, 0, s.groups()+1)
	b.data = b.data[:0]
	before := uint32(0)
	for rest := b.entries; len(rest) > 0; {
		at := uint32(rest[0] >> 32)
		b.list = b.list[:0]
		for len(rest) > 0 && uint32(rest[0]>>32) == at {
			b.list, rest = append(b.list, uint32(rest[0])), rest[1:]
		}
		for group := at >> s.shift; len(s.starts) <= int(group); {
			before = group << s.shift
			s.starts = append(s.starts, uint32(len(b.data)))
		}
		b.data = appendPostings(b.data, at-before, b.list, &b.scratch)
		before = at
	}
	for len(s.starts) <= s.groups() {
		s.starts = append(s.starts, uint32(len(b.data)))
	}
	s.data = slices.Clone(b.data)
	b.empty()
	return s
}

func (b *sparseBuffer) empty() {
	b.places, b.count, b.norms, b.entries, b.unsummed = places{b.chunks[:0], b.documents[:0]}, 0, b.norms[:0], b.entries[:0], false
}

func sqrt32(x float64) float32 { return float32(math.Sqrt(x)) }
