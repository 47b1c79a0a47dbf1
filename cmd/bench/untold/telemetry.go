// Package telemetry tells nobody anything: scripts/untold.sh builds a program with it in the place of internal/telemetry, whose functions it has, and
// bench measures that program in turns with the real one. The compiler takes the calls of what is empty out.
package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// HeaderTraceparent would lead from one process to the next.
const HeaderTraceparent = "Traceparent"

// Kind is what a span would stand for.
type Kind int

// The kinds.
const (
	Server Kind = iota
	Client
	Consumer
	Internal
)

// Attribute is something that a span would tell.
type Attribute struct{}

// Text makes an attribute.
func Text(string, string) Attribute { return Attribute{} }

// Number makes an attribute.
func Number(string, int64) Attribute { return Attribute{} }

// Span is none.
type Span struct{}

// Tells is never so.
func (Span) Tells() bool { return false }

// Set does nothing.
func (Span) Set(...Attribute) {}

// Name does nothing.
func (Span) Name(string) {}

// Failed does nothing.
func (Span) Failed(string) {}

// End does nothing.
func (Span) End(error) {}

// Took does nothing.
func (Span) Took(string, Kind, time.Time, time.Duration, error, ...Attribute) {}

// Now is no time.
func (Span) Now() time.Time { return time.Time{} }

// Living is never so.
func Living() bool { return false }

// Above is none.
func Above(context.Context) Span { return Span{} }

// Begin begins none.
func Begin(ctx context.Context, _ string, _ Kind, _ ...Attribute) (context.Context, Span) {
	return ctx, Span{}
}

// Traceparent leads nowhere.
func Traceparent(context.Context) string { return "" }

// Inject does nothing.
func Inject(context.Context, http.Header) {}

// TraceID is none.
func TraceID(context.Context) string { return "" }

// Settings ask for nothing.
type Settings struct{ Traces, Metrics bool }

// Load reads nothing.
func Load(func(string) string) (s Settings, name, fault string) { return Settings{}, "", "" }

// LogTo does nothing.
func LogTo(*slog.Logger) {}

// Telemetry sends nothing.
type Telemetry struct{}

// Start gives none.
func Start(context.Context, Settings, string, string, prometheus.Gatherer) (*Telemetry, error) {
	return nil, nil
}

// Traces is never so.
func (*Telemetry) Traces() bool { return false }

// Root begins none.
func (*Telemetry) Root(ctx context.Context, _, _ string, _ Kind, _ ...Attribute) (context.Context, Span) {
	return ctx, Span{}
}

// Close does nothing.
func (*Telemetry) Close(context.Context) error { return nil }
