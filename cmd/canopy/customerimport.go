package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"canopy/cmd/canopy/importer"
	"canopy/resolvers"
)

func customerImportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	parent := flags.Int64("parent", 0, "id of the company below which it is made (default the root company)")
	dry := flags.Bool("dry-run", false, "look at everything, tell what would be made, and write nothing")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if *parent < 0 || len(args) != 1 {
			return usagef("one archive is needed")
		}
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		report, err := p.Resolver.OperatorImport(ctx, resolvers.Import{
			Archive: file, Parent: *parent, DryRun: *dry, Watch: func(pass string) io.Writer {
				bar := importer.NewBar(m.Stderr, info.Size(), true)
				bar.Describe(pass)
				return bar
			},
		})
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted; the same command goes on where it stopped")
		case err != nil:
			return err
		case *asJSON:
			return m.writeJSON(report)
		}
		return m.tellImport(report)
	}
}

// tellImport tells a person what came of an import.
func (m *Main) tellImport(r *resolvers.ImportReport) error {
	var b strings.Builder
	switch r.Status {
	case resolvers.ImportChecked:
		fmt.Fprintf(&b, "%q can be imported below the company %d. Nothing was written. There would be made:\n", r.Name, r.ParentID)
	case resolvers.ImportThere:
		fmt.Fprintf(&b, "%q was imported below the company %d before, as the company %d. There was made:\n", r.Name, r.ParentID, r.CustomerID)
	default:
		fmt.Fprintf(&b, "%q is imported below the company %d, as the company %d. There was made:\n", r.Name, r.ParentID, r.CustomerID)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Made)) {
		fmt.Fprintf(&b, "  %d %s\n", r.Made[kind], kind)
	}
	if len(r.LeftOut) > 0 {
		b.WriteString("Left out:\n")
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(&b, "  %d %s: %s\n", l.Count, l.Kind, l.Why)
	}
	for _, note := range r.Notes {
		b.WriteString(note + "\n")
	}
	if len(r.Export) > 0 {
		b.WriteString("The archive says that it leaves out:\n")
	}
	for _, sentence := range r.Export {
		b.WriteString("  " + sentence + "\n")
	}
	_, err := io.WriteString(m.Stdout, b.String())
	return err
}
