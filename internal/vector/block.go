package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"canopy/internal/models/lexical"
)

// Blocks are how vectors are stored: those of neighbouring chunks of a document together, in the form in which they are
// searched. A block names its chunks, those of several parts several times, by their distance from the first position that it covers; it begins with
// the mark of its model, a dense one with denseMark, and ends with a checksum (CRC-32C) of all before. All numbers are variable-length integers unless said
// otherwise.
//
// A block of words goes on with the number of chunks, their distances, each from the one before, their norms
// (little-endian float32), the shift, the length of each group of buckets, and the groups (see sparseSegment). A dense
// one with the number of chunks, the dimensions, the distances, and the vectors, of length 1 (little-endian float32).
const denseMark = 1

// BlockChunks is how many positions a block of words covers at most, and MostParts how many parts a chunk has.
const (
	BlockChunks = segmentChunks
	MostParts   = 8
)

// ErrBlock is the error for bytes that are no block.
var ErrBlock = errors.New("vector: not a block of vectors")

// ErrCut is the error for too little of a block.
var ErrCut = errors.New("vector: more of the block is needed")

// ErrModel is the error for a block whose vectors are of another model of words.
var ErrModel = errors.New("vector: a block of another model")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SparsePacker makes blocks of vectors of words. It can be used again and again.
type SparsePacker struct{ buffer *sparseBuffer }

// buffers are those of packers that are done: one takes tens of megabytes.
var buffers = sync.Pool{New: func() any { return new(sparseBuffer) }}

// NewSparsePacker makes one for the vectors of a model.
func NewSparsePacker(model *lexical.Model) *SparsePacker {
	b := buffers.Get().(*sparseBuffer)
	b.model = model
	return &SparsePacker{b}
}

// Done leaves the packer's memory to the next one. The packer must not be used afterwards.
func (p *SparsePacker) Done() {
	p.buffer.empty()
	buffers.Put(p.buffer)
	p.buffer = nil
}

// Add takes in the vector of a chunk, or of a part of one, by the chunk's distance from the block's first position. They come in ascending order,
// each below BlockChunks, and MostParts of a chunk at most.
func (p *SparsePacker) Add(distance int, v lexical.Vector) {
	p.buffer.add(SparseRow{Chunk: int64(distance), Vector: v})
}

// AddFeatures is Add of the vector that is made of a text's features. It need not be made before: the block has the features in order, too.
func (p *SparsePacker) AddFeatures(distance int, features []uint32) {
	p.buffer.addFeatures(int64(distance), features)
}

// Len is how many vectors were added since the last block.
func (p *SparsePacker) Len() int { return len(p.buffer.chunks) }

// Pack gives the block of what was added, and begins the next.
func (p *SparsePacker) Pack() []byte {
	s := p.buffer.segment()
	b := make([]byte, 0, len(s.data)+8*len(s.chunks)+2*len(s.starts)+32)
	b = appendDistances(binary.AppendUvarint(append(b, p.buffer.model.Mark), uint64(len(s.chunks))), s.chunks)
	b = appendBytes(b, s.norms)
	b = append(b, s.shift)
	for i, start := range s.starts[1:] {
		b = binary.AppendUvarint(b, uint64(start-s.starts[i]))
	}
	return appendSum(append(b, s.data...))
}

// DensePacker makes blocks of dense vectors. It can be used again and again; its zero value is ready.
type DensePacker struct {
	dimensions int
	distances  []int64
	values     []float32
}

// Add takes in the vector of a chunk, by its distance from the block's first position. They come in ascending order, and
// have the same dimensions within a block. The error is ErrDimensions or ErrNotFinite.
func (p *DensePacker) Add(distance int, v []float32) error {
	if len(p.distances) == 0 {
		p.dimensions = len(v)
	}
	at := len(p.values)
	p.values = append(p.values, v...)
	if err := normalise(p.values[at:], v, p.dimensions); err != nil {
		p.values = p.values[:at]
		return err
	}
	p.distances = append(p.distances, int64(distance))
	return nil
}

// Len is how many vectors were added since the last block.
func (p *DensePacker) Len() int { return len(p.distances) }

// Pack gives the block of what was added, and begins the next.
func (p *DensePacker) Pack() []byte {
	b := make([]byte, 0, 4*len(p.values)+3*len(p.distances)+32)
	b = binary.AppendUvarint(append(b, denseMark), uint64(len(p.distances)))
	b = appendDistances(binary.AppendUvarint(b, uint64(p.dimensions)), p.distances)
	b = appendBytes(b, p.values)
	p.distances, p.values = p.distances[:0], p.values[:0]
	return appendSum(b)
}

func appendDistances(b []byte, distances []int64) []byte {
	before := int64(0)
	for _, d := range distances {
		b = binary.AppendUvarint(b, uint64(d-before))
		before = d
	}
	return b
}

func appendBytes(b []byte, list []float32) []byte {
	for _, f := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func appendSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// AppendFloats reads floats as they are stored: little-endian float32.
func AppendFloats(to []float32, b []byte) []float32 {
	for ; len(b) >= 4; b = b[4:] {
		to = append(to, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return to
}

// blockReader reads a block. Where it is cut short, it reads zeros and remembers that.
type blockReader struct {
	mark byte
	rest []byte
	bad  bool
}

// openBlock checks what all blocks have.
func openBlock(b []byte) (*blockReader, error) {
	n := len(b) - crc32.Size
	if n < 1 || binary.LittleEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, fmt.Errorf("%w: its checksum differs", ErrBlock)
	}
	return &blockReader{mark: b[0], rest: b[1:n]}, nil
}

// number reads a number of at most so much.
func (r *blockReader) number(most int) int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(most) {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *blockReader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// places reads which chunks of a document the block has.
func (r *blockReader) places(n int, document int64, chunks []int64) places {
	p := places{make([]int64, 0, n), make([]int64, 0, n)}
	at := 0
	for range n {
		if at += r.number(len(chunks)); at >= len(chunks) || r.bad {
			r.bad = true
			return places{}
		}
		p.add(chunks[at], document)
	}
	return p
}

// readSparse reads a block of words, which it keeps as a part of the segment.
func readSparse(model *lexical.Model, block []byte, document int64, chunks []int64) (*sparseSegment, error) {
	r, err := openBlock(block)
	if err != nil {
		return nil, err
	}
	if r.mark != model.Mark {
		return nil, fmt.Errorf("%w: marked %d, not %d", ErrModel, r.mark, model.Mark)
	}
	s := r.sparse(model, document, chunks, len(r.rest))
	if r.bad || s.size() != len(r.rest) {
		return nil, fmt.Errorf("%w: of words", ErrBlock)
	}
	s.data = r.rest
	return s, nil
}

// sparse reads a block of words up to its groups, which have less than so many bytes.
func (r *blockReader) sparse(model *lexical.Model, document int64, chunks []int64, most int) *sparseSegment {
	n := r.number(segmentRows)
	s := &sparseSegment{bits: model.Bits, places: r.places(n, document, chunks)}
	s.count = s.distinct()
	if n > s.count*MostParts {
		r.bad = true
	}
	s.norms = AppendFloats(make([]float32, 0, n), r.bytes(4*n))
	s.shift = uint8(r.number(int(s.bits)))
	if r.bad { // a shift of 0 would have as many groups as there are buckets
		return s
	}
	s.starts = make([]uint32, s.groups()+1)
	for i := range s.groups() {
		s.starts[i+1] = s.starts[i] + uint32(r.number(most))
	}
	return s
}

// readOutline reads how a block of words of some length begins, and tells where its groups do. The error is ErrCut where it takes more.
func readOutline(model *lexical.Model, start []byte, length int, document int64, chunks []int64) (s *sparseSegment, groups int, err error) {
	if len(start) == 0 {
		return nil, 0, fmt.Errorf("%w: empty", ErrBlock)
	}
	r := &blockReader{mark: start[0], rest: start[1:]}
	if r.mark != model.Mark {
		return nil, 0, fmt.Errorf("%w: marked %d, not %d", ErrModel, r.mark, model.Mark)
	}
	s = r.sparse(model, document, chunks, length)
	groups = len(start) - len(r.rest)
	switch {
	case r.bad && len(start) < length:
		return nil, 0, ErrCut
	case r.bad || groups+s.size()+crc32.Size != length:
		return nil, 0, fmt.Errorf("%w: of words", ErrBlock)
	}
	return s, groups, nil
}

// readDense reads a dense block; the vectors are part of it. Without vectors it has any dimensions.
func readDense(block []byte, document int64, chunks []int64, dimensions int) (p places, values []byte, err error) {
	r, err := openBlock(block)
	if err != nil {
		return p, nil, err
	}
	if r.mark != denseMark {
		return p, nil, fmt.Errorf("%w: marked %d", ErrBlock, r.mark)
	}
	n, own := r.number(len(chunks)), r.number(math.MaxInt32)
	p = r.places(n, document, chunks)
	switch {
	case r.bad || len(r.rest) != 4*n*own:
		return p, nil, fmt.Errorf("%w: dense", ErrBlock)
	case n > 0 && own != dimensions:
		return p, nil, fmt.Errorf("%w: %d, not %d", ErrDimensions, own, dimensions)
	}
	return p, r.rest, nil
}

// DenseDimensions tells by the beginning of a dense block, of 12 bytes or more, what dimensions its vectors have; 0 where it is none.
func DenseDimensions(beginning []byte) int {
	if len(beginning) == 0 || beginning[0] != denseMark {
		return 0
	}
	r := &blockReader{rest: beginning[1:]}
	r.number(math.MaxInt32)
	return r.number(math.MaxInt32)
}

// EachDense gives the vectors of a dense block, of length 1, with the ids of their chunks. A vector is valid until the next one only. The error
// is ErrDimensions, ErrBlock, or that of each.
func EachDense(block []byte, chunks []int64, dimensions int, each func(chunk int64, v []float32) error) error {
	p, values, err := readDense(block, 0, chunks, dimensions)
	if err != nil {
		return err
	}
	v := make([]float32, 0, dimensions)
	for i, chunk := range p.chunks {
		v = AppendFloats(v[:0], values[4*dimensions*i:4*dimensions*(i+1)])
		if err := each(chunk, v); err != nil {
			return err
		}
	}
	return nil
}
