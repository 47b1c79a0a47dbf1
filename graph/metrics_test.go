package graph

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"canopy/resolvers"
)

// TestOperationNamesAreBounded: however many names clients make up, no more than so many are kept, and
// one that is in use stays.
func TestOperationNamesAreBounded(t *testing.T) {
	m := newMetrics(prometheus.NewRegistry())
	for i := range 10 * operationNames {
		m.observe("used", outcomeOK, time.Millisecond)
		m.observe("Made"+strconv.Itoa(i), outcomeError, time.Millisecond)
	}
	if n := testutil.CollectAndCount(m.durations); n != operationNames {
		t.Errorf("%d series are kept, want %d", n, operationNames)
	}
	if !m.names.Contains("used") {
		t.Error("a name that is in use was dropped")
	}
}

// TestNamesOfOperations: what is no name is not kept, and of one without end only the beginning.
func TestNamesOfOperations(t *testing.T) {
	for name, want := range map[string]string{
		"": "unnamed", "no name": "unnamed", "\xff": "unnamed", "Own": "Own", strings.Repeat("A", 100_000): strings.Repeat("A", longestName),
	} {
		m := newMetrics(nil)
		m.observe(operationNameOf(&graphql.OperationContext{OperationName: name}), outcomeOK, time.Millisecond)
		if !m.names.Contains(want) {
			t.Errorf("%.20q is kept as %.200q", name, m.names.Keys())
		}
	}
}

// TestNamesAreLookedAtOnce: what traces have found out of an operation's name, metrics take.
func TestNamesAreLookedAtOnce(t *testing.T) {
	oc := &graphql.OperationContext{OperationName: "Own"}
	first := operationNameOf(oc)
	if oc.OperationName = "Other"; first != "Own" || operationNameOf(oc) != first {
		t.Errorf("%q, and then %q", first, operationNameOf(oc))
	}
}

// TestRefusedDocumentsCount: a document that is refused is an error of the operation that its client names.
func TestRefusedDocumentsCount(t *testing.T) {
	registry := prometheus.NewRegistry()
	door := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Metrics = registry })
	for _, body := range []string{
		`{"query":"query Gone { nothing }","operationName":"Gone"}`, `{"query":"query Gone {","operationName":"Gone"}`, `{"query":"{ nothing }"}`,
	} {
		door.do(t, post(t.Context(), strings.NewReader(body)))
	}
	counted := map[string]uint64{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				counted[l.GetValue()] += m.GetHistogram().GetSampleCount()
			}
		}
	}
	if want := map[string]uint64{"Gone": 2, "unnamed": 1, outcomeError: 3}; !maps.Equal(counted, want) {
		t.Errorf("counted %v, want %v", counted, want)
	}
}
