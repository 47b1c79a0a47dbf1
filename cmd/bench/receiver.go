package main

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// arrivals is what the receiver tells of the deliveries on paths with one prefix: their times from
// the event's timestamp to the arrival, and the gaps between the attempts on one event.
type arrivals struct {
	Count       int
	P50, P99    time.Duration
	First, Last time.Time
	Gaps        [2][]time.Duration
}

// tally collects what arrives under one prefix.
type tally struct {
	latencies   []time.Duration
	first, last time.Time
	attempts    map[string][]time.Time
}

// sink receives deliveries: /ok/… answers at once, /hang/… never, /slow/… after 50 s,
// /flaky/… 500 twice, then 200.
type sink struct {
	mu      sync.Mutex
	tallies map[string]*tally
}

func newSink() *sink { return &sink{tallies: map[string]*tally{}} }

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.Method == http.MethodGet {
		s.report(w, strings.TrimPrefix(r.URL.Path, "/report/"))
		return
	}
	var e struct {
		ID        string
		Timestamp time.Time
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &e)
	n := s.count(kind, e.ID, now, now.Sub(e.Timestamp))
	switch {
	case kind == "hang":
		<-r.Context().Done()
	case kind == "slow":
		select {
		case <-r.Context().Done():
		case <-time.After(50 * time.Second):
		}
	case kind == "flaky" && n < 3:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (s *sink) count(kind, id string, now time.Time, latency time.Duration) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tallies[kind]
	if t == nil {
		t = &tally{first: now, attempts: map[string][]time.Time{}}
		s.tallies[kind] = t
	}
	t.last = now
	t.latencies = append(t.latencies, latency)
	if kind == "flaky" {
		t.attempts[id] = append(t.attempts[id], now)
	}
	return len(t.attempts[id])
}

// report tells of a prefix and forgets it.
func (s *sink) report(w http.ResponseWriter, kind string) {
	s.mu.Lock()
	t := s.tallies[kind]
	delete(s.tallies, kind)
	s.mu.Unlock()
	var a arrivals
	if t != nil {
		slices.Sort(t.latencies)
		n := len(t.latencies)
		a = arrivals{Count: n, P50: t.latencies[n/2], P99: t.latencies[n*99/100], First: t.first, Last: t.last}
		for _, times := range t.attempts {
			for i := 0; i < len(a.Gaps) && i+1 < len(times); i++ {
				a.Gaps[i] = append(a.Gaps[i], times[i+1].Sub(times[i]))
			}
		}
	}
	_ = json.NewEncoder(w).Encode(a)
}
