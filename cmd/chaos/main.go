// Command chaos tries to lose webhook deliveries. An API, two workers and a receiver run as
// processes of their own; while events are emitted and runs are started, workers are killed, Redis
// is lost and PostgreSQL restarted. Afterwards everything must have arrived. `make chaos` runs it.
//
// As "chaos cells" it starts a home and the cell of a region, and tries to lose what these have acknowledged. `make chaos-cluster` runs that.
//
// It talks to nothing but the loopback address, and ends by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"canopy/internal/webhook"
)

type options struct {
	binary string
	events int
	runs   int
	blows  int
	seed   uint64
	// between is the pause between two blows.
	between time.Duration
	// limit bounds the whole.
	limit time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.binary, "canopy", "bin/canopy", "the program to try")
	flag.IntVar(&o.events, "events", 5000, "how many events are emitted")
	flag.IntVar(&o.runs, "runs", 100, "how many runs are started")
	flag.IntVar(&o.blows, "blows", 24, "how often something is killed or restarted")
	flag.Uint64Var(&o.seed, "seed", 1, "of the order of blows and answers")
	flag.DurationVar(&o.between, "between", 3*time.Second, "pause between two blows")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "how long it may take")
	receiver := flag.String("receiver", "", "run as the receiver on this address, with the certificate in -certificate (chaos starts it itself)")
	certificate := flag.String("certificate", "", "file that keeps the receiver's certificate")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, o, *receiver, *certificate); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1) // nothing is left to clean up
	}
}

func command(ctx context.Context, o options, receiver, certificate string) error {
	if flag.Arg(0) == "cells" {
		return cellsCommand(ctx, flag.Args()[1:])
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	if receiver != "" {
		return webhook.Listen(ctx, webhook.ListenOptions{Addr: receiver, Certificate: certificate, Handler: newReceivers(o.seed)})
	}
	return run(ctx, o, os.Stdout)
}
