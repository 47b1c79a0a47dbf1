package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// call is one kind of request.
type call struct {
	method, path, contentType, body string
	// open: it is asked without a token.
	open bool
	// vary, where set, gives the path and body of each request instead.
	vary func(n int) (path, body string)
}

// result is what a load showed.
type result struct {
	rate      float64
	p50, p99  time.Duration
	p999      time.Duration
	size      int64
	failures  int
	firstFail string
	// Per request, where the server counts them.
	statements, allocations float64
	// answered are the requests that were measured, sent all that were.
	answered, sent int
	// processor is the time that the server had of the processors meanwhile.
	processor time.Duration
}

// load sends a call over and over on so many connections for a time.
func load(ctx context.Context, c *child, token string, conns int, length time.Duration, what call) result {
	transport := &http.Transport{MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns, DisableCompression: true}
	client := &http.Client{Transport: transport}
	defer transport.CloseIdleConnections()
	warm, cancel := context.WithTimeout(ctx, min(length/5, time.Second))
	warming := drive(warm, client, c.url, token, conns, what)
	cancel()
	s0, a0 := c.counters()
	p0 := busy(c.cmd.Process.Pid)
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	begin := time.Now()
	samples := drive(timed, client, c.url, token, conns, what)
	took := time.Since(begin)
	p1 := busy(c.cmd.Process.Pid)
	s1, a1 := c.counters()
	r := samples.result(took, s1-s0, a1-a0)
	r.answered, r.sent, r.processor = len(samples.times), len(samples.times)+len(warming.times), p1-p0
	return r
}

type samples struct {
	times    []time.Duration
	size     int64
	failures int
	first    string
}

func drive(ctx context.Context, client *http.Client, base, token string, conns int, what call) samples {
	var mu sync.Mutex
	var all samples
	var wg sync.WaitGroup
	var next int
	for range conns {
		wg.Go(func() {
			var own samples
			for ctx.Err() == nil {
				mu.Lock()
				n := next
				next++
				mu.Unlock()
				own.one(ctx, client, base, token, what, n)
			}
			mu.Lock()
			defer mu.Unlock()
			all.times = append(all.times, own.times...)
			all.failures += own.failures
			all.size = max(all.size, own.size)
			if all.first == "" {
				all.first = own.first
			}
		})
	}
	wg.Wait()
	return all
}

func (s *samples) one(ctx context.Context, client *http.Client, base, token string, what call, n int) {
	path, body := what.path, what.body
	if what.vary != nil {
		path, body = what.vary(n)
	}
	req, err := http.NewRequestWithContext(ctx, what.method, base+path, strings.NewReader(body))
	if err != nil {
		s.fail(err.Error())
		return
	}
	if !what.open {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if what.contentType != "" {
		req.Header.Set("Content-Type", what.contentType)
	}
	begin := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			s.fail(err.Error())
		}
		return
	}
	size, err := io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if ctx.Err() != nil {
		return
	}
	if err != nil || resp.StatusCode >= 300 {
		s.fail(fmt.Sprintf("%s %s: %d %v", what.method, path, resp.StatusCode, err))
		return
	}
	s.times = append(s.times, time.Since(begin))
	s.size = max(s.size, size)
}

func (s *samples) fail(why string) {
	s.failures++
	if s.first == "" {
		s.first = why
	}
}

func (s samples) result(took time.Duration, statements, allocations float64) result {
	r := result{size: s.size, failures: s.failures, firstFail: s.first}
	if n := len(s.times); n > 0 {
		slices.Sort(s.times)
		r.rate = float64(n) / took.Seconds()
		r.p50, r.p99, r.p999 = s.times[n/2], s.times[n*99/100], s.times[n*999/1000]
		r.statements, r.allocations = statements/float64(n), allocations/float64(n)
	}
	return r
}
