package graph

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
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

func TestUnnamedOperations(t *testing.T) {
	m := newMetrics(nil)
	m.observe("", outcomeOK, time.Millisecond)
	if !m.names.Contains("unnamed") {
		t.Errorf("kept as %v", m.names.Keys())
	}
}
