package telemetry

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
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

// memory keeps what is sent, as it goes over the wire.
type memory struct {
	mu    sync.Mutex
	spans []*tracepb.Span
	sizes []int
	// hold, where set, keeps what is sent from going on.
	hold chan struct{}
}

func (*memory) Start(context.Context) error { return nil }
func (*memory) Stop(context.Context) error  { return nil }

func (m *memory) UploadTraces(_ context.Context, sent []*tracepb.ResourceSpans) error {
	raw, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: sent})
	if err != nil {
		return err
	}
	data := &tracepb.TracesData{}
	if err := proto.Unmarshal(raw, data); err != nil {
		return err
	}
	if m.hold != nil {
		<-m.hold
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range data.GetResourceSpans() {
		for _, in := range of.GetScopeSpans() {
			m.spans, m.sizes = append(m.spans, in.GetSpans()...), append(m.sizes, len(in.GetSpans()))
		}
	}
	return nil
}

// recording tells into memory, with these variables set. ended gives what it was told, and ends it.
func recording(t *testing.T, m *memory, variables map[string]string) (x *Telemetry, ended func() []*tracepb.Span) {
	t.Helper()
	how, name, fault := loadSpans(func(name string) string { return variables[name] })
	if fault != "" {
		t.Fatal(name, fault)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "test"), attribute.Int("process.pid", 7), attribute.Bool("yes", true))
	spans, err := newSender(t.Context(), how, m, about)
	if err != nil {
		t.Fatal(err)
	}
	living.Add(1)
	x = &Telemetry{spans: spans}
	end := sync.OnceValue(func() error { return x.Close(context.Background()) })
	t.Cleanup(func() { _ = end() })
	return x, func() []*tracepb.Span {
		if err := end(); err != nil {
			t.Error(err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.spans
	}
}

func TestSpansHangTogether(t *testing.T) {
	x, ended := recording(t, &memory{}, nil)
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
	Above(ctx).Took("took", Internal, time.Now().Add(-time.Second), time.Second, nil)
	for _, from := range []string{"", "not one"} {
		_, under := x.Root(ctx, from, "under", Consumer)
		under.End(nil)
	}
	root.End(nil)
	spans := ended()
	if len(spans) != 5 || spans[0].GetName() != "child" || spans[1].GetName() != "took" || spans[1].GetEndTimeUnixNano()-spans[1].GetStartTimeUnixNano() < 1e9 {
		t.Fatalf("%v", spans)
	}
	top := spans[4]
	for _, s := range spans {
		if hex.EncodeToString(s.GetTraceId()) != from[3:35] || s.GetStatus().GetMessage() != "" || len(s.GetEvents()) != 0 {
			t.Errorf("%v", s)
		}
		if s != top && !bytes.Equal(s.GetParentSpanId(), top.GetSpanId()) {
			t.Errorf("%s hangs from %x", s.GetName(), s.GetParentSpanId())
		}
	}
	if hex.EncodeToString(top.GetParentSpanId()) != from[36:52] {
		t.Errorf("the root hangs from %x", top.GetParentSpanId())
	}
}

// TestSpansOverTheWire reads with the standard's own messages what a span has told.
func TestSpansOverTheWire(t *testing.T) {
	x, ended := recording(t, &memory{}, map[string]string{"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "4"})
	before := time.Now()
	_, s := x.Root(t.Context(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "first", Consumer, Text("text", "ünümü"), Number("number", -7), Yes("yes", true))
	s.Set(Yes("no", false), Text("broken", "a\xff"), Text("", ""), Number("large", math.MaxInt64), Number("zero", 0))
	s.Name(strings.Repeat("n", 300))
	s.Failed("why")
	s.End(nil)
	_, plain := x.Root(t.Context(), "", "plain", Server)
	plain.End(nil)
	_, faulty := x.Root(t.Context(), "not one", "faulty", Server)
	faulty.End(errors.New("of ann@example.com"))
	spans := ended()
	if len(spans) != 3 {
		t.Fatalf("%v", spans)
	}
	got := spans[0]
	value := func(v string) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}
	}
	number := func(n int64) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
	}
	yes := func(b bool) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: b}}
	}
	want := &tracepb.Span{
		TraceId: got.GetTraceId(), SpanId: got.GetSpanId(), ParentSpanId: []byte{0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 2, 0xb7}, Flags: 0x301,
		Name: strings.Repeat("n", 300), Kind: tracepb.Span_SPAN_KIND_CONSUMER, StartTimeUnixNano: got.GetStartTimeUnixNano(), EndTimeUnixNano: got.GetEndTimeUnixNano(),
		Attributes: []*commonpb.KeyValue{
			{Key: "text", Value: value("ünüm")},
			{Key: "number", Value: number(-7)},
			{Key: "yes", Value: yes(true)},
			{Key: "no", Value: yes(false)},
			{Key: "broken", Value: value("a\uFFFD")},
			{Key: "", Value: value("")},
			{Key: "large", Value: number(math.MaxInt64)},
			{Key: "zero", Value: number(0)},
		},
		Status: &tracepb.Status{Message: "why", Code: tracepb.Status_STATUS_CODE_ERROR},
	}
	if !proto.Equal(got, want) {
		t.Errorf("%v\nwanted is %v", got, want)
	}
	if begun, end := int64(got.GetStartTimeUnixNano()), int64(got.GetEndTimeUnixNano()); begun < before.UnixNano() || end < begun || end > time.Now().UnixNano() {
		t.Errorf("from %d to %d", begun, end)
	}
	for _, s := range spans[1:] {
		if len(s.GetTraceId()) != 16 || len(s.GetSpanId()) != 8 || len(s.GetParentSpanId()) != 0 || s.GetFlags() != 0x101 {
			t.Errorf("%v", s)
		}
	}
	if spans[1].GetStatus() != nil || spans[2].GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || spans[2].GetStatus().GetMessage() != "" {
		t.Errorf("%v %v", spans[1], spans[2])
	}
}

// TestSpansAreSentInBatches: so many go together, the others after a while, and what comes faster than it is sent is dropped.
func TestSpansAreSentInBatches(t *testing.T) {
	m := &memory{hold: make(chan struct{})}
	x, ended := recording(t, m, map[string]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10", "OTEL_BSP_MAX_QUEUE_SIZE": "35"})
	told := func(n int) {
		for range n {
			_, s := x.Root(t.Context(), "", "one", Server)
			s.End(nil)
		}
	}
	told(100)
	close(m.hold)
	if spans := ended(); len(spans) != 35 || !slices.Equal(m.sizes, []int{10, 10, 10, 5}) {
		t.Errorf("%d spans are sent, by %v", len(spans), m.sizes)
	}

	m = &memory{}
	x, _ = recording(t, m, map[string]string{"OTEL_BSP_SCHEDULE_DELAY": "10"})
	told(3)
	for len(func() []*tracepb.Span { m.mu.Lock(); defer m.mu.Unlock(); return m.spans }()) < 3 {
		time.Sleep(time.Millisecond) // until the test's own end
	}
}

// TestSamplers: each says which spans are told of those without, with a sampled, and with an unsampled span of others above them.
func TestSamplers(t *testing.T) {
	const from = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"
	for name, c := range map[string]struct {
		sampler, arg string
		want         [3]bool
	}{
		"the default":           {"", "", [3]bool{true, true, false}},
		"all":                   {"always_on", "", [3]bool{true, true, true}},
		"none":                  {"always_off", "", [3]bool{false, false, false}},
		"a ratio of all":        {"traceidratio", "", [3]bool{true, true, true}},
		"a ratio of none":       {"traceidratio", "0", [3]bool{false, false, false}},
		"as parents, all":       {"parentbased_always_on", "", [3]bool{true, true, false}},
		"as parents, none":      {"Parentbased_always_off", "", [3]bool{false, true, false}},
		"as parents, of a rate": {"parentbased_traceidratio", "0.0", [3]bool{false, true, false}},
	} {
		x, _ := recording(t, &memory{}, map[string]string{"OTEL_TRACES_SAMPLER": c.sampler, "OTEL_TRACES_SAMPLER_ARG": c.arg})
		var got [3]bool
		for i, parent := range []string{"", from + "1", from + "0"} {
			_, s := x.Root(t.Context(), parent, "root", Server)
			got[i] = s.Tells()
		}
		if got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFaultySpanSettings are told by name.
func TestFaultySpanSettings(t *testing.T) {
	for name, values := range map[string][]string{
		"OTEL_TRACES_SAMPLER": {"jaeger_remote", "parentbased"}, "OTEL_TRACES_SAMPLER_ARG": {"2", "-1", "NaN", "x"},
		"OTEL_BSP_SCHEDULE_DELAY": {"0", "-1", "1s"}, "OTEL_BSP_MAX_QUEUE_SIZE": {"0"}, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": {"-2"},
	} {
		for _, value := range values {
			set := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "traceidratio", name: value}
			if _, named, fault := Load(func(name string) string { return set[name] }); named != name || fault == "" {
				t.Errorf("%s=%s: %q %q", name, value, named, fault)
			}
		}
	}
}

// TestNoneAbove: without a root nothing is begun, whether others are told or not.
func TestNoneAbove(t *testing.T) {
	var off *Telemetry
	ctx, span := off.Root(t.Context(), "", "root", Server)
	if span.Tells() || ctx != t.Context() {
		t.Error("what is off tells")
	}
	x, ended := recording(t, &memory{}, nil)
	ctx, span = Begin(t.Context(), "child", Client)
	span.Set(Text("a", "b"))
	span.Name("c")
	span.Failed("d")
	span.Took("e", Client, time.Now(), 0, nil)
	span.End(nil)
	if span.Tells() || ctx != t.Context() || Traceparent(ctx) != "" || TraceID(ctx) != "" {
		t.Error("something is told of nothing")
	}
	_, unsampled := x.Root(t.Context(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "root", Server)
	if unsampled.Tells() {
		t.Error("what the caller has not sampled is told")
	}
	if spans := ended(); len(spans) != 0 {
		t.Errorf("%v", spans)
	}
}

func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	for b.Loop() {
		_, span := Begin(ctx, "child", Client)
		span.End(nil)
	}
}

func BenchmarkOn(b *testing.B) {
	how, _, _ := loadSpans(func(string) string { return "" })
	spans, err := newSender(b.Context(), how, &nobody{}, resource.Empty())
	if err != nil {
		b.Fatal(err)
	}
	living.Add(1)
	x := &Telemetry{spans: spans}
	defer func() { _ = x.Close(context.Background()) }()
	b.ReportAllocs()
	for b.Loop() {
		ctx, span := x.Root(b.Context(), "", "GET", Server, Text("http.request.method", "GET"))
		above := Above(ctx)
		begun := above.Now()
		above.Took("SELECT customers", Client, begun, time.Since(begun), nil, Text("db.system.name", "postgresql"))
		span.Set(Text("http.route", "/tenant/{cid}"), Number("http.response.status_code", 200))
		span.End(nil)
	}
}

// nobody takes what is sent, as it goes over the wire.
type nobody struct{ memory }

func (*nobody) UploadTraces(_ context.Context, sent []*tracepb.ResourceSpans) error {
	_, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: sent})
	return err
}
