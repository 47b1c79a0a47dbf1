// Command cluster runs one platform of many processes on this machine, until Ctrl-C. `make cluster` runs it.
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

Flags:
`

func main() {
	o := cluster.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	flag.StringVar(&o.Canopy, "canopy", "bin/canopy", "the program")
	flag.StringVar(&o.Balancer, "balancer", "deploy/haproxy.cfg", "HAProxy's settings")
	flag.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "the balancer's address, on loopback")
	flag.Usage = func() {
		_, _ = io.WriteString(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
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
	tell(os.Stdout, c)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-failover:
			if err := c.FailOver(ctx); err != nil {
				return err
			}
			fmt.Println("postgres1 has ended for good, and postgres2 takes writes.")
		}
	}
}

// tell says where everything is.
func tell(out io.Writer, c *cluster.Cluster) {
	_, _ = fmt.Fprintf(out, "%s\nThe platform is at %s, the console at %s/console/.\nCtrl-C ends it; kill -USR1 %d fails over to postgres2.\n\n", c.Key, c.URL, c.URL, os.Getpid())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range c.Parts() {
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%d\n", p.Name, p.Address, p.PID())
	}
	_, _ = fmt.Fprintf(w, "  PostgreSQL\t%s\n\n", c.Primary.URL())
	_ = w.Flush()
}
