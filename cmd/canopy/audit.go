package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"canopy/db"
	"canopy/rest"
)

func auditExportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	since := flags.String("since", "", "the first moment: 2026-01-31 (UTC) or 2026-01-31T12:00:00Z (default the beginning)")
	until := flags.String("until", "", "the first moment that is too late (default now)")
	customer := flags.Int64("customer", 0, "id of a company: its events, and those of all below it (default the root company)")
	format := flags.String("format", "jsonl", "how they are written: jsonl, a JSON object in each line")
	return func(ctx context.Context, _ []string) error {
		from, err := moment("--since", *since, time.Time{})
		if err != nil {
			return err
		}
		to, err := moment("--until", *until, time.Now())
		switch {
		case err != nil:
			return err
		case !from.Before(to):
			return usagef("--since must be before --until")
		case *format != "jsonl":
			return usagef("--format must be jsonl, not %q", *format)
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		out := bufio.NewWriter(m.Stdout)
		lines, n := json.NewEncoder(out), 0
		lines.SetEscapeHTML(false)
		err = p.Resolver.OperatorAuditEvents(ctx, *customer, from, to, func(e *db.AuditEvent) error {
			n++
			return lines.Encode(rest.AuditEventOf(e, e.ActorUserID))
		})
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d events", n)
		}
		return err
	}
}

// moment reads a day, which begins in UTC, or a moment of RFC 3339.
func moment(name, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return otherwise, usagef("%s must be a day such as 2026-01-31, or a moment such as 2026-01-31T12:00:00Z, not %q", name, text)
}
