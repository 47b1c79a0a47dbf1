package vector

import (
	"sync"

	"canopy/internal/models/lexical"
)

// Sparse is an exact inverted index over lexical vectors.
type Sparse struct {
	model     *lexical.Model
	segments  []sparsePart
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
	group  []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (p *sparsePart) search(components []component, norm float32, f *Filter, best *top, with *scratch) {
	scores := with.scores[:len(p.chunks)]
	clear(scores)
	for _, c := range components {
		p.lookup(c.bucket, &with.group).score(scores, c.weight)
	}
	p.collect(scores, norm, f, best)
}

// collect turns scores into cosines and keeps the best: of each chunk that of its part which is most alike.
func (p *sparsePart) collect(scores []float32, norm float32, f *Filter, best *top) {
	var similarity float32
	for i, score := range scores {
		if i > 0 && p.chunks[i] != p.chunks[i-1] {
			similarity = 0
		}
		if score > 0 {
			similarity = max(similarity, min(1, score/(norm*p.norms[i]))) // rounding can pass 1
		}
		if i+1 < len(scores) && p.chunks[i+1] == p.chunks[i] || similarity == 0 && !f.Zeros {
			continue
		}
		if similarity < best.floor() || !f.accepts(similarity) || p.gone.has(i) || !f.wants(p.documents[i]) {
			continue
		}
		best.push(Hit{Chunk: p.chunks[i], Document: p.documents[i], Similarity: similarity})
	}
}
