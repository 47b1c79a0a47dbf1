package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	canopy "canopy/clients/go"
)

// task is something that a caller does again and again.
type task struct {
	// name says what is done, by whom and where.
	name string
	// own: it is done in the cell of the company at that cell's address, and asks no other.
	own  bool
	door string
	do   func(context.Context) error
}

// tasks are all that is asked: each company at each address.
func (t *cells) tasks() (list []task) {
	for _, door := range t.owners {
		for _, who := range t.owners {
			c := t.caller(door.cell, who)
			for what, do := range map[string]func(context.Context) error{"token": c.token, "upload": c.upload(), "search": c.search, "run": c.run} {
				list = append(list, task{name: fmt.Sprintf("%s of %s at %s", what, who.name, door.name), own: door == who, door: door.name, do: do})
			}
		}
		root, east := t.caller(door.cell, t.owners[0]), t.owners[1].company
		list = append(list, task{name: "query over both at " + door.name, door: door.name, do: root.query(east)},
			task{name: "change of the directory at " + door.name, door: door.name, do: root.rename(east, door.name)})
	}
	return list
}

func (c *caller) token(ctx context.Context) error {
	fresh := canopy.Client{URL: c.door.URL, Key: c.who.key, App: c.assistant.App, HTTP: c.assistant.HTTP}
	_, err := fresh.Token(ctx)
	return err
}

func (c *caller) upload() func(context.Context) error {
	n, at := 0, strings.ReplaceAll(c.door.URL[strings.LastIndex(c.door.URL, ":")+1:], "/", "")
	return func(ctx context.Context) error {
		n++
		word := fmt.Sprintf("w%sx%d", at, n)
		name := fmt.Sprintf("%s-%s.txt", c.who.mark, word)
		err := c.assistant.Upload(ctx, c.who.context, name, strings.NewReader(fmt.Sprintf("The %s turbine of %s hums by the river.", word, c.who.mark)))
		if err == nil {
			c.who.mu.Lock()
			c.who.uploaded[name] = word
			c.who.mu.Unlock()
		}
		return err
	}
}

func (c *caller) search(ctx context.Context) error {
	return c.assistant.Call(ctx, http.MethodPost, fmt.Sprintf("/context/relevant-docs/%d", c.who.context), map[string]any{"prompt": "turbines by the river"}, nil)
}

// run starts a run, and looks how it is until it has ended.
func (c *caller) run(ctx context.Context) error {
	var started struct{ JobKey string }
	err := c.builder.Call(ctx, http.MethodPost, fmt.Sprintf("/CognitiveDiagram/%d/ExecuteAsJob", c.who.agent), map[string]any{"by": c.who.mark}, &started)
	if err != nil {
		return err
	}
	c.who.mu.Lock()
	c.who.started[started.JobKey] = true
	c.who.mu.Unlock()
	for {
		var run struct{ FinishedAt *time.Time }
		if err := c.builder.Call(ctx, http.MethodGet, "/v1/runs/"+started.JobKey, nil, &run); err != nil || run.FinishedAt != nil {
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// query asks each cell for what it has of a company.
func (c *caller) query(east int64) func(context.Context) error {
	return func(ctx context.Context) error {
		return c.tenant.GraphQL(ctx, `query($home: ID!, $east: ID!) { a: customer(id: $home) { ...C } b: customer(id: $east) { ...C } }
			fragment C on Customer { name webhookDestinations(first: 1) { totalCount } }`, map[string]any{"home": c.who.company, "east": east}, nil)
	}
}

// rename changes what is the home's to change. Each name is given once.
func (c *caller) rename(company int64, door string) func(context.Context) error {
	n := 0
	return func(ctx context.Context) error {
		n++
		name := fmt.Sprintf("East %d of %s", n, door)
		err := c.tenant.GraphQL(ctx, `mutation($id: ID!, $name: String!) { updateCustomer(input: {customerId: $id, name: $name}) { customer { name } } }`,
			map[string]any{"id": company, "name": name}, nil)
		if err == nil {
			c.who.mu.Lock()
			c.who.renamed = append(c.who.renamed, name)
			c.who.mu.Unlock()
		}
		return err
	}
}

// load does all of it until it is stopped.
func (t *cells) load(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, one := range t.tasks() {
		all.Go(func() {
			for {
				began, before := time.Now(), t.score.current()
				err := one.do(ctx)
				if ctx.Err() != nil {
					return
				}
				t.score.note(one, before, began, err)
				select {
				case <-ctx.Done():
					return
				case <-time.After(t.o.pace):
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// The ways that a request ends.
const (
	answered = iota
	// unavailable is 503, elsewhere an error of GraphQL that names a region, cut a request whose answer nobody gave: the balancer's 502, or a lost connection.
	unavailable
	elsewhere
	cut
	faulty
	ways
)

func ending(err error) int {
	var refusal *canopy.Refusal
	var all canopy.Errors
	switch {
	case err == nil:
		return answered
	case errors.As(err, &refusal):
		switch refusal.Status {
		case http.StatusServiceUnavailable:
			return unavailable
		case http.StatusBadGateway, http.StatusGatewayTimeout:
			return cut
		}
		return faulty
	case located(err):
		return elsewhere
	case errors.As(err, &all):
		for _, e := range all {
			if e.Extensions.Code != "UNAVAILABLE" {
				return faulty
			}
		}
		return unavailable
	}
	return cut
}

// score is what came of all requests, by the blow that fell when they ended.
type score struct {
	mu     sync.Mutex
	blow   *blow
	worked map[string]time.Time // when what was begun last that was answered, by task
	faults []string
}

func (s *score) current() *blow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blow
}

func (s *score) begin(b *blow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blow = b
}

// note takes down how a request ended, which was begun under another blow perhaps.
func (s *score) note(one task, before *blow, began time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.worked == nil {
		s.worked = map[string]time.Time{}
	}
	how := ending(err)
	s.blow.count[how]++
	switch {
	case how == answered:
		s.worked[one.name] = began
	case how == faulty, how == cut && !s.blow.cuts(one) && !before.cuts(one), one.own && s.blow.spares(one) && before.spares(one):
		s.faults = append(s.faults, fmt.Sprintf("%s: %s: %v", s.blow.name, one.name, err))
	}
}

// since tells which tasks have not been answered since a time.
func (s *score) since(all []task, at time.Time) (missing []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range all {
		if !s.worked[one.name].After(at) {
			missing = append(missing, one.name)
		}
	}
	return missing
}
