// Package top tells how a platform fares at this moment: its companies by load, its queues, and its slow operations. It asks as any
// caller does: the graph's operations, and /metrics.
package top

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
)

// Look is what was seen at one moment.
type Look struct {
	At      time.Time `json:"at"`
	URL     string    `json:"url"`
	Version string    `json:"version"`
	Queues  []Queue   `json:"queues"`
	// Workers are those that run; nil where that is not known, as Redis is away.
	Workers []*schema.Worker `json:"workers"`
	// Branches are the companies right below root that have most of what is asked for.
	Branches []Branch `json:"branches"`
	// Slow are the operations that took most time, since the look before, or since the process has begun.
	Slow []Operation `json:"slow"`
	// FailingDestinations and LateMails count what needs a look, up to 100.
	FailingDestinations int `json:"failingDestinations"`
	LateMails           int `json:"lateMails"`
	// Notes say what could not be seen, and why.
	Notes []string `json:"notes"`
}

// Queue is what waits for workers, of one kind.
type Queue struct {
	Name    string `json:"name"`
	Waiting int    `json:"waiting"`
	// Seconds is for how long the first of it has been due.
	Seconds float64 `json:"seconds"`
}

// Branch is a company with what it has and does.
type Branch struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
	// Used is what it has, or has done today or in this minute, by the name of the limit.
	Used map[string]int64 `json:"used"`
	// Rates are how much of it came in a minute, since the look before; of what there was no look before there are none.
	Rates map[string]float64 `json:"rates,omitempty"`
}

// Watcher looks again and again.
type Watcher struct {
	Client *canopy.Client
	// User and Password are those of /metrics.
	User, Password string
	// By is the name of the limit by which companies are ordered, First how many of them, and of the operations, are told.
	By    string
	First int

	before  *Look
	metrics map[string]histogram
}

const question = `query Top($by: LimitName!, $first: Int!) { operations {
	version
	queues { name waiting waitingSince }
	workers { host pid version queues startedAt seenAt }
	busiest(by: $by, first: $first) { databaseId name status usage { name used } }
	failingDestinations { id }
	lateMails { kind }
} }`

// Look looks once. What one part does not tell is among the notes; an error says that nothing was seen.
func (w *Watcher) Look(ctx context.Context) (*Look, error) {
	var data struct{ Operations *schema.Operations }
	err := w.Client.GraphQL(ctx, question, map[string]any{"by": enumName(w.By), "first": w.First}, &data)
	var partly canopy.Errors
	if data.Operations == nil || err != nil && !errors.As(err, &partly) {
		return nil, cmp.Or(err, errors.New("nothing was answered"))
	}
	o := data.Operations
	look := &Look{
		At: time.Now().UTC(), URL: w.Client.URL, Version: o.Version, Workers: o.Workers, Queues: []Queue{}, Branches: []Branch{}, Slow: []Operation{},
		FailingDestinations: len(o.FailingDestinations), LateMails: len(o.LateMails), Notes: []string{},
	}
	for _, e := range partly {
		look.Notes = append(look.Notes, e.Message)
	}
	for _, q := range o.Queues {
		queue := Queue{Name: q.Name, Waiting: q.Waiting}
		if q.WaitingSince != nil {
			queue.Seconds = max(0, look.At.Sub(*q.WaitingSince).Seconds())
		}
		look.Queues = append(look.Queues, queue)
	}
	for _, c := range o.Busiest {
		look.Branches = append(look.Branches, w.branch(c, look.At))
	}
	if err := w.slow(ctx, look); err != nil {
		look.Notes = append(look.Notes, err.Error())
	}
	w.before = look
	return look, nil
}

func (w *Watcher) branch(c *schema.Customer, now time.Time) Branch {
	t := Branch{ID: int64(c.DatabaseID), Name: c.Name, Status: string(c.Status), Used: map[string]int64{}}
	for _, u := range c.Usage {
		t.Used[limitName(string(u.Name))] = u.Used
	}
	if w.before == nil {
		return t
	}
	i := slices.IndexFunc(w.before.Branches, func(b Branch) bool { return b.ID == t.ID })
	if minutes := now.Sub(w.before.At).Minutes(); i >= 0 && minutes > 0 {
		t.Rates = map[string]float64{}
		for name, used := range t.Used {
			if more := used - w.before.Branches[i].Used[name]; strings.HasSuffix(name, "PerDay") && more >= 0 { // at midnight it begins anew
				t.Rates[name] = float64(more) / minutes
			}
		}
	}
	return t
}

// enumName is a limit's name in the graph: RUNS_PER_DAY for runsPerDay.
func enumName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// limitName is a limit's name by REST.
func limitName(enum string) string {
	first, rest, _ := strings.Cut(strings.ToLower(enum), "_")
	for word := range strings.SplitSeq(rest, "_") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

// errClosed tells how to open /metrics.
func errClosed(status int) error {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return errors.New("slow operations are not seen: /metrics asks for CANOPY_MONITOR_USER and CANOPY_MONITOR_PASSWORD")
	}
	return fmt.Errorf("slow operations are not seen: /metrics answers %d", status)
}
