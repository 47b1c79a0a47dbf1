package web

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Buckets in seconds: most answers take a few milliseconds, uploads and exports take many seconds.
var durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Metrics measures requests: http_request_duration_seconds by method, route pattern and class of
// the status, and http_requests_in_flight. All labels are bounded: a request that matches no
// route counts under the route "other". Streams (WebSockets and server-sent events) are counted
// in flight, and when they end in http_streams_total by route, but not in the durations.
// It fails where the registerer has metrics of these names already.
func Metrics(reg prometheus.Registerer) (Middleware, error) {
	m := &metrics{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_request_duration_seconds", Help: "Time from a request to the end of its answer.", Buckets: durationBuckets,
		}, []string{"method", "route", "status"}),
		streams: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_streams_total", Help: "WebSockets and event streams that ended.",
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight", Help: "Requests being answered, streams included.",
		}),
	}
	for _, c := range []prometheus.Collector{m.durations, m.streams, m.inFlight} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m.middleware, nil
}

type metrics struct {
	durations *prometheus.HistogramVec
	streams   *prometheus.CounterVec
	inFlight  prometheus.Gauge
}

func (m *metrics) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e, w, r := observe(w, r)
		start := time.Now()
		m.inFlight.Inc()
		defer func() {
			m.inFlight.Dec()
			m.record(e, r, time.Since(start))
		}()
		next.ServeHTTP(w, r)
		e.begin()
	})
}

func (m *metrics) record(e *exchange, r *http.Request, took time.Duration) {
	route := e.route(r)
	if route == "" {
		route = "other"
	}
	if e.streams() {
		m.streams.WithLabelValues(route).Inc()
		return
	}
	m.durations.WithLabelValues(methodName(r.Method), route, statusClass(e.noted(r))).Observe(took.Seconds())
}

// statusClass is the first digit of a status; an answer that was cut off before its status has
// none.
func statusClass(status int) string {
	switch status / 100 {
	case 1:
		return "1xx"
	case 2:
		return "2xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	case 5:
		return "5xx"
	}
	return "aborted"
}
