package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// The sizes of a burst to many destinations: each event goes to all of manyTargets. The reference has as many connections as one destination
// gets at most.
const (
	spreadEvents = 100
	spreadConns  = 64
)

// spread has clients emit events that go to many destinations each, and times them to the last outcome that is written down. Its reference sends
// requests of that size to the same receiver, and writes nothing down.
func (c *courier) spread(name string) (row, error) {
	ids := make([]int64, manyTargets)
	for i := range ids {
		var err error
		if ids[i], err = c.subscribe("ok", i); err != nil {
			return row{}, err
		}
	}
	best := row{name: name, wanted: "≥ 8000/s"}
	rate := 0.0
	for range 3 {
		r, figure, err := c.spreadOnce()
		if err != nil {
			return row{}, err
		}
		if r > rate {
			rate, best.figure = r, figure
		}
		if _, err := c.db.ExecContext(c.ctx, `TRUNCATE webhook_deliveries, webhook_due`); err != nil {
			return row{}, err
		}
	}
	bare, err := c.bareDeliveries()
	if err != nil {
		return row{}, err
	}
	best.reference, best.ratio = fmt.Sprintf("%.0f/s", bare), fmt.Sprintf("%.2f", rate/bare)
	return best, c.unsubscribe(ids...)
}

// spreadOnce gives how many deliveries a second there were, and that in words with what each cost.
func (c *courier) spreadOnce() (rate float64, figure string, err error) {
	const deliveries = spreadEvents * manyTargets
	wal, err := c.written()
	if err != nil {
		return 0, "", err
	}
	before, err := c.processors()
	if err != nil {
		return 0, "", err
	}
	begin := time.Now()
	if err := c.publish(spreadEvents); err != nil {
		return 0, "", err
	}
	if err := c.settle("", time.Minute); err != nil {
		return 0, "", err
	}
	rate = deliveries / time.Since(begin).Seconds()
	after, err := c.processors()
	if err != nil {
		return 0, "", err
	}
	end, err := c.written()
	if err != nil {
		return 0, "", err
	}
	a, err := c.report("ok")
	if err == nil && a.Count != deliveries {
		err = fmt.Errorf("the receiver got %d of %d deliveries", a.Count, deliveries)
	}
	return rate, fmt.Sprintf("%.0f/s, %d bytes of WAL each; processor of each: %s", rate, (end-wal)/deliveries, after.less(before).each(deliveries)), err
}

// bareDeliveries is how many requests a second the receiver answers to one who does nothing but send them.
func (c *courier) bareDeliveries() (float64, error) {
	transport := trusting.Transport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = spreadConns, spreadConns
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(c.ctx, c.o.load)
	defer cancel()
	begin := time.Now()
	sent := drive(ctx, &http.Client{Transport: transport}, c.sink.url, "", spreadConns, call{
		method: http.MethodPost, path: "/bare/0", open: true, contentType: "application/json",
		body: `{"id":"evt_0","version":"v1","type":"agent.created","event_category":"agent","timestamp":"2026-01-01T00:00:00Z","data":{"agentId":1,"name":"x"}}`,
	})
	took := time.Since(begin)
	if sent.failures > 0 {
		return 0, fmt.Errorf("%d requests to the receiver failed, the first: %s", sent.failures, sent.first)
	}
	_, err := c.report("bare")
	return float64(len(sent.times)) / took.Seconds(), err
}
