package vector

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"canopy/internal/spill"
)

// ErrDimensions is the error for a vector whose number of dimensions is not the index's.
var ErrDimensions = errors.New("vector: wrong number of dimensions")

// ErrNotFinite is the error for a vector that holds an infinity or no number.
var ErrNotFinite = errors.New("vector: not a finite vector")

// Dense searches dense embeddings by a scan of all of them.
type Dense struct {
	dimensions int
	segments   []densePart
	documents  Documents
	live       int
	bytes      int64
	onDisk     int64
}

type densePart struct {
	*denseSegment
	gone      tombstones
	goneCount int
}

// denseSegment holds normalised vectors one after the other.
type denseSegment struct {
	places
	values []float32
	// region has the values where they are in a file, values is nil, and codes stand for them; otherwise region and codes are nil.
	region *spill.Region
	codes  *denseCodes
}

// Len returns the number of chunks.
func (x *Dense) Len() int { return x.live }

// Bytes returns the memory in use.
func (x *Dense) Bytes() int64 { return x.bytes }

// OnDisk returns the bytes in files.
func (x *Dense) OnDisk() int64 { return x.onDisk }

// Documents returns the documents with their revisions; a nil index has none. The map must not be changed.
func (x *Dense) Documents() Documents {
	if x == nil {
		return nil
	}
	return x.documents
}

// Dimensions returns the number of components of each vector.
func (x *Dense) Dimensions() int { return x.dimensions }

// Search returns the chunks of greatest cosine with the query, best first. A negative cosine counts
// as 0. The error is ErrDimensions or ErrNotFinite.
func (x *Dense) Search(query []float32, f Filter) ([]Hit, error) {
	q, by, err := x.ask(query)
	if err != nil {
		return nil, err
	}
	var row []float32
	best, all := newTop(f.Top, x.live), cosines{}
	for i := range x.segments {
		p := &x.segments[i]
		for h, at := range p.compare(q, by, &f, &all) {
			if min(1, h.Similarity+at.off) < best.floor() {
				continue
			}
			if at.off > 0 {
				h.Similarity = p.cosine(q, at.row, &row)
			}
			if h.Similarity >= best.floor() && f.accepts(h.Similarity) {
				best.push(h)
			}
		}
	}
	for i := range best.hits {
		best.hits[i].Rise = all.rise(best.hits[i].Similarity)
	}
	return best.sorted(), nil
}

// All returns every chunk that the filter accepts, however many. The error is that of Search.
func (x *Dense) All(query []float32, f Filter) (*Compared, error) {
	q, by, err := x.ask(query)
	if err != nil {
		return nil, err
	}
	c := &Compared{query: q, filter: f, hits: make([]Hit, 0, x.live), at: make([]denseAt, 0, x.live)}
	for i := range x.segments {
		p := &x.segments[i]
		for h, at := range p.compare(q, by, &f, &c.all) {
			at.of = c
			c.hits, c.at = append(c.hits, h), append(c.at, at)
		}
	}
	return c, nil
}

// ask makes of a query what vectors are compared with, and their codes.
func (x *Dense) ask(query []float32) ([]float32, *coded, error) {
	q, err := Unit(query, x.dimensions)
	if err != nil {
		return nil, nil, err
	}
	return q, newCoded(q), nil
}

// compare yields the chunks that the filter may accept.
func (p *densePart) compare(query []float32, by *coded, f *Filter, all *cosines) iter.Seq2[Hit, denseAt] {
	return func(yield func(Hit, denseAt) bool) {
		codes := p.codes.reader()
		for i := range p.chunks {
			if p.gone.has(i) || !f.wants(p.documents[i]) {
				continue
			}
			h, at := Hit{Chunk: p.chunks[i], Document: p.documents[i]}, denseAt{segment: p.denseSegment, row: i}
			if p.codes != nil {
				h.Similarity, at.off = codes.near(by, i)
			} else {
				h.Similarity = p.cosine(query, i, nil)
			}
			all.add(h.Similarity)
			if f.accepts(min(1, h.Similarity+at.off)) && !yield(h, at) {
				return
			}
		}
	}
}

// cosine compares a query with a vector. One in a file is read into the buffer.
func (s *denseSegment) cosine(query []float32, row int, buffer *[]float32) float32 {
	n := len(query)
	if s.region == nil {
		return unsigned(vek32.Dot(query, s.values[row*n:(row+1)*n]))
	}
	*buffer = slices.Grow((*buffer)[:0], n)[:n]
	s.region.Read(view(*buffer), int64(row)*int64(n)*4)
	return unsigned(vek32.Dot(query, *buffer))
}

// unsigned is the similarity that a cosine is.
func unsigned(cosine float32) float32 { return min(1, max(0, cosine)) }

// normalise writes a vector of length 1 and the same direction; a zero vector stays one, and is
// similar to nothing.
func normalise(to, from []float32, dimensions int) error {
	if len(from) != dimensions {
		return fmt.Errorf("%w: %d, not %d", ErrDimensions, len(from), dimensions)
	}
	var squares float64
	for _, v := range from {
		squares += float64(v) * float64(v)
	}
	if math.IsNaN(squares) || math.IsInf(squares, 0) {
		return ErrNotFinite
	}
	scale := 0.0
	if squares > 0 {
		scale = 1 / math.Sqrt(squares)
	}
	for i, v := range from {
		to[i] = float32(float64(v) * scale)
	}
	return nil
}

// Unit gives a vector of length 1 and the same direction. The error is ErrDimensions or ErrNotFinite.
func Unit(v []float32, dimensions int) ([]float32, error) {
	unit := make([]float32, len(v))
	if err := normalise(unit, v, dimensions); err != nil {
		return nil, err
	}
	return unit, nil
}
