package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// Delivery is one event on its way to one destination.
type Delivery struct {
	ID            int64      `json:"id"`
	EventID       string     `json:"eventId" doc:"The event's id, the same in every delivery of it"`
	DestinationID int64      `json:"destinationId"`
	Type          string     `json:"type" example:"run.completed"`
	Status        string     `json:"status" enum:"pending,delivered,failed,blocked"`
	Attempts      int        `json:"attempts" doc:"How many attempts came to an end"`
	HTTPStatus    *int       `json:"httpStatus" doc:"The status of the last answer; null when there was none"`
	Error         *string    `json:"error" doc:"What went wrong in the last attempt, or the limit that the first one waits for; null when nothing did"`
	Test          bool       `json:"test" doc:"Whether it was sent to try the destination out"`
	CreatedAt     time.Time  `json:"createdAt" doc:"When the event was recorded, or sent again"`
	CompletedAt   *time.Time `json:"completedAt" doc:"When the delivery ended; null while it is pending"`
}

func deliveryOf(d *db.Delivery) Delivery {
	return Delivery{
		ID: d.ID, EventID: d.EventID, DestinationID: d.DestinationID, Type: d.Type, Status: d.Status, Attempts: d.Attempts,
		HTTPStatus: d.HTTPStatus, Error: d.Failure(), Test: d.Test, CreatedAt: d.CreatedAt.UTC(), CompletedAt: utc(d.CompletedAt),
	}
}

// attempt is one attempt on a delivery.
type attempt struct {
	At         time.Time `json:"at"`
	DurationMs float64   `json:"durationMs"`
	HTTPStatus *int      `json:"httpStatus" doc:"The status of the answer; null when there was none"`
	Error      *string   `json:"error" doc:"What went wrong; null when nothing did"`
	ErrorKind  *string   `json:"errorKind" enum:"status,blocked,dns,tls,connection,timeout,deleted,interrupted,secret,other" doc:"What kind of failure that is, for programs; null when nothing went wrong, and for attempts from before it was kept"`
	Response   string    `json:"response" doc:"The first KiB of the answer; empty for an event of the audit log where the caller may not read that"`
}

// TransformSchema documents that the kind may be null, which a list of values does not say by itself.
func (attempt) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	kind := s.Properties["errorKind"]
	kind.Enum = append(kind.Enum, nil)
	return s
}

func attemptOf(a *db.Attempt) attempt {
	kind := a.ErrorKind()
	if kind != nil {
		*kind = strings.ToLower(*kind)
	}
	return attempt{At: a.At.UTC(), DurationMs: a.DurationMs, HTTPStatus: a.HTTPStatus, Error: a.Failure(), ErrorKind: kind, Response: a.Response}
}

// detailedDelivery is a delivery with its log and the captured bytes.
type detailedDelivery struct {
	Delivery
	AttemptLog []attempt       `json:"attemptLog" doc:"The attempts so far, oldest first"`
	Payload    json.RawMessage `json:"payload" doc:"The envelope, as every attempt sends it; null for an event of the audit log where the caller may not read that"`
}

// sentAgain names a new delivery.
type sentAgain struct {
	DeliveryID int64 `json:"deliveryId" doc:"The new delivery"`
}

type deliveryPath struct {
	ID int64 `path:"id" doc:"The delivery's id"`
}

func (p *deliveryPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

// DeliveriesQuery bounds the list of deliveries.
type DeliveriesQuery struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"At most so many entries; a Link header leads to the next page"`
	After string `query:"after" doc:"The cursor of a Link header: the list goes on behind it"`
	LastPage
	OrderQuery
	DestinationID int64     `query:"destinationId" doc:"Only those to this destination"`
	Type          string    `query:"type" doc:"Only those of this type of event"`
	Status        string    `query:"status" enum:"pending,delivered,failed,blocked" doc:"Only those in this state"`
	Since         time.Time `query:"since" doc:"Only those from this moment on"`
	CustomerID    int64     `query:"customerId" minimum:"1" doc:"The company; by default the caller's own"`
	Subtree       bool      `query:"subtree" doc:"Whether with everything below it; by default it is not"`
	DeliveryFilter

	given  given
	filter *resolvers.WebhookDeliveryFilter
}

// DeliveryFilter are further parameters that bound a list of deliveries.
type DeliveryFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

// Resolve tells what was given from what was left out.
func (q *DeliveriesQuery) Resolve(hc huma.Context) []error {
	q.given = givenOf(hc, "destinationId", "type", "status", "since", "customerId")
	q.filter = filterGiven[resolvers.WebhookDeliveryFilter](hc, &q.DeliveryFilter)
	return nil
}

func (q *DeliveriesQuery) page() *Paging { return &Paging{Limit: q.Limit, After: q.After} }

func (q *DeliveriesQuery) which() resolvers.Deliveries {
	return resolvers.Deliveries{
		DestinationID: q.given.id("destinationId", q.DestinationID),
		Type:          ifGiven(q.given, "type", &q.Type),
		Status:        ifGiven(q.given, "status", &q.Status),
		Since:         ifGiven(q.given, "since", &q.Since),
		CustomerID:    q.given.id("customerId", q.CustomerID),
		Subtree:       q.Subtree,
	}
}

func (a *api) registerDeliveries() {
	notFound := []int{http.StatusNotFound}
	const path = webhookBase + "/deliveries"
	addList(a, operation{
		id: "listWebhookDeliveries", rule: rule.WebhookDeliveries, orders: db.Deliveries, path: path, tag: tagWebhooks, errors: notFound,
		summary: "List deliveries", description: "The deliveries of the caller's company, newest first; with destinationId, those to a destination within reach.",
	}, anyOrder, func(ctx context.Context, in *DeliveriesQuery, _ query, each emit[Delivery]) error {
		return a.queries().ListWebhookDeliveries(ctx, in.which(), in.filter, in.listing(&Pages{*in.page(), in.LastPage}), func(d *db.Delivery, at paging.Cursor) error {
			return each(deliveryOf(d), at)
		})
	})
	add(a, operation{
		id: "getWebhookDelivery", rule: rule.WebhookDelivery, method: http.MethodGet, path: path + "/{id}", tag: tagWebhooks, errors: notFound,
		summary: "Get a delivery", description: "A delivery with the log of its attempts and the captured bytes.",
	}, a.delivery)
	add(a, operation{
		id: "resendWebhookDelivery", rule: rule.ResendWebhookDelivery, method: http.MethodPost, path: path + "/{id}/resend", tag: tagWebhooks, errors: notFound, status: http.StatusAccepted,
		summary: "Send a delivery again", description: "Sends the captured bytes to the same destination once more, with a fresh signature, as a new delivery.",
	}, func(ctx context.Context, in *deliveryPath) (*one[sentAgain], error) {
		out, err := a.mutations().ResendWebhookDelivery(ctx, resolvers.ResendWebhookDeliveryInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return &one[sentAgain]{sentAgain{out.Delivery.ID}}, nil
	})
}

func (a *api) delivery(ctx context.Context, in *deliveryPath) (*one[detailedDelivery], error) {
	d, err := a.queries().CapturedDelivery(ctx, in.id())
	if err != nil {
		return nil, err
	}
	return &one[detailedDelivery]{detailedDelivery{Delivery: deliveryOf(d.Delivery), AttemptLog: mapped(d.Attempts, attemptOf), Payload: d.Payload}}, nil
}
