package vector

import (
	"errors"
	"fmt"
	"math"

	"github.com/viterin/vek/vek32"
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
}

// Len returns the number of chunks.
func (x *Dense) Len() int { return x.live }

// Bytes returns the memory in use.
func (x *Dense) Bytes() int64 { return x.bytes }

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
	best, err := x.search(query, f)
	if err != nil {
		return nil, err
	}
	return best.sorted(), nil
}

// All returns every chunk that the filter accepts, however many, in no order. The error is that of
// Search.
func (x *Dense) All(query []float32, f Filter) ([]Hit, error) {
	f.Top = x.live
	best, err := x.search(query, f)
	if err != nil {
		return nil, err
	}
	return best.hits, nil
}

func (x *Dense) search(query []float32, f Filter) (*top, error) {
	q := make([]float32, len(query))
	if err := normalise(q, query, x.dimensions); err != nil {
		return nil, err
	}
	best, all := newTop(f.Top, x.live), cosines{}
	for i := range x.segments {
		x.segments[i].search(q, &f, best, &all)
	}
	for i := range best.hits {
		best.hits[i].Rise = all.rise(best.hits[i].Similarity)
	}
	return best, nil
}

func (p *densePart) search(query []float32, f *Filter, best *top, all *cosines) {
	n := len(query)
	for i := range p.chunks {
		if p.gone.has(i) || !f.wants(p.documents[i]) {
			continue
		}
		similarity := min(1, max(0, vek32.Dot(query, p.values[i*n:(i+1)*n])))
		all.add(similarity)
		if similarity < best.floor() || !f.accepts(similarity) {
			continue
		}
		best.push(Hit{Chunk: p.chunks[i], Document: p.documents[i], Similarity: similarity})
	}
}

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
