package telemetry

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// HeaderTraceparent leads from one process to the next (W3C Trace Context).
const HeaderTraceparent = "traceparent"

// Kind is what a span stands for.
type Kind = trace.SpanKind

// The kinds: a request that was taken, one that was sent, work that was left for later, and all that goes on within a process.
const (
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
	Consumer = trace.SpanKindConsumer
	Internal = trace.SpanKindInternal
)

// Attribute is something that a span tells. It has to be free of personal data.
type Attribute = attribute.KeyValue

// Text makes an attribute of words.
func Text(name, value string) Attribute { return attribute.String(name, value) }

// Number makes an attribute of a number.
func Number(name string, value int64) Attribute { return attribute.Int64(name, value) }

// Yes makes an attribute that is so, or not.
func Yes(name string, value bool) Attribute { return attribute.Bool(name, value) }

// Span is a span that may be none: then nothing comes of what it is told.
type Span struct{ span trace.Span }

// Tells says whether anybody hears of the span: what is costly to find out can be left alone otherwise.
func (s Span) Tells() bool { return s.span != nil }

// Set adds attributes.
func (s Span) Set(attributes ...Attribute) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Failed says that it came to nothing. why is a word of the program's own.
func (s Span) Failed(why string) {
	if s.span != nil {
		s.span.SetStatus(codes.Error, why)
	}
}

// End ends the span. An error says that what it stands for failed: its text stays here, as it may have been made of what callers sent.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// carrier is a header with one member.
var format propagation.TraceContext

type carrier string

func (c carrier) Get(key string) string {
	if key == HeaderTraceparent {
		return string(c)
	}
	return ""
}
func (*carrier) Keys() []string { return []string{HeaderTraceparent} }
func (c *carrier) Set(key, value string) {
	if key == HeaderTraceparent {
		*c = carrier(value)
	}
}

// Root begins a span that no other of this process stands above. parent is the traceparent of where it comes from; "" for none.
func (t *Telemetry) Root(ctx context.Context, parent, name string, kind Kind, attributes ...Attribute) (context.Context, Span) {
	if !t.Traces() {
		return ctx, Span{}
	}
	if parent != "" {
		from := carrier(parent)
		ctx = format.Extract(ctx, &from)
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return recorded(ctx, span)
}

// recorded is a span, or none where it is not sampled.
func recorded(ctx context.Context, span trace.Span) (context.Context, Span) {
	if !span.IsRecording() {
		return ctx, Span{}
	}
	return ctx, Span{span}
}

// Living tells whether any spans are told in this process.
func Living() bool { return living.Load() != 0 }

// Above is the span that a context belongs to; none where there is none that tells.
func Above(ctx context.Context) Span {
	if !Living() {
		return Span{}
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return Span{span}
	}
	return Span{}
}

// Begin begins a span below that of the context; none where that has none.
func Begin(ctx context.Context, name string, kind Kind, attributes ...Attribute) (context.Context, Span) {
	above := Above(ctx)
	if !above.Tells() {
		return ctx, above
	}
	ctx, span := above.span.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return recorded(ctx, span)
}

// Took tells of something below the span of a context that has begun at a moment, and is over.
func Took(ctx context.Context, name string, begun time.Time, err error, attributes ...Attribute) {
	above := Above(ctx)
	if !above.Tells() {
		return
	}
	_, span := above.span.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithTimestamp(begun), trace.WithAttributes(attributes...))
	Span{span}.End(err)
}

// Traceparent leads to the span of a context; "" where that has none that tells.
func Traceparent(ctx context.Context) string {
	if !Above(ctx).Tells() {
		return ""
	}
	var to carrier
	format.Inject(ctx, &to)
	return string(to)
}

// Inject has a request lead to the span of its context, unless it leads somewhere already.
func Inject(ctx context.Context, header http.Header) {
	if at := Traceparent(ctx); at != "" && header.Get(HeaderTraceparent) == "" {
		header.Set(HeaderTraceparent, at)
	}
}

// TraceID is the id of the trace that a context belongs to; "" where it has none that tells.
func TraceID(ctx context.Context) string {
	if !Living() {
		return ""
	}
	if at := trace.SpanContextFromContext(ctx); at.IsSampled() {
		return at.TraceID().String()
	}
	return ""
}
