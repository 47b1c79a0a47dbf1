package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/lib/pq"
)

// mayPartition refuses a log that can't be changed over at the moment.
func (m *Months) mayPartition(ctx context.Context, l *Log) error {
	if there, err := currentSchema(ctx, m.pool); err != nil {
		return err
	} else if there.Version < monthsFrom {
		return fmt.Errorf("the schema is at the version %d, and logs have months from %d on: run `canopy migrate up` first", there.Version, monthsFrom)
	}
	if moves, err := m.regionMoves(ctx); err != nil {
		return err
	} else if moves {
		return errRegionMoves
	}
	var faulty []string
	if err := m.pool.SelectContext(ctx, &faulty, `
		SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = ANY ($1::text[]::regclass[]) AND NOT (indisvalid AND indisready)`, pq.Array(l.names(""))); err != nil {
		return translate(ctx, err)
	}
	if len(faulty) > 0 {
		return fmt.Errorf("the index %s is not valid: make it anew first (REINDEX INDEX CONCURRENTLY)", faulty[0])
	}
	return m.nothingHangs(ctx, l)
}

// errRegionMoves refuses while a region is on its way into a cell.
var errRegionMoves = errors.New("a region moves into its cell at the moment: change logs over once that is done")

// regionMoves tells whether rows are on their way from here to a cell, or here, to a cell that is opened once it has them: into a month that is dropped they could not come.
func (m *Months) regionMoves(ctx context.Context) (is bool, err error) {
	err = m.pool.GetContext(ctx, &is, `
		SELECT EXISTS (SELECT FROM splits WHERE erased_at IS NULL AND NOT EXISTS (SELECT FROM cell)) OR EXISTS (SELECT FROM cell WHERE NOT EXISTS (SELECT FROM cells WHERE cells.region_id = cell.number))`)
	return is, translate(ctx, err)
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
