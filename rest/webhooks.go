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
	"canopy/internal/webhook"
	"canopy/resolvers"
)

const webhookBase = "/v1/outbound-webhooks"

// catalog is what can be subscribed.
type catalog struct {
	Version string      `json:"version" example:"v1" doc:"The version of the envelope"`
	Events  []eventType `json:"events"`
}

type catalogInput struct {
	Extended bool `query:"extended" doc:"Whether to list those types, too, that a destination gets only if it names them: limit.warning, limit.reached and audit.<action>; audit.* names all of the latter"`
}

// eventType is one type of event.
type eventType struct {
	Type        string          `json:"type" example:"run.completed"`
	Category    string          `json:"category" enum:"run,agent,limit,audit" doc:"The prefix of the type"`
	Description string          `json:"description" doc:"When it is emitted"`
	Example     json.RawMessage `json:"example" doc:"An example of data"`
	Schema      json.RawMessage `json:"schema" doc:"The JSON Schema of data"`
}

func eventTypeOf(e webhook.Entry) eventType {
	return eventType{Type: e.Type, Category: e.Category, Description: e.Description, Example: e.Example, Schema: e.Schema}
}

// Destination is where events are delivered to. Its secret is never shown again.
type Destination struct {
	ID            int64      `json:"id"`
	URL           string     `json:"url" format:"uri"`
	Name          string     `json:"name"`
	Events        *[]string  `json:"events" nullable:"true" doc:"The subscribed types; null for all"`
	Enabled       bool       `json:"enabled" doc:"Whether events are written down for it"`
	Signing       string     `json:"signing" enum:"spec,standard" doc:"How deliveries are signed"`
	OverlapEndsAt *time.Time `json:"overlapEndsAt" nullable:"true" doc:"Until when the secret of before the last rotation goes on signing, and the new one beside it; null while one signs alone"`
	CreatedAt     time.Time  `json:"createdAt"`
}

func destinationOf(d *db.Destination) Destination {
	return Destination{
		ID:            d.ID,
		URL:           d.URL,
		Name:          d.Name,
		Events:        subscribed(d),
		Enabled:       d.Enabled,
		Signing:       strings.ToLower(d.Signing),
		OverlapEndsAt: utc(d.OverlapEndsAt()),
		CreatedAt:     d.CreatedAt.UTC(),
	}
}

// subscribed are the types that a destination has chosen; nil, and not an empty list, for all.
func subscribed(d *db.Destination) *[]string {
	return listOrNull(d.Events)
}

// createdDestination is a destination with its secret, which is shown this once.
type createdDestination struct {
	Destination
	Secret string `json:"secret" doc:"The signing secret; it is shown this once"`
}

// shownSecret is a new signing secret.
type shownSecret struct {
	Secret string `json:"secret" doc:"The signing secret; it is shown this once"`
}

// signing is how deliveries are to be signed. Its values are also taken as the graph has them.
type signing string

// Schema documents the values.
func (signing) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeString, Enum: []any{"spec", "standard", webhook.SigningSpec, webhook.SigningStandard},
		Description: "How deliveries are signed: spec, the default, is x-service-signature alone; standard adds the headers of Standard Webhooks, " +
			"and takes a secret of the present form: an older one is rotated first",
	}
	s.PrecomputeMessages()
	return s
}

// asked is the graph's name of it; nil where it was left out.
func (s *signing) asked() *string {
	if s == nil {
		return nil
	}
	name := strings.ToUpper(string(*s))
	return &name
}

type createDestinationInput struct {
	Body struct {
		URL     string    `json:"url" example:"https://example.com/hooks" doc:"An https URL whose host has public addresses only"`
		Name    *string   `json:"name,omitempty"`
		Events  *[]string `json:"events,omitempty" doc:"The types to subscribe; by default all"`
		Signing *signing  `json:"signing,omitempty"`
	} `nameHint:"CreateDestinationRequest"`
}

// DestinationPath names a destination in the path.
type DestinationPath struct {
	ID int64 `path:"id" doc:"The destination's id"`
}

func (p *DestinationPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type updateDestinationInput struct {
	DestinationPath
	Body struct {
		URL    *string   `json:"url,omitempty"`
		Name   *string   `json:"name,omitempty"`
		Events *[]string `json:"events,omitempty" doc:"The types to subscribe"`
		// AllEvents is what null is in a new destination: here null leaves the list as it is.
		AllEvents *bool    `json:"allEvents,omitempty" doc:"true subscribes every type, those to come included; not together with events"`
		Enabled   *bool    `json:"enabled,omitempty" doc:"Whether events are written down for it"`
		Signing   *signing `json:"signing,omitempty"`
	} `nameHint:"UpdateDestinationRequest"`
}

// DestinationFilter are the parameters that bound a list of destinations.
type DestinationFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search       string    `query:"search" doc:"Only those whose names and addresses have all words of this text, the last one as a beginning; where none has, within one edit"`
	Enabled      bool      `query:"enabled" doc:"Only those that are, or are not, enabled"`
	Failing      bool      `query:"failing" doc:"Only those that nothing gets through to, or those that something does"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

type destinationsQuery struct {
	Pages
	OrderQuery
	DestinationFilter

	filter *resolvers.WebhookDestinationFilter
}

// Resolve tells what was given from what was left out.
func (q *destinationsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.WebhookDestinationFilter](hc, &q.DestinationFilter)
	return nil
}

type rotateSecretInput struct {
	DestinationPath
	Body *struct {
		Overlap *bool `json:"overlap,omitempty" default:"false" doc:"Whether the old secret goes on signing for 24 hours, with the new one's signature beside it"`
	} `nameHint:"RotateSecretRequest"`
}

type testDestinationInput struct {
	DestinationPath
	Body struct {
		Type string `json:"type" example:"run.completed" doc:"The type of the event"`
	} `nameHint:"TestDestinationRequest"`
}

type recoverInput struct {
	DestinationPath
	Body struct {
		Since time.Time `json:"since" doc:"Deliveries that were written from this moment on"`
	} `nameHint:"RecoverRequest"`
}

// recovered tells how much is sent again.
type recovered struct {
	Count int64 `json:"count" doc:"How many deliveries are sent again"`
}

func (a *api) registerWebhooks() {
	add(a, operation{
		id: "getWebhookCatalog", rule: rule.WebhookCatalog, method: http.MethodGet, path: webhookBase + "/catalog", tag: tagWebhooks,
		summary: "Get the event types", description: "Every type of event that can be subscribed, with an example and a JSON Schema of its data.",
	}, a.catalog)
	addList(a, operation{
		id: "listWebhookDestinations", rule: rule.WebhookDestinations, orders: db.Destinations, path: webhookBase + "/destinations", tag: tagWebhooks,
		summary: "List the destinations", description: "The destinations of the caller's company, by id unless asked for otherwise.",
	}, anyOrder, func(ctx context.Context, in *destinationsQuery, _ query, each emit[Destination]) error {
		return a.queries().ListWebhookDestinations(ctx, in.filter, in.listing(&in.Pages), func(d *db.Destination, at paging.Cursor) error {
			return each(destinationOf(d), at)
		})
	})
	add(a, operation{
		id: "createWebhookDestination", rule: rule.CreateWebhookDestination, method: http.MethodPost, path: webhookBase + "/destinations", tag: tagWebhooks, status: http.StatusCreated,
		summary: "Create a destination", description: "Subscribes an HTTPS endpoint to the events of the caller's company. The signing secret is in the answer, this once.",
	}, a.createDestination)
	a.registerDestination()
	a.registerDeliveries()
}

// registerDestination registers what is done with one destination.
func (a *api) registerDestination() {
	notFound := []int{http.StatusNotFound}
	const path = webhookBase + "/destinations/{id}"
	add(a, operation{
		id: "getWebhookDestination", conditions: byNoneMatch, rule: rule.WebhookDestination, method: http.MethodGet, path: path, tag: tagWebhooks, errors: notFound,
		summary: "Get a destination", description: "A destination, without its secret.",
	}, func(ctx context.Context, in *DestinationPath) (*tagged[Destination], error) {
		d, err := a.queries().WebhookDestination(ctx, in.id())
		return shownDestination(ctx, d, err)
	})
	add(a, operation{
		id: "updateWebhookDestination", conditions: byMatch, rule: rule.UpdateWebhookDestination, method: http.MethodPatch, path: path, tag: tagWebhooks, errors: notFound,
		summary: "Update a destination", description: "Changes what is given; the rest stays as it is. One that is disabled gets no new deliveries; pending ones finish.",
	}, func(ctx context.Context, in *updateDestinationInput) (*tagged[Destination], error) {
		out, err := a.mutations().UpdateWebhookDestination(ctx, resolvers.UpdateWebhookDestinationInput{
			ID: in.id(), URL: in.Body.URL, Name: in.Body.Name, Events: chosen(in.Body.Events), AllEvents: in.Body.AllEvents, Enabled: in.Body.Enabled,
			Signing: in.Body.Signing.asked(), IfVersion: ifMatch(ctx),
		})
		if err != nil {
			return nil, err
		}
		return shownDestination(ctx, out.Destination, nil)
	})
	add(a, operation{
		id: "deleteWebhookDestination", conditions: byMatch, rule: rule.DeleteWebhookDestination, method: http.MethodDelete, path: path, tag: tagWebhooks, errors: notFound,
		summary: "Delete a destination", description: "Removes a destination; for 30 days it can be restored. Deliveries on their way end as failed; the log stays.",
	}, func(ctx context.Context, in *DestinationPath) (*struct{}, error) {
		_, err := a.mutations().DeleteWebhookDestination(ctx, resolvers.DeleteWebhookDestinationInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
	add(a, operation{
		id: "listDeletedWebhookDestinations", rule: rule.CustomerDeletedWebhookDestinations, method: http.MethodGet, path: webhookBase + "/destinations/deleted", tag: tagWebhooks, errors: notFound,
		summary: "List the deleted destinations of a company", description: "Those that can be restored, the one that was deleted last first; at most 200. One without a name goes by its address.",
	}, func(ctx context.Context, in *DeletedOf) (*one[[]deleted], error) {
		return deletedAnswer(a.queries().ListDeletedDestinations(ctx, idOf(in.CustomerID)))
	})
	add(a, operation{
		id: "restoreWebhookDestination", rule: rule.RestoreWebhookDestination, method: http.MethodPost, path: path + "/restore", tag: tagWebhooks, errors: notFound, status: http.StatusOK,
		summary: "Restore a deleted destination", description: "Brings a destination back, with its secret, that was deleted within the last 30 days. What happened meanwhile is not sent to it.",
	}, func(ctx context.Context, in *DestinationPath) (*tagged[Destination], error) {
		out, err := a.mutations().RestoreWebhookDestination(ctx, resolvers.RestoreWebhookDestinationInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return shownDestination(ctx, out.Destination, nil)
	})
	add(a, operation{
		id: "rotateWebhookSecret", rule: rule.RotateWebhookSecret, method: http.MethodPost, path: path + "/rotate-secret", tag: tagWebhooks, errors: notFound, status: http.StatusOK,
		summary: "Rotate the signing secret", description: "Gives a destination a new secret, shown this once. The old one dies at once; with overlap it goes on signing x-service-signature for 24 hours, while x-service-signature-next carries the new one's.",
	}, a.rotateSecret)
	add(a, operation{
		id: "testWebhookDestination", rule: rule.TestWebhookDestination, method: http.MethodPost, path: path + "/test", tag: tagWebhooks, errors: notFound, status: http.StatusAccepted,
		summary: "Send an example", description: "Sends the catalog's example of an event, signed and logged like any delivery, and told from a real one by the header `x-canopy-test: true` and by `test` in the log.",
	}, func(ctx context.Context, in *testDestinationInput) (*one[sentAgain], error) {
		out, err := a.mutations().TestWebhookDestination(ctx, resolvers.TestWebhookDestinationInput{ID: in.id(), Type: in.Body.Type})
		if err != nil {
			return nil, err
		}
		return &one[sentAgain]{sentAgain{out.Delivery.ID}}, nil
	})
	add(a, operation{
		id: "recoverWebhookDeliveries", rule: rule.RecoverWebhookDeliveries, method: http.MethodPost, path: path + "/recover", tag: tagWebhooks, errors: notFound, status: http.StatusAccepted,
		summary: "Send again what was lost", description: "Sends every event again whose delivery has failed or was blocked since a moment.",
	}, func(ctx context.Context, in *recoverInput) (*one[recovered], error) {
		out, err := a.mutations().RecoverWebhookDeliveries(ctx, resolvers.RecoverWebhookDeliveriesInput{ID: in.id(), Since: in.Body.Since})
		if err != nil {
			return nil, err
		}
		return &one[recovered]{recovered{out.Count}}, nil
	})
}

func shownDestination(ctx context.Context, d *db.Destination, err error) (*tagged[Destination], error) {
	if err != nil {
		return nil, err
	}
	return tag(ctx, d.Version, destinationOf(d))
}

// chosen is a choice that may be left out; one that is empty is a choice all the same.
func chosen(types *[]string) []string {
	if types == nil {
		return nil
	}
	return append([]string{}, *types...)
}

func (a *api) catalog(ctx context.Context, in *catalogInput) (*one[catalog], error) {
	c, err := a.queries().WebhookCatalog(ctx, &in.Extended)
	if err != nil {
		return nil, err
	}
	return &one[catalog]{catalog{c.Version, mapped(c.Events, eventTypeOf)}}, nil
}

func (a *api) createDestination(ctx context.Context, in *createDestinationInput) (*tagged[createdDestination], error) {
	out, err := a.mutations().CreateWebhookDestination(ctx, resolvers.CreateWebhookDestinationInput{
		URL: in.Body.URL, Name: in.Body.Name, Events: chosen(in.Body.Events), Signing: in.Body.Signing.asked(),
	})
	if err != nil {
		return nil, err
	}
	shown := destinationOf(out.Destination)
	return &tagged[createdDestination]{etagOf(out.Destination.Version, shown), createdDestination{shown, out.Secret}}, nil
}

func (a *api) rotateSecret(ctx context.Context, in *rotateSecretInput) (*one[shownSecret], error) {
	r := resolvers.RotateWebhookSecretInput{ID: in.id()}
	if in.Body != nil {
		r.Overlap = in.Body.Overlap
	}
	out, err := a.mutations().RotateWebhookSecret(ctx, r)
	if err != nil {
		return nil, err
	}
	return &one[shownSecret]{shownSecret{out.Secret}}, nil
}
