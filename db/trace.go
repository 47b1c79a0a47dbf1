package db

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/lib/pq"

	"canopy/internal/telemetry"
)

// slowStatement is from which time on a span has the statement's text, too.
const slowStatement = 10 * time.Millisecond

// traced is a statement that runs, as a span where any are told.
type traced struct {
	above         telemetry.Span
	text, summary string
	begun         time.Time
}

// trace begins the span of a statement of this package. Its arguments are nobody's business.
func trace(ctx context.Context, q query) traced {
	above := telemetry.Above(ctx)
	if !above.Tells() {
		return traced{}
	}
	return traced{above: above, text: statements[q], summary: summaryOf(q), begun: above.Now()}
}

// traceText begins the span of another statement.
func traceText(ctx context.Context, text string) traced {
	above := telemetry.Above(ctx)
	if !above.Tells() {
		return traced{}
	}
	return traced{above: above, text: text, summary: summary(text), begun: above.Now()}
}

// end ends the span. That there is no such row is an answer.
func (t traced) end(err error) {
	if !t.above.Tells() {
		return
	}
	if errors.Is(err, ErrNoRows) {
		err = nil
	}
	took := time.Since(t.begun)
	about := [2]telemetry.Attribute{telemetry.Text("db.system.name", "postgresql"), telemetry.Text("db.query.text", t.text)}
	told := about[:]
	if took <= slowStatement {
		told = about[:1]
	}
	t.above.Took(t.summary, telemetry.Client, t.begun, took, err, told...)
}

// setTrace has what a transaction writes lead to where it belongs.
func (s *Store) setTrace(ctx context.Context) error {
	at := telemetry.Traceparent(ctx)
	if at == "" {
		return nil
	}
	_, err := s.tx.ExecContext(ctx, `SET LOCAL canopy.traceparent = `+pq.QuoteLiteral(at)) // without an argument it is one round trip
	return translate(ctx, err)
}

// known are the summaries of this package's own statements, as far as they were asked for.
var known = sync.OnceValue(func() []atomic.Pointer[string] { return make([]atomic.Pointer[string], len(statements)) })

// summaryOf is summary of a statement of this package, found by its number.
func summaryOf(q query) string {
	at := &known()[q]
	if of := at.Load(); of != nil {
		return *of
	}
	of := summarise(statements[q])
	at.Store(&of)
	return of
}

// mostSummaries bounds those of texts that were put together that are remembered: a caller can put very many filters together.
const mostSummaries = 500

var (
	summaries, _ = lru.New[string, string](mostSummaries) // it refuses sizes below 1 alone
	written      = regexp.MustCompile(`(?i)\b(INSERT)\s+INTO\s+([a-z_]+)|\b(UPDATE)\s+([a-z_]+)\s+(?:[a-z]+\s+)?SET\b|\b(DELETE)\s+FROM\s+([a-z_]+)`)
	read         = regexp.MustCompile(`(?i)\bFROM\s+([a-z_]+)`)
)

// summary is what a statement does, in few words: what it writes first, or reads first.
func summary(text string) string {
	if known, ok := summaries.Get(text); ok {
		return known
	}
	short := summarise(text)
	summaries.Add(text, short)
	return short
}

func summarise(text string) string {
	if found := written.FindStringSubmatch(text); found != nil {
		return strings.ToUpper(found[1]+found[3]+found[5]) + " " + found[2] + found[4] + found[6]
	}
	if found := read.FindStringSubmatch(text); found != nil {
		return "SELECT " + found[1]
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return first
}
