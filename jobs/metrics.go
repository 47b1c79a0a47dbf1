package jobs

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"

	"canopy/db"
)

// Metrics counts what the workers of this process do. A nil Metrics counts nothing.
type Metrics struct {
	attempts *prometheus.CounterVec
	duration prometheus.Histogram
	latency  prometheus.Histogram
	outcomes map[work]*prometheus.CounterVec
}

// work is what is counted by what came of it.
type work int

const (
	ofMails work = iota
	ofDocuments
	ofRuns
)

// What comes of an attempt on a mail or a document, and of taking up a run: the values of the label outcome.
const (
	mailSent, mailLate, mailFailed              = "sent", "late", "failed"
	documentReady, documentLate, documentFailed = "ready", "late", "failed"
	documentKept                                = "kept"
	runFinished, runReleased, runFailed         = "finished", "released", "failed"
)

// NewMetrics registers the workers' metrics.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "canopy_webhook_attempts_total", Help: "Attempts on deliveries, by what came of them.",
		}, []string{"outcome"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "canopy_webhook_attempt_duration_seconds", Help: "Time that an attempt took.",
			Buckets: []float64{.002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5},
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "canopy_webhook_delivery_latency_seconds", Help: "Time from the commit of an event to the end of its delivery.",
			Buckets: []float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300, 3600},
		}),
		outcomes: map[work]*prometheus.CounterVec{
			ofMails:     outcomes("canopy_mails_total", "Attempts on mails, by what came of them.", mailSent, mailLate, mailFailed),
			ofDocuments: outcomes("canopy_documents_total", "Attempts on documents, by what came of them.", documentReady, documentLate, documentFailed, documentKept),
			ofRuns:      outcomes("canopy_runs_total", "Runs that were taken up, by what came of them.", runFinished, runReleased, runFailed),
		},
	}
	for _, c := range []prometheus.Collector{m.attempts, m.duration, m.latency, m.outcomes[ofMails], m.outcomes[ofDocuments], m.outcomes[ofRuns]} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// outcomes is a counter by outcome, in which each is there from the start: an alert sees the first of its kind.
func outcomes(name, help string, values ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"outcome"})
	for _, v := range values {
		c.WithLabelValues(v)
	}
	return c
}

// count counts what came of a piece of work.
func (m *Metrics) count(of work, outcome string) {
	if m != nil {
		m.outcomes[of].WithLabelValues(outcome).Inc()
	}
}

// attempted counts an attempt: how long it took, and how old its delivery is.
func (m *Metrics) attempted(o db.Outcome, took, age time.Duration) {
	if m == nil {
		return
	}
	outcome := o.Status
	if outcome == db.DeliveryPending {
		outcome = "retry"
	}
	m.attempts.WithLabelValues(outcome).Inc()
	m.duration.Observe(took.Seconds())
	if o.Status == db.DeliveryDelivered {
		m.latency.Observe(age.Seconds())
	}
}

// backlogTimeout bounds what a scrape asks of the database and of Redis.
const backlogTimeout = 2 * time.Second

// Backlogs tells, at each scrape, what waits in the outboxes and in the queues of the whole
// platform.
type Backlogs struct {
	Store     *db.Store
	Inspector *asynq.Inspector
}

var (
	descOutboxRows = prometheus.NewDesc("canopy_outbox_due_rows", "Rows of an outbox that are due.", []string{"outbox"}, nil)
	descOutboxLag  = prometheus.NewDesc("canopy_outbox_lag_seconds", "How long the oldest due row of an outbox has been due.", []string{"outbox"}, nil)
	descQueue      = prometheus.NewDesc("canopy_queue_tasks", "Tasks in the queues, by state.", []string{"queue", "state"}, nil)
	descProcessed  = prometheus.NewDesc("canopy_queue_processed_total", "Tasks that were processed, failed ones included.", []string{"queue"}, nil)
	descFailed     = prometheus.NewDesc("canopy_queue_failed_total", "Tasks that failed.", []string{"queue"}, nil)
	descQueueWait  = prometheus.NewDesc("canopy_queue_latency_seconds", "How long the oldest task of a queue has been waiting.", []string{"queue"}, nil)
)

// Describe implements prometheus.Collector.
func (b *Backlogs) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descOutboxRows, descOutboxLag, descQueue, descProcessed, descFailed, descQueueWait} {
		out <- d
	}
}

// Collect implements prometheus.Collector. What can't be asked at the moment is left out.
func (b *Backlogs) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	for outbox, ask := range map[string]func(context.Context) (db.Backlog, error){
		"webhooks": b.Store.DeliveryBacklog, "runs": b.Store.RunBacklog, "mails": b.Store.MailBacklog, "documents": b.Store.DocumentBacklog,
		"exports": b.Store.ExportBacklog, "imports": b.Store.ImportBacklog, "cells": b.Store.EventsBacklog,
	} {
		backlog, err := ask(ctx)
		if err != nil {
			continue
		}
		out <- prometheus.MustNewConstMetric(descOutboxRows, prometheus.GaugeValue, float64(backlog.Count), outbox)
		out <- prometheus.MustNewConstMetric(descOutboxLag, prometheus.GaugeValue, max(backlog.Lag, 0), outbox)
	}
	if b.Inspector != nil {
		b.collectQueues(out)
	}
}

func (b *Backlogs) collectQueues(out chan<- prometheus.Metric) {
	queues, err := b.Inspector.Queues()
	if err != nil {
		return
	}
	for _, name := range queues {
		q, err := b.Inspector.GetQueueInfo(name)
		if err != nil {
			continue
		}
		for state, n := range map[string]int{
			"pending": q.Pending, "active": q.Active, "scheduled": q.Scheduled, "retry": q.Retry, "archived": q.Archived, "completed": q.Completed,
		} {
			out <- prometheus.MustNewConstMetric(descQueue, prometheus.GaugeValue, float64(n), name, state)
		}
		out <- prometheus.MustNewConstMetric(descProcessed, prometheus.CounterValue, float64(q.ProcessedTotal), name)
		out <- prometheus.MustNewConstMetric(descFailed, prometheus.CounterValue, float64(q.FailedTotal), name)
		out <- prometheus.MustNewConstMetric(descQueueWait, prometheus.GaugeValue, q.Latency.Seconds(), name)
	}
}
