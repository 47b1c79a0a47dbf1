package resolvers

import (
	"context"
	"slices"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
)

// AuditEventFilter bounds a list of audit events; nil leaves it open.
type AuditEventFilter struct {
	IDs                        []globalid.ID `of:"AuditEvent"`
	Action, ObjectType         *string
	ObjectID                   *globalid.ID
	ActorID                    *globalid.ID `of:"User" reach:"actor"`
	ActorKind                  *string
	CustomerID                 *globalid.ID `of:"Customer" reach:"company"`
	CreatedSince, CreatedUntil *time.Time
	Or                         []*AuditEventFilter
}

// complete has the type of an object that is named by its global id looked for, too.
func (f *AuditEventFilter) complete(v *check, at string) {
	if f.Action != nil && !slices.ContainsFunc(audit.Actions(), func(a audit.Entry) bool { return string(a.Action) == *f.Action }) {
		v.fault(at+"action", "must be an action such as customer.updated")
	}
	if f.ObjectType != nil && !slices.Contains(audit.ObjectTypes(), *f.ObjectType) {
		v.fault(at+"objectType", "must be one of %s", strings.Join(audit.ObjectTypes(), ", "))
	}
	switch {
	case f.ObjectID == nil || f.ObjectID.Type == "":
	case f.ObjectType == nil:
		f.ObjectType = &f.ObjectID.Type
	case f.ObjectID.Type != *f.ObjectType:
		v.fault(at+"objectId", "is the id of a %s, not of a %s", f.ObjectID.Type, *f.ObjectType)
	}
}

// AuditAction is an action of audit events.
type AuditAction struct{ Action, Description string }

// AuditActions lists those that there are.
func (q Query) AuditActions(ctx context.Context) ([]*AuditAction, error) {
	if _, err := q.may(ctx, rule.AuditActions); err != nil {
		return nil, err
	}
	list := []*AuditAction{}
	for _, e := range audit.Actions() {
		list = append(list, &AuditAction{string(e.Action), e.Description})
	}
	return list, nil
}

// AuditEvents is a page of the changes within reach, newest first unless asked for otherwise.
func (q Query) AuditEvents(ctx context.Context, customerID *globalid.ID, subtree *bool, filter *AuditEventFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*AuditEventConnection, error) {
	c, err := q.may(ctx, rule.AuditEvents)
	if err != nil {
		return nil, err
	}
	scope, also, err := q.part(ctx, c, customerID, or(subtree, true), "customerId")
	if err != nil {
		return nil, err
	}
	all := spreadEvents.in(q.Resolver, scope)
	return connected(ctx, q.Resolver, c, asked{list: db.AuditEvents, filter: filter, order: orderBy, args: page(first, after, last, before), also: also}, all.rows, all.counted)
}

// ListAuditEvents is AuditEvents for lists of any length.
func (q Query) ListAuditEvents(ctx context.Context, customerID *globalid.ID, subtree bool, filter *AuditEventFilter, l Listing, each func(*db.AuditEvent, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.AuditEvents)
	if err != nil {
		return err
	}
	scope, also, err := q.part(ctx, c, customerID, subtree, "customerId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.AuditEvents, filter: filter, also: also}, l,
		spreadEvents.in(q.Resolver, scope).rows, each)
}
