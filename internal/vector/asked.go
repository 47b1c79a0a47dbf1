package vector

import (
	"math"

	"canopy/internal/models/lexical"
)

// Asked is a query as an index weighs it, by itself or among others.
type Asked struct {
	x *Sparse
	// components occur in what weighs them, and count there.
	components []component
	// found are the postings of the first components, of each in each segment of x: those of the others are looked up again. The first search lets go of them.
	found [][]postings
	norm  float32 // the whole query's length
	// weights are what its buckets weigh for Cover, whether they occur or not, and total is their sum.
	weights weights
	total   float32
	// words are its words that have parts.
	words []lexical.Word
}

// component is one bucket of a query with its weight, times the factor by which the model counts it in a chunk.
type component struct {
	bucket uint32
	weight float32
}

// weights are those of a few buckets. Nearly all buckets that are asked for have none, which a bit for all that end alike tells at once.
type weights struct {
	list map[uint32]float32
	some [16]uint64
}

func newWeights(n int) weights { return weights{list: make(map[uint32]float32, n)} }

func (w *weights) set(bucket uint32, weight float32) {
	w.list[bucket] = weight
	w.some[bucket>>6%16] |= 1 << (bucket % 64)
}

// of gives the weight of a bucket; 0 for one that has none.
func (w *weights) of(bucket uint32) float32 {
	if w.some[bucket>>6%16]&(1<<(bucket%64)) == 0 {
		return 0
	}
	return w.list[bucket]
}

// usual is how many chunks without a word are taken for granted where words are weighed for Cover: in a few, those that no chunk has would
// weigh more than all that some have.
const usual = 10

// AskText is Ask for the text of a query. Cover then also knows its words, and leaves out those that only frame it.
func (x *Sparse) AskText(text string) *Asked { return AskTexts([]*Sparse{x}, text)[0] }

// AskTexts is AskText of several indexes of one model at once: each weighs the query as one index of the chunks of all would.
func AskTexts(indexes []*Sparse, text string) []*Asked {
	all, model := among(indexes), indexes[0].model
	a, frequencies := all.ask(model.Embed(text))
	if subject := lexical.Subject(text); subject != text {
		a.weights, a.total = all.weigh(model.Embed(subject), frequencies)
	}
	a.words = model.Words(text)
	list := make([]*Asked, len(indexes))
	first := 0
	for i, x := range indexes {
		of := a
		of.x, of.found = x, make([][]postings, len(a.found))
		for c, found := range a.found {
			of.found[c] = found[first : first+len(x.segments)]
		}
		first += len(x.segments)
		list[i] = &of
	}
	return list
}

// Ask weighs the components of a query by the inverse document frequency within this whole index.
func (x *Sparse) Ask(query lexical.Vector) *Asked {
	a, _ := among{x}.ask(query)
	a.x = x
	return &a
}

// among are indexes of one model.
type among []*Sparse

// live is how many vectors they have.
func (all among) live() (n int) {
	for _, x := range all {
		n += x.live
	}
	return n
}

// segments is how many segments they have.
func (all among) segments() (n int) {
	for _, x := range all {
		n += len(x.segments)
	}
	return n
}

// ask weighs the components of a query by the inverse document frequency within all of them, and tells how many of their vectors have each bucket.
func (all among) ask(query lexical.Vector) (Asked, map[uint32]int) {
	model, live := all[0].model, all.live()
	a := Asked{components: make([]component, 0, len(query))}
	frequencies := make(map[uint32]int, len(query))
	squares := 0.0
	with, done := scratched()
	defer done()
	k := &with.keeper
	k.room = mostKept
	for _, q := range query {
		room := k.room
		df := all.find(q.Bucket, k, &with.groups)
		frequencies[q.Bucket] = df
		factor := model.Factor(q.Bucket)
		weight := q.Weight() * factor * lexical.IDF(live, df)
		squares += float64(weight) * float64(weight)
		if df == 0 || !model.Counts(q.Bucket, live, df) {
			k.room = room
			continue
		}
		a.components = append(a.components, component{q.Bucket, weight * factor})
		if found := k.kept(); found != nil {
			a.found = append(a.found, found)
		}
	}
	a.norm = sqrt32(squares)
	a.weights, a.total = all.weigh(query, frequencies)
	return a, frequencies
}

// find tells how many of their vectors have a bucket, and hands on its postings in all segments.
func (all among) find(bucket uint32, k *keeper, read *groups) (n int) {
	k.begin(all.segments())
	first := 0
	for _, x := range all {
		for _, i := range x.order {
			p := &x.segments[i]
			of := p.lookup(bucket, read.of)
			n += p.liveCount(of)
			k.add(first+i, of, p.stripe != nil)
		}
		first += len(x.segments)
	}
	return n
}

// weigh gives what the buckets of a query weigh for Cover, and their sum.
func (all among) weigh(query lexical.Vector, frequencies map[uint32]int) (weights, float32) {
	model, live := all[0].model, all.live()
	w, total := newWeights(len(query)), float32(0)
	for _, q := range query {
		df, known := frequencies[q.Bucket]
		if !known { // words that stand together in it alone
			with, done := scratched()
			df = all.find(q.Bucket, &keeper{}, &with.groups)
			done()
		}
		weight := q.Weight() * model.Factor(q.Bucket) * lexical.IDF(live+usual, df)
		w.set(q.Bucket, weight)
		total += weight
	}
	return w, total
}

// Search returns the chunks of greatest cosine with the query, best first.
func (a *Asked) Search(f Filter) []Hit { return a.search(f).sorted() }

// All returns every chunk that the filter accepts, however many, in no order.
func (a *Asked) All(f Filter) []Hit {
	f.Top = a.x.live
	return a.search(f).hits
}

func (a *Asked) search(f Filter) *top {
	best := newTop(f.Top, a.x.live)
	with, done := scratched()
	defer done()
	for i := range a.x.segments {
		p := &a.x.segments[i]
		scores := with.scores[:len(p.chunks)]
		clear(scores)
		for c, component := range a.components {
			if c < len(a.found) {
				a.found[c][i].score(scores, component.weight)
			} else {
				p.lookup(component.bucket, with.groups.alone).score(scores, component.weight)
			}
		}
		p.collect(scores, a.norm, &f, best)
	}
	a.found = nil
	return best
}

// Cover tells which part of what the query weighs occurs in a text, 0 to 1, however long the text is. A word that occurs in another form
// counts in part.
func (a *Asked) Cover(text string) float64 {
	if a.total == 0 {
		return 0
	}
	var covered float32
	found := map[uint32]bool{}
	for bucket := range a.x.model.Buckets(text) {
		if weight := a.weights.of(bucket); weight > 0 && !found[bucket] {
			covered += weight
			found[bucket] = true
		}
	}
	for _, word := range a.words {
		if !found[word.Bucket] {
			covered += a.weights.of(word.Bucket) * likeness(word.Parts, found)
		}
	}
	return float64(min(1, covered/a.total)) // rounding can pass 1
}

// leastLike is the share of a word's parts that a text must have for a form of the word to be in it.
const leastLike = 1. / 3

// likeness tells how much a word, which is not in a text itself, is like what the text has: by the share of its parts that it has, of which
// its ending has about half.
func likeness(parts []uint32, found map[uint32]bool) float32 {
	n := 0
	for _, part := range parts {
		if found[part] {
			n++
		}
	}
	share := float64(n) / float64(len(parts))
	if share < leastLike {
		return 0
	}
	return float32(math.Sqrt(share))
}
