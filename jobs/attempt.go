package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"canopy/db"
	"canopy/internal/egress"
	"canopy/internal/telemetry"
	"canopy/internal/webhook"
	"canopy/outbox"
)

// send posts a delivery's captured bytes, freshly signed, and tells what came of it.
func (d *dispatcher) send(ctx context.Context, c *db.Claimed) (o db.Outcome, timedOut bool) {
	begun := time.Now()
	ctx, span := d.trace.Root(ctx, orEmpty(c.Traceparent), "deliver", telemetry.Client, telemetry.Number("canopy.customer", c.CustomerID),
		telemetry.Number("canopy.delivery", c.ID), telemetry.Number("canopy.destination", c.DestinationID), telemetry.Text("canopy.event", c.Type),
		telemetry.Number("canopy.attempt", int64(c.Attempts+1)))
	resp, err := d.post(ctx, c)
	took := time.Since(begun)
	o = judge(c, resp, err)
	tellAttempt(span, o)
	a := db.Attempt{At: begun.UTC().Truncate(time.Millisecond), DurationMs: milliseconds(took), Error: o.Error, Kind: kindOf(resp, err)}
	if resp != nil {
		a.HTTPStatus, a.Response = &resp.Status, resp.Excerpt()
	}
	o.Log, _ = json.Marshal([]db.Attempt{a}) // a time, numbers and texts always marshal
	d.metrics.attempted(o, took, time.Since(c.CreatedAt))
	return o, errors.Is(err, egress.ErrTimeout)
}

// tellAttempt ends the span of an attempt.
func tellAttempt(span telemetry.Span, o db.Outcome) {
	span.Set(telemetry.Text("canopy.outcome", o.Status))
	if o.HTTPStatus > 0 {
		span.Set(telemetry.Number("http.response.status_code", int64(o.HTTPStatus)))
	}
	if o.Status != db.DeliveryDelivered {
		span.Failed(o.Status)
	}
	span.End(nil)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// final is a failure that no further attempt can mend.
type final struct{ kind, message string }

func (f final) Error() string { return f.message }

func (d *dispatcher) post(ctx context.Context, c *db.Claimed) (*egress.Response, error) {
	if c.URL == "" {
		return nil, final{"DELETED", "the destination was deleted"}
	}
	if c.Attempts >= db.MaxAttempts {
		return nil, final{"INTERRUPTED", "given up: the attempts were interrupted too often"}
	}
	secret, err := outbox.OpenSigningSecret(d.box, c.DestinationID, c.Secret)
	if err != nil {
		d.log.ErrorContext(ctx, "a delivery can't be signed", "delivery", c.ID, "error", err)
		return nil, final{"SECRET", "the signing secret can't be read; rotate it and send again"}
	}
	next, err := outbox.OpenSigningSecret(d.box, c.DestinationID, c.NextSecret)
	if err != nil {
		next = ""
	}
	header := http.Header{}
	webhook.SetHeaders(header, c.Type, c.Payload, secret, next)
	if c.Signing == webhook.SigningStandard {
		webhook.SetStandardHeaders(header, c.EventID, time.Now(), c.Payload, secret, next)
		telemetry.Inject(ctx, header) // the headers of others are those of the documented interface, and no more
	}
	if c.Test {
		header.Set(webhook.HeaderTest, "true")
	}
	return d.client.Post(ctx, c.URL, header, c.Payload)
}

// judge decides what an answer, or the lack of one, means for a delivery. Any 2xx is success; a
// connection error, a timeout and a 5xx are worth another attempt; everything else is final.
func judge(c *db.Claimed, resp *egress.Response, err error) db.Outcome {
	o := db.Outcome{ID: c.ID, DestinationID: c.DestinationID, LeasedUntil: c.LeasedUntil, Status: db.DeliveryFailed}
	retry := false
	switch {
	case errors.Is(err, egress.ErrBlocked):
		o.Status, o.Error = db.DeliveryBlocked, shown(err)
	case err != nil:
		o.Error = shown(err)
		retry = errors.Is(err, egress.ErrConnection) || errors.Is(err, egress.ErrTimeout)
	case resp.Status >= 200 && resp.Status < 300:
		o.Status, o.HTTPStatus = db.DeliveryDelivered, resp.Status
	default:
		o.HTTPStatus, o.Error = resp.Status, fmt.Sprintf("the receiver answered %d", resp.Status)
		retry = resp.Status >= 500
	}
	if retry && c.Attempts < len(retryWaits) {
		o.Status, o.Wait = db.DeliveryPending, retryWaits[c.Attempts]
	}
	return o
}

// shown is the sentence of a failure that the owner of the destination may read.
func shown(err error) string {
	var e *egress.Error
	var f final
	switch {
	case errors.As(err, &e):
		return e.Message
	case errors.As(err, &f):
		return f.Error()
	}
	return "the attempt failed"
}

// kinds are the failures that have a name for programs; what is a connection error as well comes before that.
var kinds = []struct {
	of   error
	name string
}{
	{egress.ErrBlocked, "BLOCKED"}, {egress.ErrTimeout, "TIMEOUT"}, {egress.ErrDNS, "DNS"}, {egress.ErrTLS, "TLS"}, {egress.ErrConnection, "CONNECTION"},
}

// kindOf is what kind of failure an attempt was; empty for none.
func kindOf(resp *egress.Response, err error) string {
	var f final
	switch {
	case err == nil && resp.Status >= 200 && resp.Status < 300:
		return ""
	case err == nil:
		return "STATUS"
	case errors.As(err, &f):
		return f.kind
	}
	for _, k := range kinds {
		if errors.Is(err, k.of) {
			return k.name
		}
	}
	return "OTHER"
}
