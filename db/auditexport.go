package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"canopy/internal/access"
)

// auditWindow is how many events are looked at in one statement of an export.
const auditWindow = 500

// qAuditWindow reads events in the order of time, whoever's they are: what it costs depends on their number
// alone, not on how the tree looks. Of those beyond the scope it gives the place only.
var qAuditWindow = prepare(fmt.Sprintf(`
	SELECT `+strings.Replace(auditColumns, "e.details", "CASE WHEN "+withinScope+" THEN e.details ELSE '{}' END AS details", 1)+`, `+withinScope+` AS inside
	FROM (SELECT * FROM audit_events WHERE (created_at, id) > ($3, $4) AND created_at < $5 ORDER BY created_at, id LIMIT %d) e
	JOIN customers c ON c.id = e.customer_id ORDER BY e.created_at, e.id`, auditWindow))

// EachAuditEvent gives the events within the scope from a moment on and before another, oldest first. It reads
// them in pieces, however many there are; the error of each ends it.
func (s *Store) EachAuditEvent(ctx context.Context, scope access.Scope, since, until time.Time, each func(*AuditEvent) error) error {
	for id := int64(0); ; {
		var rows []struct {
			AuditEvent
			Inside bool `db:"inside"`
		}
		if err := s.list(ctx, &rows, qAuditWindow, scope.From(), scope.To(), since, id, until); err != nil {
			return err
		}
		for i := range rows {
			if !rows[i].Inside {
				continue
			}
			if err := each(&rows[i].AuditEvent); err != nil {
				return err
			}
		}
		if len(rows) < auditWindow {
			return nil
		}
		last := rows[len(rows)-1]
		since, id = last.CreatedAt, last.ID
	}
}
