package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// To begin to refer to a table takes a lock of it, and so does the end of that. Whoever writes a log has such tables already and wants the log, or the other way round: with locks of both they would wait
// for each other. So references are not those of the whole log but each partition's own. They are made before it is a partition, and go when it is none any more: while nobody else wants it.

// goneMonth is what the name of a table ends with that was a partition, and is to be dropped.
const goneMonth = "_gone"

// referring is a foreign key of a table.
type referring struct {
	Name string `db:"name"`
	Made string `db:"made"`
	To   string `db:"refers"`
}

func (m *Months) references(ctx context.Context, table string) (list []referring, err error) {
	err = m.pool.SelectContext(ctx, &list, `
		SELECT conname::text AS name, pg_get_constraintdef(oid) AS made, confrelid::regclass::text AS refers FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'f' ORDER BY oid`, table)
	return list, translate(ctx, err)
}

// make makes the tables that are to be partitions from an id on, like those whose names have a suffix.
func (m *Months) make(ctx context.Context, l *Log, suffix string, at int64) error {
	next := fromID(at)
	if err := m.discard(ctx, l, next); err != nil { // of somebody who was interrupted
		return err
	}
	for _, t := range l.tables {
		is, like := t.name+next, t.name+suffix
		var options []string
		if err := m.pool.SelectContext(ctx, &options, `SELECT unnest(reloptions) FROM pg_class WHERE oid = $1::regclass`, like); err != nil {
			return translate(ctx, err)
		}
		refers, err := m.references(ctx, like)
		if err != nil {
			return err
		}
		with := ""
		if len(options) > 0 {
			with = ` WITH (` + strings.Join(options, ", ") + `)`
		}
		// Where it begins is a check, too: so that a line is all that it lacks to have an end.
		texts := [][]string{{
			fmt.Sprintf(`CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING INDEXES)%s`, is, like, with),
			fmt.Sprintf(`ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s, DROP CONSTRAINT IF EXISTS month_begins, ADD CONSTRAINT month_begins CHECK (%s >= '%d'::bigint)`, is, lineName, t.key, at),
		}}
		for _, r := range refers {
			made := r.Made
			if t != l.tables[0] {
				made = strings.Replace(made, " REFERENCES "+l.table()+suffix+"(", " REFERENCES "+l.table()+next+"(", 1)
			}
			texts = append(texts, []string{fmt.Sprintf(`ALTER TABLE %s ADD CONSTRAINT %s %s`, is, pq.QuoteIdentifier(r.Name), made)})
		}
		for _, some := range texts {
			if err := m.short(ctx, l, nil, func(tx *monthTx) error { return tx.exec(ctx, some...) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// discard drops the tables of a log whose names have a suffix, and which are no partitions.
func (m *Months) discard(ctx context.Context, l *Log, suffix string) error {
	for _, t := range slices.Backward(l.tables) {
		table := t.name + suffix
		var there bool
		if err := m.pool.GetContext(ctx, &there, `SELECT to_regclass($1) IS NOT NULL`, table); err != nil {
			return translate(ctx, err)
		}
		if !there {
			continue
		}
		refers, err := m.references(ctx, table)
		if err != nil {
			return err
		}
		for _, r := range refers {
			if err := m.apart(ctx, l, table, []string{r.To, table}, fmt.Sprintf(`ALTER TABLE %s DROP CONSTRAINT %s`, table, pq.QuoteIdentifier(r.Name))); err != nil {
				return err
			}
		}
		if err := m.apart(ctx, l, table, []string{table}, `DROP TABLE `+table); err != nil {
			return err
		}
	}
	return nil
}

// apart does something to a table unless it is a partition, as it may have become one since that was looked for: by a process that believes to be alone, too.
func (m *Months) apart(ctx context.Context, l *Log, table string, held []string, text string) error {
	return m.short(ctx, l, held, func(tx *monthTx) error {
		var part bool
		if err := tx.GetContext(ctx, &part, `SELECT relispartition FROM pg_class WHERE oid = $1::regclass`, table); err != nil {
			return translate(ctx, err)
		}
		if part {
			return fmt.Errorf("%s is a partition already", table)
		}
		return tx.exec(ctx, text)
	})
}

// discardRest drops what somebody has left who was interrupted: tables that were partitions, or were to be.
func (m *Months) discardRest(ctx context.Context, l *Log) error {
	for _, t := range slices.Backward(l.tables) {
		var rest []string
		if err := m.pool.SelectContext(ctx, &rest, `
			SELECT substr(relname, length($1) + 1) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relispartition AND relname ~ ('^' || $1 || '(_before|_from_[0-9]+)('||$2||')?$')`,
			t.name, goneMonth); err != nil {
			return translate(ctx, err)
		}
		for _, suffix := range rest {
			if err := m.discard(ctx, l, suffix); err != nil {
				return err
			}
		}
	}
	return nil
}
