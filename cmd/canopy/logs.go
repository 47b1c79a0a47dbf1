package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/config"
)

// partitioned is what programs are told of a log that was to be changed over.
type partitioned struct {
	Log string `json:"log"`
	// Changed: it had no months before.
	Changed bool `json:"changed"`
}

func logsPartitionCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		logs, err := logsNamed(args)
		if err != nil {
			return err
		}
		return m.withMigrator(ctx, func(_ *config.Config, mig *db.Migrator) error {
			months := mig.Months()
			months.At = func(step string) error {
				_, err := fmt.Fprintln(m.Stderr, step)
				return err
			}
			done, text := []partitioned{}, ""
			for _, l := range logs {
				changed, err := months.Partition(ctx, l)
				if err != nil {
					return fmt.Errorf("%s: %w; the same command goes on with what was done", l.Name, err)
				}
				done = append(done, partitioned{l.Name, changed})
				if changed {
					text += l.Name + " has months from now on\n"
				} else {
					text += l.Name + " has months already\n"
				}
			}
			return m.write(*asJSON, done, text)
		})
	}
}

// logsNamed gives the logs that operators have named.
func logsNamed(names []string) (logs []*db.Log, err error) {
	var known []string
	for _, l := range db.Logs() {
		known = append(known, l.Name)
	}
	if len(names) == 0 {
		return nil, usagef("the logs are needed: %s", strings.Join(known, ", "))
	}
	for _, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, usagef("there is no log %q: %s are", name, strings.Join(known, ", "))
		}
		logs = append(logs, db.Logs()[at])
	}
	return logs, nil
}

func logsStatusCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return usagef("it takes no arguments")
		}
		return m.withMigrator(ctx, func(cfg *config.Config, mig *db.Migrator) error {
			keep := app.Retention(cfg)
			var all []db.LogState
			for _, l := range db.Logs() {
				state, err := mig.Months().State(ctx, l, keep[l])
				if err != nil {
					return err
				}
				if cfg.MonthsFrom > 0 && db.MonthsPay(keep[l]) && !state.Months {
					state.MonthsFrom = &cfg.MonthsFrom
				}
				all = append(all, state)
			}
			if *asJSON {
				return m.writeJSON(all)
			}
			return m.tellLogs(all)
		})
	}
}

func (m *Main) tellLogs(all []db.LogState) error {
	var rows [][]string
	for _, l := range all {
		for _, p := range l.Parts {
			rows = append(rows, []string{l.Log, p.Name, fmt.Sprint(p.Rows), fmt.Sprint(p.Bytes), lastMoment(p.First), lastMoment(p.Last), nextOf(l, p)})
		}
	}
	if err := m.writeTable([]string{"LOG", "TABLE", "ROWS", "BYTES", "FIRST", "LAST", "NEXT"}, rows); err != nil {
		return err
	}
	for _, l := range all {
		if l.Changing {
			_, _ = fmt.Fprintf(m.Stderr, "%s: the change to months was begun and is not over; where no process is at it, which harms nobody, canopy logs partition %[1]s goes on with it\n", l.Log)
		}
	}
	return nil
}

// nextOf tells what comes next for a part of a log.
func nextOf(l db.LogState, p db.LogPart) string {
	switch {
	case l.MonthsFrom != nil:
		return fmt.Sprintf("rows are deleted one by one, as long as no table of it has %d", *l.MonthsFrom)
	case !l.Months:
		return "rows are deleted one by one"
	case p.Filled:
		return "is filled"
	case p.Ahead:
		return "made ahead"
	case p.Last == nil:
		return "dropped, as it is empty"
	case p.Goes == nil:
		return "kept for ever"
	}
	return "dropped from " + lastMoment(p.Goes)
}
