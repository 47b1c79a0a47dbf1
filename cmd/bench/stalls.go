package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// repeats is how often a figure that must always hold is measured: its worst counts.
const repeats = 10

// stalls measures a small request again and again: now and then something may hold everybody up for a moment, which one run
// does not show.
func (b *bencher) stalls() []row {
	name := fmt.Sprintf("GET /tenant/{cid}, 8 connections, %d runs", repeats)
	if !strings.Contains(name, b.o.only) {
		return nil
	}
	customer := call{method: "GET", path: fmt.Sprintf("/tenant/%d", b.wide+1)}
	var runs []result
	for range repeats {
		runs = append(runs, b.measure(b.lab.platform, 8, customer))
	}
	slices.SortFunc(runs, func(x, y result) int { return cmp.Compare(x.p99, y.p99) })
	worst := slices.MaxFunc(runs, func(x, y result) int { return cmp.Compare(x.p999, y.p999) }).p999
	return []row{{
		name:   name,
		figure: fmt.Sprintf("p99 %s to %s, p99.9 at most %s", ms(runs[0].p99), ms(runs[repeats-1].p99), ms(worst)),
		wanted: "p99 < 15 ms in each",
	}}
}

// steady has 200 events a second emitted again and again.
func (c *courier) steady(name string) (row, error) {
	var p99 []time.Duration
	for range repeats {
		a, err := c.pace(200, paceLength/3)
		if err != nil {
			return row{}, err
		}
		p99 = append(p99, a.P99)
	}
	return row{
		name:   name,
		figure: fmt.Sprintf("p99 %s to %s", ms(slices.Min(p99)), ms(slices.Max(p99))), wanted: "p99 < 40 ms in each",
	}, nil
}
