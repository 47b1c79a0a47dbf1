package resolvers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/egress"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
	"canopy/internal/webhook"
	"canopy/outbox"
)

const (
	maxURL = 2048
	// secretOverlap is how long the old signing secret of a rotation with overlap goes on.
	secretOverlap = 24 * time.Hour
)

// WebhookCatalog is every event type of those who asked for all; extended, those that have to be named
// follow.
func (q Query) WebhookCatalog(ctx context.Context, extended *bool) (*WebhookCatalog, error) {
	if _, err := q.may(ctx, rule.WebhookCatalog); err != nil {
		return nil, err
	}
	events := webhook.Catalog()
	if or(extended, false) {
		events = webhook.Extended()
	}
	return &WebhookCatalog{Version: webhook.Version, Events: events}, nil
}

// WebhookCatalog is every event type of a version of the envelope.
type WebhookCatalog struct {
	Version string
	Events  []webhook.Entry
}

// WebhookDestinations is a page of the destinations of a company within reach, by id unless asked for otherwise; the
// caller's own company when it is left out.
func (q Query) WebhookDestinations(ctx context.Context, customerID *globalid.ID, filter *WebhookDestinationFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*WebhookDestinationConnection, error) {
	c, err := q.may(ctx, rule.WebhookDestinations)
	if err != nil {
		return nil, err
	}
	customer, err := q.holder(ctx, c, customerID, "customerId")
	if err != nil {
		return nil, err
	}
	return q.destinationsOf(ctx, c, customer, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

func (r *Resolver) destinationsOf(ctx context.Context, c *caller, customer *db.Customer, in asked) (*WebhookDestinationConnection, error) {
	in.list = db.Destinations
	return connected(ctx, r, c, in,
		within(r.Store, customer.Destinations),
		within(r.Store, customer.DestinationCount))
}

// ListWebhookDestinations gives each destination of the caller's company that fits a filter, by id unless asked for otherwise.
func (q Query) ListWebhookDestinations(ctx context.Context, filter *WebhookDestinationFilter, l Listing, each func(*db.Destination, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.WebhookDestinations)
	if err != nil {
		return err
	}
	if err := q.hasOf(ctx, c.RegionID); err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Destinations, filter: filter}, l, within(c.CustomerID, q.Store.FindDestinationsOf), each)
}

// ListDeletedDestinations gives the destinations of a company within reach that can be brought back, the one that was deleted last first.
func (q Query) ListDeletedDestinations(ctx context.Context, id *globalid.ID) ([]*db.Deleted, error) {
	c, err := q.may(ctx, rule.CustomerDeletedWebhookDestinations)
	if err != nil {
		return nil, err
	}
	customer, err := q.holder(ctx, c, id, "customerId")
	if err != nil {
		return nil, err
	}
	return customer.DeletedDestinations(ctx, q.Store)
}

// WebhookDestination gives a destination within reach.
func (q Query) WebhookDestination(ctx context.Context, id globalid.ID) (*db.Destination, error) {
	c, err := q.may(ctx, rule.WebhookDestination)
	if err != nil {
		return nil, err
	}
	return q.destination(ctx, c, id, "id")
}

func (r *Resolver) destination(ctx context.Context, c *caller, id globalid.ID, field string) (*db.Destination, error) {
	n, err := id.Of("WebhookDestination", field)
	if err != nil {
		return nil, err
	}
	d, err := r.Store.Destination(ctx, c.Scope(), n)
	return d, missing(err, "destination", n)
}

// CreateWebhookDestinationInput is a new destination. Events nil stands for all types.
type CreateWebhookDestinationInput struct {
	CustomerID *globalid.ID
	URL        string
	Name       *string
	Events     []string
	Signing    *string
}

// CreateWebhookDestinationPayload is what CreateWebhookDestination made; the secret is shown this once.
type CreateWebhookDestinationPayload struct {
	Destination *db.Destination
	Secret      string
}

// CreateWebhookDestination subscribes an endpoint to a company's events.
func (m Mutation) CreateWebhookDestination(ctx context.Context, in CreateWebhookDestinationInput) (*CreateWebhookDestinationPayload, error) {
	c, err := m.may(ctx, rule.CreateWebhookDestination)
	if err != nil {
		return nil, err
	}
	var v check
	v.events("events", in.Events)
	v.optional("name", in.Name)
	m.judge(ctx, &v, "url", in.URL)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.holder(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	out := &CreateWebhookDestinationPayload{Secret: secret.NewSigningSecret()}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) (err error) {
		if slices.ContainsFunc(in.Events, webhook.IsAudit) {
			if err := maySubscribeAudit(ctx, tx, c); err != nil {
				return err
			}
		}
		out.Destination, err = tx.InsertDestination(ctx, db.Destination{
			CustomerID: customer.ID, URL: in.URL, Name: or(in.Name, ""), Events: inOrder(in.Events), Signing: or(in.Signing, webhook.SigningSpec),
		})
		if err != nil {
			return err
		}
		id := out.Destination.ID
		if err := tx.SetSigningSecret(ctx, id, outbox.SealSigningSecret(m.Box, id, out.Secret)); err != nil {
			return err
		}
		return ch.audit(customer.ID, audit.DestinationCreated, out.Destination, audit.Created(out.Destination).Secret("secret", false, true))
	})
	return out, err
}

// events checks a choice of event types; nil stands for all.
func (v *check) events(field string, types []string) {
	if types != nil && len(types) == 0 {
		v.fault(field, "must name at least one type; left out, it stands for all")
	}
	for _, t := range types {
		if !slices.Contains(webhook.Names(), t) {
			v.fault(field, "must not contain %q: the types are %s, %s, and those of the extended catalog", clip(t), strings.Join(webhook.Types(), ", "), webhook.AuditAll)
			return
		}
	}
}

// eventType checks one type of event.
func (v *check) eventType(field, typ string) {
	if _, ok := webhook.Lookup(typ); !ok {
		v.fault(field, "must be one of %s, or of the extended catalog", strings.Join(webhook.Types(), ", "))
	}
}

// inOrder gives the chosen types once each, in the catalog's order.
func inOrder(types []string) pq.StringArray {
	if types == nil {
		return nil
	}
	var list pq.StringArray
	for _, t := range webhook.Names() {
		if slices.Contains(types, t) {
			list = append(list, t)
		}
	}
	return list
}

// judge checks a destination's URL by the rules of deliveries, which every delivery applies again.
func (r *Resolver) judge(ctx context.Context, v *check, field, url string) {
	v.line(field, url, maxURL)
	if len(v.faults) > 0 {
		return
	}
	if err := r.Egress.CheckURL(ctx, url); err != nil {
		if e, ok := errors.AsType[*egress.Error](err); ok {
			v.fault(field, "%s", e.Message)
			return
		}
		v.fault(field, "can't be used as a destination")
	}
}

// UpdateWebhookDestinationInput is a destination with what changes of it. AllEvents subscribes it
// to every type.
type UpdateWebhookDestinationInput struct {
	ID        globalid.ID
	URL       *string
	Name      *string
	Events    []string
	AllEvents *bool
	Enabled   *bool
	Signing   *string
	IfVersion *int
}

// UpdateWebhookDestinationPayload is what UpdateWebhookDestination changed.
type UpdateWebhookDestinationPayload struct{ Destination *db.Destination }

// UpdateWebhookDestination changes a destination. Deliveries that are on their way go to where the
// destination is then; a disabled one gets no new ones.
func (m Mutation) UpdateWebhookDestination(ctx context.Context, in UpdateWebhookDestinationInput) (*UpdateWebhookDestinationPayload, error) {
	c, err := m.may(ctx, rule.UpdateWebhookDestination)
	if err != nil {
		return nil, err
	}
	if _, err := m.destination(ctx, c, in.ID, "id"); err != nil {
		return nil, err
	}
	var v check
	v.events("events", in.Events)
	v.optional("name", in.Name)
	if or(in.AllEvents, false) && in.Events != nil {
		v.fault("allEvents", "goes in place of events, not beside it")
	}
	if in.URL != nil {
		m.judge(ctx, &v, "url", *in.URL)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &UpdateWebhookDestinationPayload{}
	err = m.changeDestination(ctx, c, in.ID, audit.DestinationUpdated, func(tx *db.Store, d *db.Destination) (audit.Changes, error) {
		if err := unchanged(d.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		before := *d
		d.URL, d.Name, d.Enabled = or(in.URL, d.URL), or(in.Name, d.Name), or(in.Enabled, d.Enabled)
		if in.Events != nil {
			d.Events = inOrder(in.Events)
		}
		if or(in.AllEvents, false) {
			d.Events = nil
		}
		if in.Signing != nil && *in.Signing != d.Signing {
			d.Signing = *in.Signing
			if err := m.maySign(ctx, tx, d); err != nil {
				return audit.Changes{}, err
			}
		}
		if err := mayRedirect(ctx, tx, c, &before, d); err != nil {
			return audit.Changes{}, err
		}
		out.Destination = d
		what := audit.Between(&before, d)
		if what.Empty() {
			return what, nil
		}
		return what, tx.UpdateDestination(ctx, d)
	})
	return out, err
}

// maySign tells whether a destination's secrets can sign as it asks for. During the overlap of a
// rotation one that can is enough: receivers get that one to verify with.
func (m Mutation) maySign(ctx context.Context, tx *db.Store, d *db.Destination) error {
	if d.Signing != webhook.SigningStandard {
		return nil
	}
	list, err := tx.SigningSecrets(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, sealed := range list {
		plain, err := outbox.OpenSigningSecret(m.Box, d.ID, sealed)
		if err != nil {
			return err
		}
		if _, ok := secret.SigningKey(plain); ok {
			return nil
		}
	}
	return problem.Bad("the secret of the destination %d is of an older form, which Standard Webhooks do not take: rotate it first", d.ID).With("rotation_needed")
}

// DeleteWebhookDestinationInput is a destination to delete.
type DeleteWebhookDestinationInput struct {
	ID        globalid.ID
	IfVersion *int
}

// DeleteWebhookDestinationPayload tells what DeleteWebhookDestination removed.
type DeleteWebhookDestinationPayload struct{ DeletedID globalid.ID }

// DeleteWebhookDestination removes a destination. Deliveries that are on their way end as failed; the log stays, and so does the
// secret for as long as the destination can be brought back.
func (m Mutation) DeleteWebhookDestination(ctx context.Context, in DeleteWebhookDestinationInput) (*DeleteWebhookDestinationPayload, error) {
	c, err := m.may(ctx, rule.DeleteWebhookDestination)
	if err != nil {
		return nil, err
	}
	out := &DeleteWebhookDestinationPayload{}
	err = m.changeDestination(ctx, c, in.ID, audit.DestinationDeleted, func(tx *db.Store, d *db.Destination) (audit.Changes, error) {
		if err := unchanged(d.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		if err := mayRedirect(ctx, tx, c, d, d); err != nil {
			return audit.Changes{}, err
		}
		out.DeletedID = d.GlobalID()
		return audit.Removed(d).Secret("secret", true, false), tx.DeleteDestination(ctx, d.ID)
	})
	return out, err
}

// RestoreWebhookDestinationInput is a deleted destination to bring back.
type RestoreWebhookDestinationInput struct{ ID globalid.ID }

// RestoreWebhookDestinationPayload is what RestoreWebhookDestination brought back.
type RestoreWebhookDestinationPayload struct{ Destination *db.Destination }

// RestoreWebhookDestination brings a destination back, with its secret, that was deleted within the last 30 days. Who may not
// subscribe to what it is told can't bring it back.
func (m Mutation) RestoreWebhookDestination(ctx context.Context, in RestoreWebhookDestinationInput) (*RestoreWebhookDestinationPayload, error) {
	c, err := m.may(ctx, rule.RestoreWebhookDestination)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("WebhookDestination", "id")
	if err != nil {
		return nil, err
	}
	// Most of what waited is ended before, so that the change holds few rows: whatever comes of it, they are not sent.
	if err := m.Store.FailOrphansOf(ctx, c.Scope(), id); err != nil {
		return nil, missing(err, "deleted destination", id)
	}
	out := &RestoreWebhookDestinationPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		d, err := tx.RestoreDestination(ctx, c.Scope(), id)
		if err != nil {
			return missing(err, "deleted destination", id)
		}
		if err := mayRedirect(ctx, tx, c, d, d); err != nil {
			return err
		}
		out.Destination = d
		return ch.audit(d.CustomerID, audit.DestinationRestored, d, audit.Created(d).Secret("secret", false, true))
	})
	return out, err
}

// RotateWebhookSecretInput is a destination to give a new secret. With Overlap the old one goes on
// signing for a day.
type RotateWebhookSecretInput struct {
	ID      globalid.ID
	Overlap *bool
}

// RotateWebhookSecretPayload is what RotateWebhookSecret made; the secret is shown this once.
type RotateWebhookSecretPayload struct {
	Destination *db.Destination
	Secret      string
}

// RotateWebhookSecret gives a destination a new signing secret.
func (m Mutation) RotateWebhookSecret(ctx context.Context, in RotateWebhookSecretInput) (*RotateWebhookSecretPayload, error) {
	c, err := m.may(ctx, rule.RotateWebhookSecret)
	if err != nil {
		return nil, err
	}
	out := &RotateWebhookSecretPayload{Secret: secret.NewSigningSecret()}
	err = m.changeDestination(ctx, c, in.ID, audit.DestinationRotated, func(tx *db.Store, d *db.Destination) (audit.Changes, error) {
		if err := mayRedirect(ctx, tx, c, d, d); err != nil {
			return audit.Changes{}, err
		}
		out.Destination = d
		what := audit.None().Secret("secret", true, true)
		sealed := outbox.SealSigningSecret(m.Box, d.ID, out.Secret)
		if or(in.Overlap, false) {
			if ends := d.OverlapEndsAt(); ends != nil {
				return what, problem.Bad("the overlap of an earlier rotation lasts until %s: another one would drop the secret that receivers are being given; rotate after it, or without overlap",
					ends.UTC().Format(time.RFC3339)).With("rotation_under_way")
			}
			next := time.Now().Add(secretOverlap)
			d.NextAt = &next
			return what.With("overlapEndsAt", next), tx.SetNextSigningSecret(ctx, d.ID, sealed, next)
		}
		d.NextAt = nil
		return what, tx.SetSigningSecret(ctx, d.ID, sealed)
	})
	return out, err
}

// changeDestination changes one destination within the caller's reach.
func (m Mutation) changeDestination(ctx context.Context, c *caller, id globalid.ID, action audit.Action, do func(*db.Store, *db.Destination) (audit.Changes, error)) error {
	n, err := id.Of("WebhookDestination", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		d, err := tx.DestinationForUpdate(ctx, c.Scope(), n)
		if err != nil {
			return missing(err, "destination", n)
		}
		what, err := do(tx, d)
		if err != nil || what.Empty() {
			return err
		}
		return ch.audit(d.CustomerID, action, d, what)
	})
}

// WebhookDestinationEdges resolves the edges of a destination.
type WebhookDestinationEdges struct{ *Resolver }

// Events are the subscribed types; nil stands for all.
func (e WebhookDestinationEdges) Events(_ context.Context, obj *db.Destination) ([]string, error) {
	return obj.Events, nil
}

// Customer is whose events are delivered.
func (e WebhookDestinationEdges) Customer(ctx context.Context, obj *db.Destination) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}

// Deliveries is a page of what was and is to be delivered there, newest first.
func (e WebhookDestinationEdges) Deliveries(ctx context.Context, obj *db.Destination, filter *WebhookDeliveryFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*WebhookDeliveryConnection, error) {
	c, err := e.may(ctx, rule.WebhookDestinationDeliveries)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Deliveries, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Deliveries),
		within(e.Store, obj.DeliveryCount))
}

// WebhookDestinations is a page of the company's destinations.
func (e CustomerEdges) WebhookDestinations(ctx context.Context, obj *db.Customer, filter *WebhookDestinationFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*WebhookDestinationConnection, error) {
	c, err := e.may(ctx, rule.CustomerWebhookDestinations)
	if err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return e.destinationsOf(ctx, c, obj, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

// DeletedWebhookDestinations are the company's destinations that can be brought back.
func (e CustomerEdges) DeletedWebhookDestinations(ctx context.Context, obj *db.Customer) ([]*db.Deleted, error) {
	if _, err := e.may(ctx, rule.CustomerDeletedWebhookDestinations); err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return orEmpty(obj.DeletedDestinations(ctx, e.Store))
}

// lostSince checks the moment from which on deliveries are to be recovered.
func (v *check) lostSince(field string, t time.Time) {
	if t.IsZero() || t.After(time.Now()) {
		v.fault(field, "must lie in the past")
		return
	}
	v.moment(field, t)
}

var errTestType = problem.Invalid(problem.Fault{Location: "type", Message: "must be one of " + strings.Join(webhook.Types(), ", ")})
