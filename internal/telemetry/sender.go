package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// sender sends spans in batches. A span is written as it goes over the wire at its end, so that what waits is bytes, and nothing
// is made twice; the SDK's own spans cost a request several times as much.
type sender struct {
	spanSettings
	client otlptrace.Client
	about  *resourcepb.Resource
	schema string

	mu sync.Mutex
	// open is the batch that is being filled, full are those that wait behind it; spare is the room of one that is sent.
	open  batch
	full  []batch
	spare []byte
	// waiting counts the spans of all of them, and of the one that is being sent.
	waiting int

	wake, stop chan struct{}
	done       chan struct{}
}

// batch is a number of spans, as members of ScopeSpans.
type batch struct {
	spans []byte
	n     int
}

func newSender(ctx context.Context, s spanSettings, client otlptrace.Client, about *resource.Resource) (*sender, error) {
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	x := &sender{spanSettings: s, client: client, about: &resourcepb.Resource{Attributes: told(about)}, schema: about.SchemaURL(), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go x.run()
	return x, nil
}

// add takes a span that has ended. It is dropped where too many wait.
func (x *sender) add(s *span, ended time.Time) {
	x.mu.Lock()
	full := false
	if x.waiting < x.queue {
		x.open.spans = appendSpan(x.open.spans, s, ended)
		x.open.n++
		x.waiting++
		if full = x.open.n >= x.batch; full {
			x.close()
		}
	}
	x.mu.Unlock()
	if full {
		select {
		case x.wake <- struct{}{}:
		default:
		}
	}
}

// close has the open batch wait to be sent.
func (x *sender) close() {
	x.full = append(x.full, x.open)
	x.open, x.spare = batch{spans: x.spare[:0]}, nil
}

// run sends what is full, and what has waited long enough.
func (x *sender) run() {
	defer close(x.done)
	tick := time.NewTicker(x.delay)
	defer tick.Stop()
	for {
		all := true
		select {
		case <-x.wake:
			all = false
		case <-tick.C:
		case <-x.stop:
			x.send(true)
			return
		}
		x.send(all)
	}
}

// send sends the batches that are full, and the open one where all are meant.
func (x *sender) send(all bool) {
	x.mu.Lock()
	if all && x.open.n > 0 {
		x.close()
	}
	x.mu.Unlock()
	for b := x.next(); b.n > 0; b = x.next() {
		ctx, cancel := context.WithTimeout(context.Background(), x.timeout)
		err := x.client.UploadTraces(ctx, []*tracepb.ResourceSpans{x.message(b)})
		cancel()
		if err != nil {
			otel.Handle(err)
		}
		x.mu.Lock()
		x.waiting -= b.n
		x.spare = b.spans
		x.mu.Unlock()
	}
}

// next is the first of the full batches; an empty one where there is none.
func (x *sender) next() (b batch) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.full) > 0 {
		b = x.full[0]
		x.full = append(x.full[:0], x.full[1:]...)
	}
	return b
}

// message has a batch as the members of a message that are written already: protobuf passes on what it does not know byte by byte.
func (x *sender) message(b batch) *tracepb.ResourceSpans {
	of := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: scope}}
	of.ProtoReflect().SetUnknown(b.spans)
	return &tracepb.ResourceSpans{Resource: x.about, ScopeSpans: []*tracepb.ScopeSpans{of}, SchemaUrl: x.schema}
}

// told are the attributes of a resource.
func told(about *resource.Resource) (list []*commonpb.KeyValue) {
	for i := about.Iter(); i.Next(); {
		a := i.Attribute()
		value := &commonpb.AnyValue{}
		switch a.Value.Type() {
		case attribute.INT64:
			value.Value = &commonpb.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		case attribute.BOOL:
			value.Value = &commonpb.AnyValue_BoolValue{BoolValue: a.Value.AsBool()}
		default: // no others come from what Start asks for
			value.Value = &commonpb.AnyValue_StringValue{StringValue: a.Value.String()}
		}
		list = append(list, &commonpb.KeyValue{Key: string(a.Key), Value: value})
	}
	return list
}

// end sends what is left, as long as the context lets it.
func (x *sender) end(ctx context.Context) error {
	close(x.stop)
	select {
	case <-x.done:
	case <-ctx.Done():
	}
	return x.client.Stop(ctx)
}
