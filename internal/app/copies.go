package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"canopy/search"
)

// copyMetrics tell which engine answers searches by meaning, and of the copies of vectors.
type copyMetrics struct{ engine func() *search.Engine }

var (
	meaningSearches = prometheus.NewDesc("canopy_meaning_searches_total",
		"Searches by meaning, by the engine that answered: process compares all vectors of a context, pgvector finds them by an index.", []string{"engine"}, nil)
	wordSearches = prometheus.NewDesc("canopy_copied_word_searches_total", "Searches by words whose postings were read from the database of vectors.", nil, nil)
	copyContexts = prometheus.NewDesc("canopy_vector_copies", "Contexts whose vectors are copied, when this process last looked.", []string{"state"}, nil)
	copyFaults   = prometheus.NewDesc("canopy_vector_copy_faults_total", "How often this process could not bring a copy of vectors up to date.", nil, nil)
	copyAway     = prometheus.NewDesc("canopy_vector_database_away", "1 while the database of vectors does not answer the searches of this process, which compare all vectors then.", nil, nil)
	copyChunks   = prometheus.NewDesc("canopy_vector_copy_chunks", "Chunks whose vectors are copied, and those that are to be.", []string{"state"}, nil)
)

// Describe implements prometheus.Collector.
func (copyMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- meaningSearches
	to <- wordSearches
	to <- copyContexts
	to <- copyChunks
	to <- copyFaults
	to <- copyAway
}

// Collect implements prometheus.Collector.
func (m copyMetrics) Collect(to chan<- prometheus.Metric) {
	compared, copied := m.engine().Answers()
	to <- prometheus.MustNewConstMetric(meaningSearches, prometheus.CounterValue, float64(compared), "process")
	to <- prometheus.MustNewConstMetric(meaningSearches, prometheus.CounterValue, float64(copied), "pgvector")
	to <- prometheus.MustNewConstMetric(wordSearches, prometheus.CounterValue, float64(m.engine().AnsweredWords()))
	now := m.engine().CopyProgress()
	to <- prometheus.MustNewConstMetric(copyContexts, prometheus.GaugeValue, float64(now.Whole), "whole")
	to <- prometheus.MustNewConstMetric(copyContexts, prometheus.GaugeValue, float64(now.Contexts-now.Whole), "filling")
	to <- prometheus.MustNewConstMetric(copyChunks, prometheus.GaugeValue, float64(now.Chunks), "held")
	to <- prometheus.MustNewConstMetric(copyChunks, prometheus.GaugeValue, float64(now.Wanted-now.Chunks), "missing")
	to <- prometheus.MustNewConstMetric(copyFaults, prometheus.CounterValue, float64(now.Faults))
	away := 0.0
	if now.Away {
		away = 1
	}
	to <- prometheus.MustNewConstMetric(copyAway, prometheus.GaugeValue, away)
}
