package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lib/pq"
)

// ChangeOver changes those logs over to months that have come to have some rows, by the last count of PostgreSQL, and gives their names. What another process makes or drops is left to it; and so are all logs while a
// region moves into a cell, and those of another owner.
func (m *Months) ChangeOver(ctx context.Context, rows int64) (changed []string, err error) {
	logs, err := m.grown(ctx, rows)
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	if moves, err := m.regionMoves(ctx); err != nil || moves {
		return nil, err
	}
	err = m.alone(ctx, func() (err error) {
		for _, l := range logs {
			is, failed := m.toMonths(ctx, l)
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", l.Name, failed))
			} else if is {
				changed = append(changed, l.Name)
			}
		}
		return err
	})
	if errors.Is(err, ErrMonthsBusy) {
		err = nil
	}
	return changed, err
}

// grown are the logs that are one table each, of which one has come to have some rows. To count them would take as long as they are many.
func (m *Months) grown(ctx context.Context, rows int64) (logs []*Log, err error) {
	for _, l := range Logs() {
		var counted []float64
		if err := m.pool.SelectContext(ctx, &counted, `SELECT reltuples FROM pg_class WHERE oid = ANY ($1::text[]::regclass[]) AND relkind = 'r'`, pq.Array(l.names(""))); err != nil {
			return nil, translate(ctx, err)
		}
		if len(counted) == 0 || slices.Max(counted) < float64(rows) {
			continue
		}
		owns, err := l.owned(ctx, m.pool)
		if err != nil {
			return nil, err
		}
		if owns {
			logs = append(logs, l)
		}
	}
	return logs, nil
}
