package app

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// measured is what a process measures, once it is known what that is: what /metrics shows is sent over OTLP, too.
type measured struct {
	mu  sync.Mutex
	all prometheus.Gatherer
}

func (m *measured) set(all prometheus.Gatherer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = all
}

// Gather implements prometheus.Gatherer.
func (m *measured) Gather() ([]*dto.MetricFamily, error) {
	m.mu.Lock()
	all := m.all
	m.mu.Unlock()
	if all == nil {
		return nil, nil
	}
	return all.Gather()
}
