package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"time"

	"github.com/pressly/goose/v3"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/config"
)

func migrateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
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
			return errors.Join(err, m.tellMigrations(*asJSON, done...))
		case "down":
			done, err := mig.Down(ctx)
			if done != nil {
				err = errors.Join(err, m.tellMigrations(*asJSON, done))
			}
			return err
		default:
			return m.tellStatus(ctx, mig, *asJSON)
		}
	}
}

// migration is what programs are told of one.
type migration struct {
	Version int64  `json:"version"`
	File    string `json:"file"`
	// State is applied or pending, of what was done up or down.
	State     string     `json:"state"`
	AppliedAt *time.Time `json:"appliedAt,omitempty"`
	Fault     string     `json:"fault,omitempty"`
}

func (m *Main) tellMigrations(asJSON bool, done ...*goose.MigrationResult) error {
	list, text := []migration{}, ""
	for _, r := range done {
		one := migration{Version: r.Source.Version, File: filepath.Base(r.Source.Path), State: r.Direction}
		if r.Error != nil {
			one.Fault = r.Error.Error()
		}
		list, text = append(list, one), text+r.String()+"\n"
	}
	return m.write(asJSON, list, cmp.Or(text, "nothing to do: the schema is at this program's version\n"))
}

func (m *Main) tellStatus(ctx context.Context, mig *db.Migrator, asJSON bool) error {
	all, err := mig.Status(ctx)
	if err != nil {
		return err
	}
	list, rows := []migration{}, [][]string{}
	for _, s := range all {
		one := migration{Version: s.Source.Version, File: filepath.Base(s.Source.Path), State: string(s.State)}
		if !s.AppliedAt.IsZero() {
			at := s.AppliedAt.UTC()
			one.AppliedAt = &at
		}
		list, rows = append(list, one), append(rows, []string{one.File, one.State, day(one.AppliedAt)})
	}
	if asJSON {
		return m.writeJSON(list)
	}
	return m.writeTable([]string{"MIGRATION", "STATE", "APPLIED"}, rows)
}

// tool opens the platform for a command of the operator's shell.
func (m *Main) tool(ctx context.Context) (*app.Platform, error) {
	cfg, err := m.load(config.Tool)
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, cfg, m.options())
}
