package vector

import "math"

// cosines tells how those of a search are spread. Those of unrelated texts are about 0 by one model and 0.7 by another: what a cosine
// tells is how far it stands above the others.
type cosines struct{ n, sum, squares float64 }

// A search is taken to have so many more cosines of this mean and this deviation: few chunks alone would tell nothing.
const (
	priorChunks    = 5
	priorMean      = 0.15
	priorDeviation = 0.12
)

func (s *cosines) add(similarity float32) {
	s.n++
	s.sum += float64(similarity)
	s.squares += float64(similarity) * float64(similarity)
}

// rise tells what Hit.Rise is of a cosine. The greatest of n normal values stands about sqrt(2 ln n) deviations above their mean.
func (s *cosines) rise(similarity float32) float32 {
	n := s.n + priorChunks
	mean := (s.sum + priorChunks*priorMean) / n
	squares := (s.squares + priorChunks*(priorMean*priorMean+priorDeviation*priorDeviation)) / n
	deviations := (float64(similarity) - mean) / math.Sqrt(squares-mean*mean)
	return float32(max(0, deviations/math.Sqrt(2*math.Log(n))))
}

// Raise tells what Hit.Rise is of hits among so many chunks, the mean of whose cosines is known, and that of their squares.
func Raise(hits []Hit, chunks int64, mean, squares float64) {
	all := cosines{n: float64(chunks), sum: float64(chunks) * mean, squares: float64(chunks) * squares}
	for i := range hits {
		hits[i].Rise = all.rise(hits[i].Similarity)
	}
}
