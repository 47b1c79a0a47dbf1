package db

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Erase takes away at the home what the cell has: some rows at a time, in the order in which an erasure does. It waits until each process of the home knows of the cell, as one that does not still
// shows what there is. Begun anew it goes on.
func (s *Split) Erase(ctx context.Context) error {
	st, err := s.State(ctx)
	if err != nil || st.ErasedAt != nil {
		return err
	}
	if err := s.forgetObjects(ctx); err != nil {
		return err
	}
	if err := s.passed(ctx, "switched_at"); err != nil {
		return err
	}
	erased := int64(0)
	for last := int64(0); ; {
		var companies []int64
		if err := s.from.pool.SelectContext(ctx, &companies, `SELECT id FROM customers WHERE region_id = $1 AND id > $2 ORDER BY id LIMIT $3`, s.cell.Number, last, eraseCompanies); err != nil {
			return translate(ctx, err)
		}
		if len(companies) == 0 {
			break
		}
		for more := true; more; {
			if more, err = s.eraseMoved(ctx, companies, *st.LastEvent); err != nil {
				return err
			}
		}
		last, erased = companies[len(companies)-1], erased+int64(len(companies))
		if err := s.note(ctx, SplitErasing, "companies", 0, erased); err != nil {
			return err
		}
	}
	if _, err := s.from.pool.ExecContext(ctx, `UPDATE splits SET erased_at = now(), phase = 'done', at = '' WHERE region_id = $1`, s.cell.Number); err != nil {
		return translate(ctx, err)
	}
	return s.from.unguardSplit(ctx)
}

var qEraseMovedEvents = prepare(`
	DELETE FROM audit_events WHERE id = ANY (ARRAY(SELECT x.id FROM unnest($1::bigint[]) k(id)
		CROSS JOIN LATERAL (SELECT id FROM audit_events WHERE customer_id = k.id AND id <= $3 LIMIT $2) x LIMIT $2))`)

// eraseMoved erases some of what companies have had; more tells that there may be more of it. What is the home's own stays: the directory, the keys of idempotency of what is asked there, and the
// log of what has been done there since.
func (s *Split) eraseMoved(ctx context.Context, companies []int64, lastEvent int64) (more bool, err error) {
	tx, err := s.from.pool.BeginTxx(ctx, nil)
	if err != nil {
		return false, translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SET LOCAL canopy.moved = 'on'; SET LOCAL lock_timeout = 0`); err != nil {
		return false, translate(ctx, err)
	}
	exec := func(q query, rows int64, args ...any) error {
		n, err := execIn(ctx, tx, statements[q], append([]any{pq.Array(companies)}, args...)...)
		if more = more || rows > 0 && n >= rows; err != nil {
			return fmt.Errorf("%.60s: %w", statements[q], err)
		}
		return nil
	}
	for _, step := range eraseSteps {
		if more || step.directory || step.query == qEraseRequests || step.query == qEraseEvents || step.query == qEraseTreeChanges {
			continue
		}
		if err := exec(step.query, step.rows, step.rows); err != nil {
			return false, err
		}
	}
	if !more {
		for _, q := range []query{qEraseHeldSecrets, qEraseRemovedSecrets, qEraseHolds} {
			if err := exec(q, 0); err != nil {
				return false, err
			}
		}
		if err := exec(qEraseMovedEvents, eraseRows, eraseRows, lastEvent); err != nil {
			return false, err
		}
	}
	return more, translate(ctx, tx.Commit())
}

func execIn(ctx context.Context, tx *sqlx.Tx, text string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, translate(ctx, err)
	}
	return res.RowsAffected()
}
