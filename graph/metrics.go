package graph

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/vektah/gqlparser/v2/ast"
)

// operationNames is how many names of operations are told apart at once: clients choose them, so the
// one that has not been seen for the longest time makes room for another.
const operationNames = 200

// longestName is how much of a name is kept, in bytes: each stands in the metrics more than ten times.
const longestName = 100

// operationName is a name as GraphQL has it. A request may come with any text in its place.
var operationName = regexp.MustCompile(`^[_A-Za-z][_0-9A-Za-z]*$`)

// metrics measures queries and mutations: canopy_graphql_request_duration_seconds by the operation's
// name and by whether its answer holds an error. Subscriptions count among the streams.
type metrics struct {
	durations *prometheus.HistogramVec

	mu    sync.Mutex
	names *simplelru.LRU[string, struct{}]
}

var (
	_ graphql.HandlerExtension    = (*metrics)(nil)
	_ graphql.ResponseInterceptor = (*metrics)(nil)
)

// The values of the label outcome.
const (
	outcomeOK    = "ok"
	outcomeError = "error"
)

// newMetrics registers the metrics of the GraphQL door; a nil registry has none of them kept.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "canopy_graphql_request_duration_seconds", Help: "Time that a query or mutation took, by the operation's name.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"operation", "outcome"})}
	// The error is for a size below 1.
	m.names, _ = simplelru.NewLRU(operationNames, func(name string, _ struct{}) {
		m.durations.DeletePartialMatch(prometheus.Labels{"operation": name})
	})
	if registry != nil {
		registry.MustRegister(m.durations)
	}
	return m
}

func (*metrics) ExtensionName() string                   { return "Metrics" }
func (*metrics) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse measures an answer, from the arrival of its request on.
func (m *metrics) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	response := next(ctx)
	if !graphql.HasOperationContext(ctx) || response == nil {
		return response
	}
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation != nil && oc.Operation.Operation == ast.Subscription {
		return response
	}
	outcome := outcomeOK
	if len(response.Errors) > 0 {
		outcome = outcomeError
	}
	m.observe(operationNameOf(oc), outcome, time.Since(oc.Stats.OperationStart))
	return response
}

// nameExtension is where an operation's name is kept once it was looked at.
const nameExtension = "canopy.operation"

// operationNameOf is how an operation is called where it is told of. Traces and metrics ask for it, once for each event of a subscription.
func operationNameOf(oc *graphql.OperationContext) string {
	if name, is := oc.Stats.GetExtension(nameExtension).(string); is {
		return name
	}
	name := toldName(oc)
	oc.Stats.SetExtension(nameExtension, name)
	return name
}

func toldName(oc *graphql.OperationContext) string {
	name := oc.OperationName // what is known of a document that was refused
	if oc.Operation != nil {
		name = oc.Operation.Name
	}
	name = name[:min(len(name), longestName)]
	if !operationName.MatchString(name) {
		return "unnamed"
	}
	return name
}

func (m *metrics) observe(name, outcome string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names.Add(name, struct{}{})
	m.durations.WithLabelValues(name, outcome).Observe(took.Seconds())
}
