package search

import (
	"math"
	"testing"

	"canopy/internal/models/lexical"
	"canopy/internal/models/static"
)

// judged are the ways to search, each with the odds that judge its hits.
var judged = []struct {
	name  string
	odds  odds
	way   way
	words bool // compares words alone, so that there are data in many languages
}{
	{"words by " + lexical.One.Name, byWords[lexical.One], way{Lexical, lexical.One}, true},
	{"words by " + lexical.Two.Name, byWords[lexical.Two], way{Lexical, lexical.Two}, true},
	{"meanings", byMeanings, way{Semantic, nil}, false},
	{"both", byBoth, way{Hybrid, lexical.One}, false},
	{"words and meanings by " + static.Name, byBlend, way{Semantic, lexical.Two}, false},
}

// TestRelevanceIsFitted: the odds are those that the first half of the topics gives.
func TestRelevanceIsFitted(t *testing.T) {
	samples := searchTopics(t, "fit")
	for _, j := range judged {
		var of [][]float64
		var right []bool
		for _, s := range samples[j.way] {
			x := []float64{1}
			if j.way.model != nil {
				x = append(x, s.cover)
			}
			if j.way.rises() {
				x = append(x, s.rise)
			}
			of, right = append(of, x), append(right, s.right)
		}
		want := []float64{j.odds.base}
		if j.way.model != nil {
			want = append(want, j.odds.cover)
		}
		if j.way.rises() {
			want = append(want, j.odds.rise)
		}
		got := fitLogistic(of, right)
		t.Logf("%s: %.2f of %d hits", j.name, got, len(of))
		for i := range got {
			if math.Abs(got[i]-want[i]) > 0.1 { // sums may differ in their last digits from machine to machine
				t.Errorf("%s: constant %d is %.2f, fitted %.2f", j.name, i, want[i], got[i])
			}
		}
	}
}

// TestRelevanceIsCalibrated: in the other half of the topics hits are right about as often as their relevance says, by whatever they were
// found. In many languages, where the questions are made to have other forms of the words, it is told too low, and not too high.
func TestRelevanceIsCalibrated(t *testing.T) {
	topics, tongues := searchTopics(t, "check"), searchTongues(t)
	for _, j := range judged {
		t.Run(j.name, func(t *testing.T) { j.odds.check(t, topics[j.way]) })
		if j.words {
			t.Run(j.name+", in many languages", func(t *testing.T) { j.odds.measure(t, tongues[j.way]) })
		}
	}
}

func (o odds) check(t *testing.T, samples []sample) {
	t.Helper()
	off, middle := o.measure(t, samples)
	if off > 0.05 {
		t.Errorf("relevance is off by %.3f", off)
	}
	if r := middle.rate(); middle.n < 20 || r < 0.3 || r > 0.7 {
		t.Errorf("near .5 %.0f of %.0f are right", middle.right, middle.n)
	}
}

// measure gives how much relevance is off in the mean over tenths, and the hits near .5. From there on more hits must be right than not.
func (o odds) measure(t *testing.T, samples []sample) (off float64, middle reliability) {
	t.Helper()
	var tenths [10]reliability
	var upper, all reliability
	for _, s := range samples {
		p := o.of(s.cover, s.rise)
		all.add(p, s.right)
		tenths[min(9, int(p*10))].add(p, s.right)
		if p >= 0.35 && p < 0.65 {
			middle.add(p, s.right)
		}
		if p >= 0.5 {
			upper.add(p, s.right)
		}
	}
	for i, b := range tenths {
		t.Logf("%.1f to %.1f: %4.0f hits, %3.0f%% right", float64(i)/10, float64(i+1)/10, b.n, 100*b.rate())
		off += math.Abs(b.told-b.right) / all.n
	}
	t.Logf("off by %.3f; near .5 %.0f of %.0f right; from .5 on %.0f%%, which are %.0f%% of all that are", off, middle.right, middle.n, 100*upper.rate(), 100*upper.right/all.right)
	if upper.rate() < 0.6 {
		t.Errorf("from .5 on %.0f of %.0f are right", upper.right, upper.n)
	}
	return off, middle
}

// reliability sets what was told of hits beside how many are right.
type reliability struct{ n, told, right float64 }

func (r *reliability) add(p float64, right bool) {
	r.n++
	r.told += p
	if right {
		r.right++
	}
}

func (r *reliability) rate() float64 { return r.right / max(1, r.n) }
