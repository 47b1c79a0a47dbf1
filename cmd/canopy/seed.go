package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"canopy/db"
)

func seedCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	var s db.Seed
	flags.IntVar(&s.Customers, "companies", 0, "how many companies to make; it has to be said, as they come into whatever database is configured")
	flags.IntVar(&s.Fanout, "fanout", 20, "children of each company, above the leaves")
	flags.IntVar(&s.Staffed, "staffed", 500, "how many of the first companies get accounts, users and permissions")
	flags.IntVar(&s.Users, "users", 10, "users of each staffed company, with a permission on each of its three accounts")
	flags.BoolVar(&s.Alone, "alone", false, "nobody else uses the platform: lock it until all is made, which takes a fraction of the time where that is much")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		if s.Customers == 0 {
			return usagef("--companies is needed: how many are made in the database of DATABASE_URL")
		}
		if s.Customers < 1 || s.Fanout < 1 || s.Staffed < 0 || s.Users < 0 {
			return usagef("--companies and --fanout must be at least 1, and no count negative")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		start := time.Now()
		s.Progress = func(done int) {
			_, _ = fmt.Fprintf(m.Stderr, "%d of %d companies, %.0f s\n", done, s.Customers, time.Since(start).Seconds())
		}
		top, err := db.SeedTree(ctx, p.Config.DatabaseURL, s)
		if err != nil {
			return err
		}
		took := time.Since(start).Seconds()
		return m.write(*asJSON, map[string]any{"companies": s.Customers, "below": top, "seconds": took},
			fmt.Sprintf("%d companies below company %d in %.1f s\n", s.Customers, top, took))
	}
}
