package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
)

// mostKept is for how long a log with months is kept at most, where nobody has asked for them: each list asks all of them, and takes locks of all.
const mostKept = 400 * 24 * time.Hour

// MonthsPay tells whether months pay for a log that is kept for a time: a row stays for up to one longer, which is much where that is less, and of what is kept for long or for ever (0) there would be too many.
func MonthsPay(keep time.Duration) bool { return keep >= aMonth && keep <= mostKept }

// ChangeOver changes those of some logs over to months that have come to have some rows, by the last count of PostgreSQL, and gives their names. What another process makes or drops is left to it; and so are all
// while a region moves into a cell, and those of another owner.
func (m *Months) ChangeOver(ctx context.Context, rows int64, of ...*Log) (changed []string, err error) {
	logs, err := m.grown(ctx, rows, of)
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	err = m.alone(ctx, func() (err error) {
		for _, l := range logs {
			done, failed := m.toMonths(ctx, l)
			if errors.Is(failed, ErrMonthsBusy) || errors.Is(failed, errRegionMoves) {
				continue
			}
			is, unknown := l.inMonths(ctx, m.pool)
			if done && is { // also where only what comes behind that has failed
				changed = append(changed, l.Name)
			}
			if failed = errors.Join(failed, unknown); failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", l.Name, failed))
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
func (m *Months) grown(ctx context.Context, rows int64, of []*Log) (logs []*Log, err error) {
	for _, l := range of {
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
