package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"time"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
	"canopy/db"
	"canopy/internal/access"
	"canopy/rest"
)

func auditExportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	since := flags.String("since", "", "the first moment: 2026-01-31 (UTC) or 2026-01-31T12:00:00Z (default the beginning)")
	until := flags.String("until", "", "the first moment that is too late (default now)")
	customer := flags.Int64("customer", 0, "id of a company: its events, and those of all below it (default the root company; at a platform that of the caller, and no other)")
	at := m.remoteFlags(flags)
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
		out := bufio.NewWriter(m.Stdout)
		lines, n := json.NewEncoder(out), 0
		lines.SetEscapeHTML(false)
		err = at.eachAuditEvent(ctx, *customer, from, to, func(e rest.AuditEvent) error {
			n++
			return lines.Encode(e)
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

// eachAuditEvent gives the events of the place that is meant, oldest first.
func (r *remote) eachAuditEvent(ctx context.Context, customer int64, from, to time.Time, each func(rest.AuditEvent) error) error {
	if r.direct() {
		p, err := r.m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		return p.Resolver.OperatorAuditEvents(ctx, customer, from, to, func(e *db.AuditEvent) error { return each(rest.AuditEventOf(e, e.ActorUserID)) })
	}
	if customer != 0 {
		return usagef("--customer is for the database: a platform tells the events of the caller's company and of all below it, so act by a key of that company")
	}
	c, err := r.client(access.Tenant)
	if err != nil {
		return err
	}
	for e, err := range auditEvents(ctx, c, from, to) {
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
func auditEvents(ctx context.Context, c *canopy.Client, from, to time.Time) iter.Seq2[*schema.AuditEvent, error] {
	filter := schema.AuditEventFilter{CreatedUntil: &to}
	if !from.IsZero() {
		filter.CreatedSince = &from
	}
	type page struct{ AuditEvents schema.AuditEventConnection }
	return canopy.Each(ctx, c, `query($filter: AuditEventFilter, $after: String) { auditEvents(filter: $filter, orderBy: [{field: ID, direction: ASC}], first: 200, after: $after) {
		nodes { databaseId action objectType objectId details createdAt clientId actor { databaseId } customer { databaseId } } pageInfo { hasNextPage endCursor } } }`,
		map[string]any{"filter": filter}, func(data *page) ([]*schema.AuditEvent, *schema.PageInfo) {
			return data.AuditEvents.Nodes, data.AuditEvents.PageInfo
		})
}

// toldEvent has the members of GET /v1/audit.
func toldEvent(e *schema.AuditEvent) rest.AuditEvent {
	told := rest.AuditEvent{
		ID: int64(e.DatabaseID), CustomerID: int64(e.Customer.DatabaseID), ClientID: e.ClientID, Action: e.Action,
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
