package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/paging"
)

// AuditFilter bounds a list of audit events; zero values leave it open. The members are and-ed; of Or, where
// there is any, at least one has to fit, too.
type AuditFilter struct {
	IDs                           []int64
	Action, ObjectType            string
	ObjectID, ActorID, CustomerID int64
	// Since is the first moment, Until the first one that is too late.
	Since, Until time.Time
	Or           []AuditFilter
}

// alternatives gives the filter as a union of plain conditions that are and-ed: each of these is read by an index
// of its own.
func (f AuditFilter) alternatives() [][]AuditFilter {
	alone := f
	alone.Or = nil
	if len(f.Or) == 0 {
		return [][]AuditFilter{{alone}}
	}
	var list [][]AuditFilter
	for _, o := range f.Or {
		for _, b := range o.alternatives() {
			list = append(list, append([]AuditFilter{alone}, b...))
		}
	}
	return list
}

// auditQuery builds a statement on audit events. Which index is the right one depends on the filter and on how
// much of the tree is in the scope, so there is a statement for each shape, planned for its arguments.
type auditQuery struct {
	scope access.Scope
	args  []any
	// ascending: oldest first; at is where the page begins, limit how long it is.
	ascending bool
	at        paging.Cursor
	limit     int
	// counting: no page is asked for, but how many there are.
	counting bool
}

// arg adds an argument and gives its place.
func (q *auditQuery) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

// where gives the conditions of an alternative, and of the page.
func (q *auditQuery) where(alternative []AuditFilter) string {
	var list []string
	add := func(given bool, column string, v any) {
		if given {
			list = append(list, "e."+column+" "+q.arg(v))
		}
	}
	for _, f := range alternative {
		if f.IDs != nil {
			list = append(list, "e.id = ANY("+q.arg(pq.Int64Array(f.IDs))+")")
		}
		add(f.Action != "", "action =", f.Action)
		add(f.ObjectType != "", "object_type =", f.ObjectType)
		add(f.ObjectID != 0, "object_id =", f.ObjectID)
		add(f.ActorID != 0, "actor_user_id =", f.ActorID)
		add(f.CustomerID != 0, "customer_id =", f.CustomerID)
		add(!f.Since.IsZero(), "created_at >=", f.Since)
		add(!f.Until.IsZero(), "created_at <", f.Until)
	}
	if len(q.at) == 2 {
		op := "<"
		if q.ascending {
			op = ">"
		}
		list = append(list, fmt.Sprintf("(e.created_at, e.id) %s (%s, %s)", op, q.arg(time.UnixMicro(q.at[0])), q.arg(q.at[1])))
	}
	if len(list) == 0 {
		return "true"
	}
	return strings.Join(list, " AND ")
}

// order ends a list; what is only counted has no order.
func (q *auditQuery) order() string {
	switch {
	case q.counting:
		return " LIMIT " + countedTo
	case q.ascending:
		return fmt.Sprintf(" ORDER BY created_at, id LIMIT %d", q.limit)
	}
	return fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", q.limit)
}

// alternative reads the events of one alternative. The whole tree needs no look at it. What is named (an object, a user, ids) is few
// rows, of which those in the scope are kept; anything else is read company by company, for in the order of
// time a quiet part of the tree would be looked for among everybody's events.
func (q *auditQuery) alternative(columns string, alternative []AuditFilter) string {
	named, whole := false, q.scope.Whole()
	for _, f := range alternative {
		named = named || f.IDs != nil || f.ObjectID != 0 || f.ActorID != 0
	}
	rows := "SELECT " + columns + " FROM audit_events e WHERE "
	scope := "c.lineage >= " + q.arg(q.scope.From()) + "::bigint[] AND c.lineage < " + q.arg(q.scope.To()) + "::bigint[]"
	switch {
	case whole:
		return "(" + rows + q.where(alternative) + " AND EXISTS (SELECT FROM customers c WHERE c.parent_id IS NULL AND " + scope + ")" + q.order() + ")"
	case named:
		return "(SELECT " + columns + " FROM audit_events e" + joinByID("customers", "c", "e.customer_id") + "WHERE " + unindexed(scope) + " AND " + q.where(alternative) + q.order() + ")"
	}
	for _, f := range alternative {
		if f.CustomerID != 0 {
			scope += " AND c.id = " + q.arg(f.CustomerID)
		}
	}
	return "(SELECT e.* FROM customers c CROSS JOIN LATERAL (" + rows + "e.customer_id = c.id AND " + q.where(alternative) + q.order() + ") e WHERE " + scope + q.order() + ")"
}

// union gives the events of a filter, each once.
func (q *auditQuery) union(columns string, f AuditFilter) string {
	var list []string
	for _, b := range f.alternatives() {
		list = append(list, q.alternative(columns, b))
	}
	return strings.Join(list, " UNION ")
}

// AuditEvents is a page of the events within the scope: newest first or, ascending, oldest first. Cursors are
// the microsecond of the event and its id.
func (s *Store) AuditEvents(ctx context.Context, scope access.Scope, f AuditFilter, ascending bool, p paging.Page) (rows []*AuditEvent, err error) {
	text, args := auditPage(scope, f, ascending, p)
	err = s.composed(ctx, &rows, text, args...)
	return join(rows), err
}

func auditPage(scope access.Scope, f AuditFilter, ascending bool, p paging.Page) (text string, args []any) {
	q := &auditQuery{scope: scope, ascending: ascending, at: p.After(), limit: p.First + 1}
	text = "SELECT * FROM (" + q.union(auditColumns, f) + ") e" + q.order()
	return text, q.args
}

// AuditCount counts the events within the scope, as far as lists are counted.
func (s *Store) AuditCount(ctx context.Context, scope access.Scope, f AuditFilter) (n int, err error) {
	q := &auditQuery{scope: scope, counting: true}
	var counts []int
	err = s.composed(ctx, &counts, "SELECT "+counted("("+q.union("e.id, e.created_at", f)+") e"), q.args...)
	if err == nil {
		n = counts[0]
	}
	return n, err
}

// At is the place of the event in a list.
func (e *AuditEvent) At() paging.Cursor { return paging.Cursor{e.CreatedAt.UnixMicro(), e.ID} }
