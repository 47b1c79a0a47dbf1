package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"

	"canopy/cmd/canopy/importer"
	"canopy/internal/access"
)

func userImportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	id := flags.Int64("customer", 0, "id of the company (default that of the API key)")
	at := m.remoteFlags(flags)
	dry := flags.Bool("dry-run", false, "tell what would be done, and add nobody")
	report := flags.String("report", "", "file that is told what became of each line, as CSV")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if *id < 0 || len(args) != 1 {
			return usagef("one CSV file is needed")
		}
		c, err := at.client(access.Tenant)
		if err != nil {
			return err
		}
		p := &importer.People{Client: c, Customer: *id, DryRun: *dry, Out: m.Stdout, Progress: m.Stderr}
		if *asJSON {
			p.JSON = m.writeJSON
		}
		if *report != "" {
			if isSameFile(*report, args[0]) { // it would be emptied before it is read
				return usagef("the report needs another file than the people")
			}
			p.Report = func() (io.WriteCloser, error) {
				return os.OpenFile(*report, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
			}
		}
		return p.Run(ctx, args[0])
	}
}

// isSameFile tells whether two paths lead to one file.
func isSameFile(a, b string) bool {
	one, oneErr := os.Stat(a)
	other, otherErr := os.Stat(b)
	return errors.Join(oneErr, otherErr) == nil && os.SameFile(one, other)
}
