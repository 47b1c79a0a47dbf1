package vector

import "iter"

// Compared are chunks with the cosines of their dense vectors with a query. Of some it is known between which bounds these are: the vectors
// of those alone that may be among the best are read. They are for one goroutine; nil has none.
type Compared struct {
	hits []Hit
	// at is where the hits stand in an index; nil where all is known of them.
	at     []denseAt
	query  []float32
	row    []float32 // as read from a file
	filter Filter
	all    cosines
}

// denseAt is where the vector of a hit is, and by how much the hit's similarity is off at most. Of a hit of which all is known it is the zero value.
type denseAt struct {
	of      *Compared // whose query and cosines these are
	segment *denseSegment
	row     int
	off     float32
}

// Together gives what several have in one. None of these is to be used any more.
func Together(list []*Compared) *Compared {
	all, n := &Compared{}, 0
	for _, c := range list {
		n += c.len()
	}
	all.hits, all.at = make([]Hit, 0, n), make([]denseAt, 0, n)
	for _, c := range list {
		switch {
		case c == nil:
			continue
		case c.at == nil:
			all.at = append(all.at, make([]denseAt, len(c.hits))...)
		default:
			all.at = append(all.at, c.at...)
		}
		all.hits = append(all.hits, c.hits...)
	}
	return all
}

// Chunks gives the ids of all.
func (c *Compared) Chunks() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range c.len() {
			if !yield(c.hits[i].Chunk) {
				return
			}
		}
	}
}

// Exactly gives chunks whose cosines are known.
func Exactly(hits []Hit) *Compared { return &Compared{hits: hits} }

func (c *Compared) len() int {
	if c == nil {
		return 0
	}
	return len(c.hits)
}

// most is the greatest similarity that a hit may have.
func (c *Compared) most(i int) float32 {
	if c.at == nil {
		return c.hits[i].Similarity
	}
	return min(1, c.hits[i].Similarity+c.at[i].off)
}

// least is the smallest similarity that a hit may have.
func (c *Compared) least(i int) float32 {
	if c.at == nil {
		return c.hits[i].Similarity
	}
	return max(0, c.hits[i].Similarity-c.at[i].off)
}

// exact gives a hit as it is.
func (c *Compared) exact(i int) Hit {
	if c.at == nil || c.at[i].of == nil {
		return c.hits[i]
	}
	h, at := &c.hits[i], &c.at[i]
	if at.off > 0 {
		h.Similarity, at.off = at.segment.cosine(at.of.query, at.row, &c.row), 0
	}
	h.Rise = at.of.all.rise(h.Similarity)
	return *h
}

// greatest is the greatest similarity.
func (c *Compared) greatest() (most float32) {
	least := float32(0)
	for i := range c.len() {
		least = max(least, c.least(i))
	}
	for i := range c.len() {
		if c.most(i) >= least {
			most = max(most, c.exact(i).Similarity)
		}
	}
	return most
}

// Hits gives all chunks that the filter accepts, as they are, in no order. Nothing else is to be asked for afterwards.
func (c *Compared) Hits() []Hit {
	switch {
	case c == nil:
		return nil
	case c.at == nil:
		return c.hits
	}
	kept := c.hits[:0]
	for i := range c.hits {
		if h := c.exact(i); c.filter.accepts(h.Similarity) {
			kept = append(kept, h)
		}
	}
	return kept
}
