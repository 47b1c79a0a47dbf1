package top

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// metricsTime is how long /metrics may take.
	metricsTime = 5 * time.Second
	// mostMetrics is how much of it is read, in bytes.
	mostMetrics = 32 << 20
)

// Operation is what callers do, by the name that they gave it, or by its route.
type Operation struct {
	Name string `json:"name"`
	// Count is how many there were, PerSecond how often in a second.
	Count     uint64  `json:"count"`
	PerSecond float64 `json:"perSecond"`
	// Mean and P95 are how long one took, in seconds; P95 is the edge of a bucket. Share is how much of all time that was spent they took.
	Mean  float64 `json:"mean"`
	P95   float64 `json:"p95"`
	Share float64 `json:"share"`
}

// histogram is what was counted of one operation since its process has begun.
type histogram struct {
	count   uint64
	sum     float64
	buckets map[float64]uint64
}

// graphql is the route whose operations are told by name.
const graphql = "/graphql"

// slow looks at the operations of the process that answers /metrics.
func (w *Watcher) slow(ctx context.Context, look *Look) error {
	now, began, err := w.scrape(ctx)
	if err != nil {
		return err
	}
	seconds := look.At.Sub(began).Seconds()
	if w.before != nil && w.metrics != nil {
		seconds = look.At.Sub(w.before.At).Seconds()
	}
	var all float64
	for name, h := range now {
		since := h.since(w.metrics[name])
		if since.count == 0 {
			continue
		}
		all += since.sum
		look.Slow = append(look.Slow, Operation{
			Name: name, Count: since.count, PerSecond: float64(since.count) / max(seconds, 1), Mean: since.sum / float64(since.count), P95: since.quantile(.95), Share: since.sum,
		})
	}
	w.metrics = now
	slices.SortFunc(look.Slow, func(a, b Operation) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name)) })
	look.Slow = look.Slow[:min(len(look.Slow), w.First)]
	for i := range look.Slow {
		look.Slow[i].Share /= max(all, math.SmallestNonzeroFloat64)
	}
	return nil
}

// scrape reads what the process has counted, and when it has begun.
func (w *Watcher) scrape(ctx context.Context) (all map[string]histogram, began time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, metricsTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Client.URL+"/metrics", nil)
	if err != nil {
		return nil, began, err
	}
	if w.User != "" {
		req.SetBasicAuth(w.User, w.Password)
	}
	caller := w.Client.HTTP
	if caller == nil {
		caller = http.DefaultClient
	}
	resp, err := caller.Do(req)
	if err != nil {
		return nil, began, fmt.Errorf("slow operations are not seen: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, began, errClosed(resp.StatusCode)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(resp.Body, mostMetrics))
	if err != nil {
		return nil, began, fmt.Errorf("slow operations are not seen: /metrics: %w", err)
	}
	all = map[string]histogram{}
	gather(all, families["canopy_graphql_request_duration_seconds"], func(labels map[string]string) string { return labels["operation"] })
	gather(all, families["http_request_duration_seconds"], func(labels map[string]string) string {
		if labels["route"] == graphql {
			return ""
		}
		return labels["method"] + " " + labels["route"]
	})
	return all, start(families["process_start_time_seconds"]), nil
}

// gather adds the histograms of a family, under a name each; those without one are left out.
func gather(all map[string]histogram, family *dto.MetricFamily, name func(map[string]string) string) {
	for _, m := range family.GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		key := name(labels)
		if key == "" {
			continue
		}
		h, known := all[key]
		if !known {
			h.buckets = map[float64]uint64{}
		}
		h.count += m.GetHistogram().GetSampleCount()
		h.sum += m.GetHistogram().GetSampleSum()
		for _, b := range m.GetHistogram().GetBucket() {
			h.buckets[b.GetUpperBound()] += b.GetCumulativeCount()
		}
		all[key] = h
	}
}

func start(family *dto.MetricFamily) time.Time {
	for _, m := range family.GetMetric() {
		return time.UnixMilli(int64(m.GetGauge().GetValue() * 1000))
	}
	return time.Now()
}

// since is what came after another look; a process that has begun anew since has done all of it.
func (h histogram) since(before histogram) histogram {
	if h.count < before.count {
		return h
	}
	out := histogram{count: h.count - before.count, sum: h.sum - before.sum, buckets: map[float64]uint64{}}
	for edge, n := range h.buckets {
		out.buckets[edge] = n - before.buckets[edge]
	}
	return out
}

// quantile is the edge below which that share lies; the highest edge for what lies beyond all.
func (h histogram) quantile(q float64) float64 {
	edges := []float64{}
	for edge := range h.buckets {
		if !math.IsInf(edge, 0) {
			edges = append(edges, edge)
		}
	}
	slices.Sort(edges)
	for _, edge := range edges {
		if float64(h.buckets[edge]) >= q*float64(h.count) {
			return edge
		}
	}
	if len(edges) == 0 {
		return 0
	}
	return edges[len(edges)-1]
}
