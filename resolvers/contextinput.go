package resolvers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/internal/chunk"
	"canopy/search"
)

// The bounds of a context's settings; lengths are in characters.
const (
	maxInstructions = 100_000
	maxPrompts      = 50
	maxPrompt       = 500
	maxChunkSize    = 8192
)

// starterPrompts checks conversation starters.
func (v *check) starterPrompts(field string, list []string) {
	if len(list) > maxPrompts {
		v.fault(field, "has more than %d entries", maxPrompts)
		return
	}
	for i, s := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		if strings.TrimSpace(s) == "" {
			v.fault(at, "must not be empty")
			continue
		}
		v.text(at, s, maxPrompt)
	}
}

// settings checks the settings of a context's search.
func (v *check) settings(in UpdateContextInput) {
	if n := or(in.TopN, 1); n < 1 || n > search.MaxTopN {
		v.fault("topN", "must be 1 to %d", search.MaxTopN)
	}
	v.fraction("scoreThreshold", in.ScoreThreshold)
	if !slices.Contains(search.Modes, search.Mode(or(in.SearchMode, string(search.Semantic)))) {
		v.fault("searchMode", "must be SEMANTIC, LEXICAL or HYBRID")
	}
	v.fraction("denseWeight", in.DenseWeight)
	if n := or(in.ChunkSize, chunk.MinSize); n < chunk.MinSize || n > maxChunkSize {
		v.fault("chunkSize", "must be %d to %d tokens", chunk.MinSize, maxChunkSize)
	}
	v.fraction("overlap", in.Overlap)
}

// fraction checks a number between 0 and 1.
func (v *check) fraction(field string, f *float64) {
	if f != nil && (math.IsNaN(*f) || *f < 0 || *f > 1) {
		v.fault(field, "must be 0 to 1")
	}
}
