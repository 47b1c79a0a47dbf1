package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// anewTable is a table as the home publishes it.
type anewTable struct {
	name    string
	columns []string
	key     []anewKey
	// of are the rows x of the home that the cell is to have, as SQL; all where it is "".
	of string
}

// anewKey is a column of a table's primary key: a number that is not negative, a text, or a boolean.
type anewKey struct {
	name         string
	number, text bool
}

// staged and gone are the temporary tables of the rows that the cell is to get, and of those that it is to lose.
func (t anewTable) staged() string { return "anew_" + t.name }
func (t anewTable) gone() string   { return "anew_" + t.name + "_gone" }

// compareAll finds how the replica differs, table by table, and has the differences in temporary tables: nothing of either side is ever whole in memory.
func (a *anew) compareAll(ctx context.Context) (tables []anewTable, all []Difference, err error) {
	if tables, err = a.tables(ctx); err != nil {
		return nil, nil, err
	}
	for _, t := range tables {
		d, err := a.compare(ctx, t, nil)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.name, err)
		}
		all = append(all, d)
	}
	return tables, all, nil
}

// tables are those that the home publishes.
func (a *anew) tables(ctx context.Context) (list []anewTable, err error) {
	var published []struct {
		Name    string         `db:"name"`
		Columns pq.StringArray `db:"columns"`
	}
	if err := sqlx.SelectContext(ctx, a.home, &published, `
		SELECT tablename::text AS name, attnames::text[] AS columns FROM pg_publication_tables WHERE pubname = $1 AND schemaname = 'public' ORDER BY tablename`, publication); err != nil {
		return nil, translate(ctx, err)
	}
	keys, err := a.keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range published {
		t := anewTable{name: p.Name, columns: p.Columns, key: keys[p.Name]}
		if len(t.key) == 0 {
			return nil, fmt.Errorf("the home publishes %s, which the cell does not have", t.name)
		}
		list = append(list, t)
	}
	return list, nil
}

// keys are the columns of the primary key of each table of the cell.
func (a *anew) keys(ctx context.Context) (map[string][]anewKey, error) {
	var list []struct {
		Table string `db:"of_table"`
		Name  string `db:"name"`
		Type  string `db:"type"`
	}
	if err := sqlx.SelectContext(ctx, a.replica, &list, `
		SELECT k.relname::text AS of_table, a.attname::text AS name, format_type(a.atttypid, NULL) AS type
		FROM pg_class k JOIN pg_index x ON x.indrelid = k.oid AND x.indisprimary CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY n(attnum, place)
		JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = n.attnum WHERE k.relnamespace = 'public'::regnamespace ORDER BY k.relname, n.place`); err != nil {
		return nil, translate(ctx, err)
	}
	keys := map[string][]anewKey{}
	for _, k := range list {
		keys[k.Table] = append(keys[k.Table], anewKey{k.Name, k.Type == "bigint" || k.Type == "integer", k.Type == "text"})
	}
	return keys, nil
}

// compare reads a table of both sides at once, in the order of its keys. often, unless it is nil, is called whenever a good many differences have come into the temporary tables.
func (a *anew) compare(ctx context.Context, t anewTable, often func() error) (d Difference, err error) {
	d.Table = t.name
	text := fmt.Sprintf(`CREATE TEMP TABLE %s AS SELECT %s FROM %s WHERE false; CREATE TEMP TABLE %s (LIKE %[1]s)`, t.staged(), quoted(t.columns, ""), t.name, t.gone())
	if _, err := a.writes.ExecContext(ctx, text); err != nil {
		return d, translate(ctx, err)
	}
	there, err := readAnew(ctx, a.home, t, t.of)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, there.rows.Close()) }()
	here, err := readAnew(ctx, a.replica, t, "")
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, here.rows.Close()) }()
	if err := errors.Join(there.next(), here.next()); err != nil {
		return d, translate(ctx, err)
	}
	staged, gone := anewBatch{to: t.staged(), by: a.writes}, anewBatch{to: t.gone(), by: a.writes}
	for there.more || here.more {
		order := t.order(there, here)
		switch {
		case order > 0:
			d.Gone++
			err = gone.add(ctx, here.row)
		case order < 0:
			d.Missing++
			err = staged.add(ctx, there.row)
		case !bytes.Equal(there.row, here.row):
			d.Different++
			err = staged.add(ctx, there.row)
		}
		if err == nil && order <= 0 {
			if d.Rows++; d.Rows%tellEvery == 0 {
				a.told(d)
			}
			err = there.next()
		}
		if err == nil && order >= 0 {
			err = here.next()
		}
		if err == nil && often != nil && staged.all+gone.all >= oftenEvery {
			if err = errors.Join(staged.flush(ctx), gone.flush(ctx)); err == nil {
				staged.all, gone.all, err = 0, 0, often()
			}
		}
		if err != nil {
			return d, translate(ctx, err)
		}
	}
	if err := errors.Join(staged.flush(ctx), gone.flush(ctx)); err != nil {
		return d, translate(ctx, err)
	}
	a.told(d)
	return d, nil
}

// tellEvery is of how many rows of a table it is told that they are compared.
const tellEvery = 100_000

// oftenEvery is how many bytes of differences are a good many.
const oftenEvery = 64 << 20

// anewRows are the rows of one side, one after the other, from the first next on: the row as text, and its key.
type anewRows struct {
	rows *sql.Rows
	key  []sql.RawBytes
	row  sql.RawBytes
	into []any
	more bool
}

func readAnew(ctx context.Context, from *sqlx.Conn, t anewTable, of string) (*anewRows, error) {
	var keys, order []string
	for _, k := range t.key {
		name := pq.QuoteIdentifier(k.name)
		keys = append(keys, name+"::text")
		if k.text {
			name += ` COLLATE "C"` // that of the database may be another on each side
		}
		order = append(order, "x."+name)
	}
	rows, err := from.QueryContext(ctx, fmt.Sprintf(`SELECT %s, ROW(%s)::text FROM %s x WHERE %s ORDER BY %s`,
		strings.Join(keys, ", "), quoted(t.columns, ""), t.name, cmp.Or(of, "true"), strings.Join(order, ", ")))
	if err != nil {
		return nil, translate(ctx, err)
	}
	r := &anewRows{rows: rows, key: make([]sql.RawBytes, len(keys))}
	for i := range r.key {
		r.into = append(r.into, &r.key[i])
	}
	r.into = append(r.into, &r.row)
	return r, nil
}

func (r *anewRows) next() error {
	if r.more = r.rows.Next(); !r.more {
		return r.rows.Err()
	}
	return r.rows.Scan(r.into...)
}

// order is below 0 where the home's row comes first, above 0 where the cell's does, and 0 where both have the same key.
func (t anewTable) order(there, here *anewRows) int {
	switch {
	case !here.more:
		return -1
	case !there.more:
		return 1
	}
	for i, k := range t.key {
		a, b := there.key[i], here.key[i]
		if k.number && len(a) != len(b) {
			return cmp.Compare(len(a), len(b))
		}
		if c := bytes.Compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// anewBatch writes rows into a temporary table, some at a time.
type anewBatch struct {
	to    string
	by    *sqlx.Conn
	rows  []string
	bytes int
	// all is how many bytes have come since it was set to 0.
	all int
}

// mostStaged is how many bytes of rows are written by one statement, about.
const mostStaged = 1 << 20

func (b *anewBatch) add(ctx context.Context, row []byte) error {
	b.rows, b.bytes, b.all = append(b.rows, string(row)), b.bytes+len(row)+16, b.all+len(row)+16
	if b.bytes < mostStaged {
		return nil
	}
	return b.flush(ctx)
}

func (b *anewBatch) flush(ctx context.Context) error {
	if len(b.rows) == 0 {
		return nil
	}
	_, err := b.by.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s SELECT r.* FROM unnest($1::%[1]s[]) r`, b.to), pq.Array(b.rows))
	b.rows, b.bytes = slices.Delete(b.rows, 0, len(b.rows)), 0
	return err
}
