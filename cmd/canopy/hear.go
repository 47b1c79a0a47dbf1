package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
	"canopy/internal/access"
)

const heard = `subscription($id: ID!) { webhookDeliveryUpdated(destinationId: $id) {
	databaseId eventId type status attempts httpStatus error test createdAt completedAt payload } }`

// hear tells of the deliveries to a destination as they move on, until it is told to end.
func (r *remote) hear(ctx context.Context, destination int64, asJSON, pretty bool) error {
	c, err := r.client(access.Tenant)
	if err != nil {
		return err
	}
	type told struct{ WebhookDeliveryUpdated *schema.WebhookDelivery }
	_, _ = fmt.Fprintf(r.m.Stderr, "hearing of deliveries to the destination %d; stop with Ctrl-C\n", destination)
	for event, err := range canopy.Subscribe[told](ctx, c, heard, map[string]any{"id": *optionalID(destination)}) {
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the platform has ended the connection; the same command goes on, and what comes meanwhile is in the log of deliveries")
		case err != nil:
			return err
		}
		if err := r.m.tellDelivery(event.WebhookDeliveryUpdated, asJSON, pretty); err != nil {
			return err
		}
	}
	return nil
}

func (m *Main) tellDelivery(d *schema.WebhookDelivery, asJSON, pretty bool) error {
	if asJSON {
		return json.NewEncoder(m.Stdout).Encode(d)
	}
	line := fmt.Sprintf("%s %s %s %s, attempts: %d", day(&d.CreatedAt), d.EventID, d.Type, d.Status, d.Attempts)
	if d.HTTPStatus != nil {
		line += fmt.Sprintf(", answered %d", *d.HTTPStatus)
	}
	if d.Error != nil {
		line += ": " + *d.Error
	}
	if pretty {
		var body bytes.Buffer
		if json.Indent(&body, []byte(d.Payload), "", "  ") == nil {
			line += "\n" + body.String()
		}
		_, err := fmt.Fprintln(m.Stdout, line)
		return err
	}
	_, err := fmt.Fprintln(m.Stdout, printable(line))
	return err
}
