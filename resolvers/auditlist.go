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
	IDs                           []globalid.ID
	Action, ObjectType            *string
	ObjectID, ActorID, CustomerID *globalid.ID
	CreatedSince, CreatedUntil    *time.Time
	Or                            []*AuditEventFilter
}

// ascending is the direction of an order that has the smallest first.
const ascending = "ASC"

// AuditEventOrder is an order of audit events. Their fields are all in the same order: that of time.
type AuditEventOrder struct{ Field, Direction string }

// The bounds of a filter: ids that it names, and filters in its alternatives, all told.
const (
	maxFilterIDs = 200
	maxBranches  = 20
	maxDepth     = 5
)

// AuditEvents is a page of the changes within reach, newest first unless asked for otherwise.
func (q Query) AuditEvents(ctx context.Context, filter *AuditEventFilter, orderBy []*AuditEventOrder, first *int, after *string) (*AuditEventConnection, error) {
	c, err := q.may(ctx, rule.AuditEvents)
	if err != nil {
		return nil, err
	}
	f, err := q.auditFilter(ctx, c, filter, "filter.")
	if err != nil {
		return nil, err
	}
	oldestFirst := len(orderBy) > 0 && orderBy[0].Direction == ascending
	return connectBy(ctx, first, after, 2, (*db.AuditEvent).At,
		func(ctx context.Context, p paging.Page) ([]*db.AuditEvent, error) {
			return q.Store.AuditEvents(ctx, c.Scope(), f, oldestFirst, p)
		},
		func(ctx context.Context) (int, error) { return q.Store.AuditCount(ctx, c.Scope(), f) })
}

// ListAuditEvents is AuditEvents for lists of any length: at most limit rows from after the cursor on.
func (q Query) ListAuditEvents(ctx context.Context, filter *AuditEventFilter, oldestFirst bool, after paging.Cursor, limit int) ([]*db.AuditEvent, error) {
	c, err := q.may(ctx, rule.AuditEvents)
	if err != nil {
		return nil, err
	}
	f, err := q.auditFilter(ctx, c, filter, "")
	if err != nil {
		return nil, err
	}
	return q.Store.AuditEvents(ctx, c.Scope(), f, oldestFirst, paging.NewPage(limit, after))
}

// auditFilter checks a filter: every user and every company that it names is within reach. at begins the names of
// its members where they are refused.
func (r *Resolver) auditFilter(ctx context.Context, c *caller, in *AuditEventFilter, at string) (db.AuditFilter, error) {
	if in == nil {
		return db.AuditFilter{}, nil
	}
	var v check
	v.auditFilter(at, in, 1)
	// Before anything is looked up: a filter names a user and a company at each of its alternatives.
	if in.alternatives() > maxBranches {
		v.fault(at+"or", "must not have more than %d alternatives, all told", maxBranches)
	}
	if err := v.err(); err != nil {
		return db.AuditFilter{}, err
	}
	return r.auditAlternative(ctx, c, in, at)
}

// alternatives counts the plain filters that a filter is the union of.
func (f *AuditEventFilter) alternatives() int {
	n := 0
	for _, o := range f.Or {
		n += o.alternatives()
	}
	return max(1, n)
}

// auditFilter checks what needs no look-up.
func (v *check) auditFilter(at string, in *AuditEventFilter, depth int) {
	if len(in.IDs) > maxFilterIDs {
		v.fault(at+"ids", "must not be more than %d", maxFilterIDs)
	}
	if slices.ContainsFunc(in.IDs, func(id globalid.ID) bool { return id.Int < 1 }) {
		v.fault(at+"ids", "must be ids")
	}
	if in.ObjectID != nil && in.ObjectID.Int < 1 {
		v.fault(at+"objectId", "must be an id")
	}
	if in.Action != nil && !slices.ContainsFunc(audit.Actions(), func(a audit.Entry) bool { return string(a.Action) == *in.Action }) {
		v.fault(at+"action", "must be an action such as customer.updated")
	}
	if in.ObjectType != nil && !slices.Contains(audit.ObjectTypes(), *in.ObjectType) {
		v.fault(at+"objectType", "must be one of %s", strings.Join(audit.ObjectTypes(), ", "))
	}
	if len(in.Or) > maxBranches || depth == maxDepth && len(in.Or) > 0 {
		v.fault(at+"or", "must not have more than %d alternatives, nor lie deeper than %d", maxBranches, maxDepth)
		return
	}
	for _, o := range in.Or {
		v.auditFilter(at+"or.", o, depth+1)
	}
}

func (r *Resolver) auditAlternative(ctx context.Context, c *caller, in *AuditEventFilter, at string) (f db.AuditFilter, err error) {
	f = db.AuditFilter{
		Action: or(in.Action, ""), ObjectType: or(in.ObjectType, ""), Since: or(in.CreatedSince, time.Time{}), Until: or(in.CreatedUntil, time.Time{}),
	}
	if in.IDs != nil {
		f.IDs = []int64{}
	}
	for _, id := range in.IDs {
		n, err := id.Of("AuditEvent", at+"ids")
		if err != nil {
			return f, err
		}
		f.IDs = append(f.IDs, n)
	}
	if in.ObjectID != nil {
		f.ObjectID = in.ObjectID.Int
		if in.ObjectID.Type != "" {
			if f.ObjectType == "" {
				f.ObjectType = in.ObjectID.Type
			}
			if _, err := in.ObjectID.Of(f.ObjectType, at+"objectId"); err != nil {
				return f, err
			}
		}
	}
	if in.ActorID != nil {
		user, err := r.user(ctx, c, *in.ActorID, at+"actorId")
		if err != nil {
			return f, err
		}
		f.ActorID = user.ID
	}
	if in.CustomerID != nil {
		customer, err := r.customer(ctx, c, in.CustomerID, at+"customerId")
		if err != nil {
			return f, err
		}
		f.CustomerID = customer.ID
	}
	for _, o := range in.Or {
		alternative, err := r.auditAlternative(ctx, c, o, at+"or.")
		if err != nil {
			return f, err
		}
		f.Or = append(f.Or, alternative)
	}
	return f, nil
}
