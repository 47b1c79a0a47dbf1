package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/lib/pq" // the outbox is filled directly

	canopy "canopy/clients/go"
	"canopy/internal/access"
)

// The figures of webhook deliveries: one API, one worker and the receiver, each a process.
const (
	burstSize   = 3000
	paceLength  = 10 * time.Second
	manyTargets = 100
	hanging     = 5
	publishers  = 32
)

// courier measures deliveries.
type courier struct {
	*bencher
	server *child
	api    *canopy.Client
	db     *sql.DB
	sink   *child
	worker *child
}

// withCourier runs an API, a worker and a receiver that it may deliver to.
func (b *bencher) withCourier(do func(*courier) error) (err error) {
	file := b.lab.dir + "/receiver.pem"
	c := &courier{bencher: b}
	if c.sink, err = b.lab.start("https://{address}/report/", nil, b.lab.self, "-sink", "{address}", "-certificate", file); err != nil {
		return err
	}
	defer func() { _ = c.sink.stop() }()
	b.lab.env = append(b.lab.env, "CANOPY_WEBHOOK_ALLOW=127.0.0.0/8", "CANOPY_WEBHOOK_CA="+file)
	// The API that checks destinations has to allow the loopback address, too.
	api, err := b.lab.start(healthz, []string{"CANOPY_TRUSTED_PROXIES=127.0.0.0/8"}, b.lab.binary, "serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.stop()) }()
	c.server, c.api = api, b.as(access.Builder, api)
	if c.worker, err = b.lab.worker(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.worker.stop()) }()
	if c.db, err = sql.Open("postgres", b.lab.postgres.URL()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.db.Close()) }()
	return do(c)
}

// deliveries measures the worker.
func (b *bencher) deliveries() (rows []row, err error) {
	err = b.withCourier(func(c *courier) error {
		for _, f := range []struct {
			name    string
			measure func(name string) (row, error)
		}{
			{"deliveries: burst of 3,000 to one receiver", c.burst},
			{fmt.Sprintf("deliveries: burst of %d events to %d destinations", spreadEvents, manyTargets), c.spread},
			{fmt.Sprintf("deliveries: 3,000 events of %d clients, published and delivered", publishers), c.published},
			{"deliveries: 30 events/s, commit to receiver", c.paced(30)},
			{"deliveries: 200 events/s, commit to receiver", c.paced(200)},
			{fmt.Sprintf("deliveries: 200 events/s, %d runs", repeats), c.steady},
			{"deliveries: gaps between attempts", c.gaps},
			{"deliveries: 100 destinations, 5 of them hang", c.many},
			{"deliveries: beside a backlog of 1,000,000", c.backlog},
		} {
			if !strings.Contains(f.name, b.o.only) {
				continue
			}
			r, err := f.measure(f.name)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

// subscribe makes a destination and gives its id.
func (c *courier) subscribe(kind string, n int) (int64, error) {
	var made struct{ ID int64 }
	err := c.api.Call(c.ctx, "POST", "/v1/outbound-webhooks/destinations", map[string]any{"url": fmt.Sprintf("%s/%s/%d", c.sink.url, kind, n)}, &made)
	return made.ID, err
}

func (c *courier) unsubscribe(ids ...int64) error {
	for _, id := range ids {
		if err := c.api.Call(c.ctx, "DELETE", fmt.Sprintf("/v1/outbound-webhooks/destinations/%d", id), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// event has one event emitted: agent.created.
func (c *courier) event() error {
	return c.api.GraphQL(c.ctx, `mutation { createAgent(input: {name: "x"}) { agent { databaseId } } }`, nil, nil)
}

func (c *courier) report(kind string) (a arrivals, err error) {
	resp, err := trusting.Get(c.sink.url + "/report/" + kind) // loopback
	if err != nil {
		return a, err
	}
	defer func() { _ = resp.Body.Close() }()
	return a, json.NewDecoder(resp.Body).Decode(&a)
}

// pending counts the deliveries that are not done.
func (c *courier) pending(where string) (n int, err error) {
	err = c.db.QueryRowContext(c.ctx, `SELECT count(*) FROM webhook_due`+where).Scan(&n)
	return n, err
}

// settle waits until no delivery is pending.
func (c *courier) settle(where string, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		n, err := c.pending(where)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d deliveries are still pending after %v", n, limit)
		}
	}
}

// lost fills the log with failed deliveries to a destination, which recover sends all at once.
func (c *courier) lost(id int64, n int) error {
	_, err := c.db.ExecContext(c.ctx, `
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, lost, completed_at)
		SELECT customer_id, id, 'evt_' || g, 'agent.created', convert_to(format(
			'{"id":"evt_%s","version":"v1","type":"agent.created","event_category":"agent","timestamp":"%s","data":{"agentId":1,"name":"x"}}',
			g, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 'UTF8'), 'failed', true, now()
		FROM webhook_destinations, generate_series(1, $2) g WHERE id = $1`, id, n)
	return err
}

// written is how many bytes of WAL PostgreSQL has written.
func (c *courier) written() (n int64, err error) {
	err = c.db.QueryRowContext(c.ctx, `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn`).Scan(&n)
	return n, err
}

// burst has 3,000 deliveries begin at once, and times them to the last outcome that is written down.
func (c *courier) burst(name string) (row, error) {
	id, err := c.subscribe("ok", 0)
	if err != nil {
		return row{}, err
	}
	best, wal := 0.0, int64(math.MaxInt64)
	for range 3 {
		if err := c.lost(id, burstSize); err != nil {
			return row{}, err
		}
		before, err := c.written()
		if err != nil {
			return row{}, err
		}
		begin := time.Now()
		if err := c.api.Call(c.ctx, "POST", fmt.Sprintf("/v1/outbound-webhooks/destinations/%d/recover", id), map[string]any{"since": begin.Add(-time.Hour)}, nil); err != nil {
			return row{}, err
		}
		if err := c.settle("", time.Minute); err != nil {
			return row{}, err
		}
		took := time.Since(begin)
		best = max(best, burstSize/took.Seconds())
		after, err := c.written()
		if err != nil {
			return row{}, err
		}
		wal = min(wal, (after-before)/burstSize)
		a, err := c.report("ok")
		if err != nil {
			return row{}, err
		}
		if a.Count != burstSize {
			return row{}, fmt.Errorf("the receiver got %d of %d deliveries", a.Count, burstSize)
		}
		if _, err := c.db.ExecContext(c.ctx, `TRUNCATE webhook_deliveries, webhook_due`); err != nil {
			return row{}, err
		}
	}
	return row{name: name, figure: fmt.Sprintf("%.0f/s, %d bytes of WAL each", best, wal), wanted: "≥ 2500/s"}, c.unsubscribe(id)
}

// publish has clients emit so many events side by side.
func (c *courier) publish(events int64) error {
	var left atomic.Int64
	left.Store(events)
	results := make(chan error, publishers)
	for range publishers {
		go func() {
			var err error
			for err == nil && left.Add(-1) >= 0 {
				err = c.event()
			}
			results <- err
		}()
	}
	var all error
	for range publishers {
		all = errors.Join(all, <-results)
	}
	return all
}

// published has clients emit 3,000 events side by side, and times them to the last outcome that is written down.
func (c *courier) published(name string) (row, error) {
	id, err := c.subscribe("ok", 0)
	if err != nil {
		return row{}, err
	}
	before, err := c.processors()
	if err != nil {
		return row{}, err
	}
	begin := time.Now()
	all := c.publish(burstSize)
	accepted := time.Since(begin)
	if err := errors.Join(all, c.settle("", time.Minute)); err != nil {
		return row{}, err
	}
	took := time.Since(begin)
	after, err := c.processors()
	if err != nil {
		return row{}, err
	}
	a, err := c.report("ok")
	if err == nil && a.Count != burstSize {
		err = fmt.Errorf("the receiver got %d of %d deliveries", a.Count, burstSize)
	}
	return row{
		name:   name,
		figure: fmt.Sprintf("%.0f/s (accepted: %.0f/s); processor of each: %s", burstSize/took.Seconds(), burstSize/accepted.Seconds(), after.less(before).each(burstSize)),
		wanted: "≥ 2500/s",
	}, errors.Join(err, c.unsubscribe(id))
}

// paced has events emitted at a steady rate.
func (c *courier) paced(rate int) func(string) (row, error) {
	return func(name string) (row, error) {
		a, err := c.pace(rate, paceLength)
		return row{
			name:   name,
			figure: fmt.Sprintf("p50 %s, p99 %s (%d)", ms(a.P50), ms(a.P99), a.Count), wanted: "p50 < 20 ms, p99 < 60 ms",
		}, err
	}
}

// pace has events emitted at a rate for a time, to a destination of their own.
func (c *courier) pace(rate int, length time.Duration) (arrivals, error) {
	id, err := c.subscribe("ok", 0)
	if err != nil {
		return arrivals{}, err
	}
	if err := c.emit(rate, length); err != nil {
		return arrivals{}, err
	}
	if err := c.settle("", 10*time.Second); err != nil {
		return arrivals{}, err
	}
	a, err := c.report("ok")
	return a, errors.Join(err, c.unsubscribe(id))
}

// emit has events emitted at a rate for a time, whatever the answers take.
func (c *courier) emit(rate int, length time.Duration) error {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	results := make(chan error, rate*int(length/time.Second)+1)
	sent := 0
	for end := time.Now().Add(length); time.Now().Before(end); sent++ {
		<-tick.C
		go func() { results <- c.event() }()
	}
	var all error
	for range sent {
		all = errors.Join(all, <-results)
	}
	return all
}

// gaps measures the waits between attempts, at a receiver that fails twice.
func (c *courier) gaps(name string) (row, error) {
	id, err := c.subscribe("flaky", 0)
	if err != nil {
		return row{}, err
	}
	if err := c.emit(20, 5*time.Second); err != nil {
		return row{}, err
	}
	if err := c.settle("", 20*time.Second); err != nil {
		return row{}, err
	}
	a, err := c.report("flaky")
	var parts []string
	for _, g := range a.Gaps {
		if len(g) > 0 {
			parts = append(parts, fmt.Sprintf("%s to %s", ms(slices.Min(g)), ms(slices.Max(g))))
		}
	}
	return row{name: name, figure: strings.Join(parts, ", "), wanted: "0.5 s ± 20%, 2 s ± 20%"}, errors.Join(err, c.unsubscribe(id))
}

// many has events go to 100 destinations, of which 5 hang.
func (c *courier) many(name string) (row, error) {
	ids := make([]int64, manyTargets)
	for i := range ids {
		kind := "ok"
		if i%(manyTargets/hanging) == 0 {
			kind = "hang"
		}
		var err error
		if ids[i], err = c.subscribe(kind, i); err != nil {
			return row{}, err
		}
	}
	if err := c.emit(2, 3*time.Second); err != nil { // connections are made, lanes begin to hang
		return row{}, err
	}
	if _, err := c.report("ok"); err != nil {
		return row{}, err
	}
	if err := c.emit(3, paceLength); err != nil {
		return row{}, err
	}
	if err := c.settle(" WHERE destination_id IN (SELECT id FROM webhook_destinations WHERE url LIKE '%/ok/%')", 10*time.Second); err != nil {
		return row{}, err
	}
	a, err := c.report("ok")
	if err == nil {
		err = c.unsubscribe(ids...)
	}
	return row{
		name:   name,
		figure: fmt.Sprintf("p50 %s, p99 %s (%d)", ms(a.P50), ms(a.P99), a.Count), wanted: "p99 < 150 ms",
	}, errors.Join(err, c.settle("", time.Minute))
}

// backlog times the relay's look at a million pending deliveries, and a delivery beside them.
func (c *courier) backlog(name string) (row, error) {
	id, err := c.subscribe("hang", 0)
	if err != nil {
		return row{}, err
	}
	if err := c.lost(id, 1_000_000); err != nil {
		return row{}, err
	}
	if _, err := c.db.ExecContext(c.ctx, `
		WITH back AS (UPDATE webhook_deliveries SET status = 'pending', lost = false, completed_at = NULL WHERE destination_id = $1 RETURNING id, destination_id, created_at)
		INSERT INTO webhook_due (destination_id, next_attempt_at, delivery_id) SELECT destination_id, created_at, id FROM back`, id); err != nil {
		return row{}, err
	}
	if _, err := c.db.ExecContext(c.ctx, `VACUUM ANALYZE webhook_deliveries, webhook_due`); err != nil {
		return row{}, err
	}
	before := c.worker.rss()
	ok, err := c.subscribe("ok", 0)
	if err != nil {
		return row{}, err
	}
	if err := c.emit(20, paceLength); err != nil {
		return row{}, err
	}
	if err := c.settle(fmt.Sprintf(" WHERE destination_id = %d", ok), 10*time.Second); err != nil {
		return row{}, err
	}
	a, err := c.report("ok")
	if err != nil {
		return row{}, err
	}
	more := c.worker.rss() - before
	_, err = c.db.ExecContext(c.ctx, `TRUNCATE webhook_deliveries, webhook_due`)
	return row{
		name:   name,
		figure: fmt.Sprintf("p50 %s, p99 %s, %s more memory", ms(a.P50), ms(a.P99), mib(more)), wanted: "as without",
	}, errors.Join(err, c.unsubscribe(id, ok))
}
