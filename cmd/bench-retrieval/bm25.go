package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"canopy/internal/models/lexical"
)

// Parameters of BM25 as usual in the field.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// bm25 is the reference ranking (Robertson and Zaragoza 2009), over the same stems and without the
// same stop words as the lexical model.
type bm25 struct {
	postings map[string][]posting
	lengths  map[int]float64
	mean     float64
}

type posting struct {
	id int
	tf float64
}

// newBM25 indexes the documents.
func newBM25(documents []entry) *bm25 {
	b := &bm25{postings: map[string][]posting{}, lengths: map[int]float64{}}
	for _, d := range documents {
		counts := map[string]float64{}
		for term := range lexical.Terms(d.Text) {
			counts[term.Text]++
			b.lengths[d.ID]++
			b.mean++
		}
		for term, tf := range counts {
			b.postings[term] = append(b.postings[term], posting{d.ID, tf})
		}
	}
	b.mean /= max(1, float64(len(documents)))
	return b
}

// search ranks all documents that share a term with the query, best first, ties by id.
func (b *bm25) search(query string) ([]int, error) {
	scores := map[int]float64{}
	n := float64(len(b.lengths))
	for term := range lexical.Terms(query) {
		postings := b.postings[term.Text]
		df := float64(len(postings))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for _, p := range postings {
			norm := bm25K1 * (1 - bm25B + bm25B*b.lengths[p.id]/b.mean)
			scores[p.id] += idf * p.tf * (bm25K1 + 1) / (p.tf + norm)
		}
	}
	return slices.SortedFunc(maps.Keys(scores), func(x, y int) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y))
	}), nil
}
