package vector

import (
	"slices"
	"sync"

	"canopy/internal/models/lexical"
)

// Sparse is an exact inverted index over lexical vectors.
type Sparse struct {
	segments  []sparsePart
	documents Documents
	live      int
	bytes     int64
}

// sparsePart is a segment and what was removed from it since it was made.
type sparsePart struct {
	*sparseSegment
	gone      tombstones
	goneCount int
}

// sparseSegment holds postings by bucket: those of bucket keys[i] are postings[starts[i]:starts[i+1]].
// A posting packs the chunk's number within the segment (high 16 bits) and the bucket's two counts.
type sparseSegment struct {
	places
	norms    []float32
	keys     []uint32
	starts   []uint32
	postings []uint32
}

// maxSegment is the number of chunks that the postings of one segment can tell apart.
const maxSegment = 1 << 16

// Len returns the number of chunks.
func (x *Sparse) Len() int { return x.live }

// Bytes returns the memory in use.
func (x *Sparse) Bytes() int64 { return x.bytes }

// Documents returns the documents with their revisions; a nil index has none. The map must not be changed.
func (x *Sparse) Documents() Documents {
	if x == nil {
		return nil
	}
	return x.documents
}

// component is one bucket of a query with its weight, and the postings in each segment.
type component struct {
	weight   float32
	postings [][]uint32
}

// Search returns the chunks of greatest cosine with the query, best first. The query's components
// are weighted by the inverse document frequency within this whole index.
func (x *Sparse) Search(query lexical.Vector, f Filter) []Hit {
	return x.search(query, f).sorted()
}

// All returns every chunk that the filter accepts, however many, in no order.
func (x *Sparse) All(query lexical.Vector, f Filter) []Hit {
	f.Top = x.live
	return x.search(query, f).hits
}

func (x *Sparse) search(query lexical.Vector, f Filter) *top {
	components, norm := x.weigh(query)
	best := newTop(f.Top, x.live)
	for i := range x.segments {
		x.segments[i].search(i, components, norm, &f, best)
	}
	return best
}

// weigh looks up the components of a query and normalises nothing yet: norm is the query's length.
func (x *Sparse) weigh(query lexical.Vector) (components []component, norm float32) {
	squares := 0.0
	for _, q := range query {
		c := component{postings: make([][]uint32, len(x.segments))}
		df := 0
		for i := range x.segments {
			c.postings[i] = x.segments[i].lookup(q.Bucket)
			df += x.segments[i].liveCount(c.postings[i])
		}
		c.weight = q.Weight() * lexical.IDF(x.live, df)
		squares += float64(c.weight) * float64(c.weight)
		if df > 0 {
			components = append(components, c)
		}
	}
	return components, sqrt32(squares)
}

// lookup returns the postings of a bucket.
func (s *sparseSegment) lookup(bucket uint32) []uint32 {
	i, ok := slices.BinarySearch(s.keys, bucket)
	if !ok {
		return nil
	}
	return s.postings[s.starts[i]:s.starts[i+1]]
}

// liveCount returns how many postings are of chunks that are not removed.
func (p *sparsePart) liveCount(postings []uint32) int {
	if p.gone == nil {
		return len(postings)
	}
	n := 0
	for _, posting := range postings {
		if !p.gone.has(int(posting >> 16)) {
			n++
		}
	}
	return n
}

// accumulators are the scores of one segment's chunks, kept for the next search.
var accumulators = sync.Pool{New: func() any { return new([]float32) }}

func (p *sparsePart) search(segment int, components []component, norm float32, f *Filter, best *top) {
	buffer := accumulators.Get().(*[]float32)
	defer accumulators.Put(buffer)
	scores := slices.Grow((*buffer)[:0], len(p.chunks))[:len(p.chunks)]
	*buffer = scores
	clear(scores)
	for _, c := range components {
		for _, posting := range c.postings[segment] {
			scores[posting>>16] += c.weight * lexical.Count{Words: uint8(posting >> 8), Pairs: uint8(posting)}.Weight()
		}
	}
	p.collect(scores, norm, f, best)
}

// collect turns scores into cosines and keeps the best.
func (p *sparsePart) collect(scores []float32, norm float32, f *Filter, best *top) {
	for i, score := range scores {
		if score == 0 && !f.Zeros {
			continue
		}
		var similarity float32
		if score > 0 {
			similarity = min(1, score/(norm*p.norms[i])) // rounding can pass 1
		}
		if similarity < best.floor() || !f.accepts(similarity) || p.gone.has(i) || !f.wants(p.documents[i]) {
			continue
		}
		best.push(Hit{Chunk: p.chunks[i], Document: p.documents[i], Similarity: similarity})
	}
}
