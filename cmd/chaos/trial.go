package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	canopy "canopy/clients/go"
)

// slowDiagram takes a few steps, so that a blow may hit a run in its middle.
const slowDiagram = `{"steps":[{"id":"a","type":"set","values":{"n":1}},{"id":"b","type":"http","method":"POST","url":"%[1]s/step","body":{"n":"{{ steps.a.n }}"}},
	{"id":"c","type":"http","method":"POST","url":"%[1]s/step","body":{"n":2}},{"id":"d","type":"set","values":{"n":3}}],"output":{"n":"{{ steps.d.n }}"}}`

// perRequest is how many events one request emits.
const perRequest = 10

func run(ctx context.Context, o options, out io.Writer) (err error) {
	f, err := newFleet(ctx, o)
	if f != nil {
		defer func() { f.close(err != nil) }()
	}
	if err != nil {
		return err
	}
	ids := map[string]int64{}
	for _, who := range []string{"a", "b", "c"} {
		var made struct{ ID int64 }
		if err := f.api.Call(ctx, "POST", "/v1/outbound-webhooks/destinations", map[string]any{"url": f.hookURL + "/" + who, "name": who}, &made); err != nil {
			return err
		}
		ids[who] = made.ID
	}
	begin := time.Now()
	if err := f.strain(ctx, out); err != nil {
		return fmt.Errorf("%w (logs in %s)", err, f.dir)
	}
	_, _ = fmt.Fprintf(out, "emitted and struck for %.0f s\n", time.Since(begin).Seconds())
	if err := f.db.settle(ctx); err != nil {
		return fmt.Errorf("%w (logs in %s)", err, f.dir)
	}
	_, _ = fmt.Fprintf(out, "settled after %.0f s\n", time.Since(begin).Seconds())
	if err := f.judge(ctx, ids, out); err != nil {
		return fmt.Errorf("%w (logs in %s)", err, f.dir)
	}
	return nil
}

// strain emits events and starts runs while blows fall.
func (f *fleet) strain(ctx context.Context, out io.Writer) error {
	id, err := publish(ctx, &f.api, "slow", json.RawMessage(fmt.Sprintf(slowDiagram, f.hookURL)))
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	length := time.Duration(f.o.blows) * f.o.between
	all.Go(func() error { return f.strike(ctx, out) })
	all.Go(func() error {
		return f.spread(ctx, (f.o.events+perRequest-1)/perRequest, length, func(ctx context.Context) error {
			return f.api.GraphQL(ctx, manyAgents(), nil, nil)
		})
	})
	all.Go(func() error {
		return f.spread(ctx, f.o.runs, length, func(ctx context.Context) error {
			return f.api.Call(ctx, "POST", fmt.Sprintf("/CognitiveDiagram/%d/ExecuteAsJob", id), map[string]any{}, nil)
		})
	})
	return all.Wait()
}

// publish makes an agent of a diagram that can be run.
func publish(ctx context.Context, api *canopy.Client, name string, diagram json.RawMessage) (int64, error) {
	var made struct {
		CreateAgent struct{ Agent struct{ DatabaseID int64 } }
	}
	if err := api.GraphQL(ctx, `mutation($n: String!, $d: JSON) { createAgent(input: {name: $n, diagram: $d}) { agent { databaseId } } }`,
		map[string]any{"n": name, "d": diagram}, &made); err != nil {
		return 0, err
	}
	id := made.CreateAgent.Agent.DatabaseID
	return id, api.GraphQL(ctx, `mutation($id: ID!) { publishAgent(input: {id: $id}) { revision { number } } }`, map[string]any{"id": id}, nil)
}

func manyAgents() string {
	var b strings.Builder
	b.WriteString("mutation {")
	for i := range perRequest {
		_, _ = fmt.Fprintf(&b, ` a%d: createAgent(input: {name: "chaos"}) { agent { databaseId } }`, i)
	}
	return b.String() + " }"
}

// spread does something n times over a time. What fails, as it must while parts are down, is done
// again.
func (f *fleet) spread(ctx context.Context, n int, length time.Duration, do func(context.Context) error) error {
	pause := length / time.Duration(max(n, 1))
	next := time.Now()
	for range n {
		if err := eventually(ctx, do); err != nil {
			return err
		}
		next = next.Add(pause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(next)):
		}
	}
	return nil
}

// strike deals the blows, in an order that the seed decides.
func (f *fleet) strike(ctx context.Context, out io.Writer) error {
	rng := rand.New(rand.NewPCG(f.o.seed, 2)) // seeded on purpose
	for i := range f.o.blows {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(f.o.between):
		}
		// The first blows are one of each kind.
		kind := i
		if i > 2 {
			kind = rng.IntN(5)
		}
		var name string
		var err error
		switch kind {
		case 1:
			name, err = "Redis lost", f.loseRedis(ctx)
		case 2:
			name, err = "PostgreSQL restarted", f.postgres.Restart(ctx)
		default:
			which := rng.IntN(workers)
			name, err = fmt.Sprintf("worker %d killed", which+1), f.killWorker(which)
		}
		_, _ = fmt.Fprintf(out, "%2d. %s\n", i+1, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (f *fleet) killWorker(i int) (err error) {
	_ = f.workers[i].Process.Kill()
	_ = f.workers[i].Wait()
	f.workers[i], err = f.start(f.o.binary, "worker")
	return err
}

// loseRedis has Redis come back with nothing in it.
func (f *fleet) loseRedis(ctx context.Context) error {
	f.redis.Kill()
	return f.redis.Start(ctx)
}

// judge compares what was to be delivered with what was heard.
func (f *fleet) judge(ctx context.Context, ids map[string]int64, out io.Writer) error {
	lost := f.lostOf(ctx, "c", ids["c"])
	if err := f.calm(ctx); err != nil {
		return err
	}
	var recovered struct{ Count int }
	if err := f.api.Call(ctx, "POST", fmt.Sprintf("/v1/outbound-webhooks/destinations/%d/recover", ids["c"]),
		map[string]any{"since": time.Now().Add(-24 * time.Hour)}, &recovered); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "c lost %d events; %d are sent again\n", lost, recovered.Count)
	if err := f.db.settle(ctx); err != nil {
		return err
	}
	heard, err := f.heard(ctx)
	if err != nil {
		return err
	}
	var faults []error
	hashes := map[string]string{}
	for _, who := range []string{"a", "b", "c"} {
		faults = append(faults, f.db.judgeOne(ctx, who, ids[who], heard[who], hashes, out))
	}
	return errors.Join(append(faults, f.db.judgeRuns(ctx, heard["a"], f.o.runs, out))...)
}

// lostOf counts the events that a destination has not got.
func (f *fleet) lostOf(ctx context.Context, _ string, id int64) (n int) {
	_ = f.db.QueryRowContext(ctx, `SELECT count(*) FROM webhook_deliveries WHERE destination_id = $1 AND status <> 'delivered'`, id).Scan(&n)
	return n
}
