package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// cellsOptions are those of a trial of two cells.
type cellsOptions struct {
	binary, balancer string
	// pace is the pause of each caller between two requests, calm how long it goes on before and after each blow, and away how long what is lost for a while is.
	pace, calm, away time.Duration
	seed             uint64
	limit            time.Duration
	// from is the commit whose program the cells begin with, only are words of the blows that are dealt: all where there is none.
	from string
	only []string
}

const cellsUsage = `Usage: make chaos-cluster [ARGS="FLAGS"]

Starts a home and the cell of a region, each with all of its processes, of an earlier commit's program; asks both at both
addresses, upgrades them meanwhile, and kills, stops and cuts off one after the other. Nothing that was acknowledged may be
lost, and nothing of one cell known in the other's database. It talks to nothing but the loopback address, and leaves
nothing; the logs stay where something was lost.

The blows:
%s
Flags:
`

// cellsCommand runs it on what stands behind its name on the command line.
func cellsCommand(ctx context.Context, args []string) error {
	o := cellsOptions{}
	flags := flag.NewFlagSet("chaos cells", flag.ExitOnError)
	flags.StringVar(&o.binary, "canopy", "bin/canopy", "the program to try")
	flags.StringVar(&o.from, "from", "", "the commit that is upgraded from, which git has to have here; by default the newest release that has cells or, as long as there is none, what was before the newest migration")
	flags.Func("only", "words of the blows that are dealt, by commas: '-only none,upgraded' (default all); without an upgrade the cells begin with the program to try", func(words string) error {
		o.only = strings.Split(words, ",")
		return (&cells{o: o}).known()
	})
	flags.StringVar(&o.balancer, "balancer", "deploy/haproxy.cfg", "HAProxy's settings")
	flags.DurationVar(&o.pace, "pace", time.Second, "pause of each of some twenty callers between two requests")
	flags.DurationVar(&o.calm, "calm", 5*time.Second, "time before the first blow, and after each once all works")
	flags.DurationVar(&o.away, "away", time.Minute, "how long the home is away; a partition and a lost master of Redis are for a third of that")
	flags.Uint64Var(&o.seed, "seed", 1, "of the texts")
	flags.DurationVar(&o.limit, "limit", 30*time.Minute, "how long it may take")
	flags.Usage = func() {
		var names strings.Builder
		for _, b := range (&cells{}).blows() {
			_, _ = fmt.Fprintf(&names, "  %s\n", b.name)
		}
		_, _ = fmt.Fprintf(os.Stderr, cellsUsage, &names)
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
	if t.from != "" {
		_, _ = fmt.Fprintf(out, "they begin with the program of %s\n", t.from)
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
