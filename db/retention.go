package db

import (
	"context"
	"time"
)

var (
	qForgetDeliveries = prepare(forget("webhook_deliveries", "completed_at"))
	qForgetRuns       = prepare(forget("runs", "finished_at"))
	qForgetAudit      = prepare(forget("audit_events", "created_at"))
	// That somebody has left stays: so nobody is told what becomes of them elsewhere.
	qForgetFormer = prepare(forgetBy(`UPDATE former_members SET email = '', first_name = '', last_name = ''`, "former_members", "created_at", "email <> ''"))
)

// forget looks at the rows of a table by id, from behind $2 on and at no more than $3 of them, and
// deletes those that ended more than $1 seconds ago. It gives the last id of a row that is as old,
// 0 for none: ids grow with time, so behind a batch without any there is nothing to delete. By an array
// of ids, the planner never reads the whole table for them.
func forget(table, ended string) string {
	return forgetBy("DELETE FROM "+table, table, ended, "true")
}

// forgetBy is forget by a statement that the ids of the rows are put behind, for rows that fit a condition alone.
func forgetBy(statement, table, ended, fits string) string {
	return `
		WITH oldest AS (SELECT id, created_at, ` + ended + ` AS ended FROM ` + table + ` WHERE id > $2 AND ` + fits + ` ORDER BY id LIMIT $3),
			gone AS (` + statement + ` WHERE id = ANY (ARRAY(SELECT id FROM oldest WHERE ended < now() - $1 * interval '1 second')))
		SELECT COALESCE(max(id), 0) FROM oldest WHERE created_at < now() - $1 * interval '1 second'`
}

// ForgetDeliveries deletes deliveries that ended longer than keep ago, in a batch of at most limit
// from behind the id on. It gives the id to go on from, 0 when there is nothing left.
func (s *Store) ForgetDeliveries(ctx context.Context, keep time.Duration, after int64, limit int) (last int64, err error) {
	err = s.get(ctx, &last, qForgetDeliveries, keep.Seconds(), after, limit)
	return last, err
}

// ForgetRuns deletes runs that ended longer than keep ago with the logs of their steps, in a batch as
// ForgetDeliveries does.
func (s *Store) ForgetRuns(ctx context.Context, keep time.Duration, after int64, limit int) (last int64, err error) {
	err = s.get(ctx, &last, qForgetRuns, keep.Seconds(), after, limit)
	return last, err
}

// ForgetAuditEvents deletes audit events that were written longer than keep ago, in a batch as
// ForgetDeliveries does.
func (s *Store) ForgetAuditEvents(ctx context.Context, keep time.Duration, after int64, limit int) (last int64, err error) {
	err = s.get(ctx, &last, qForgetAudit, keep.Seconds(), after, limit)
	return last, err
}

// ForgetFormerMembers forgets the address and the names of those who left companies longer than keep ago, in a batch as ForgetDeliveries
// does.
func (s *Store) ForgetFormerMembers(ctx context.Context, keep time.Duration, after int64, limit int) (last int64, err error) {
	err = s.get(ctx, &last, qForgetFormer, keep.Seconds(), after, limit)
	return last, err
}
