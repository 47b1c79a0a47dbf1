package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
	"canopy/cmd/canopy/importer"
	"canopy/internal/access"
	"canopy/resolvers"
)

func customerImportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	i := customerImport{at: m.remoteFlags(flags)}
	flags.Int64Var(&i.parent, "parent", 0, "id of the company below which it is made (default the root company)")
	flags.BoolVar(&i.dry, "dry-run", false, "look at everything, tell what would be made, and write nothing")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		if i.parent < 0 || len(args) != 1 {
			return usagef("one archive is needed")
		}
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		report, err := i.run(ctx, file)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return m.writeJSON(report)
		}
		return m.tellImport(report)
	}
}

// customerImport is an import, at a platform or on its database.
type customerImport struct {
	at     *remote
	parent int64
	dry    bool
}

// run reads an archive in, where that is meant.
func (i *customerImport) run(ctx context.Context, file *os.File) (*resolvers.ImportReport, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if i.at.direct() {
		return i.here(ctx, file, info.Size())
	}
	c, err := i.at.client(access.Tenant)
	if err != nil {
		return nil, err
	}
	return i.there(ctx, c, file, info.Size())
}

// here reads it in on the database.
func (i *customerImport) here(ctx context.Context, file *os.File, size int64) (*resolvers.ImportReport, error) {
	p, err := i.at.m.tool(ctx)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	report, err := p.Resolver.OperatorImport(ctx, resolvers.Import{
		Archive: file, Parent: i.parent, DryRun: i.dry, Watch: func(pass string) io.Writer {
			bar := importer.NewBar(i.at.m.Stderr, size, true)
			bar.Describe(pass)
			return bar
		},
	})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted; the same command goes on where it stopped")
	}
	return report, err
}

// there uploads it to a platform, and waits for what comes of it.
func (i *customerImport) there(ctx context.Context, c *canopy.Client, file *os.File, size int64) (*resolvers.ImportReport, error) {
	parent := i.parent
	if parent == 0 {
		var data struct{ Customer *schema.Customer }
		if err := c.GraphQL(ctx, `{ customer { databaseId } }`, nil, &data); err != nil {
			return nil, err
		}
		parent = int64(data.Customer.DatabaseID)
	}
	bar := importer.NewBar(i.at.m.Stderr, size, true)
	bar.Describe("upload")
	id, err := c.Import(ctx, parent, i.dry, filepath.Base(file.Name()), io.TeeReader(file, bar))
	_ = bar.Finish()
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted before the archive was there; nothing is made")
	case err != nil:
		return nil, err
	}
	return i.await(ctx, c, id)
}

// importEvery is how often an import at a platform is looked at.
const importEvery = 300 * time.Millisecond

// await waits until an import has ended.
func (i *customerImport) await(ctx context.Context, c *canopy.Client, id int64) (*resolvers.ImportReport, error) {
	bar := importer.NewBar(i.at.m.Stderr, 1000, false)
	bar.Describe("reading")
	for {
		var now struct {
			Status   string
			Progress float64
			Error    string
			Report   *resolvers.ImportReport
		}
		err := c.Call(ctx, http.MethodGet, fmt.Sprintf("/tenant/import/%d", id), nil, &now)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("interrupted; the platform goes on with the import %d, unless that is cancelled (cancelCustomerImport)", id)
		case err != nil:
			return nil, err
		case now.Status == "ready":
			_ = bar.Finish()
			return now.Report, nil
		case now.Status == "failed":
			return nil, errors.New(now.Error)
		case now.Status == "cancelled":
			return nil, fmt.Errorf("the import %d was cancelled, and nothing is made", id)
		}
		_ = bar.Set(int(1000 * now.Progress))
		select {
		case <-ctx.Done():
		case <-time.After(importEvery):
		}
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
