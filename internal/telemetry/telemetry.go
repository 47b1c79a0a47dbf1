// Package telemetry sends traces and metrics over OTLP, by the standard's own variables. It is off unless one of these asks for it, and
// costs next to nothing then: whoever could begin a span looks at one number first.
//
// What a span tells is what the code is called, ids of companies and of rows, and what came of it: no names, no addresses, no texts of callers.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	promclient "github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// scope names the instrumentation.
const scope = "canopy"

// endTime is how long the last spans and figures may take to be sent when a process ends.
const endTime = 5 * time.Second

// Settings say what is sent. Where to, with what headers, sampled how and how often is read from the environment, as
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ has it.
type Settings struct {
	Traces, Metrics bool
	// HTTP sends them by http/protobuf, as the standard does by default, otherwise by gRPC.
	TracesHTTP, MetricsHTTP bool
}

// On tells whether anything is sent.
func (s Settings) On() bool { return s.Traces || s.Metrics }

// The variables that switch it on, and how it is sent.
const (
	signalTraces, signalMetrics = "TRACES", "METRICS"
	protocolHTTP, protocolGRPC  = "http/protobuf", "grpc"
)

// Load reads what is asked for. What is sent is what has an address, or whose exporter is said to be otlp.
func Load(getenv func(string) string) (s Settings, name, fault string) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return s, "", ""
	}
	for _, signal := range []string{signalTraces, signalMetrics} {
		on, overHTTP, name, fault := loadSignal(signal, getenv)
		if fault != "" {
			return Settings{}, name, fault
		}
		if signal == signalTraces {
			s.Traces, s.TracesHTTP = on, overHTTP
		} else {
			s.Metrics, s.MetricsHTTP = on, overHTTP
		}
	}
	if s.Traces {
		if _, name, fault := loadSpans(getenv); fault != "" {
			return Settings{}, name, fault
		}
	}
	return s, "", ""
}

func loadSignal(signal string, getenv func(string) string) (on, overHTTP bool, name, fault string) {
	name = "OTEL_" + signal + "_EXPORTER"
	switch exporter := getenv(name); exporter {
	case "none":
		return false, false, "", ""
	case "", "otlp":
		on = exporter != "" || getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
	default:
		return false, false, name, "must be otlp or none"
	}
	name = "OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL"
	protocol := getenv(name)
	if protocol == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
		protocol = getenv(name)
	}
	switch protocol {
	case "", protocolHTTP:
		return on, true, "", ""
	case protocolGRPC:
		return on, false, "", ""
	}
	return false, false, name, "must be " + protocolHTTP + " or " + protocolGRPC
}

// living counts what sends traces in this process.
var living atomic.Int32

// LogTo has what the SDK tells by itself, such as that nobody takes what is sent, written to a log.
func LogTo(log *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces or metrics were not sent", "error", err) }))
}

// Telemetry sends what a process has to tell. A nil one sends nothing.
type Telemetry struct {
	spans   *sender
	metrics *sdkmetric.MeterProvider
}

// Start begins to send; nil where nothing is asked for. gatherer has the metrics that /metrics shows: the same go out. They are those of
// service, such as canopy-serve, in a version.
func Start(ctx context.Context, s Settings, service, version string, gatherer promclient.Gatherer) (*Telemetry, error) {
	if !s.On() {
		return nil, nil
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithProcessPID(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Telemetry{}
	if s.Traces {
		if err := t.startTraces(ctx, s, about); err != nil {
			return nil, err
		}
	}
	if s.Metrics {
		if err := t.startMetrics(ctx, s, about, gatherer); err != nil {
			return nil, errors.Join(err, t.Close(ctx))
		}
	}
	return t, nil
}

func (t *Telemetry) startTraces(ctx context.Context, s Settings, about *resource.Resource) (err error) {
	how, name, fault := loadSpans(os.Getenv)
	if fault != "" {
		return fmt.Errorf("%s %s", name, fault)
	}
	var client otlptrace.Client
	if s.TracesHTTP {
		client = otlptracehttp.NewClient()
	} else {
		client = otlptracegrpc.NewClient()
	}
	if t.spans, err = newSender(ctx, how, client, about); err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	living.Add(1)
	return nil
}

func (t *Telemetry) startMetrics(ctx context.Context, s Settings, about *resource.Resource, gatherer promclient.Gatherer) error {
	var exporter sdkmetric.Exporter
	var err error
	if s.MetricsHTTP {
		exporter, err = otlpmetrichttp.New(ctx)
	} else {
		exporter, err = otlpmetricgrpc.New(ctx)
	}
	if err != nil {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithProducer(prometheus.NewMetricProducer(prometheus.WithGatherer(gatherer))))
	t.metrics = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about))
	return nil
}

// Traces tells whether spans are begun.
func (t *Telemetry) Traces() bool { return t != nil && t.spans != nil }

// Close sends what is left, within some seconds.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	var err error
	if t.spans != nil {
		living.Add(-1)
		err = t.spans.end(ctx)
	}
	if t.metrics != nil {
		err = errors.Join(err, t.metrics.Shutdown(ctx))
	}
	return err
}
