package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// sizes are how many companies there are where the cost of a request is compared, before all are there.
var sizes = []int{1_000, 100_000}

// large measures on trees of more and more companies what a request costs, and on that of all what is asked of a large one.
func (b *bencher) large() (rows []row, err error) {
	var few []result
	for _, n := range append(slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n >= b.o.customers }), b.o.customers) {
		size, begin := fmt.Sprintf("%d companies: ", n), time.Now()
		top, err := b.seed(n)
		if err != nil {
			return rows, err
		}
		if n == b.o.customers {
			rows = append(rows, row{name: size + "seed", figure: time.Since(begin).Round(time.Second).String(), wanted: "< 5 min"})
		}
		var costs []row
		costs, few = b.costs(size, top, n, few)
		if rows = append(rows, costs...); n < b.o.customers {
			continue
		}
		more, err := b.ofMany(size, top)
		if rows = append(rows, more...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// seed makes so many companies, and as many users, and gives the one above them. The token is a new one.
func (b *bencher) seed(companies int) (top int64, err error) {
	out, err := b.lab.canopy(b.ctx, "seed", "--companies", fmt.Sprint(companies), "--fanout", "10",
		"--staffed", fmt.Sprint(max(1, companies/usersOfEach)), "--users", fmt.Sprint(usersOfEach), "--alone")
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(out[strings.Index(out, "company "):], "company %d", &top); err != nil {
		return 0, err
	}
	return top, b.newToken()
}

// spread gives the companies below one in turn, so many of them, each far from the one before.
func spread(top int64, companies int) func(n int) int64 {
	return func(n int) int64 { return top + 1 + int64(n*7919)%int64(companies) }
}

// costs measures small requests for companies in turn, beside what they were on the smallest tree.
func (b *bencher) costs(size string, top int64, companies int, few []result) (rows []row, first []result) {
	of := spread(top, companies)
	details := call{method: "GET", vary: func(n int) (string, string) { return fmt.Sprintf("/tenant/%d", of(n)), "" }}
	regions := graphql(region, nil)
	regions.vary = func(n int) (string, string) {
		return regions.path, graphql(region, map[string]any{"id": of(n)}).body
	}
	first = few
	for i, c := range []struct {
		name  string
		conns int
		what  call
	}{
		{"details, 1 connection", 1, details},
		{"GET /tenant/{cid} in turn, 16 connections", 16, details},
		{"GraphQL company + region in turn, 8 connections", 8, regions},
	} {
		if !strings.Contains(size+c.name, b.o.only) {
			continue
		}
		r := b.measure(b.lab.platform, c.conns, c.what)
		line := row{
			name: size + c.name, figure: fmt.Sprintf("%.0f/s, p50 %s, p99 %s", r.rate, ms(r.p50), ms(r.p99)), wanted: "0.9 to 1.1 of the fewest",
			statements: fmt.Sprintf("%.1f", r.statements), allocations: fmt.Sprintf("%.0f", r.allocations),
		}
		if len(first) <= i {
			first = append(first, r)
		} else {
			line.reference, line.ratio = fmt.Sprintf("%.0f/s", first[i].rate), fmt.Sprintf("%.2f", r.rate/first[i].rate)
		}
		rows = append(rows, line)
	}
	return rows, first
}

// ofMany measures what is asked of a tree of many companies.
func (b *bencher) ofMany(size string, top int64) (rows []row, err error) {
	of := spread(top, b.o.customers)
	timed := func(name, wanted string, what call) {
		if !strings.Contains(size+name, b.o.only) {
			return
		}
		r := b.measure(b.lab.platform, 1, what)
		rows = append(rows, row{
			name: size + name, figure: fmt.Sprintf("p50 %s, p99 %s", ms(r.p50), ms(r.p99)), wanted: wanted,
			statements: fmt.Sprintf("%.1f", r.statements), allocations: fmt.Sprintf("%.0f", r.allocations),
		})
	}
	timed("reach check + details", "p99 < 5 ms", call{method: "GET", vary: func(n int) (string, string) { return fmt.Sprintf("/tenant/%d", of(n)), "" }})
	timed("first 100 descendants of any", "p99 < 10 ms", call{method: "GET", vary: func(n int) (string, string) {
		return fmt.Sprintf("/tenant/customers/%d?limit=100", of(n)), ""
	}})
	timed("first 100 descendants of the top", "p99 < 10 ms", call{method: "GET", path: fmt.Sprintf("/tenant/customers/%d?limit=100", top)})
	found, err := b.found(size, top)
	if rows = append(rows, found...); err != nil {
		return rows, err
	}
	if err := b.newToken(); err != nil {
		return rows, err
	}
	stamp := time.Now().UnixNano()
	timed("create", "< 5 ms", call{method: "POST", path: "/tenant/customer", contentType: "application/json", vary: func(n int) (string, string) {
		return "/tenant/customer", fmt.Sprintf(`{"parentId":%d,"name":"New","regionId":1,"email":"new%d.%d@example.com"}`, of(n), stamp, n)
	}})
	if strings.Contains(size+streamed, b.o.only) {
		stream, err := b.stream(size)
		if err != nil {
			return rows, err
		}
		rows = append(rows, stream)
	}
	if !strings.Contains(size+moving, b.o.only) {
		return rows, nil
	}
	moved, err := b.moved(size, top)
	return append(rows, moved), err
}
