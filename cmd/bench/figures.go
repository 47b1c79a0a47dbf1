package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	canopy "canopy/clients/go"
	"canopy/internal/access"
)

// healthz is where a platform answers.
const healthz = "http://{address}/healthz"

// row is a line of the table.
type row struct {
	name, figure, reference, ratio, statements, allocations, wanted string
}

func run(ctx context.Context, o options) error {
	l, err := newLab(ctx, o)
	if l != nil {
		defer l.close()
	}
	if err != nil {
		return err
	}
	rows, err := l.begin()
	if err != nil {
		return err
	}
	b := &bencher{ctx: ctx, o: o, lab: l}
	if err := b.prepare(); err != nil {
		return err
	}
	if o.peers {
		return besidePeers(b)
	}
	parts, whole := b.parts()
	if !whole {
		rows = nil
	}
	for _, part := range parts {
		var more []row
		more, err = part()
		if rows = append(rows, more...); err != nil {
			break
		}
	}
	print(rows)
	return errors.Join(err, b.failed)
}

// begin starts the platform and the bare server beside it.
func (l *lab) begin() (rows []row, err error) {
	if l.platform, err = l.start(healthz, nil, l.binary, "serve"); err != nil {
		return nil, err
	}
	time.Sleep(2 * time.Second)
	resident, own := l.platform.memory()
	if l.self, err = os.Executable(); err != nil {
		return nil, err
	}
	l.bare, err = l.start(healthz, []string{"BENCH_ISSUER=" + l.platform.url}, l.self, "-bare", "{address}")
	return []row{
		{name: "serve: start to first answer", figure: l.platform.started.Round(time.Millisecond).String(), wanted: "< 1 s"},
		{name: "serve: idle RSS", figure: mib(resident) + ", " + mib(own) + " its own", wanted: "< 60 MiB"},
	}, err
}

// part measures some rows. Those that it gives beside an error are right.
type part func() ([]row, error)

// parts are what is measured, in order; whole says that it is the whole table.
func (b *bencher) parts() (parts []part, whole bool) {
	switch {
	case b.o.beside != "":
		return []part{b.beside}, false
	case b.o.hostile:
		return []part{b.hostile}, false
	}
	if !b.o.noDeliveries {
		parts = append(parts, b.deliveries)
	}
	parts = append(parts, b.requests, b.traced, b.slow, b.limits)
	if strings.Contains("documents search", b.o.only) {
		parts = append(parts, b.documents, func() ([]row, error) { return nil, b.newToken() })
	}
	if strings.Contains("context of many documents", b.o.only) {
		parts = append(parts, b.manyDocuments)
	}
	if b.o.customers > 0 {
		parts = append(parts, b.large)
	}
	if strings.Contains("hostile", b.o.only) {
		parts = append(parts, b.hostile) // at the end, for what it leaves behind still works on
	}
	return parts, true
}

// requests are the rows of single requests.
func (b *bencher) requests() ([]row, error) {
	if err := b.newToken(); err != nil {
		return nil, err
	}
	return append(b.small(), b.stalls()...), nil
}

func mib(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

func print(rows []row) {
	fmt.Printf("%d cores, %s; rate and cost limits are off; PostgreSQL, load tool and server share the cores\n\n", runtime.NumCPU(), runtime.Version())
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "WHAT\tFIGURE\tREFERENCE\tRATIO\tSQL\tALLOCS\tWANTED")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name, r.figure, r.reference, r.ratio, r.statements, r.allocations, r.wanted)
	}
	_ = w.Flush()
}

type bencher struct {
	ctx    context.Context
	o      options
	lab    *lab
	token  string
	failed error
	// wide is a company with 20 descendants of 10 users each.
	wide int64
}

// fewCompanies is how many companies the small tree has.
const fewCompanies = 420

// prepare makes a small tree and a token.
func (b *bencher) prepare() error {
	out, err := b.lab.canopy(b.ctx, "seed", "--companies", fmt.Sprint(fewCompanies), "--fanout", "20", "--staffed", fmt.Sprint(fewCompanies), "--users", "10")
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(out[strings.Index(out, "company "):], "company %d", &b.wide); err != nil {
		return err
	}
	return b.newToken()
}

// as calls a server for an application.
func (b *bencher) as(app access.App, c *child) *canopy.Client {
	return &canopy.Client{URL: c.url, Key: b.lab.key, App: app.String()}
}

// newToken gives the load another token, before the last one ends.
func (b *bencher) newToken() error { return b.newTokenFor(access.Tenant) }

func (b *bencher) newTokenFor(app access.App) (err error) {
	b.token, err = b.as(app, b.lab.platform).Token(b.ctx)
	return err
}

// measure loads the platform with a call.
func (b *bencher) measure(c *child, conns int, what call) result {
	r := load(b.ctx, c, b.token, conns, b.o.load, what)
	if r.failures > 0 && b.failed == nil {
		b.failed = fmt.Errorf("%d requests failed, the first: %s", r.failures, r.firstFail)
	}
	return r
}

// another is one of the companies of the small tree, each time another one.
func (b *bencher) another(n int) int64 { return b.wide + 1 + int64(n*37)%fewCompanies }

func graphql(query string, variables map[string]any) call {
	body, _ := json.Marshal(map[string]any{"query": query, "variables": variables}) // strings and numbers always marshal
	return call{method: "POST", path: "/graphql", contentType: "application/json", body: string(body)}
}

const region = `query($id: ID!) { customer(id: $id) { id name regionId createdAt region { id name description } } }`

const treeQuery = `query Tree($id: ID!) { customer(id: $id) { id name descendants(first: 20) { nodes { id name
	users(first: 10) { nodes { id name email permissions(first: 3) { nodes { id disabled
		role { id name } account { id name } application { id name } region { id name } } } } } } } } }`

// exchange asks for an access token.
func (b *bencher) exchange() call {
	return call{method: "POST", open: true, path: "/connect/token", contentType: "application/x-www-form-urlencoded", body: b.lab.key.Form("tenant").Encode()}
}

// usual are the questions by which two programs are compared.
func (b *bencher) usual() []contest {
	return []contest{
		{name: "token exchange", conns: 8, app: access.Tenant, ours: b.exchange()},
		{name: "GET /tenant/{cid}", conns: 16, app: access.Tenant, ours: call{method: "GET", path: fmt.Sprintf("/tenant/%d", b.wide+1)}},
		{name: "GraphQL company + region", conns: 8, app: access.Tenant, ours: graphql(region, map[string]any{"id": b.wide + 1})},
	}
}

// small measures on a tree that fits everywhere.
func (b *bencher) small() []row {
	var rows []row
	add := func(name, wanted string, conns int, what call, reference func() result) {
		if !strings.Contains(name, b.o.only) {
			return
		}
		r := b.measure(b.lab.platform, conns, what)
		line := row{
			name: name, figure: fmt.Sprintf("%.0f/s, p99 %s, %d B", r.rate, ms(r.p99), r.size), wanted: wanted,
			statements: fmt.Sprintf("%.1f", r.statements), allocations: fmt.Sprintf("%.0f", r.allocations),
		}
		if reference != nil {
			ref := reference()
			line.reference, line.ratio = fmt.Sprintf("%.0f/s", ref.rate), fmt.Sprintf("%.2f", r.rate/ref.rate)
		}
		rows = append(rows, line)
	}
	exchange := b.exchange()
	add("token exchange, 8 connections", "≥ 4000/s, ≥ 0.6", 8, exchange, func() result { return b.measure(b.lab.bare, 8, exchange) })
	customer := call{method: "GET", path: fmt.Sprintf("/tenant/%d", b.wide+1)}
	add("GET /tenant/{cid}, 16 connections", "≥ 0.7", 16, customer, func() result { return b.measure(b.lab.bare, 16, customer) })
	others := call{method: "GET", vary: func(n int) (string, string) { return fmt.Sprintf("/tenant/%d", b.another(n)), "" }}
	add("GET /tenant/{cid} of others in turn, 16 connections", "≥ 0.7", 16, others, func() result { return b.measure(b.lab.bare, 16, others) })
	add("GraphQL company + region, 8 connections", "≥ 3000/s, ≥ 0.5 of REST", 8, graphql(region, map[string]any{"id": b.wide + 1}),
		func() result { return b.measure(b.lab.platform, 8, customer) })
	regions := graphql(region, nil)
	regions.vary = func(n int) (string, string) {
		return regions.path, graphql(region, map[string]any{"id": b.another(n)}).body
	}
	add("GraphQL company + region of others in turn, 8 connections", "≥ 3000/s, ≥ 0.5 of REST", 8, regions, func() result { return b.measure(b.lab.platform, 8, others) })
	add("GraphQL tree 20 × 10 × 3, 4 connections", "≥ 50/s (80), ≤ 9 SQL", 4, graphql(treeQuery, map[string]any{"id": b.wide}), nil)
	return rows
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

const streamed = "GET /tenant/customers of root"

// stream reads the whole list and watches the server's memory meanwhile.
func (b *bencher) stream(size string) (row, error) {
	if err := b.newToken(); err != nil {
		return row{}, err
	}
	before := b.lab.platform.rss()
	peak := before
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case done <- struct{}{}:
				return
			case <-time.After(20 * time.Millisecond):
				peak = max(peak, b.lab.platform.rss())
			}
		}
	}()
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.lab.platform.url+"/tenant/customers", nil)
	if err != nil {
		return row{}, err
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	begin := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return row{}, err
	}
	n, err := io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	took := time.Since(begin)
	<-done
	return row{
		name: size + streamed, wanted: "< 64 MiB more",
		figure: fmt.Sprintf("%s in %.1f s, %s more memory", mib(n), took.Seconds(), mib(peak-before)),
	}, err
}
