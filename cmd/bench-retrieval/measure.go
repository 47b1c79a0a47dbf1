package main

import (
	"math"
	"slices"
	"time"
)

// depth is where nDCG and the reciprocal rank stop looking; recallDepth where recall does.
const (
	depth       = 10
	recallDepth = 5
)

// quality is the mean of each measure over the queries that have relevant documents; all 0..1.
type quality struct {
	Queries int
	NDCG10  float64 // normalised discounted cumulative gain of the first ten, binary relevance
	Recall5 float64 // part of the relevant documents among the first five
	MRR     float64 // mean reciprocal rank of the first relevant document among the first ten
	Curve   curve
	Each    time.Duration // that a query took; 0 where that was not measured
}

// searchFunc returns document ids, best first, for a query's text.
type searchFunc func(query string) ([]int, error)

// evaluate runs all queries of a collection that have relevant documents.
func evaluate(c collection, search searchFunc) (quality, error) {
	var q quality
	for _, query := range c.Queries {
		relevant := c.Relevant[query.ID]
		if len(relevant) == 0 {
			continue
		}
		ranked, err := search(query.Text)
		if err != nil {
			return quality{}, err
		}
		q.Queries++
		q.NDCG10 += ndcg(ranked, relevant, depth)
		q.Recall5 += recallAt(ranked, relevant, recallDepth)
		q.MRR += reciprocalRank(ranked, relevant, depth)
		for level, precision := range curveOf(ranked, relevant) {
			q.Curve[level] += precision
		}
	}
	if n := float64(q.Queries); n > 0 {
		q.NDCG10, q.Recall5, q.MRR = q.NDCG10/n, q.Recall5/n, q.MRR/n
		for level := range q.Curve {
			q.Curve[level] /= n
		}
	}
	return q, nil
}

// ndcg is the normalised discounted cumulative gain of the first k of a ranking, with binary
// relevance and the discount log2(rank + 1) (Järvelin and Kekäläinen 2002).
func ndcg(ranked []int, relevant map[int]bool, k int) float64 {
	var gain, ideal float64
	for i, id := range ranked[:min(k, len(ranked))] {
		if relevant[id] {
			gain += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(k, len(relevant)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	if ideal == 0 {
		return 0
	}
	return gain / ideal
}

// recallAt is the part of the relevant documents that the first k of a ranking hold.
func recallAt(ranked []int, relevant map[int]bool, k int) float64 {
	if len(relevant) == 0 {
		return 0
	}
	found := 0
	for _, id := range ranked[:min(k, len(ranked))] {
		if relevant[id] {
			found++
		}
	}
	return float64(found) / float64(len(relevant))
}

// reciprocalRank is 1/rank of the first relevant document among the first k, otherwise 0.
func reciprocalRank(ranked []int, relevant map[int]bool, k int) float64 {
	for i, id := range ranked[:min(k, len(ranked))] {
		if relevant[id] {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// bestChunks turns a ranking of chunks, best first, given as their documents' ids, into a ranking
// of documents: each stands where its best chunk does.
func bestChunks(documents []int) []int {
	seen := make(map[int]bool, len(documents))
	return slices.DeleteFunc(slices.Clone(documents), func(id int) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}
