package telemetry

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		set   map[string]string
		want  Settings
		fault string
	}{
		"nothing":          {nil, Settings{TracesHTTP: true, MetricsHTTP: true}, ""},
		"an address":       {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, Settings{true, true, true, true}, ""},
		"gRPC":             {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, Settings{true, true, false, false}, ""},
		"traces alone":     {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, Settings{true, false, true, true}, ""},
		"by name":          {map[string]string{"OTEL_METRICS_EXPORTER": "otlp"}, Settings{false, true, true, true}, ""},
		"no metrics":       {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_METRICS_EXPORTER": "none"}, Settings{Traces: true, TracesHTTP: true}, ""},
		"each by its own":  {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"}, Settings{true, true, false, true}, ""},
		"off":              {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"}, Settings{}, ""},
		"another protocol": {map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, Settings{}, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"another exporter": {map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, Settings{}, "OTEL_TRACES_EXPORTER"},
	} {
		got, named, fault := Load(func(name string) string { return c.set[name] })
		if got != c.want || named != c.fault && fault != "" || (fault != "") != (c.fault != "") {
			t.Errorf("%s: %+v %q %q", name, got, named, fault)
		}
	}
}

// recording tells into memory.
func recording(t *testing.T) (*Telemetry, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	living.Add(1)
	x := &Telemetry{traces: provider, tracer: provider.Tracer(scope)}
	t.Cleanup(func() { _ = x.Close(context.Background()) })
	return x, spans
}

func TestSpansHangTogether(t *testing.T) {
	x, spans := recording(t)
	const from = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx, root := x.Root(t.Context(), from, "root", Server)
	inner, child := Begin(ctx, "child", Client, Number("canopy.run", 7))
	header := http.Header{}
	Inject(inner, header)
	if at := header.Get(HeaderTraceparent); !strings.HasPrefix(at, from[:36]) || at == from || at != Traceparent(inner) {
		t.Errorf("it leads on to %q", at)
	}
	given := http.Header{"Traceparent": {"theirs"}}
	if Inject(inner, given); given.Get(HeaderTraceparent) != "theirs" {
		t.Error("what leads somewhere else is led back")
	}
	child.End(errors.New("of ann@example.com"))
	Took(ctx, "took", time.Now().Add(-time.Second), nil)
	root.End(nil)
	ended := spans.Ended()
	if len(ended) != 3 || ended[0].Name() != "child" || ended[1].Name() != "took" || ended[1].EndTime().Sub(ended[1].StartTime()) < time.Second {
		t.Fatalf("%v", ended)
	}
	for _, s := range ended {
		if s.SpanContext().TraceID().String() != from[3:35] || s.Status().Description != "" || len(s.Events()) != 0 {
			t.Errorf("%s: %v %v", s.Name(), s.SpanContext(), s.Status())
		}
	}
	if ended[0].Parent().SpanID() != ended[2].SpanContext().SpanID() {
		t.Error("the child hangs from nothing")
	}
}

// TestNoneAbove: without a root nothing is begun, whether others are told or not.
func TestNoneAbove(t *testing.T) {
	var off *Telemetry
	ctx, span := off.Root(t.Context(), "", "root", Server)
	if span.Tells() || ctx != t.Context() {
		t.Error("what is off tells")
	}
	x, spans := recording(t)
	ctx, span = Begin(t.Context(), "child", Client)
	span.Set(Text("a", "b"))
	span.Name("c")
	span.Failed("d")
	span.End(nil)
	if span.Tells() || ctx != t.Context() || Traceparent(ctx) != "" || TraceID(ctx) != "" || len(spans.Ended()) != 0 {
		t.Error("something is told of nothing")
	}
	_, unsampled := x.Root(t.Context(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "root", Server)
	if unsampled.Tells() {
		t.Error("what the caller has not sampled is told")
	}
}

func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	for b.Loop() {
		_, span := Begin(ctx, "child", Client)
		span.End(nil)
	}
}
