package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/pressly/goose/v3"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/config"
)

func migrateCommand(m *Main, _ *flag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("one of up, down and status is needed")
		}
		if !slices.Contains([]string{"up", "down", "status"}, args[0]) {
			return usagef("one of up, down and status is needed, not %q", args[0])
		}
		cfg, err := m.load(config.Schema)
		if err != nil {
			return err
		}
		mig, err := db.NewMigrator(ctx, cfg.DatabaseURL)
		if err != nil {
			return err
		}
		defer func() { _ = mig.Close() }()
		switch args[0] {
		case "up":
			done, err := mig.Up(ctx)
			m.printMigrations(done...)
			return err
		case "down":
			done, err := mig.Down(ctx)
			if done != nil {
				m.printMigrations(done)
			}
			return err
		default:
			return m.printStatus(ctx, mig)
		}
	}
}

func (m *Main) printMigrations(done ...*goose.MigrationResult) {
	if len(done) == 0 {
		_, _ = fmt.Fprintln(m.Stdout, "nothing to do: the schema is at this program's version")
	}
	for _, r := range done {
		_, _ = fmt.Fprintln(m.Stdout, r)
	}
}

func (m *Main) printStatus(ctx context.Context, mig *db.Migrator) error {
	list, err := mig.Status(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(m.Stdout, 0, 0, 3, ' ', 0)
	for _, s := range list {
		applied := ""
		if !s.AppliedAt.IsZero() {
			applied = s.AppliedAt.UTC().Format("2006-01-02 15:04:05Z")
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", s.Source.Path, s.State, applied)
	}
	return w.Flush()
}

// tool opens the platform for a command of the operator's shell.
func (m *Main) tool(ctx context.Context) (*app.Platform, error) {
	cfg, err := m.load(config.Tool)
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, cfg, m.options())
}
