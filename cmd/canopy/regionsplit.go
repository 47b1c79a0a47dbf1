package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/config"
)

func regionSplitCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	to := flags.String("to", "", "a file with DATABASE_URL and CANOPY_BLOB_URL of the cell, as its serve has them")
	dryRun := flags.Bool("dry-run", false, "tell what there is to move, and change nothing")
	abort := flags.Bool("abort", false, "take it back that the region is to move; the cell's database is of no more use. Without --to it is for a cell that is gone")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 || *to == "" && !*abort {
			return usagef("the code of a region and --to are needed")
		}
		if *dryRun && *abort {
			return usagef("--dry-run and --abort exclude each other")
		}
		if *to == "" {
			return m.withMigrator(ctx, func(_ *config.Config, mig *db.Migrator) error {
				if err := mig.AbortSplit(ctx, args[0]); err != nil {
					return err
				}
				return m.stays(args[0], *asJSON)
			})
		}
		home, err := m.load(config.Schema)
		if err != nil {
			return err
		}
		cell, err := settingsOf(*to)
		if err != nil {
			return err
		}
		move, err := app.OpenMover(ctx, home, cell, args[0], func(d db.Difference) {
			_, _ = fmt.Fprintf(m.Stderr, "%s: %d rows are compared, and %d brought\n", d.Table, d.Rows, d.Missing+d.Different)
		})
		if err != nil {
			return err
		}
		defer move.Close()
		switch {
		case *dryRun:
			return m.splitSizes(ctx, move, *asJSON)
		case *abort:
			if err := move.Abort(ctx); err != nil {
				return err
			}
			return m.stays(args[0], *asJSON)
		}
		if err := move.Move(ctx); err != nil {
			return err
		}
		return m.write(*asJSON, map[string]any{"region": args[0], "originals": move.Objects.Load(), "bytes": move.Bytes.Load()},
			fmt.Sprintf("what companies of %s have is in the cell, and no more at the home\n", args[0]))
	}
}

func (m *Main) stays(region string, asJSON bool) error {
	return m.write(asJSON, map[string]any{"region": region}, fmt.Sprintf("what companies of %s have stays at the home\n", region))
}

// settingsOf reads the settings of another place from a file of lines like NAME=value, as systemd and Compose read them.
func settingsOf(path string) (*config.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, is := strings.Cut(line, "=")
		if !is {
			return nil, fmt.Errorf("%s: a line must be like NAME=value", path)
		}
		values[strings.TrimSpace(strings.TrimPrefix(name, "export "))] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	cfg, err := config.Load(config.Schema, func(name string) string { return values[name] })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, nil
}

func (m *Main) splitSizes(ctx context.Context, move *app.Mover, asJSON bool) error {
	sizes, err := move.Sizes(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return m.writeJSON(sizes)
	}
	var rows [][]string
	for _, s := range sizes {
		rows = append(rows, []string{s.Table, fmt.Sprint(s.Rows), fmt.Sprint(s.Bytes)})
	}
	return m.writeTable([]string{"WHAT", "NUMBER", "BYTES"}, rows)
}

// splitStatus is how far a split is, in a few words.
func splitStatus(s *db.SplitState) string {
	if s == nil {
		return ""
	}
	text := s.Phase
	if s.At != "" {
		text += fmt.Sprintf(", %s: %d", s.At, s.Rows)
	}
	if s.Pass > 0 {
		text += fmt.Sprintf(" (pass %d)", s.Pass)
	}
	return text
}
