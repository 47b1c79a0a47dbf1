package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"canopy/internal/devstack"
	"canopy/internal/devstack/cluster"
)

// blow is something that is done to the two cells, and what came of the requests until all worked again.
type blow struct {
	name string
	do   func(context.Context) error
	// cutAt are the doors where requests may go without an answer, spared those whose own companies notice nothing.
	cutAt, spared []string
	count         [ways]int
}

func (b *blow) cuts(one task) bool   { return one.at(b.cutAt) }
func (b *blow) spares(one task) bool { return one.at(b.spared) }

func (one task) at(doors []string) bool {
	for _, d := range doors {
		if d == one.door {
			return true
		}
	}
	return false
}

// upgraded is what the blow is called before which the cells run another program.
const upgraded = "upgraded, one after the other"

// dealt are the blows that were asked for.
func (t *cells) dealt() []*blow {
	if len(t.o.only) == 0 {
		return t.blows()
	}
	return slices.DeleteFunc(t.blows(), func(b *blow) bool {
		return !slices.ContainsFunc(t.o.only, func(word string) bool { return strings.Contains(b.name, word) })
	})
}

// known refuses words that no blow has.
func (t *cells) known() error {
	for _, word := range t.o.only {
		if !slices.ContainsFunc(t.blows(), func(b *blow) bool { return strings.Contains(b.name, word) }) {
			return fmt.Errorf("no blow has %q in its name: -help lists them", word)
		}
	}
	return nil
}

// blows are all of them, in order.
func (t *cells) blows() []*blow {
	both, brief := []string{"home", region}, t.o.away/3
	kill := func(what, part string) *blow {
		return &blow{name: what + " of each killed", cutAt: both, do: func(context.Context) error {
			return t.each(func(c *cluster.Cluster) error { return c.Part(part).Kill() })
		}}
	}
	return []*blow{
		{name: "none", spared: both, do: func(ctx context.Context) error { return pause(ctx, t.o.calm) }},
		{name: upgraded, spared: both, do: t.upgrade},
		kill("a serve", "serve1"), kill("a worker", "worker1"), kill("the balancer", "balancer"), kill("the pooler", "pgbouncer1"), kill("PostgreSQL", "postgres1"),
		{name: "a Redis master of each lost", do: func(ctx context.Context) error { return t.lose(ctx, brief, t.master) }},
		{name: "the home lost", cutAt: []string{"home"}, spared: []string{region}, do: func(ctx context.Context) error {
			return t.lose(ctx, t.o.away, func(_ context.Context, c *cluster.Cluster) ([]*cluster.Part, error) {
				if c == t.home {
					return c.Parts(), nil
				}
				return nil, nil
			})
		}},
		{name: "silence between the cells", spared: both, do: func(ctx context.Context) error { return t.part(ctx, brief, (*devstack.Way).Hang) }},
		{name: "no way between the cells", spared: both, do: func(ctx context.Context) error { return t.part(ctx, brief, (*devstack.Way).Cut) }},
		{name: "the cell's standby promoted", spared: []string{"home"}, do: func(ctx context.Context) error { return t.home.Cell.FailOver(ctx) }},
		{name: "the home's standby promoted", do: t.promoteHome},
		{name: "all started anew in turn", spared: both, do: t.roll},
	}
}

// strike deals the blows, each once all works again after the one before.
func (t *cells) strike(ctx context.Context, out io.Writer) error {
	_, _ = fmt.Fprintf(out, "%-30s %8s %8s %5s %8s %5s %6s %9s\n", "", "for", "answered", "503", "located", "cut", "faulty", "back in")
	for _, b := range t.dealt() {
		t.score.begin(b)
		began := time.Now()
		if err := b.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		struck := time.Now()
		if err := t.back(ctx, struck); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		c := &b.count
		back := time.Since(struck)
		if err := pause(ctx, t.o.calm); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%-30s %6.1f s %8d %5d %8d %5d %6d %7.1f s\n", b.name, struck.Sub(began).Seconds(), c[answered], c[unavailable], c[elsewhere], c[cut], c[faulty], back.Seconds())
	}
	return nil
}

// back waits until all that is asked has been answered since a time.
func (t *cells) back(ctx context.Context, since time.Time) error {
	all := t.tasks()
	return eventually(ctx, func(context.Context) error {
		if missing := t.score.since(all, since); len(missing) > 0 {
			return fmt.Errorf("not back: %s", strings.Join(missing, ", "))
		}
		return nil
	})
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (t *cells) each(do func(*cluster.Cluster) error) error {
	return errors.Join(do(t.home), do(t.home.Cell))
}

// lose keeps parts of the cells down for a time.
func (t *cells) lose(ctx context.Context, length time.Duration, which func(context.Context, *cluster.Cluster) ([]*cluster.Part, error)) error {
	var down []*cluster.Part
	err := t.each(func(c *cluster.Cluster) error {
		parts, err := which(ctx, c)
		for _, p := range parts {
			down = append(down, p)
			err = errors.Join(err, p.Down())
		}
		return err
	})
	if err == nil {
		err = pause(ctx, length)
	}
	for _, p := range down {
		p.Up()
	}
	return err
}

// master is one of Redis' masters at the time.
func (t *cells) master(ctx context.Context, c *cluster.Cluster) ([]*cluster.Part, error) {
	at, err := c.RedisMaster(ctx)
	for _, p := range c.Parts() {
		if p.Address == at {
			return []*cluster.Part{p}, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("there is no Redis at %s", at))
}

// part cuts the cells off from each other for a time.
func (t *cells) part(ctx context.Context, length time.Duration, how func(*devstack.Way)) error {
	for _, w := range t.ways {
		how(w)
	}
	err := pause(ctx, length)
	for _, w := range t.ways {
		w.Mend()
	}
	return err
}

// promoteHome loses the home's primary, and has the cell follow the new one, to which its settings lead already.
func (t *cells) promoteHome(ctx context.Context) error {
	gone, err := url.Parse(t.home.Primary.URL())
	if err != nil {
		return err
	}
	if err := t.home.FailOver(ctx); err != nil {
		return err
	}
	t.ways[gone.Host].Close() // nobody takes a connection there
	_, err = t.home.Cell.JoinAnew(ctx, false)
	return err
}

// roll ends the platform's own processes one after the other, each once the one before is there again.
func (t *cells) roll(ctx context.Context) error {
	return t.each(func(c *cluster.Cluster) error {
		for _, name := range []string{"serve1", "serve2", "worker1", "worker2"} {
			p := c.Part(name)
			before := p.PID()
			if err := p.End(); err != nil {
				return err
			}
			if err := eventually(ctx, func(ctx context.Context) error {
				if p.PID() == before || !p.Running() {
					return fmt.Errorf("%s is not started anew", name)
				}
				return t.ready(ctx, p.Address)
			}); err != nil {
				return err
			}
			// The balancer looks once a second.
			if err := pause(ctx, 3*time.Second); err != nil {
				return err
			}
		}
		return nil
	})
}

// ready asks a serve whether it can serve; a worker has no address.
func (t *cells) ready(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := t.http.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not ready: %s", address, resp.Status)
	}
	return nil
}
