package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"canopy/internal/app"
	"canopy/internal/config"
)

func devCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	data := flags.String("data", ".data", "folder for everything that is kept")
	return func(ctx context.Context, _ []string) error {
		cfg, err := m.settings(config.Dev)
		if err != nil {
			return err
		}
		dir, err := filepath.Abs(*data)
		if err != nil {
			return err
		}
		return app.Dev(ctx, cfg, dir, func(info app.DevInfo) { m.tell(dir, info) }, m.options())
	}
}

// tell says where a development platform is, and who may enter.
func (m *Main) tell(dir string, i app.DevInfo) {
	w := tabwriter.NewWriter(m.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "\nCanopy is ready. Ctrl-C stops it; the data stays in %s.\n\n", dir)
	for _, line := range [][2]string{
		{"Console", i.ConsoleURL},
		{"REST", i.URL},
		{"GraphQL", i.GraphqlURL},
		{"Docs", i.DocsURL},
		{"Queues", i.MonitorURL},
		{"Mails", i.Mails},
		{"Receiver", i.ReceiverURL},
		{"Client id", i.ClientID},
		{"Client secret", i.ClientSecret},
		{"Admin", i.AdminEmail},
		{"Password", i.AdminPassword},
	} {
		if line[1] != "" {
			_, _ = fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
		}
	}
	_, _ = fmt.Fprintln(w)
	_ = w.Flush()
}
