package search

import (
	"math"

	"canopy/internal/models/lexical"
	"canopy/internal/models/static"
	"canopy/internal/vector"
)

// odds are the constants of a logistic function that makes relevance of what is known of a hit. TestRelevanceIsFitted makes them anew of the
// first half of its data, TestRelevanceIsCalibrated measures them on the other half.
type odds struct{ base, cover, rise float64 }

// The odds of what can be compared: words by one of the embedded models, meanings by a server's, both of these, or meanings and words by the embedded ones.
var (
	byWords = map[*lexical.Model]odds{
		lexical.One: {base: -5.21, cover: 11.81},
		lexical.Two: {base: -5.16, cover: 10.67},
	}
	byMeanings = odds{base: -5.95, rise: 5.6}
	byBoth     = odds{base: -5.62, cover: 6.21, rise: 3.8}
	// Of the embedded model of meanings a rise tells too little: with it 10 of 47 hits near .5 were right in the half for checking.
	byBlend = odds{base: -3.69, cover: 7.48}
)

// oddsOf gives the odds of all that a model and shared words find.
func oddsOf(embeddingModel string) odds {
	if m := lexical.Named(embeddingModel); m != nil {
		return byWords[m]
	}
	if embeddingModel == static.Name {
		return byBlend
	}
	return byBoth
}

// judge tells how likely it is that a hit answers the question.
type judge struct {
	odds
	// asked is the question by its words; nil where they are not compared.
	asked *vector.Asked
}

// relevance of a hit is made of two things: how much of the question its passage has, the headings above included, where each word counts the more the fewer chunks have
// it, and one in another form in part, and how far its likeness by meaning stands above that of the other chunks. Neither depends on how long the chunk is, on what else was
// found, nor, but for little, on the model.
func (j *judge) relevance(h vector.Hit, p *Passage) float64 {
	if h.Similarity == 0 {
		return 0
	}
	cover := 0.0
	if j.asked != nil {
		cover = j.asked.Cover(p.Heading + "\n" + p.Content)
	}
	return j.of(cover, float64(h.Rise))
}

func (o odds) of(cover, rise float64) float64 {
	return 1 / (1 + math.Exp(-(o.base + o.cover*cover + o.rise*rise)))
}
