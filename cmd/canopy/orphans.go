package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"canopy/db"
	"canopy/jobs"
)

// orphansFound is what programs are told of files that nothing has.
type orphansFound struct {
	Orphans  int  `json:"orphans"`
	Deleting bool `json:"deleting"`
}

func orphansCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	older := flags.Duration("older", db.UploadTime, "leave out what was written later than so long ago; at least a day")
	drop := flags.Bool("delete", false, "have workers delete them")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		if *older < db.UploadTime {
			return usagef("--older is at least %s: what is being uploaded has no row yet", db.UploadTime)
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		if p.Resolver.Blobs == nil {
			return errors.New("CANOPY_BLOB_URL is not set: there is no store to look into")
		}
		out := orphansFound{Deleting: *drop}
		err = jobs.Orphans(ctx, p.Store, p.Resolver.Blobs, time.Now().Add(-*older), func(keys []string) error {
			out.Orphans += len(keys)
			if !*drop {
				return nil
			}
			return p.Store.DropBlobs(ctx, keys)
		})
		if err != nil {
			return err
		}
		text := fmt.Sprintf("Files that were written more than %s ago and that nothing in this database has: %d.\n", *older, out.Orphans)
		if *drop && out.Orphans > 0 {
			text += "Workers delete them now.\n"
		}
		return m.write(*asJSON, out, text)
	}
}
