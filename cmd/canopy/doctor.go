package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"

	"canopy/internal/app/doctor"
	"canopy/internal/redisconn"
)

// errUnhealthy is what doctor ends with where something has to be done.
var errUnhealthy = errors.New("something keeps the platform from its work")

func doctorCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	egress := flags.String("egress", "", "https address outside that is asked as receivers of webhooks are")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		redisconn.LogTo(slog.New(slog.DiscardHandler)) // what it tells by itself is among what is found
		v := &doctor.Visit{Getenv: m.Getenv, Environ: m.Environ, Version: version, Egress: *egress}
		findings := v.Run(ctx)
		healthy := doctor.Healthy(findings)
		var err error
		if *asJSON {
			err = m.writeJSON(map[string]any{"healthy": healthy, "checks": findings})
		} else {
			err = tellFindings(m.Stdout, findings)
		}
		if err == nil && !healthy {
			err = errUnhealthy
		}
		return err
	}
}

// tellFindings tells a person what was found, and below it what to do.
func tellFindings(out io.Writer, findings []doctor.Finding) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.Status, f.Check, strings.ReplaceAll(f.Detail, "\n", "; "))
		if f.Advice != "" {
			_, _ = fmt.Fprintf(w, "\t\t→ %s\n", f.Advice)
		}
	}
	_ = w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}
