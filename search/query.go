package search

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"canopy/db"
	"canopy/internal/attributes"
	"canopy/internal/problem"
	"canopy/internal/vector"
)

// MaxTopN bounds the hits of a search, and of a context's setting.
const MaxTopN = 100

// The bounds of a query: the prompt in characters, and the documents it may name.
const (
	maxPrompt    = 32_000
	maxDocuments = 1000
)

// Query is a search of one context; nil stands for the context's own setting, and for all documents.
type Query struct {
	Prompt         string
	TopN           *int
	ScoreThreshold *float64
	// MinRelevance is the smallest relevance of a hit, of the TopN that are most alike; nil for any.
	MinRelevance *float64
	// Mode is the context's own when empty.
	Mode      Mode
	Documents []int64
	// Attributes is a filter on those of documents, as JSON; nil for none.
	Attributes json.RawMessage
	// IncludeUnrelated also lists chunks of similarity 0, which are left out otherwise.
	IncludeUnrelated bool
}

// filter checks a query and completes it with the context's settings. It also gives the predicate that the attributes of
// documents must fit; "" for none. Its error names each fault.
func (q Query) filter(row *db.Context) (f vector.Filter, predicate string, err error) {
	faults := q.faults()
	if q.Attributes != nil {
		var more []problem.Fault
		predicate, more = attributes.Filter("attributes", q.Attributes)
		faults = append(faults, more...)
	}
	if len(faults) > 0 {
		return f, "", problem.Invalid(faults...)
	}
	f.Top, f.MinScore, f.Zeros = row.TopN, float32(row.ScoreThreshold), q.IncludeUnrelated
	if q.TopN != nil {
		f.Top = *q.TopN
	}
	if q.ScoreThreshold != nil {
		f.MinScore = float32(*q.ScoreThreshold)
	}
	if q.Documents != nil {
		f.Documents = make(map[int64]struct{}, len(q.Documents))
	}
	for _, id := range q.Documents {
		f.Documents[id] = struct{}{}
	}
	return f, predicate, nil
}

// mode is what a search of a context compares.
func (q Query) mode(row *db.Context) Mode { return cmp.Or(q.Mode, Mode(row.SearchMode)) }

func (q Query) faults() (list []problem.Fault) {
	fault := func(at, format string, args ...any) {
		list = append(list, problem.Fault{Location: at, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case strings.TrimSpace(q.Prompt) == "":
		fault("prompt", "must not be empty")
	case !utf8.ValidString(q.Prompt), strings.ContainsRune(q.Prompt, 0):
		fault("prompt", "must be UTF-8 without NUL bytes")
	case utf8.RuneCountInString(q.Prompt) > maxPrompt:
		fault("prompt", "is longer than %d characters", maxPrompt)
	}
	if q.TopN != nil && (*q.TopN < 1 || *q.TopN > MaxTopN) {
		fault("topN", "must be 1 to %d", MaxTopN)
	}
	part := func(at string, n *float64) {
		if n != nil && (math.IsNaN(*n) || *n < 0 || *n > 1) {
			fault(at, "must be 0 to 1")
		}
	}
	part("scoreThreshold", q.ScoreThreshold)
	part("minRelevance", q.MinRelevance)
	if len(q.Documents) > maxDocuments {
		fault("documentIds", "has more than %d entries", maxDocuments)
	}
	return list
}
