// Command bench prints one table of the platform's speeds, each beside a bare reference of the
// same run: machines differ and are shared, so ratios are what counts. `make bench` runs it.
//
// PostgreSQL, the load tool and one `canopy serve` share the machine; rate and cost limits are off.
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

func main() {
	var o options
	flag.StringVar(&o.binary, "canopy", "bin/canopy", "the program to measure")
	flag.DurationVar(&o.load, "time", 5*time.Second, "how long each figure is measured")
	flag.IntVar(&o.customers, "companies", 1_000_000, "size of the tree for the figures of the large tree; 0 leaves them out")
	flag.StringVar(&o.only, "only", "", "measure only the figures whose name holds this")
	flag.BoolVar(&o.noDeliveries, "no-deliveries", false, "leave the figures of webhook deliveries out")
	flag.BoolVar(&o.hostile, "hostile", false, "measure only what one company feels of another that wants everything")
	flag.BoolVar(&o.peers, "peers", false, "measure only the platform beside peers from npm, in turns")
	flag.StringVar(&o.record, "record", "", "with -peers, a file of JSON lines that keeps the ratios")
	flag.StringVar(&o.release, "release", "dev", "the release that -record names")
	flag.IntVar(&o.turns, "turns", 24, "how often two programs that differ little take turns, each for a quarter of the time")
	flag.StringVar(&o.beside, "beside", "", "pairs of programs of the same schema, program=program,...: measure only these, each pair in turns")
	collector := flag.String("collector", "", "run as a collector of traces on this address (bench starts it itself)")
	sink := flag.String("sink", "", "run as the receiver of deliveries on this address, with the certificate in -certificate (bench starts it itself)")
	certificate := flag.String("certificate", "", "file that keeps the receiver's certificate")
	bare := flag.String("bare", "", "run as the bare reference server on this address (bench starts it itself)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *bare != "":
		err = serveBare(ctx, *bare)
	case *collector != "":
		err = serveCollector(ctx, *collector)
	case *sink != "":
		err = webhook.Listen(ctx, webhook.ListenOptions{Addr: *sink, Certificate: *certificate, Handler: newSink()})
	default:
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) // nothing is left to clean up
	}
}

type options struct {
	binary    string
	load      time.Duration
	customers int
	only      string
	// beside are pairs of programs that are measured in turns, and nothing else.
	beside string
	// turns is how often the two take turns.
	turns int
	// noDeliveries leaves the figures of deliveries out.
	noDeliveries bool
	// hostile measures the figures beside a hostile company, and no others.
	hostile bool
	// peers measures the platform beside peers; record keeps the ratios, as those of release.
	peers           bool
	record, release string
}
