package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// HeaderTraceparent leads from one process to the next (W3C Trace Context); it is written as http.Header keeps it.
const HeaderTraceparent = "Traceparent"

// Kind is what a span stands for.
type Kind = trace.SpanKind

// The kinds: a request that was taken, one that was sent, work that was left for later, and all that goes on within a process. Their
// numbers are those of OTLP.
const (
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
	Consumer = trace.SpanKindConsumer
	Internal = trace.SpanKindInternal
)

// Attribute is something that a span tells. It has to be free of personal data.
type Attribute struct {
	name, text string
	number     int64
	kind       protowire.Number
}

// Text makes an attribute of words.
func Text(name, value string) Attribute { return Attribute{name: name, text: value, kind: fieldText} }

// Number makes an attribute of a number.
func Number(name string, value int64) Attribute {
	return Attribute{name: name, number: value, kind: fieldCount}
}

// Yes makes an attribute that is so, or not.
func Yes(name string, value bool) Attribute {
	a := Attribute{name: name, kind: fieldYes}
	if value {
		a.number = 1
	}
	return a
}

// span is under way. It is the context of what goes on below it, too, so that both are one piece of memory; one that is told when it is
// over has none.
type span struct {
	context.Context
	to         *sender
	trace      trace.TraceID
	id, parent trace.SpanID
	// remote tells that parent is of another process.
	remote, failed bool
	kind           Kind
	name, why      string
	begun          time.Time
	// attributes are kept as they are sent, in first as long as they fit.
	attributes []byte
	first      [enough]byte
}

// enough is how many bytes the attributes of a request have, mostly.
const enough = 232

// Value gives the span to Above.
func (s *span) Value(key any) any {
	if key == (above{}) {
		return s
	}
	return s.Context.Value(key)
}

// set adds attributes.
func (s *span) set(attributes []Attribute) {
	if s.attributes == nil {
		s.attributes = s.first[:0]
	}
	s.attributes = appendAttributes(s.attributes, attributes, s.to.longest)
}

// Span is a span that may be none: then nothing comes of what it is told. One goroutine at a time tells it, and ends it once.
type Span struct{ span *span }

// Tells says whether anybody hears of the span: what is costly to find out can be left alone otherwise.
func (s Span) Tells() bool { return s.span != nil }

// Set adds attributes.
func (s Span) Set(attributes ...Attribute) {
	if s.span != nil {
		s.span.set(attributes)
	}
}

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.name = name
	}
}

// Failed says that it came to nothing. why is a word of the program's own.
func (s Span) Failed(why string) {
	if s.span != nil {
		s.span.failed, s.span.why = true, why
	}
}

// End ends the span. An error says that what it stands for failed: its text stays here, as it may have been made of what callers sent.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.failed = true
	}
	s.span.to.add(s.span, s.Now())
}

// Now is the time by the clock of a span that tells: what lies below the span of a request goes by that one's, so that it is read once.
func (s Span) Now() time.Time { return s.span.begun.Add(time.Since(s.span.begun)) }

// Took tells of something below the span that has begun at a moment, is over, and had nothing below it.
func (s Span) Took(name string, kind Kind, begun time.Time, took time.Duration, err error, attributes ...Attribute) {
	if s.span == nil {
		return
	}
	var room [enough]byte // beside the span, which stays on the stack, too
	below := span{trace: s.span.trace, id: newSpanID(), parent: s.span.id, name: name, kind: kind, begun: begun, failed: err != nil}
	below.attributes = appendAttributes(room[:0], attributes, s.span.to.longest)
	s.span.to.add(&below, begun.Add(took))
}

// above is where a context keeps its span.
type above struct{}

// begin begins a span that is that of a context from then on.
func (x *sender) begin(ctx context.Context, s *span, begun time.Time, attributes []Attribute) (context.Context, Span) {
	s.Context, s.to, s.id, s.begun = ctx, x, newSpanID(), begun
	s.set(attributes)
	return s, Span{s}
}

// newSpanID makes an id, which is never 0.
func newSpanID() (id trace.SpanID) {
	for !id.IsValid() {
		binary.LittleEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}

func newTraceID() (id trace.TraceID) {
	for !id.IsValid() {
		binary.LittleEndian.PutUint64(id[:8], rand.Uint64())
		binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id
}

var format propagation.TraceContext

// carrier is a header with one member.
type carrier string

// member is how propagation calls it.
const member = "traceparent"

func (c carrier) Get(key string) string {
	if key == member {
		return string(c)
	}
	return ""
}
func (*carrier) Keys() []string { return []string{member} }
func (c *carrier) Set(key, value string) {
	if key == member {
		*c = carrier(value)
	}
}

// Root begins a span that no other of this process stands above, unless the context has one and parent is none. parent is the traceparent of
// where it comes from; "" for none.
func (t *Telemetry) Root(ctx context.Context, parent, name string, kind Kind, attributes ...Attribute) (context.Context, Span) {
	if !t.Traces() {
		return ctx, Span{}
	}
	s, from := &span{name: name, kind: kind}, ctx
	if parent != "" {
		from = s.follow(ctx, parent)
	}
	if !s.remote {
		if over := Above(ctx); over.Tells() {
			return over.begin(ctx, s, attributes)
		}
		s.trace = newTraceID()
	}
	if !t.spans.samples(from, s) {
		return ctx, Span{}
	}
	return t.spans.begin(ctx, s, time.Now(), attributes)
}

// follow has a span go on with the trace of its parent, where that is one, and gives what a sampler sees of this.
func (s *span) follow(ctx context.Context, parent string) context.Context {
	c := carrier(parent)
	ctx = format.Extract(ctx, &c)
	if at := trace.SpanContextFromContext(ctx); at.IsValid() {
		s.trace, s.parent, s.remote = at.TraceID(), at.SpanID(), true
	}
	return ctx
}

// samples tells whether anybody hears of a span.
func (x *sender) samples(ctx context.Context, s *span) bool {
	if x.all && !s.remote {
		return true
	}
	asked := sdktrace.SamplingParameters{ParentContext: ctx, TraceID: s.trace, Name: s.name, Kind: s.kind}
	return x.sampler.ShouldSample(asked).Decision == sdktrace.RecordAndSample
}

// begin begins a span below this one.
func (s Span) begin(ctx context.Context, below *span, attributes []Attribute) (context.Context, Span) {
	below.trace, below.parent = s.span.trace, s.span.id
	return s.span.to.begin(ctx, below, s.Now(), attributes)
}

// Living tells whether any spans are told in this process.
func Living() bool { return living.Load() != 0 }

// Above is the span that a context belongs to; none where there is none that tells.
func Above(ctx context.Context) Span {
	if !Living() {
		return Span{}
	}
	s, _ := ctx.Value(above{}).(*span)
	return Span{s}
}

// Begin begins a span below that of the context; none where that has none.
func Begin(ctx context.Context, name string, kind Kind, attributes ...Attribute) (context.Context, Span) {
	over := Above(ctx)
	if !over.Tells() {
		return ctx, over
	}
	return over.begin(ctx, &span{name: name, kind: kind}, attributes)
}

// Traceparent leads to the span of a context; "" where that has none that tells.
func Traceparent(ctx context.Context) string {
	over := Above(ctx)
	if !over.Tells() {
		return ""
	}
	return "00-" + over.span.trace.String() + "-" + over.span.id.String() + "-01"
}

// Inject has a request lead to the span of its context, unless it leads somewhere already.
func Inject(ctx context.Context, header http.Header) {
	if at := Traceparent(ctx); at != "" && header.Get(HeaderTraceparent) == "" {
		header.Set(HeaderTraceparent, at)
	}
}

// TraceID is the id of the trace that a context belongs to; "" where it has none that tells.
func TraceID(ctx context.Context) string {
	if over := Above(ctx); over.Tells() {
		return over.span.trace.String()
	}
	return ""
}
