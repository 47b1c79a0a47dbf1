// Command cluster runs a platform of many processes on this machine, of one cell or of two, until Ctrl-C. `make cluster` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"canopy/internal/devstack/cluster"
)

const usage = `Usage: make cluster [ARGS="FLAGS"]

Runs two serve behind HAProxy, two worker, PostgreSQL with a streaming standby and PgBouncer before each of the two, a
Redis Cluster of six and a store of documents, all on this machine, and keeps nothing of it. What ends by itself is
started anew: kill -9 any of them. SIGUSR1 ends the primary for good and promotes the standby. Ctrl-C ends all, once
what is under way is finished; a second one at once.

With -cells 2 a region has a cell of its own, with as much of each, and a company. SIGUSR1 is then for the cell's primary.

Flags:
`

func main() {
	o := cluster.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	flag.StringVar(&o.Canopy, "canopy", "bin/canopy", "the program")
	flag.StringVar(&o.Balancer, "balancer", "deploy/haproxy.cfg", "HAProxy's settings")
	flag.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "the balancer's address, on loopback")
	cells := flag.Int("cells", 1, "1: the home alone; 2: with the cell of a region")
	region := flag.String("region", "us-east", "the region that the second cell is for")
	flag.StringVar(&o.CellListen, "cell-listen", "127.0.0.1:8081", "the address of the second cell's balancer, on loopback")
	flag.BoolVar(&o.Synchronous, "synchronous", false, "each commit waits for the standby, so that promoting it loses nothing")
	flag.Usage = func() {
		_, _ = io.WriteString(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	switch *cells {
	case 1:
	case 2:
		o.Region = *region
	default:
		fmt.Fprintln(os.Stderr, "cluster: -cells is 1 or 2")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1) // nothing is left to clean up
	}
}

func run(ctx context.Context, o cluster.Options) error {
	failover := make(chan os.Signal, 1)
	signal.Notify(failover, syscall.SIGUSR1)
	c, err := cluster.Start(ctx, o)
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := tell(ctx, os.Stdout, c, o.Region); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-failover:
			if err := failing(c).FailOver(ctx); err != nil {
				return err
			}
			fmt.Println("postgres1 has ended for good, and postgres2 takes writes.")
		}
	}
}

// failing is the cell whose primary may be lost: a region's cell is joined anew once the home's own is lost (docs/cells.md).
func failing(c *cluster.Cluster) *cluster.Cluster {
	if c.Cell != nil {
		return c.Cell
	}
	return c
}

// tell says where everything is.
func tell(ctx context.Context, out io.Writer, c *cluster.Cluster, region string) error {
	_, _ = fmt.Fprintf(out, "%s\nThe platform is at %s, the console at %s/console/.\n", c.Key, c.URL, c.URL)
	if c.Cell != nil {
		company, err := c.NewCompany(ctx, region, "Example East", "east@example.com")
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "\nThe cell of %s is at %s. Either address takes any request. What %s (id %d) has is there alone:\n%s", region, c.Cell.URL, company.Name, company.ID, company.Key)
	}
	_, _ = fmt.Fprintf(out, "\nCtrl-C ends it; kill -USR1 %d fails over to postgres2%s.\n\n", os.Getpid(), map[bool]string{true: " of the cell"}[c.Cell != nil])
	parts(out, c)
	if c.Cell != nil {
		_, _ = fmt.Fprintf(out, "The cell of %s:\n\n", region)
		parts(out, c.Cell)
	}
	return nil
}

func parts(out io.Writer, c *cluster.Cluster) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range c.Parts() {
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%d\n", p.Name, p.Address, p.PID())
	}
	_, _ = fmt.Fprintf(w, "  PostgreSQL\t%s\n\n", c.Primary.URL())
	_ = w.Flush()
}
