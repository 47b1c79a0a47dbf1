package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	canopy "canopy/clients/go"
	"canopy/internal/access"
	"canopy/internal/secret"
)

// What a hostile company does, and how often the quiet one is measured beside it.
const (
	longRuns       = 120
	pendingSmall   = 350
	largeDocument  = 40 << 20
	slowReaders    = 50
	slowPace       = 10_000 // bytes a second
	hangingTargets = 300
	bogusLogins    = 200
	networks       = 20
	samplesQuick   = 100
	samplesSlow    = 20
)

// feud is a hostile company beside the root company, which is a company like others.
type feud struct {
	*courier
	key canopy.Key
}

// hostile measures what one company feels of another that wants everything.
func (b *bencher) hostile() (rows []row, err error) {
	err = b.withCourier(func(c *courier) error {
		f := &feud{courier: c}
		if err := f.found(); err != nil {
			return err
		}
		for _, measure := range []func() (row, error){f.logins, f.lists, f.pending, f.large, f.runs, f.deliveries} {
			r, err := measure()
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

// found makes the hostile company.
func (f *feud) found() error {
	var made struct{ ID int64 }
	const email = "hostile@example.com"
	err := f.as(access.Tenant, f.server).Call(f.ctx, http.MethodPost, "/tenant/customer", map[string]any{
		"parentId": 1, "name": "Hostile", "regionId": 1, "email": email,
	}, &made)
	if err != nil {
		return err
	}
	out, err := f.lab.canopy(f.ctx, "key", "create", "--company", fmt.Sprint(made.ID), "--email", email)
	f.key = canopy.PrintedKey(out)
	return err
}

// its is a client of the hostile company.
func (f *feud) its(app access.App) *canopy.Client {
	return &canopy.Client{URL: f.server.url, Key: f.key, App: app.String()}
}

// timed takes the times of so many calls, one after the other.
func timed(n int, do func(i int) error) ([]time.Duration, error) {
	var times []time.Duration
	for i := range n {
		begin := time.Now()
		if err := do(i); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	return times, nil
}

func beside(name, wanted string, times []time.Duration, err error) (row, error) {
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", name, err)
	}
	n := len(times)
	return row{
		name: "hostile company: " + name, wanted: wanted,
		figure: fmt.Sprintf("p50 %s, p99 %s (%d)", ms(times[n/2]), ms(times[n*99/100]), n),
	}, nil
}

// agent makes an agent and publishes it.
func agent(ctx context.Context, c *canopy.Client, diagram string) (id int64, err error) {
	var made struct {
		CreateAgent struct{ Agent struct{ DatabaseID int64 } }
	}
	err = c.GraphQL(ctx, `mutation($d: JSON!) { createAgent(input: {name: "x", diagram: $d}) { agent { databaseId } } }`,
		map[string]any{"d": json.RawMessage(diagram)}, &made)
	if err != nil {
		return 0, err
	}
	id = made.CreateAgent.Agent.DatabaseID
	return id, c.GraphQL(ctx, `mutation($id: ID!) { publishAgent(input: {id: $id}) { agent { id } } }`, map[string]any{"id": fmt.Sprint(id)}, nil)
}

func start(ctx context.Context, c *canopy.Client, agent int64) (key string, err error) {
	var made struct{ JobKey string }
	err = c.Call(ctx, http.MethodPost, fmt.Sprintf("/CognitiveDiagram/%d/ExecuteAsJob", agent), map[string]any{}, &made)
	return made.JobKey, err
}

// runs has runs under way whose step hangs, and times a run of one step.
func (f *feud) runs() (row, error) {
	its := f.its(access.Builder)
	long, err := agent(f.ctx, its, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","method":"POST","url":"%s/slow/1","body":{}}],"output":{}}`, f.sink.url))
	if err != nil {
		return row{}, err
	}
	quick, err := agent(f.ctx, f.api, `{"steps":[{"id":"a","type":"set","values":{"n":1}}],"output":{"n":"{{ steps.a.n }}"}}`)
	if err != nil {
		return row{}, err
	}
	for range longRuns {
		if _, err := start(f.ctx, its, long); err != nil {
			return row{}, err
		}
	}
	time.Sleep(2 * time.Second) // the first ones are under way
	times, err := timed(samplesQuick, func(int) error {
		key, err := start(f.ctx, f.api, quick)
		for err == nil {
			var got struct{ Status string }
			if err = f.api.Call(f.ctx, http.MethodGet, "/job/"+key, nil, &got); got.Status == "finished" {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		return err
	})
	return beside(fmt.Sprintf("a one-step run beside %d of 50 s", longRuns), "p99 < 300 ms", times, err)
}

// line uploads a line and waits until it is ready.
func (f *feud) line(d *desk, contextID int64, text string) error {
	if err := d.upload(contextID, "line.txt", []byte(text)); err != nil {
		return err
	}
	_, err := d.settle(contextID)
	return err
}

func (f *feud) desks() (its, quiet *desk, busy, line int64, err error) {
	its, quiet = &desk{f.its(access.Assistant), f.ctx}, &desk{f.as(access.Assistant, f.server), f.ctx}
	if busy, err = its.newContext("busy"); err == nil {
		line, err = quiet.newContext("line")
	}
	return its, quiet, busy, line, err
}

// pending has small documents wait, and times one of the quiet company.
func (f *feud) pending() (row, error) {
	its, quiet, busy, line, err := f.desks()
	if err != nil {
		return row{}, err
	}
	for i := range pendingSmall {
		if err := its.upload(busy, "small.txt", fmt.Appendf(nil, "small %d", i)); err != nil {
			return row{}, err
		}
	}
	if _, err := f.db.ExecContext(f.ctx, `UPDATE documents SET status = 'pending', revision = revision + 1, attempts = attempts + 1, next_attempt_at = now()
		WHERE context_id = $1`, busy); err != nil { // those that were done meanwhile wait again
		return row{}, err
	}
	times, err := timed(samplesSlow, func(i int) error { return f.line(quiet, line, fmt.Sprintf("a line %d", i)) })
	if err == nil {
		_, err = its.settle(busy)
	}
	return beside(fmt.Sprintf("a one-line document beside %d pending ones", pendingSmall), "< 1 s", times, err)
}

// large has a large document be read, and times one of the quiet company.
func (f *feud) large() (row, error) {
	its, quiet, busy, line, err := f.desks()
	if err != nil {
		return row{}, err
	}
	if err := its.upload(busy, "large.txt", []byte(prose(77, largeDocument))); err != nil {
		return row{}, err
	}
	times, err := timed(samplesSlow, func(i int) error { return f.line(quiet, line, fmt.Sprintf("another line %d", i)) })
	if err == nil {
		_, err = its.settle(busy)
	}
	return beside("a one-line document beside one of 40 MB", "< 1 s", times, err)
}

// lists has clients read whole lists slowly, and times a short list.
func (f *feud) lists() (row, error) {
	token, err := f.as(access.Tenant, f.server).Token(f.ctx)
	if err != nil {
		return row{}, err
	}
	if _, err := f.lab.canopy(f.ctx, "seed", "--companies", "20000", "--staffed", "1", "--users", "20"); err != nil {
		return row{}, err
	}
	reading, stop := context.WithCancel(f.ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	for range slowReaders {
		readers.Go(func() { readSlowly(reading, f.server.url, "/tenant/customers", token) })
	}
	time.Sleep(time.Second)
	var company int64
	if err := f.db.QueryRowContext(f.ctx, `SELECT customer_id FROM memberships GROUP BY customer_id HAVING count(*) >= 20 ORDER BY 1 DESC LIMIT 1`).Scan(&company); err != nil {
		return row{}, err
	}
	quiet := f.as(access.Tenant, f.server)
	times, err := timed(samplesQuick, func(int) error {
		var users []struct{ ID int64 }
		err := quiet.Call(f.ctx, http.MethodGet, fmt.Sprintf("/tenant/users/%d", company), nil, &users)
		if err == nil && len(users) < 20 {
			err = fmt.Errorf("%d users", len(users))
		}
		return err
	})
	return beside(fmt.Sprintf("a list of 20 users beside %d clients that read at 10 kB/s", slowReaders), "p99 < 100 ms", times, err)
}

// readSlowly reads an answer at slowPace until ctx ends.
func readSlowly(ctx context.Context, base, path, token string) {
	u, err := url.Parse(base)
	if err != nil {
		return
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, u.Host, token)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := io.CopyN(io.Discard, conn, slowPace/10); err != nil {
			return
		}
	}
}

// deliveries has destinations hang, and times deliveries to one that does not.
func (f *feud) deliveries() (row, error) {
	its := &courier{bencher: f.bencher, api: f.its(access.Builder), sink: f.sink}
	for i := range hangingTargets {
		if _, err := its.subscribe("hang", i); err != nil {
			return row{}, err
		}
	}
	id, err := f.subscribe("ok", 0)
	if err != nil {
		return row{}, err
	}
	if err := its.emit(2, 5*time.Second); err != nil {
		return row{}, err
	}
	if _, err := f.report("ok"); err != nil {
		return row{}, err
	}
	var own, theirs error
	var both sync.WaitGroup
	both.Go(func() { theirs = its.emit(1, paceLength) })
	both.Go(func() { own = f.emit(20, paceLength) })
	both.Wait()
	if err := errors.Join(own, theirs, f.settle(fmt.Sprintf(" WHERE destination_id = %d", id), 10*time.Second)); err != nil {
		return row{}, err
	}
	a, err := f.report("ok")
	return row{
		name:   fmt.Sprintf("hostile company: deliveries beside %d destinations that hang", hangingTargets),
		figure: fmt.Sprintf("p50 %s, p99 %s (%d)", ms(a.P50), ms(a.P99), a.Count), wanted: "p99 < 150 ms",
	}, err
}

// logins has bogus logins in flight, and times a good one.
func (f *feud) logins() (row, error) {
	const password = "correct horse battery"
	hash, err := secret.HashPassword(f.ctx, secret.Known(0), password)
	if err != nil {
		return row{}, err
	}
	if _, err := f.db.ExecContext(f.ctx, `UPDATE users SET password_hash = $1 WHERE email = 'bench@example.com'`, hash); err != nil {
		return row{}, err
	}
	flood, stop := context.WithCancel(f.ctx)
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer stop()
	for i := range bogusLogins {
		crowd.Go(func() {
			for n := 0; flood.Err() == nil; n++ {
				from := fmt.Sprintf("10.0.%d.%d", i%networks, i+1)
				if status := f.login(flood, fmt.Sprintf("nobody%d.%d@example.com", i, n), "no password", from); status == http.StatusTooManyRequests {
					time.Sleep(time.Second) // as the answer asks for
				}
			}
		})
	}
	time.Sleep(2 * time.Second)
	times, err := timed(samplesSlow, func(int) error {
		if status := f.login(f.ctx, "bench@example.com", password, "192.0.2.1"); status != http.StatusOK {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
	return beside(fmt.Sprintf("a good login beside %d bogus ones in flight, from %d networks", bogusLogins, networks), "< 1 s", times, err)
}

// login tells the status of a login; 0 where none came.
func (f *feud) login(ctx context.Context, email, password, from string) int {
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.server.url+"/auth/token", strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-For", from)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	var rest bytes.Buffer
	_, _ = rest.ReadFrom(resp.Body)
	return resp.StatusCode
}
