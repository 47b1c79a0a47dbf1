package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"time"

	"canopy/db"
	"canopy/internal/config"
)

// withMigrator does something with the database of the settings.
func (m *Main) withMigrator(ctx context.Context, do func(*config.Config, *db.Migrator) error) error {
	cfg, err := m.load(config.Schema)
	if err != nil {
		return err
	}
	mig, err := db.NewMigrator(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = mig.Close() }()
	return do(cfg, mig)
}

func regionOpenCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	role := flags.String("role", "", "the PostgreSQL role by which the cell comes to the home's database; none is given rights by default")
	split := flags.Bool("split", false, "what companies of the region have stays at the home until canopy region split moves it")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) != 2 {
			return usagef("the code of a region and the address of its cell are needed")
		}
		if at, err := url.Parse(args[1]); err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" {
			return usagef("the address of the cell's platform must be like https://eu.example.com, not %q", args[1])
		}
		return m.withMigrator(ctx, func(_ *config.Config, mig *db.Migrator) error {
			open := mig.OpenCell
			if *split {
				open = mig.OpenSplit
			}
			if err := open(ctx, args[0], args[1], *role); err != nil {
				return err
			}
			return m.write(*asJSON, map[string]any{"region": args[0], "address": args[1]}, fmt.Sprintf("%s may have a cell: run canopy region join %[1]s there\n", args[0]))
		})
	}
}

func regionCloseCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("the code of a region is needed")
		}
		return m.withMigrator(ctx, func(_ *config.Config, mig *db.Migrator) error {
			if err := mig.CloseCell(ctx, args[0]); err != nil {
				return err
			}
			return m.write(*asJSON, map[string]any{"region": args[0]}, fmt.Sprintf("%s has no cell: the home answers for it\n", args[0]))
		})
	}
}

func regionJoinCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	anew := flags.Bool("anew", false, "compare what a cell has of the directory with the home, put it right, and follow from there: for one whose slot is lost, or that was restored from a backup, as after its home was")
	dryRun := flags.Bool("dry-run", false, "with --anew: compare, and change nothing")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("the code of a region is needed")
		}
		if *dryRun && !*anew {
			return usagef("--dry-run goes with --anew")
		}
		return m.withMigrator(ctx, func(cfg *config.Config, mig *db.Migrator) error {
			if cfg.HomeURL == "" {
				return &config.Fault{Name: "CANOPY_HOME_URL", Problem: "is required: the home's database"}
			}
			if *anew {
				return m.joinAnew(ctx, mig, args[0], cfg.HomeURL, *dryRun, *asJSON)
			}
			err := mig.JoinHome(ctx, args[0], cfg.HomeURL, func(ready, of int) {
				_, _ = fmt.Fprintf(m.Stderr, "%d of %d tables are there\n", ready, of)
			})
			if err != nil {
				return err
			}
			return m.write(*asJSON, map[string]any{"region": args[0]}, fmt.Sprintf("this is the cell of %s: start serve and worker with CANOPY_REGION=%[1]s\n", args[0]))
		})
	}
}

func (m *Main) joinAnew(ctx context.Context, mig *db.Migrator, region, home string, dryRun, asJSON bool) error {
	join := mig.JoinAnew
	if dryRun {
		join = mig.CompareWithHome
	}
	all, err := join(ctx, region, home, func(d db.Difference) {
		_, _ = fmt.Fprintf(m.Stderr, "%s: %d rows are compared\n", d.Table, d.Rows)
	})
	if err != nil {
		return err
	}
	if asJSON {
		return m.writeJSON(all)
	}
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.Table, fmt.Sprint(d.Rows), fmt.Sprint(d.Missing), fmt.Sprint(d.Different), fmt.Sprint(d.Gone)})
	}
	return m.writeTable([]string{"TABLE", "ROWS", "MISSING", "DIFFERENT", "GONE"}, rows)
}

func regionStatusCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		return m.withMigrator(ctx, func(_ *config.Config, mig *db.Migrator) error {
			own, cells, err := mig.Cells(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				if own != nil {
					return m.writeJSON(own)
				}
				return m.writeJSON(cells)
			}
			if own != nil {
				if !own.Subscribed {
					_, _ = fmt.Fprintf(m.Stderr, "the cell does not follow the home: run canopy region join %s --anew\n", own.Region)
				}
				return m.writeTable([]string{"CELL", "VERSION", "FOLLOWS", "TABLES", "ERRORS", "LAST HEARD"},
					[][]string{{own.Region, fmt.Sprint(own.Version), yes(own.Follows), fmt.Sprintf("%d of %d", own.Ready, own.Tables), fmt.Sprint(own.Errors), lastMoment(own.HeardAt)}})
			}
			var rows [][]string
			for _, c := range cells {
				rows = append(rows, []string{c.Region, c.Address, fmt.Sprint(c.Version), yes(c.Follows), fmt.Sprint(c.BehindBytes), c.Log, lastMoment(c.SeenAt), splitStatus(c.Split)})
			}
			if err := m.writeTable([]string{"REGION", "ADDRESS", "VERSION", "FOLLOWS", "BEHIND (BYTES)", "LOG", "LAST SEEN", "SPLIT"}, rows); err != nil {
				return err
			}
			for _, c := range cells {
				if c.Log == db.LogLost {
					_, _ = fmt.Fprintf(m.Stderr, "the home does not keep what the cell of %s has yet to take: run canopy region join %[1]s --anew there\n", c.Region)
				}
			}
			return nil
		})
	}
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func lastMoment(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.UTC().Format(time.RFC3339)
}
