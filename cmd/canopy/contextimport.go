package main

import (
	"context"
	"flag"

	"canopy/cmd/canopy/importer"
	"canopy/internal/access"
)

func contextImportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	id := flags.Int64("context", 0, "id of the context")
	at := m.remoteFlags(flags)
	wait := flags.Bool("wait", false, "wait until the context's documents are processed, and tell which failed")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if *id <= 0 || len(args) == 0 {
			return usagef("--context and at least one file or folder are needed")
		}
		c, err := at.client(access.Assistant)
		if err != nil {
			return err
		}
		i := &importer.Importer{Client: c, Context: *id, Wait: *wait, Out: m.Stdout, Progress: m.Stderr}
		if *asJSON {
			i.JSON = m.writeJSON
		}
		return i.Run(ctx, args)
	}
}
