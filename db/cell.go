package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/problem"
)

// IDsOfCell is how many ids a cell can make of each kind: those of the cell of a number begin at number × IDsOfCell.
const IDsOfCell = 10_000_000_000_000

// LastCell is the highest number of a cell: its ids are below 2^53.
const LastCell = 899

// Cell is a region's own database, with what companies of the region have, and a replica of the directory. The home of a platform is none.
type Cell struct {
	// Number is the id of the region.
	Number int64  `db:"number"`
	Region string `db:"region"`
}

// BlobsOfCell is what the keys of all that a cell has in its store begin with.
func BlobsOfCell(number int64) string { return fmt.Sprintf("cells/%d/", number) }

const qCell = `SELECT number, region FROM cell`

// cellOf is the cell that a database is; nil for the home.
func cellOf(ctx context.Context, pool *sqlx.DB) (*Cell, error) {
	var rows []Cell
	if err := selectInto(ctx, pool, &rows, qCell); err != nil {
		return nil, translate(ctx, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// Cell is the one that the database is; nil for the home.
func (s *Store) Cell() *Cell { return s.cell }

const qCells = `
	SELECT COALESCE((SELECT array_agg(region_id ORDER BY region_id) FROM cells), '{}') AS regions,
		EXISTS (SELECT FROM splits) AS splits, EXISTS (SELECT FROM splits WHERE erased_at IS NULL) AS splitting`

// cellsKnown is what a process knows of the cells.
type cellsKnown struct {
	// Regions are those that have one.
	Regions pq.Int64Array `db:"regions"`
	// Splits: rows have moved into one, or will. Splitting: some are on their way.
	Splits    bool `db:"splits"`
	Splitting bool `db:"splitting"`
}

// LookForCells reads which regions have a cell of their own. It is done at the start and now and then, not for each caller: until a process of the home knows of a cell, the database
// refuses what would be written for it (refused_elsewhere), and there is nothing to be read.
func (s *Store) LookForCells(ctx context.Context) error {
	known := &cellsKnown{}
	if err := getInto(ctx, s.pool, known, qCells); err != nil {
		return translate(ctx, err)
	}
	s.cells.Store(known)
	return nil
}

// Splitting tells whether what companies of a region have is on its way into a cell, or was a moment ago: it is looked soon again for cells.
func (s *Store) Splitting() bool { return s.cells.Load().Splitting }

// Opened tells whether this database answers for its region: a cell does once what companies of the region have had at the home is there.
func (s *Store) Opened() bool {
	return s.cell == nil || slices.Contains(s.cells.Load().Regions, s.cell.Number)
}

// Elsewhere tells whether another cell has what companies of a region have. The home has it for the regions that are not among those with a cell.
func (s *Store) Elsewhere(regionID int64) bool {
	if s.cell == nil {
		return slices.Contains(s.cells.Load().Regions, regionID)
	}
	return s.cell.Number != regionID
}

var qPlaceOfCell = prepare(`SELECT r.code AS region, COALESCE(z.address, '') AS address FROM regions r LEFT JOIN cells z ON z.region_id = r.id WHERE r.id = $1`)

// Misdirected says in which region what was asked for lives, and where that is asked: 421.
func (s *Store) Misdirected(ctx context.Context, regionID int64) error {
	var at struct {
		Region  string `db:"region"`
		Address string `db:"address"`
	}
	if err := s.get(ctx, &at, qPlaceOfCell, regionID); err != nil && !errors.Is(err, ErrNoRows) {
		return err
	}
	if at.Address == "" { // of a region without a cell, the home has it
		at.Region = ""
	}
	return problem.Elsewhere(at.Region, at.Address)
}

// namedBy gives of a statement that looks for one row of what companies have which of its arguments is the row's id or job key, counted from 1; 0 of others. One that looks on the caller's
// own account is none: that account's cell has it, or nobody.
var namedBy = sync.OnceValue(func() []int {
	of := `(?s)\b(FROM|UPDATE) (` + strings.Join(tablesIn(data), "|") + `)\b.*`
	alone, scoped := regexp.MustCompile(of+`\bid = \$1\b`), regexp.MustCompile(of+`\b(id|job_key) = \$3\b`)
	list := make([]int, len(statements))
	for q, text := range statements {
		switch {
		case alone.MatchString(text):
			list[q] = 1
		case strings.Contains(text, withinScope) && scoped.MatchString(text):
			list[q] = 3
		}
	}
	return list
})

// madeIn gives the name of the row that a statement looks for; not known where it looks for something else.
func madeIn(q query, args []any) (n rowName, known bool) {
	at := namedBy()[q]
	if at == 0 || at > len(args) {
		return n, false
	}
	switch name := args[at-1].(type) {
	case int64:
		return rowName{kind: kindsNamed()[q], id: name}, true
	case string:
		return rowName{job: name}, true
	}
	return n, false
}

// kindsNamed gives of those statements the table of the row that is looked for; "" where it is none of what companies have.
var kindsNamed = sync.OnceValue(func() []string {
	tables := strings.Join(tablesIn(data), "|")
	first, named := regexp.MustCompile(`\b(?:FROM|UPDATE) (`+tables+`)\b`), regexp.MustCompile(`\b(?:(\w+)\.)?(?:id|job_key) = \$[13]`)
	list := make([]string, len(statements))
	for q, at := range namedBy() {
		if at == 0 {
			continue
		}
		text := statements[q]
		of := first
		if alias := named.FindStringSubmatch(text)[1]; alias != "" {
			of = regexp.MustCompile(`\b(?:FROM|UPDATE|JOIN) (` + tables + `) (?:AS )?` + alias + `\b`)
		}
		if found := of.FindStringSubmatch(text); found != nil {
			list[q] = found[1]
		}
	}
	return list
})

// rowName is what a row is known by everywhere: its table and id, or its job key.
type rowName struct {
	kind string
	id   int64
	job  string
}

// cell is that which has made the row.
func (n rowName) cell() int64 {
	if n.job != "" {
		return cellOfJob(n.job)
	}
	return n.id / IDsOfCell
}

// notHere makes of a row that a statement has not found one that another cell has, where its name says so and there is that cell.
func (s *Store) notHere(ctx context.Context, q query, args []any) error {
	if n, known := madeIn(q, args); known {
		return s.madeElsewhere(ctx, n)
	}
	return ErrNoRows
}

// madeElsewhere is what is wrong with a row that is not found here, where another cell has made it, or it has moved there. That is for callers, who are led there: to what the platform does for
// itself there is no such row. Whoever works on what has moved has nothing to do with it any more, and in a cell a document of the home's making may lack a twin.
func (s *Store) madeElsewhere(ctx context.Context, n rowName) error {
	if access.TurnOf(ctx) == 0 {
		return ErrNoRows
	}
	own, cell := int64(0), n.cell()
	if s.cell != nil {
		own = s.cell.Number
	}
	if cell == 0 && s.cells.Load().Splits {
		moved, err := s.movedTo(ctx, n)
		if err != nil {
			return err
		}
		cell = moved
	}
	switch cell {
	case own:
		return ErrNoRows
	case 0:
		return problem.Elsewhere("", "")
	}
	var is int
	if err := s.get(ctx, &is, qIsCell, cell); err != nil {
		return err
	}
	return s.Misdirected(ctx, cell)
}

var (
	// No two ranges meet: of those that begin up to an id the last one has it, or none.
	qMovedID = prepare(`
		SELECT region_id FROM (SELECT region_id, last FROM moved_ids WHERE kind = $1 AND first <= $2 ORDER BY kind DESC, first DESC LIMIT 1) m WHERE last >= $2`)
	qMovedRun = prepare(`SELECT region_id FROM moved_runs WHERE job_key = $1::uuid`)
)

// hasMoved leads a caller of the home to the cell that a row has moved into, for as long as the home has not forgotten it: what it still has of it is of the past.
func (s *Store) hasMoved(ctx context.Context, n rowName) error {
	if access.TurnOf(ctx) == 0 {
		return nil
	}
	cell, err := s.movedTo(ctx, n)
	if err != nil || cell == 0 {
		return err
	}
	return s.Misdirected(ctx, cell)
}

// forgets: the home has rows yet that have moved, or will.
func (s *Store) forgets() bool { return s.cell == nil && s.cells.Load().Splitting }

// otherTable is where a row goes, and keeps its id, when it is deleted or brought back.
var otherTable = map[string]string{"secrets": "removed_secrets", "removed_secrets": "secrets"}

// movedTo is the cell that a row has moved into; 0 where it has not.
func (s *Store) movedTo(ctx context.Context, n rowName) (cell int64, err error) {
	if n.job == "" {
		err = s.get(ctx, &cell, qMovedID, n.kind, n.id)
		if other := otherTable[n.kind]; other != "" && errors.Is(err, ErrNoRows) {
			err = s.get(ctx, &cell, qMovedID, other, n.id)
		}
	} else if key, failed := uuid.Parse(n.job); failed == nil {
		err = s.get(ctx, &cell, qMovedRun, key.String())
	}
	return cell, ignoreNoRows(err)
}

// Holder is a place that has what companies of a scope have, and the first of these companies in the order of the tree.
type Holder struct {
	Region, Address string
	First           int64
}

// Place is where the holder is asked.
func (h Holder) Place() problem.Place { return problem.Place{Region: h.Region, Address: h.Address} }

// Holders are the places that have what companies of a scope have; none where there is the home alone.
func (s *Store) Holders(ctx context.Context, scope access.Scope) (holders []Holder, err error) {
	if s.cell == nil && len(s.cells.Load().Regions) == 0 {
		return nil, nil
	}
	var rows []Holder
	err = s.list(ctx, &rows, qCellsIn, scope.From(), scope.To())
	for _, row := range rows {
		if !slices.ContainsFunc(holders, func(h Holder) bool { return h.Place() == row.Place() }) {
			holders = append(holders, row)
		}
	}
	return holders, err
}

// Is tells whether this database is that of a place.
func (s *Store) Is(place problem.Place) bool {
	own := ""
	if s.cell != nil {
		own = s.cell.Region
	}
	return place.Region == own
}

// OtherCells are those, beside this one, that can have what companies of a scope have that an ask is for: as few as there are regions of such companies. atHome: the home has something of each.
func (s *Store) OtherCells(ctx context.Context, scope access.Scope, a Ask, atHome bool) (places []problem.Place, err error) {
	if s.cell == nil && len(s.cells.Load().Regions) == 0 {
		return nil, nil
	}
	var rows []Holder
	if id, given := value(a.Where().Terms, "customerId"); given {
		err = s.list(ctx, &rows, qCellOf, scope.From(), scope.To(), id)
	} else {
		err = s.list(ctx, &rows, qCellsIn, scope.From(), scope.To())
	}
	if err != nil {
		return nil, err
	}
	if atHome && s.cell != nil {
		places = append(places, problem.Place{})
	}
	for _, row := range rows {
		if p := row.Place(); !s.Is(p) && !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places, nil
}

// ofCell are the region and the address of the cell z that has what companies of the region r have: none of the home.
const ofCell = `CASE WHEN z.region_id IS NULL THEN '' ELSE r.code END AS region, COALESCE(z.address, '') AS address`

var (
	// Of each region one company is looked for, by the index that has a region's companies in the order of the tree: the scope may be the whole of that.
	qCellsIn = prepare(`SELECT ` + ofCell + `, c.id AS first FROM regions r
		CROSS JOIN LATERAL (SELECT c.id FROM customers c WHERE (c.region_id, c.lineage) >= (r.id, $1::bigint[]) AND (c.region_id, c.lineage) < (r.id, $2::bigint[])
			ORDER BY c.region_id, c.lineage LIMIT 1) c
		LEFT JOIN cells z ON z.region_id = r.id ORDER BY r.id`)
	qCellOf = prepare(`SELECT ` + ofCell + `, c.id AS first FROM customers c` + joinByID("regions", "r", "c.region_id") + `LEFT JOIN cells z ON z.region_id = r.id WHERE c.id = $3 AND ` + withinScope)
)

var qIsCell = prepare(`SELECT 1 FROM cells WHERE region_id = $1`)

// writtenAtHome is the SQLSTATE by which a cell's database refuses to write what the home writes.
const writtenAtHome = "CC001"

// writtenElsewhere is the SQLSTATE by which the home's database refuses what lives in a cell. DETAIL has the region, and HINT the address of its platform.
const writtenElsewhere = "CC002"

// inSplit is the SQLSTATE by which the home's database refuses to write what moves into a cell at the moment. DETAIL has the region.
const inSplit = "CC003"

// ReasonHome is how programs know what only the home does.
const ReasonHome = "at_home"

// atHome is what callers of a cell hear who ask for what only the home has, or does.
func atHome(cause error) error {
	p := problem.Away("the home of the platform", cause).With(ReasonHome)
	p.Place = &problem.Place{}
	p.Detail = "this is a region's own cell: people sign in, and companies, people, permissions and keys are changed, at the home of the platform alone; what is asked for waits for it"
	return p
}

// AtHome refuses in a cell what only the home does.
func (s *Store) AtHome() error {
	if s.cell == nil {
		return nil
	}
	return atHome(errors.New("it is the home's"))
}

// hasPassword is what tells at the home whether somebody as a membership knows them has a password. A cell has no passwords, and has this as the company's list of people has it.
var hasPassword = regexp.MustCompile(`\b(\w+)\.accepted_at IS NOT NULL AND o\.password_hash IS NOT NULL AS has_password\b`)

// textInCell is a statement as a cell runs it.
func textInCell(text string) string {
	return hasPassword.ReplaceAllString(text, `$1.accepted_at IS NOT NULL AND COALESCE((SELECT t.has_password FROM subtree_users t WHERE t.customer_id = $1.customer_id AND t.user_id = $1.user_id), false) AS has_password`)
}

// textsInCell are all statements as a cell runs them.
var textsInCell = sync.OnceValue(func() []string {
	list := make([]string, len(statements))
	for q, text := range statements {
		list[q] = textInCell(text)
	}
	return list
})

// text is a statement as this database runs it.
func (s *Store) text(q query) string {
	if s.cell == nil {
		return statements[q]
	}
	return textsInCell()[q]
}

// lacking finds in a statement what a cell has not: the tables of the home, and the columns of the directory that stay there.
var lacking = sync.OnceValue(func() *regexp.Regexp {
	names := tablesIn(homeOnly)
	for _, table := range tablesIn(directory) {
		for _, column := range places[table].home {
			if column == "key" { // of sessions: nothing else that is read with these has such a name
				column = `sessions\b[^;]*\bkey`
			}
			if column != "address" && column != "user_agent" { // of sessions, too: they are read to be shown, and nothing is found by them
				names = append(names, column)
			}
		}
	}
	slices.Sort(names)
	return regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
})

// lackedBy tells of each statement whether it reads what a cell has not.
var lackedBy = sync.OnceValue(func() []bool {
	list := make([]bool, len(statements))
	for q, text := range textsInCell() {
		list[q] = lacking().MatchString(text)
	}
	return list
})

// here refuses a statement that reads what this cell has not.
func (s *Store) here(q query) error {
	if s.cell != nil && lackedBy()[q] {
		return atHome(fmt.Errorf("a cell can't run: %.200s", statements[q]))
	}
	return nil
}

// hereText does the same with one that was put together, and gives it as this database runs it.
func (s *Store) hereText(text string) (string, error) {
	if s.cell == nil {
		return text, nil
	}
	if text = textInCell(text); lacking().MatchString(text) {
		return "", atHome(fmt.Errorf("a cell can't run: %.200s", text))
	}
	return text, nil
}

// bindIDs has each sequence of the database make ids of its cell alone. One that has its bounds already is left alone.
func (m *Migrator) bindIDs(ctx context.Context, cell *Cell) error {
	first, last := int64(1), int64(IDsOfCell-1)
	if cell != nil {
		first, last = first+cell.Number*IDsOfCell, last+cell.Number*IDsOfCell
	}
	var list []struct {
		Name string `db:"name"`
		Last int64  `db:"last"`
	}
	if err := m.pool.SelectContext(ctx, &list, `
		SELECT quote_ident(schemaname) || '.' || quote_ident(sequencename) AS name, COALESCE(last_value, 0) AS last FROM pg_sequences
		WHERE schemaname = 'public' AND data_type = 'bigint'::regtype AND (min_value <> $1 OR max_value <> $2)`, first, last); err != nil {
		return translate(ctx, err)
	}
	for _, s := range list {
		text := fmt.Sprintf(`ALTER SEQUENCE %s MINVALUE %d MAXVALUE %d`, s.Name, first, last)
		switch {
		case s.Last > last:
			return fmt.Errorf("the sequence %s has made the id %d, which is of another cell: those of this one end at %d", s.Name, s.Last, last)
		case s.Last < first && cell != nil:
			text += fmt.Sprintf(` START %d RESTART`, first)
		}
		if err := aside(ctx, func() error { _, err := m.pool.ExecContext(ctx, text); return err }); err != nil {
			return translate(ctx, err)
		}
	}
	return nil
}

// fit makes a database that is a cell ready for the directory: what stays home may be missing, and whoever else writes there is refused.
func (m *Migrator) fit(ctx context.Context) error {
	var needed []string
	if err := m.pool.SelectContext(ctx, &needed, `
		SELECT k.relname || '.' || a.attname FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND a.attnotnull
		WHERE k.relnamespace = 'public'::regnamespace`); err != nil {
		return translate(ctx, err)
	}
	var tied bool // the kind of a second factor to its secret, which stays home
	if err := m.pool.GetContext(ctx, &tied, `SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'users'::regclass AND conname = 'users_totp_has_secret')`); err != nil {
		return translate(ctx, err)
	}
	if tied {
		if err := m.alter(ctx, `ALTER TABLE users DROP CONSTRAINT users_totp_has_secret`); err != nil {
			return err
		}
	}
	var guarded []string
	if err := m.pool.SelectContext(ctx, &guarded, `SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'refused_in_cell'`); err != nil {
		return translate(ctx, err)
	}
	for _, table := range slices.Concat(tablesIn(directory), tablesIn(homeOnly)) {
		for _, column := range places[table].home {
			if slices.Contains(needed, table+"."+column) {
				if err := m.alter(ctx, fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL`, table, pq.QuoteIdentifier(column))); err != nil {
					return err
				}
			}
		}
		if slices.Contains(guarded, table) {
			continue
		}
		if err := m.alter(ctx, fmt.Sprintf(`
			CREATE TRIGGER refused_in_cell BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION refused_in_cell()`, table)); err != nil {
			return err
		}
	}
	return m.limitAll(ctx)
}

// alter changes the schema in a transaction of its own, and waits for no lock for long.
func (m *Migrator) alter(ctx context.Context, text string) error {
	return aside(ctx, func() error { _, err := m.pool.ExecContext(ctx, text); return translate(ctx, err) })
}
