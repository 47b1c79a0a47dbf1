package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"canopy/db"
)

// replicaMetrics tells of each replica that answers reads.
type replicaMetrics struct{ store *db.Store }

var (
	replicaUsed       = prometheus.NewDesc("canopy_replica_used", "1 while a replica answers reads, 0 while it is left out.", []string{"replica"}, nil)
	replicaBehind     = prometheus.NewDesc("canopy_replica_behind_bytes", "What a replica had yet to replay of the log when it was last looked at.", []string{"replica"}, nil)
	replicaStatements = prometheus.NewDesc("canopy_replica_statements_total", "SQL statements that a replica has answered.", []string{"replica"}, nil)
)

// Describe implements prometheus.Collector.
func (replicaMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- replicaUsed
	to <- replicaBehind
	to <- replicaStatements
}

// Collect implements prometheus.Collector.
func (m replicaMetrics) Collect(to chan<- prometheus.Metric) {
	for _, r := range m.store.Replicas() {
		used := 0.0
		if r.Used {
			used = 1
		}
		to <- prometheus.MustNewConstMetric(replicaUsed, prometheus.GaugeValue, used, r.Name)
		to <- prometheus.MustNewConstMetric(replicaBehind, prometheus.GaugeValue, float64(r.Behind), r.Name)
		to <- prometheus.MustNewConstMetric(replicaStatements, prometheus.CounterValue, float64(r.Statements), r.Name)
	}
}
