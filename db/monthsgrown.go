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
	if moves, err := m.regionMoves(ctx); err != nil || moves {
		return nil, err
	}
	err = m.alone(ctx, func() (err error) {
		for _, l := range logs {
			done, failed := m.toMonths(ctx, l)
			if errors.Is(failed, ErrMonthsBusy) {
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

// nothingHangs refuses where somebody has made something of their own at a log, which would stay at its first partition, or be lost.
func (m *Months) nothingHangs(ctx context.Context, l *Log) error {
	var found []string
	if err := m.pool.SelectContext(ctx, &found, `
		WITH of_log AS (SELECT c.oid, c.relrowsecurity, a.attnum AS key FROM unnest($1::text[], $2::text[]) t (name, key) JOIN pg_class c ON c.oid = t.name::regclass JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = t.key)
		SELECT DISTINCT 'the view ' || w.ev_class::regclass FROM pg_depend d JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
			WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid IN (SELECT oid FROM of_log) AND w.ev_class <> d.refobjid
		UNION ALL SELECT 'the publication ' || quote_ident(t.pubname) FROM pg_publication_tables t JOIN pg_publication p USING (pubname)
			WHERE format('%I.%I', t.schemaname, t.tablename)::regclass IN (SELECT oid FROM of_log) AND NOT (p.puballtables AND p.pubviaroot)
		UNION ALL SELECT 'row-level security of ' || oid::regclass FROM of_log WHERE relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = of_log.oid)
		UNION ALL SELECT 'the reference ' || quote_ident(conname) || ' of ' || conrelid::regclass FROM pg_constraint
			WHERE contype = 'f' AND confrelid IN (SELECT oid FROM of_log) AND conrelid NOT IN (SELECT oid FROM of_log)
		UNION ALL SELECT 'the statistics ' || quote_ident(stxname) FROM pg_statistic_ext WHERE stxrelid IN (SELECT oid FROM of_log)
		UNION ALL SELECT 'the unique index ' || i.indexrelid::regclass || ', which lacks the id,' FROM pg_index i JOIN of_log ON of_log.oid = i.indrelid
			WHERE i.indisunique AND NOT of_log.key = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND conrelid = i.indrelid)`,
		pq.Array(l.names("")), pq.Array(l.keys())); err != nil {
		return translate(ctx, err)
	}
	if len(found) > 0 {
		return fmt.Errorf("%s was made at the log by somebody, and would not be one of its months: take it away first, and make it anew afterwards", found[0])
	}
	return nil
}
