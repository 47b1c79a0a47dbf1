package db

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lib/pq"

	"canopy/internal/archive"
	"canopy/internal/pgconn"
)

// What an archive holds is put into two tables of the transaction that reads it in, as it comes: however much there is, no
// process holds it, and what refers to what is looked at by PostgreSQL. They are gone with the transaction.

// StagedRow is a row of an archive.
type StagedRow struct {
	Kind string
	// ID and Owner are the ids in the archive: its own, and that of what it belongs to.
	ID, Owner int64
	Row       json.RawMessage
	At        archive.Place
}

// StagedOriginal is the original of a document in an archive.
type StagedOriginal struct {
	Name string
	Size int64
	// Hash is its SHA-256 in hexadecimal.
	Hash string
	At   archive.Place
}

// Staging has what was read of an archive so far.
type Staging struct {
	s         *Store
	rows      []StagedRow
	originals []StagedOriginal
	bytes     int
}

// What is put into the tables at one go, in rows and in bytes.
const (
	stagedRows  = 500
	stagedBytes = 1 << 20
)

// stagedKind is a kind of rows that are read in: where its ids come from, if it has any of its own, and what its rows belong to.
type stagedKind struct{ name, table, owner string }

// stagedKinds are in the order in which they are written: what others refer to before these.
var stagedKinds = []stagedKind{
	{name: "customers", table: "customers"},
	{name: "billing", owner: "customers"},
	{name: "users", owner: "customers"},
	{name: "roles", table: "roles", owner: "customers"},
	{name: "accounts", table: "accounts", owner: "customers"},
	{name: "permissions", table: "permissions", owner: "accounts"},
	{name: "contexts", table: "contexts", owner: "accounts"},
	{name: "documents", table: "documents", owner: "contexts"},
	{name: "agents", table: "agents", owner: "accounts"},
	{name: "agentRevisions", table: "agent_revisions", owner: "agents"},
	{name: "webhookDestinations", table: "webhook_destinations", owner: "customers"},
}

// NewStaging makes the tables, in a transaction that takes its time.
func (s *Store) NewStaging(ctx context.Context) (*Staging, error) {
	g := &Staging{s: s}
	return g, g.runAll(ctx,
		// Between two statements an archive of any size is read.
		`SET LOCAL idle_in_transaction_session_timeout = 0`,
		// A little longer than a connection waits for an answer: what nobody waits for any more keeps nothing locked.
		`SET LOCAL statement_timeout = '1min'`, `
		CREATE TEMPORARY TABLE staged (
			kind text NOT NULL, id bigint NOT NULL, owner bigint NOT NULL, row json NOT NULL, member text NOT NULL, line integer NOT NULL,
			new_id bigint, new_owner bigint, level integer, slice integer) ON COMMIT DROP`, `
		CREATE TEMPORARY TABLE staged_originals (
			name uuid NOT NULL, size bigint NOT NULL, hash text NOT NULL, member text NOT NULL) ON COMMIT DROP`)
}

// exec runs a statement on the tables, which no connection knows beforehand, and tells how many rows it touched.
func (g *Staging) exec(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := g.s.run().ExecContext(pgconn.Composed(ctx), text, args...)
	if err != nil {
		return 0, translate(ctx, err)
	}
	n, err := res.RowsAffected()
	return n, translate(ctx, err)
}

// run is exec for statements whose rows nobody counts.
func (g *Staging) run(ctx context.Context, text string, args ...any) error {
	_, err := g.exec(ctx, text, args...)
	return err
}

// runAll runs statements one after another.
func (g *Staging) runAll(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if err := g.run(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Add adds a row.
func (g *Staging) Add(ctx context.Context, r StagedRow) error {
	g.rows = append(g.rows, r)
	if g.bytes += len(r.Row); len(g.rows) < stagedRows && g.bytes < stagedBytes {
		return nil
	}
	return g.flush(ctx)
}

// AddOriginal adds an original.
func (g *Staging) AddOriginal(ctx context.Context, o StagedOriginal) error {
	if g.originals = append(g.originals, o); len(g.originals) < stagedRows {
		return nil
	}
	return g.flush(ctx)
}

func (g *Staging) flush(ctx context.Context) error {
	var kinds, rows, members, names, hashes, files pq.StringArray
	var ids, owners, lines, sizes pq.Int64Array
	for _, r := range g.rows {
		kinds, rows, members = append(kinds, r.Kind), append(rows, string(r.Row)), append(members, r.At.Member)
		ids, owners, lines = append(ids, r.ID), append(owners, r.Owner), append(lines, int64(r.At.Line))
	}
	for _, o := range g.originals {
		names, hashes, files, sizes = append(names, o.Name), append(hashes, o.Hash), append(files, o.At.Member), append(sizes, o.Size)
	}
	g.rows, g.originals, g.bytes = nil, nil, 0
	err := g.run(ctx, `
		INSERT INTO staged (kind, id, owner, row, member, line)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::json[], $5::text[], $6::integer[])`, kinds, ids, owners, rows, members, lines)
	if err != nil {
		return err
	}
	return g.run(ctx, `INSERT INTO staged_originals SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[])`, names, sizes, hashes, files)
}

// index ends the adding.
func (g *Staging) index(ctx context.Context) error {
	if err := g.flush(ctx); err != nil {
		return err
	}
	return g.runAll(ctx,
		`CREATE INDEX staged_id ON staged (kind, id, owner)`,
		`CREATE INDEX staged_owner ON staged (kind, owner)`,
		`CREATE INDEX staged_new ON staged (kind, new_id)`,
		`CREATE INDEX staged_email ON staged (lower(row ->> 'email')) WHERE kind = 'users'`,
		`ANALYZE staged`,
		`ANALYZE staged_originals`)
}

// count counts the rows of a kind.
func (g *Staging) count(ctx context.Context, kind string) (n int64, err error) {
	err = getInto(pgconn.Composed(ctx), g.s.run(), &n, `SELECT count(*) FROM staged WHERE kind = $1`, kind)
	return n, translate(ctx, err)
}

// stagedPage is a row with the id that it was given here.
type stagedPage struct {
	ID    int64           `db:"id"`
	NewID int64           `db:"new_id"`
	Row   json.RawMessage `db:"row"`
}

// pageOfRows is how many rows are read back at one go.
const pageOfRows = 20

// Each gives the rows of a kind with the ids that they were given. The error of each ends it.
func (g *Staging) Each(ctx context.Context, kind string, each func(id, newID int64, row json.RawMessage) error) error {
	last := int64(0)
	for {
		var page []stagedPage
		err := g.s.composed(ctx, &page, `SELECT id, new_id, row FROM staged WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3`, kind, last, pageOfRows)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			if err := each(r.ID, r.NewID, r.Row); err != nil {
				return err
			}
		}
		last = page[len(page)-1].ID
	}
}

// NewIDs gives the ids that rows of a kind were given; those that are not in the archive are left out.
func (g *Staging) NewIDs(ctx context.Context, kind string, ids []int64) (map[int64]int64, error) {
	var rows []stagedPage
	err := g.s.composed(ctx, &rows, `SELECT id, new_id FROM staged WHERE kind = $1 AND id = ANY ($2)`, kind, pq.Int64Array(ids))
	given := make(map[int64]int64, len(rows))
	for _, r := range rows {
		given[r.ID] = r.NewID
	}
	return given, err
}

// Replace puts another row in the place of one.
func (g *Staging) Replace(ctx context.Context, kind string, id int64, row json.RawMessage) error {
	return g.run(ctx, `UPDATE staged SET row = $3::json WHERE kind = $1 AND id = $2`, kind, id, string(row))
}

// Customers gives the companies that were made, in the order of their ids. The error of each ends it.
func (g *Staging) Customers(ctx context.Context, each func(page []*Customer) error) error {
	last := int64(0)
	for {
		var page []*Customer
		err := g.s.composed(ctx, &page, `
			SELECT `+customerColumns+` FROM staged s JOIN customers c ON c.id = s.new_id
			WHERE s.kind = 'customers' AND s.new_id > $1 ORDER BY s.new_id LIMIT $2`, last, stagedRows)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
		last = page[len(page)-1].ID
	}
}

// fault is the first row that a query finds wrong, as a fault of the archive; nil where there is none. The query selects the member,
// the line and a detail for the text, which has one %s for it.
func (g *Staging) fault(ctx context.Context, text, query string, args ...any) error {
	var row struct {
		Member string `db:"member"`
		Line   int    `db:"line"`
		Detail string `db:"detail"`
	}
	err := translate(ctx, getInto(pgconn.Composed(ctx), g.s.run(), &row, query+` ORDER BY 1, 2 LIMIT 1`, args...))
	if errors.Is(err, ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return archive.Place{Member: row.Member, Line: row.Line}.Faultf(text, row.Detail)
}
