package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/enum"
	"canopy/rest"
)

func auditExportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	since := flags.String("since", "", "the first moment: 2026-01-31 (UTC) or 2026-01-31T12:00:00Z (default the beginning)")
	until := flags.String("until", "", "the first moment that is too late (default now)")
	customer := flags.Int64("customer", 0, "id of a company: its events, and those of all below it (default the root company; at a platform that of the caller)")
	at := m.remoteFlags(flags)
	format := flags.String("format", "", "how they are written: jsonl, a JSON object in each line, or table (default table on a terminal, otherwise jsonl)")
	asJSON := flags.Bool("json", false, "the same as --format jsonl")
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
		case *format != "" && *format != formatLines && *format != formatTable:
			return usagef("--format must be jsonl or table, not %q", *format)
		case *asJSON && *format == formatTable:
			return usagef("--json and --format table are two ways to write them")
		}
		out, n := bufio.NewWriter(m.Stdout), 0
		write := eventLines(out)
		if *format == formatTable || *format == "" && !*asJSON && m.onTerminal() {
			write = eventTable(out)
		}
		err = at.eachAuditEvent(ctx, *customer, from, to, func(e rest.AuditEvent) error {
			n++
			return write(e)
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

const (
	formatLines = "jsonl"
	formatTable = "table"
)

// eventLines writes each event as a line of JSON.
func eventLines(out io.Writer) func(rest.AuditEvent) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	return func(e rest.AuditEvent) error { return lines.Encode(e) }
}

// eventTable writes each event as a row for people, whose columns are of one width as nobody knows what follows.
func eventTable(out io.Writer) func(rest.AuditEvent) error {
	row := func(cells ...any) error {
		_, err := fmt.Fprintf(out, "%-20s   %-8v   %-20v   %-32s   %v\n", cells...)
		return err
	}
	headed := false
	return func(e rest.AuditEvent) error {
		if !headed {
			headed = true
			if err := row("TIME", "COMPANY", "BY", "ACTION", "OBJECT"); err != nil {
				return err
			}
		}
		actor := printable(e.ActorKind)
		if e.ActorID != nil {
			actor += " " + strconv.FormatInt(*e.ActorID, 10)
		}
		return row(e.CreatedAt.UTC().Format(time.RFC3339), e.CustomerID, actor, printable(e.Action), fmt.Sprintf("%s %d", printable(e.ObjectType), e.ObjectID))
	}
}

// eachAuditEvent gives the events of the place that is meant, oldest first; customer 0 names no company.
func (r *remote) eachAuditEvent(ctx context.Context, customer int64, from, to time.Time, each func(rest.AuditEvent) error) error {
	if r.direct() {
		p, err := r.m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		return p.Resolver.OperatorAuditEvents(ctx, customer, from, to, func(e *db.AuditEvent) error { return each(rest.AuditEventOf(e, e.ActorUserID)) })
	}
	c, err := r.client(access.Tenant)
	if err != nil {
		return err
	}
	for e, err := range auditEvents(ctx, c, customer, from, to) {
		if err != nil {
			return err
		}
		if err := each(toldEvent(e)); err != nil {
			return err
		}
	}
	return nil
}

// auditEvents asks a platform for them.
func auditEvents(ctx context.Context, c *canopy.Client, customer int64, from, to time.Time) iter.Seq2[*schema.AuditEvent, error] {
	filter := schema.AuditEventFilter{CreatedUntil: &to}
	if !from.IsZero() {
		filter.CreatedSince = &from
	}
	variables := map[string]any{"filter": filter}
	if customer != 0 {
		variables["customer"] = customer
	}
	type page struct{ AuditEvents schema.AuditEventConnection }
	return canopy.Each(ctx, c, `query($customer: ID, $filter: AuditEventFilter, $after: String) { auditEvents(customerId: $customer, filter: $filter, orderBy: [{field: ID, direction: ASC}], first: 200, after: $after) {
		nodes { databaseId action objectType objectId details createdAt clientId actorKind actor { databaseId } customer { databaseId } } pageInfo { hasNextPage endCursor } } }`,
		variables, func(data *page) ([]*schema.AuditEvent, *schema.PageInfo) {
			return data.AuditEvents.Nodes, data.AuditEvents.PageInfo
		})
}

// toldEvent has the members of GET /v1/audit.
func toldEvent(e *schema.AuditEvent) rest.AuditEvent {
	told := rest.AuditEvent{
		ID: int64(e.DatabaseID), CustomerID: int64(e.Customer.DatabaseID), ActorKind: enum.LowerCamel(string(e.ActorKind)), ClientID: e.ClientID, Action: e.Action,
		ObjectType: e.ObjectType, ObjectID: int64(e.ObjectID), Details: e.Details, CreatedAt: e.CreatedAt.UTC(),
	}
	if e.Actor != nil {
		id := int64(e.Actor.DatabaseID)
		told.ActorID = &id
	}
	return told
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
