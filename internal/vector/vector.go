// Package vector searches the chunks of one context: exact cosine over sparse lexical vectors or
// over dense embeddings, the fusion of the two, and the cache that keeps the indexes of busy
// contexts in memory.
//
// Indexes are immutable and safe for concurrent use. A changed context gets a new index made from
// the one before, which shares its segments and costs what changed (see SparseBuilder and
// DenseBuilder).
package vector

import (
	"cmp"
	"iter"
	"slices"
)

// Hit is one found chunk.
type Hit struct {
	Chunk      int64
	Document   int64
	Similarity float32 // cosine, 0..1; of fused hits as Fuse says
	// Rise is how far a cosine of dense vectors stands above the mean of all that were compared, where 1 is as far as the greatest of so many
	// stands by chance; 0 for less than the mean, and where none were compared.
	Rise float32
}

// Filter says what of an index to search.
type Filter struct {
	Top       int                // hits at most; none for 0
	MinScore  float32            // smallest similarity
	Documents map[int64]struct{} // only these; nil means all
	// Zeros also accepts chunks of similarity 0, where MinScore allows it. A search lists them after all
	// others, by their ids.
	Zeros bool
}

// Best gives those of some hits that a filter accepts, best first.
func (f Filter) Best(hits []Hit) []Hit {
	best := newTop(f.Top, len(hits))
	for _, h := range hits {
		if f.accepts(h.Similarity) && f.wants(h.Document) {
			best.push(h)
		}
	}
	return best.sorted()
}

func (f *Filter) wants(document int64) bool {
	if f.Documents == nil {
		return true
	}
	_, ok := f.Documents[document]
	return ok
}

// accepts tells whether a similarity is enough.
func (f *Filter) accepts(similarity float32) bool {
	return similarity >= f.MinScore && (similarity > 0 || f.Zeros)
}

// Documents maps the ids of an index's documents to their revisions: any number that changes when
// a document's chunks do.
type Documents map[int64]int64

// Of gives those of some documents that there are.
func (have Documents) Of(ids []int64) Documents {
	some := make(Documents, len(ids))
	for _, id := range ids {
		if revision, ok := have[id]; ok {
			some[id] = revision
		}
	}
	return some
}

// Changes compares the documents of an index with those that it should have. The chunks of what is
// missing or of another revision must be added, what is gone or of another revision removed.
func (have Documents) Changes(want Documents) (add, remove []int64) {
	for id, revision := range want {
		if had, ok := have[id]; !ok || had != revision {
			add = append(add, id)
		}
	}
	for id, revision := range have {
		if wanted, ok := want[id]; !ok || wanted != revision {
			remove = append(remove, id)
		}
	}
	slices.Sort(add)
	slices.Sort(remove)
	return add, remove
}

// Index is what the cache holds.
type Index interface {
	Bytes() int64  // memory in use, in bytes
	OnDisk() int64 // in files, in bytes
	Len() int      // chunks
	Documents() Documents
}

// better orders hits: greater similarity first, ties by the chunk's id.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Chunk, b.Chunk))
}

// top keeps the best n hits in a heap whose root is the worst of them.
type top struct {
	n    int
	hits []Hit
}

func newTop(n, chunks int) *top {
	return &top{n: n, hits: make([]Hit, 0, max(0, min(n, chunks)))}
}

// floor returns the similarity below which no hit is kept any more.
func (t *top) floor() float32 {
	if len(t.hits) < t.n || t.n <= 0 {
		return 0
	}
	return t.hits[0].Similarity
}

func (t *top) push(h Hit) {
	switch {
	case len(t.hits) < t.n:
		t.hits = append(t.hits, h)
		t.up(len(t.hits) - 1)
	case t.n > 0 && better(h, t.hits[0]) < 0:
		t.hits[0] = h
		t.down(0)
	}
}

func (t *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if better(t.hits[i], t.hits[parent]) <= 0 {
			return
		}
		t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
		i = parent
	}
}

func (t *top) down(i int) {
	for {
		worst := 2*i + 1
		if worst >= len(t.hits) {
			return
		}
		if right := worst + 1; right < len(t.hits) && better(t.hits[right], t.hits[worst]) > 0 {
			worst = right
		}
		if better(t.hits[worst], t.hits[i]) <= 0 {
			return
		}
		t.hits[i], t.hits[worst] = t.hits[worst], t.hits[i]
		i = worst
	}
}

func (t *top) sorted() []Hit {
	slices.SortFunc(t.hits, better)
	return t.hits
}

// Fuse ranks the chunks of two searches, best first: a chunk's similarity is the sum of what both give
// it, each divided by the greatest that the search gives to any chunk, the dense one weighted by the weight (0..1)
// and the one by words by the rest. So both reach from 0 to 1 whatever a model's cosines are, and
// 0 is no likeness in either (Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for Hybrid
// Retrieval"). Both hold everything that is to be ranked, as All gives it; a chunk that is missing
// in one counts as 0 there. Both are changed; dense may be nil.
func Fuse(f Filter, weight float32, dense *Compared, words []Hit) []Hit {
	return FuseAmong(f, func(int64) (float32, float32) { return weight, f.MinScore }, dense, words)
}

// FuseAmong is Fuse where chunks have several weights, and several similarities that are enough in place of the filter's MinScore.
func FuseAmong(f Filter, of func(chunk int64) (weight, least float32), dense *Compared, words []Hit) []Hit {
	scale(words, greatest(words), func(chunk int64) float32 {
		weight, _ := of(chunk)
		return 1 - weight
	})
	return join(f, dense, dense.greatest(), of, words)
}

// Blend is Fuse with similarities as they are, and one weight: what it tells of a chunk is the cosine of vectors that have both, one behind the
// other, and the same whatever else there is. Of words alone that weigh little, Fuse would make as much as of a good answer.
func Blend(f Filter, weight float32, dense *Compared, words []Hit) []Hit {
	scale(words, 1, func(int64) float32 { return 1 - weight })
	return join(f, dense, 1, func(int64) (float32, float32) { return weight, f.MinScore }, words)
}

// join ranks by the sums of similarities, where the dense ones are weighed as scale does it.
func join(f Filter, dense *Compared, greatest float32, of func(chunk int64) (weight, least float32), words []Hit) []Hit {
	ofWords := make(map[int64]Hit, len(words))
	for _, h := range words {
		ofWords[h.Chunk] = h
	}
	best := newTop(f.Top, dense.len()+len(words))
	for i := range dense.len() {
		chunk := dense.hits[i].Chunk
		word := ofWords[chunk].Similarity
		delete(ofWords, chunk)
		var share float32
		share, f.MinScore = of(chunk)
		sum := func(similarity float32) float32 { return min(1, scaled(similarity, greatest, share)+word) } // rounding can pass 1
		if most := sum(dense.most(i)); most < best.floor() || !f.accepts(most) || !f.wants(dense.hits[i].Document) {
			continue
		}
		h := dense.exact(i)
		if h.Similarity = sum(h.Similarity); f.accepts(h.Similarity) {
			best.push(h)
		}
	}
	for _, h := range ofWords {
		if _, f.MinScore = of(h.Chunk); f.accepts(h.Similarity) && f.wants(h.Document) {
			best.push(h)
		}
	}
	return best.sorted()
}

// greatest gives the greatest similarity.
func greatest(hits []Hit) (most float32) {
	for _, h := range hits {
		most = max(most, h.Similarity)
	}
	return most
}

// scale divides similarities by the greatest, and weighs them.
func scale(hits []Hit, greatest float32, weight func(chunk int64) float32) {
	for i := range hits {
		hits[i].Similarity = scaled(hits[i].Similarity, greatest, weight(hits[i].Chunk))
	}
}

// scaled gives the greatest its weight exactly. Where all are 0 they stay so.
func scaled(similarity, greatest, weight float32) float32 {
	if greatest == 0 {
		return 0
	}
	return similarity / greatest * weight
}

// places is what both sorts of segment know of their chunks.
type places struct {
	chunks    []int64
	documents []int64
}

// distinct is the number of chunks, where the vectors of one stand side by side.
func (p *places) distinct() (n int) {
	for i, chunk := range p.chunks {
		if i == 0 || chunk != p.chunks[i-1] {
			n++
		}
	}
	return n
}

// placeBytes is the memory of one chunk in places.
const placeBytes = 2 * 8

func (p *places) add(chunk, document int64) {
	p.chunks = append(p.chunks, chunk)
	p.documents = append(p.documents, document)
}

// tombstones marks the removed chunks of a segment; nil when there are none.
type tombstones []uint64

func (t tombstones) has(i int) bool { return t != nil && t[i/64]&(1<<(i%64)) != 0 }

// remove returns tombstones that cover the chunks of the documents too, and how many they added.
func (t tombstones) remove(p *places, documents map[int64]struct{}) (tombstones, int) {
	var changed tombstones
	added := 0
	for i, d := range p.documents {
		if _, ok := documents[d]; !ok || t.has(i) {
			continue
		}
		if changed == nil {
			changed = make(tombstones, (len(p.documents)+63)/64)
			copy(changed, t)
		}
		changed[i/64] |= 1 << (i % 64)
		added++
	}
	if changed == nil {
		return t, 0
	}
	return changed, added
}

// live yields the numbers of the chunks that are not removed.
func (t tombstones) live(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !t.has(i) && !yield(i) {
				return
			}
		}
	}
}
