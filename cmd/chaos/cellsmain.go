package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// cellsOptions are those of a trial of two cells.
type cellsOptions struct {
	binary, balancer string
	// pace is the pause of each caller between two requests, calm how long it goes on before and after each blow, and away how long what is lost for a while is.
	pace, calm, away time.Duration
	seed             uint64
	limit            time.Duration
}

const cellsUsage = `Usage: make chaos-cluster [ARGS="FLAGS"]

Starts a home and the cell of a region, each with all of its processes, asks both at both addresses, and kills, stops and
cuts off one after the other. Nothing that was acknowledged may be lost, and nothing of one cell known in the other's
database. It talks to nothing but the loopback address, and leaves nothing; the logs stay where something was lost.

Flags:
`

// cellsCommand runs it on what stands behind its name on the command line.
func cellsCommand(ctx context.Context, args []string) error {
	o := cellsOptions{}
	flags := flag.NewFlagSet("chaos cells", flag.ExitOnError)
	flags.StringVar(&o.binary, "canopy", "bin/canopy", "the program to try")
	flags.StringVar(&o.balancer, "balancer", "deploy/haproxy.cfg", "HAProxy's settings")
	flags.DurationVar(&o.pace, "pace", time.Second, "pause of each of some twenty callers between two requests")
	flags.DurationVar(&o.calm, "calm", 5*time.Second, "time before the first blow, and after each once all works")
	flags.DurationVar(&o.away, "away", time.Minute, "how long the home is away; a partition and a lost master of Redis are for a third of that")
	flags.Uint64Var(&o.seed, "seed", 1, "of the texts")
	flags.DurationVar(&o.limit, "limit", 30*time.Minute, "how long it may take")
	flags.Usage = func() {
		_, _ = io.WriteString(os.Stderr, cellsUsage)
		flags.PrintDefaults()
	}
	_ = flags.Parse(args) // it exits
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	return runCells(ctx, o, os.Stdout)
}

func runCells(ctx context.Context, o cellsOptions, out io.Writer) (err error) {
	began := time.Now()
	t, err := newCells(ctx, o)
	if t != nil {
		defer func() {
			if kept := t.close(err != nil && !errors.Is(err, context.Canceled)); kept != "" { // Ctrl-C is no failure
				err = fmt.Errorf("%w (logs in %s)", err, kept)
			}
		}()
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "two cells run after %.0f s\n", time.Since(began).Seconds())
	stop := t.load(ctx)
	err = t.strike(ctx, out)
	stop()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "struck for %.0f s\n", time.Since(began).Seconds())
	return t.judge(ctx, out)
}
