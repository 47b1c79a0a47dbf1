package telemetry

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// collector takes what is sent over OTLP, by gRPC or by HTTP.
type collector struct {
	tracev1.UnimplementedTraceServiceServer
	url string
	// http tells what it speaks.
	http bool

	mu       sync.Mutex
	spans    []*tracepb.Span
	metrics  map[string]bool
	services map[string]bool
	headers  []http.Header
}

// overGRPC starts one that speaks gRPC.
func overGRPC(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]bool{}, services: map[string]bool{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	tracev1.RegisterTraceServiceServer(server, c)
	metricsv1.RegisterMetricsServiceServer(server, metricsHalf{c: c})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	c.url = "http://" + l.Addr().String()
	return c
}

// overHTTP starts one that speaks http/protobuf.
func overHTTP(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]bool{}, services: map[string]bool{}}
	c.http = true
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	raw, err := io.ReadAll(body)
	var answer proto.Message
	switch {
	case err != nil:
	case r.URL.Path == "/v1/traces":
		in := &tracev1.ExportTraceServiceRequest{}
		if err = proto.Unmarshal(raw, in); err == nil {
			answer, err = c.Export(r.Context(), in)
		}
	case r.URL.Path == "/v1/metrics":
		in := &metricsv1.ExportMetricsServiceRequest{}
		if err = proto.Unmarshal(raw, in); err == nil {
			answer, err = metricsHalf{c: c}.Export(r.Context(), in)
		}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not understood", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.headers = append(c.headers, r.Header)
	c.mu.Unlock()
	raw, _ = proto.Marshal(answer)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(raw)
}

// Export takes spans.
func (c *collector) Export(_ context.Context, in *tracev1.ExportTraceServiceRequest) (*tracev1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range in.GetResourceSpans() {
		c.services[text(of.GetResource().GetAttributes(), "service.name")] = true
		for _, in := range of.GetScopeSpans() {
			c.spans = append(c.spans, in.GetSpans()...)
		}
	}
	return &tracev1.ExportTraceServiceResponse{}, nil
}

type metricsHalf struct {
	metricsv1.UnimplementedMetricsServiceServer
	c *collector
}

// Export takes metrics.
func (m metricsHalf) Export(_ context.Context, in *metricsv1.ExportMetricsServiceRequest) (*metricsv1.ExportMetricsServiceResponse, error) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	for _, of := range in.GetResourceMetrics() {
		for _, in := range of.GetScopeMetrics() {
			for _, one := range in.GetMetrics() {
				if _, empty := one.GetData().(*metricspb.Metric_Gauge); !empty || len(one.GetGauge().GetDataPoints()) > 0 {
					m.c.metrics[one.GetName()] = true
				}
			}
		}
	}
	return &metricsv1.ExportMetricsServiceResponse{}, nil
}

// trace gives the spans of the tests' trace that have come so far.
func (c *collector) trace() (list []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == traceID {
			list = append(list, s)
		}
	}
	return list
}

// lacks tells which of these metrics have not come.
func (c *collector) lacks(names ...string) (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if !c.metrics[name] {
			list = append(list, name)
		}
	}
	return list
}

// named are the spans of a name.
func named(spans []*tracepb.Span, name string) (list []*tracepb.Span) {
	for _, s := range spans {
		if s.GetName() == name {
			list = append(list, s)
		}
	}
	return list
}

func text(attributes []*commonpb.KeyValue, key string) string {
	for _, a := range attributes {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

func number(attributes []*commonpb.KeyValue, key string) int64 {
	for _, a := range attributes {
		if a.GetKey() == key {
			return a.GetValue().GetIntValue()
		}
	}
	return 0
}

// names are what spans are called, for a test that fails.
func names(spans []*tracepb.Span) string {
	list := make([]string, len(spans))
	for i, s := range spans {
		list[i] = s.GetName()
	}
	return strings.Join(list, ", ")
}
