package pgvector

import (
	"math"
	"testing"
)

// TestWhatIsNoNumberIsRefused: a search whose similarities can't be put in order has failed, and all is compared in its place.
func TestWhatIsNoNumberIsRefused(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		found Found
		sound bool
	}{
		"numbers":            {Found{Rows: []Row{{Similarity: 1}, {Similarity: -1}}, Mean: 0.5, Squares: 0.3}, true},
		"nothing":            {Found{}, true},
		"a row without one":  {Found{Rows: []Row{{Similarity: 1}, {Similarity: float32(nan)}}}, false},
		"a mean without one": {Found{Mean: nan}, false},
		"squares":            {Found{Squares: nan}, false},
	} {
		if err := c.found.sound(); (err == nil) != c.sound {
			t.Errorf("%s: %v", name, err)
		}
	}
}
