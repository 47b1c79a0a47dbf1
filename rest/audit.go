package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/enum"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// AuditEvent is the record of one change.
type AuditEvent struct {
	ID         int64           `json:"id"`
	CustomerID int64           `json:"customerId" doc:"The company that the change is about"`
	ActorKind  string          `json:"actorKind" enum:"user,apiKey,directory,unknown,platform" doc:"What kind of actor made the change, also where actorId is null: beside user, apiKey and directory that is somebody beyond the caller's reach, as of a company above. A directory changes people by SCIM; unknown is who was refused at the sign-in, or asked for a new password; platform is the platform itself, or its operator from the shell"`
	ActorID    *int64          `json:"actorId" doc:"Who made the change; null for the platform itself, for who has not shown to be anybody, and beyond the caller's reach"`
	ClientID   *string         `json:"clientId" doc:"The API key that was used; null for a person's login, and for the platform itself"`
	Action     string          `json:"action" example:"customer.updated"`
	ObjectType string          `json:"objectType" example:"Customer"`
	ObjectID   int64           `json:"objectId"`
	Details    json.RawMessage `json:"details" doc:"What was changed, field by field: {field: {old, new}}"`
	CreatedAt  time.Time       `json:"createdAt"`
}

// AuditQuery bounds the list of audit events.
type AuditQuery struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"At most so many entries; a Link header leads to the next page"`
	After string `query:"after" doc:"The cursor of a Link header: the list goes on behind it"`
	LastPage
	OrderQuery
	AuditFilter
	Subtree bool `query:"subtree" doc:"Whether with those of everything below the company; by default it is not, where a company is named"`

	customer *globalid.ID
	filter   *resolvers.AuditEventFilter
}

// AuditFilter are the parameters that bound a list of audit events.
type AuditFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	Action       string    `query:"action" doc:"Only those of this action"`
	ObjectType   string    `query:"objectType" doc:"Only those of objects of this type"`
	ObjectID     int64     `query:"objectId" doc:"Only those of the object of this id"`
	ActorID      int64     `query:"actorId" doc:"Only what this user has done, who is or was there: within reach, or a former member of a company within reach"`
	ActorKind    string    `query:"actorKind" enum:"user,apiKey,directory,unknown,platform" doc:"Only those of this kind of actor, within reach or beyond"`
	CustomerID   int64     `query:"customerId" doc:"Only those of this company, without those below it unless subtree says so"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

// Resolve tells what was given from what was left out.
func (q *AuditQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.AuditEventFilter](hc, &q.AuditFilter)
	if q.filter.ActorKind != nil {
		kind := enum.UpperCase(q.ActorKind)
		q.filter.ActorKind = &kind
	}
	if q.Subtree {
		q.customer, q.filter.CustomerID = q.filter.CustomerID, nil
	}
	return nil
}

func (q *AuditQuery) page() *Paging { return &Paging{Limit: q.Limit, After: q.After} }

func (a *api) registerAudit() {
	addList(a, operation{
		id: "listAuditEvents", rule: rule.AuditEvents, orders: db.AuditEvents, path: "/v1/audit", tag: tagAudit, errors: []int{http.StatusNotFound},
		summary: "List audit events", description: "The changes within reach, newest first.",
	}, anyOrder, func(ctx context.Context, in *AuditQuery, _ query, each emit[AuditEvent]) error {
		return a.queries().ListAuditEvents(ctx, in.customer, true, in.filter, in.listing(&Pages{*in.page(), in.LastPage}), func(e *db.AuditEvent, at paging.Cursor) error {
			shown, err := a.auditEvent(ctx, e)
			if err != nil {
				return err
			}
			return each(shown, at)
		})
	})
}

func (a *api) auditEvent(ctx context.Context, e *db.AuditEvent) (AuditEvent, error) {
	actor, err := resolvers.AuditEventEdges{Resolver: a.r}.Actor(ctx, e)
	if err != nil || actor == nil {
		return AuditEventOf(e, nil), err
	}
	return AuditEventOf(e, &actor.ID), nil
}

// AuditEventOf shows an event. actor is who made the change, as far as the reader may know.
func AuditEventOf(e *db.AuditEvent, actor *int64) AuditEvent {
	shown := AuditEvent{
		ID: e.ID, CustomerID: e.CustomerID, ActorKind: enum.LowerCamel(e.ActorKind), ActorID: actor, Action: e.Action, ObjectType: e.ObjectType, ObjectID: e.ObjectID, Details: e.Details, CreatedAt: e.CreatedAt.UTC(),
	}
	if e.ClientID != "" {
		shown.ClientID = &e.ClientID
	}
	return shown
}
