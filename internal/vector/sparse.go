package vector

import (
	"sync"

	"canopy/internal/models/lexical"
)

// Sparse is an exact inverted index over lexical vectors.
type Sparse struct {
	model     *lexical.Model
	segments  []sparsePart
	order     []int // of the segments, in which those of a stripe stand one behind the other
	documents Documents
	live      int
	bytes     int64
	onDisk    int64
}

// sparsePart is a segment and what was removed from it since it was made.
type sparsePart struct {
	*sparseSegment
	gone      tombstones
	goneCount int
	// far is the id of a segment that is kept elsewhere, of which only the places are here; 0 for others.
	far int64
}

// Len returns the number of chunks and of further parts of chunks.
func (x *Sparse) Len() int { return x.live }

// Bytes returns the memory in use.
func (x *Sparse) Bytes() int64 { return x.bytes }

// OnDisk returns the bytes in files.
func (x *Sparse) OnDisk() int64 { return x.onDisk }

// Documents returns the documents with their revisions; a nil index has none. The map must not be changed.
func (x *Sparse) Documents() Documents {
	if x == nil {
		return nil
	}
	return x.documents
}

// Search returns the chunks of greatest cosine with the query, best first. The query's components
// are weighted by the inverse document frequency within this whole index.
func (x *Sparse) Search(query lexical.Vector, f Filter) []Hit { return x.Ask(query).Search(f) }

// liveCount returns how many postings are of chunks that are not removed.
func (p *sparsePart) liveCount(of postings) int {
	if p.gone == nil || of.n == 0 {
		return of.n
	}
	list, _ := of.read(make([]uint32, 0, of.n))
	n := 0
	for _, posting := range list {
		if !p.gone.has(int(posting >> 16)) {
			n++
		}
	}
	return n
}

// scratch is what searching one segment needs, and the next.
type scratch struct {
	scores [segmentRows]float32
	groups groups
	keeper keeper
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// scratched gives one, and what takes it back.
func scratched() (with *scratch, done func()) {
	with = scratches.Get().(*scratch)
	return with, func() {
		with.groups.forget()
		with.keeper.forget()
		scratches.Put(with)
	}
}

// collect turns scores into cosines and keeps the best: of each chunk that of its part which is most alike.
func (p *sparsePart) collect(scores []float32, norm float32, f *Filter, best *top) {
	norms := p.norms[:len(scores)]
	for i := 0; i < len(scores); {
		floor := best.floor()
		if score := scores[i]; score < floor*norm*norms[i]*nearly || score <= 0 && !f.Zeros { // most are
			i++
			continue
		}
		chunk, first, similarity := p.chunks[i], i, float32(0)
		for ; i < len(scores) && p.chunks[i] == chunk; i++ {
			if scores[i] > 0 {
				similarity = max(similarity, min(1, scores[i]/(norm*norms[i]))) // rounding can pass 1
			}
		}
		if similarity < floor || !f.accepts(similarity) || p.gone.has(first) || !f.wants(p.documents[first]) {
			continue
		}
		best.push(Hit{Chunk: chunk, Document: p.documents[first], Similarity: similarity})
	}
}

// nearly is below 1 by more than rounding is: what is below so much of a bound is below the bound.
const nearly = 1 - 0x1p-20
