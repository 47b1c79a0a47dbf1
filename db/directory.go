package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/pgconn"
)

// The directory reaches the cells by PostgreSQL's logical replication: a publication at the home, and a subscription in each cell, of this name.
const publication = "canopy_directory"

// slotOf is the replication slot of a cell, at the home.
func slotOf(number int64) string { return fmt.Sprintf("canopy_cell_%d", number) }

// published are the columns of each table of the directory that cells get. What is computed is computed there.
func (m *Migrator) published(ctx context.Context) (map[string][]string, error) {
	var all []struct {
		Table string `db:"table"`
		Name  string `db:"name"`
	}
	if err := m.pool.SelectContext(ctx, &all, `
		SELECT k.relname AS table, a.attname AS name FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE k.relnamespace = 'public'::regnamespace AND k.relkind = 'r' AND a.attgenerated = '' ORDER BY k.relname, a.attnum`); err != nil {
		return nil, translate(ctx, err)
	}
	columns := map[string][]string{}
	for _, c := range all {
		if p := places[c.Table]; p.kind == directory && !slices.Contains(p.home, c.Name) {
			columns[c.Table] = append(columns[c.Table], pq.QuoteIdentifier(c.Name))
		}
	}
	return columns, nil
}

// publish has the home publish the directory, as it is now.
func (m *Migrator) publish(ctx context.Context) error {
	columns, err := m.published(ctx)
	if err != nil {
		return err
	}
	var list []string
	for _, table := range tablesIn(directory) {
		list = append(list, fmt.Sprintf("%s (%s)", table, strings.Join(columns[table], ", ")))
	}
	there, err := m.isPublished(ctx)
	if err != nil {
		return err
	}
	if there {
		return m.alter(ctx, `ALTER PUBLICATION `+publication+` SET TABLE `+strings.Join(list, ", "))
	}
	return m.alter(ctx, `CREATE PUBLICATION `+publication+` FOR TABLE `+strings.Join(list, ", "))
}

func (m *Migrator) isPublished(ctx context.Context) (there bool, err error) {
	err = m.pool.GetContext(ctx, &there, `SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)`, publication)
	return there, translate(ctx, err)
}

// republish publishes what is published already, after the schema has changed. Nothing is where no region has a cell.
func (m *Migrator) republish(ctx context.Context) error {
	there, err := m.isPublished(ctx)
	if err != nil || !there {
		return err
	}
	if err := m.bindIDs(ctx, nil); err != nil {
		return err
	}
	if err := m.publish(ctx); err != nil {
		return err
	}
	if err := m.span(ctx); err != nil {
		return err
	}
	var roles []string
	if err := m.pool.SelectContext(ctx, &roles, `
		SELECT DISTINCT quote_ident(grantee) FROM information_schema.role_routine_grants WHERE routine_name = 'ask_home' AND grantee <> grantor`); err != nil {
		return translate(ctx, err)
	}
	for _, role := range roles {
		if err := m.let(ctx, role); err != nil {
			return err
		}
	}
	return nil
}

// let gives a role, whose name is quoted, what a cell needs at the home.
func (m *Migrator) let(ctx context.Context, role string) error {
	columns, err := m.published(ctx)
	if err != nil {
		return err
	}
	texts := []string{
		`GRANT USAGE ON SCHEMA public TO ` + role, `GRANT SELECT ON goose_db_version TO ` + role,
		`GRANT EXECUTE ON FUNCTION ask_home(bigint, bigint), count_home(), take_use_marks(text[], bigint[], timestamptz[]), erased_in_cell(bigint, bigint),
			exchange_counts(bigint, bigint[], bigint[], text[], date[], bigint[]), spanning_behind(bigint, integer), exchange_minutes(bigint, text[], bigint[], integer),
			hand_over_events(bigint, bigint[], integer) TO ` + role,
	}
	for _, table := range tablesIn(directory) {
		texts = append(texts, fmt.Sprintf(`GRANT SELECT (%s) ON %s TO %s`, strings.Join(columns[table], ", "), table, role))
	}
	for _, text := range texts {
		if err := m.alter(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// refresh has a cell follow tables that have come into the publication. One that does not follow at all is joined anew before it does, with all of them.
func (m *Migrator) refresh(ctx context.Context) error {
	if _, follows, err := m.subscribed(ctx); err != nil || !follows {
		return err
	}
	_, err := m.pool.ExecContext(ctx, `ALTER SUBSCRIPTION `+publication+` REFRESH PUBLICATION`)
	return translate(ctx, err)
}

// cellsFirst refuses to bring the home to a schema that a cell does not have yet: what is new there would stop the replication.
func (m *Migrator) cellsFirst(ctx context.Context, there schema) error {
	var known bool
	if err := m.pool.GetContext(ctx, &known, `SELECT to_regclass('cells') IS NOT NULL AND to_regclass('cell') IS NOT NULL`); err != nil || !known || there.Version >= schemaVersion() {
		return translate(ctx, err)
	}
	var moving []string
	var splits bool
	err := m.pool.GetContext(ctx, &splits, `SELECT to_regclass('splits') IS NOT NULL`)
	if err == nil && splits {
		err = m.pool.SelectContext(ctx, &moving, `SELECT r.code FROM splits s JOIN regions r ON r.id = s.region_id WHERE s.switched_at IS NULL AND NOT EXISTS (SELECT FROM cell) ORDER BY 1`)
	}
	if err != nil {
		return translate(ctx, err)
	}
	if len(moving) > 0 {
		return fmt.Errorf("what companies of %s have moves into a cell: that is ended, or aborted, before the schema changes", strings.Join(moving, ", "))
	}
	var behind []string
	err = m.pool.SelectContext(ctx, &behind, `
		SELECT r.code || COALESCE(' (' || z.schema_version || ')', ' (which has said nothing yet)') FROM cells z JOIN regions r ON r.id = z.region_id
		WHERE (z.schema_version >= $1) IS NOT TRUE AND NOT EXISTS (SELECT FROM cell) ORDER BY 1`, schemaVersion())
	if err == nil && len(behind) > 0 {
		err = fmt.Errorf("the cells come first: `canopy migrate up` in %s, which must be at the version %d", strings.Join(behind, ", "), schemaVersion())
	}
	return translate(ctx, err)
}

// OpenCell lets a region have a cell of its own, whose platform is reached at an address: the home publishes the directory from then on. role is who the cell comes
// as to the home's database; "" where it has all rights already.
func (m *Migrator) OpenCell(ctx context.Context, region, address, role string) error {
	return m.openFor(ctx, region, role, func(id int64) error { return m.addCell(ctx, id, address) })
}

// OpenSplit lets a region have a cell of its own whose companies have something at the home: the home goes on with it until a Split has moved all of it.
func (m *Migrator) OpenSplit(ctx context.Context, region, address, role string) error {
	return m.openFor(ctx, region, role, func(id int64) error { return m.addSplit(ctx, id, region, address) })
}

// openFor has the home publish the directory, for one more region, which add notes.
func (m *Migrator) openFor(ctx context.Context, region, role string, add func(id int64) error) error {
	if err := m.isHome(ctx); err != nil {
		return err
	}
	var level string
	if err := m.pool.GetContext(ctx, &level, `SHOW wal_level`); err != nil {
		return translate(ctx, err)
	}
	if level != "logical" {
		return fmt.Errorf("the home's PostgreSQL has wal_level = %s: it must be logical", level)
	}
	id, err := regionID(ctx, m.pool, region)
	if err != nil {
		return err
	}
	if role != "" {
		var may bool
		if err := m.pool.GetContext(ctx, &may, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND rolcanlogin AND (rolreplication OR rolsuper))`, role); err != nil {
			return translate(ctx, err)
		}
		if !may {
			return fmt.Errorf("PostgreSQL has no role %s with LOGIN and REPLICATION", role)
		}
	}
	if err := m.bindIDs(ctx, nil); err != nil {
		return err
	}
	if _, err := m.pool.ExecContext(ctx, `INSERT INTO pulse DEFAULT VALUES ON CONFLICT DO NOTHING`); err != nil {
		return translate(ctx, err)
	}
	if err := add(id); err != nil {
		return err
	}
	if err := m.span(ctx); err != nil {
		return err
	}
	if err := m.publish(ctx); err != nil {
		return err
	}
	if role == "" {
		return nil
	}
	return m.let(ctx, pq.QuoteIdentifier(role))
}

// isHome refuses what is done at the home alone.
func (m *Migrator) isHome(ctx context.Context) error {
	cell, err := cellOf(ctx, m.pool)
	if err == nil && cell != nil {
		err = fmt.Errorf("this is the database of the cell %s: the home's is needed", cell.Region)
	}
	return err
}

// addCell has the home answer no longer for what companies of a region have. They must have nothing yet, as nothing moves.
func (m *Migrator) addCell(ctx context.Context, regionID int64, address string) error {
	var added bool
	if err := m.pool.GetContext(ctx, &added, `
		INSERT INTO cells (region_id, address) VALUES ($1, $2) ON CONFLICT (region_id) DO UPDATE SET address = excluded.address RETURNING xmax = 0`, regionID, address); err != nil {
		return translate(ctx, err)
	}
	if !added {
		return nil
	}
	// From here on callers are refused, and what those write who have been let in already: who has nothing now gets nothing.
	if err := m.holdOff(ctx, nil); err != nil {
		return errors.Join(err, m.dropCell(ctx, regionID))
	}
	var has []int64
	err := m.pool.SelectContext(ctx, &has, `
		SELECT c.id FROM customers c WHERE c.region_id = $1 AND (
			EXISTS (SELECT FROM accounts a JOIN contexts x ON x.account_id = a.id WHERE a.customer_id = c.id) OR
			EXISTS (SELECT FROM accounts a JOIN agents g ON g.account_id = a.id WHERE a.customer_id = c.id) OR
			EXISTS (SELECT FROM webhook_destinations d WHERE d.customer_id = c.id) OR EXISTS (SELECT FROM secrets s WHERE s.customer_id = c.id) OR
			EXISTS (SELECT FROM removed_secrets s WHERE s.customer_id = c.id) OR EXISTS (SELECT FROM customer_exports e WHERE e.customer_id = c.id))
		ORDER BY c.id LIMIT 1`, regionID)
	if err == nil && len(has) == 0 {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("the company %d of the region has contexts, agents, destinations, secrets or an export at the home: `canopy region open --split` lets what there is move into a cell", has[0])
	}
	return errors.Join(translate(ctx, err), m.dropCell(ctx, regionID))
}

// dropCell forgets a cell, what it has told, and what waits for it.
func (m *Migrator) dropCell(ctx context.Context, regionID int64) error {
	_, err := m.pool.ExecContext(ctx, `
		WITH told AS (DELETE FROM counts_elsewhere WHERE cell = $1), waiting AS (DELETE FROM events_for_cells WHERE region_id = $1)
		DELETE FROM cells WHERE region_id = $1`, regionID)
	return translate(ctx, err)
}

// span has the home know which companies have what they have in several cells: from here on, and until here.
func (m *Migrator) span(ctx context.Context) error {
	var there bool
	if err := m.pool.GetContext(ctx, &there, `SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'customer_spans')`); err != nil {
		return translate(ctx, err)
	}
	if !there {
		if err := m.alter(ctx, `CREATE TRIGGER customer_spans AFTER INSERT OR UPDATE OF parent_id, region_id ON customers
			FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION customer_spans()`); err != nil {
			return err
		}
	}
	if _, err := m.pool.ExecContext(ctx, `SELECT FROM (SELECT note_spanning()) noted`); err != nil {
		return translate(ctx, err)
	}
	return errors.Join(m.limitAll(ctx), m.noteEvents(ctx))
}

// noteEvents has the home hand over to cells what it writes in the log of their companies.
func (m *Migrator) noteEvents(ctx context.Context) error {
	var there bool
	if err := m.pool.GetContext(ctx, &there, `SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'note_events_for_cells')`); err != nil || there {
		return translate(ctx, err)
	}
	return m.alter(ctx, `CREATE TRIGGER note_events_for_cells AFTER INSERT ON audit_events REFERENCING NEW TABLE AS written
		FOR EACH STATEMENT EXECUTE FUNCTION note_events_for_cells()`)
}

// limitAll has limits hold for what all cells have. Where there are none, the trigger does not look for it.
func (m *Migrator) limitAll(ctx context.Context) error {
	var there bool
	if err := m.pool.GetContext(ctx, &there, `SELECT tgnargs > 0 FROM pg_trigger WHERE tgname = 'usage_within_limit'`); err != nil || there {
		return translate(ctx, err)
	}
	return m.alter(ctx, `
		DROP TRIGGER usage_within_limit ON usage_counts;
		CREATE CONSTRAINT TRIGGER usage_within_limit AFTER INSERT OR UPDATE ON usage_counts
			DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.grown > 0 AND NEW.most IS NOT NULL) EXECUTE FUNCTION usage_within_limit('all cells')`)
}

// heldOff are the tables that all begins with which a company has, by the column that leads to the company.
var heldOff = map[string]string{
	"contexts": "account_id", "agents": "account_id", "webhook_destinations": "customer_id", "secrets": "customer_id", "removed_secrets": "customer_id", "customer_exports": "customer_id",
}

// holdOff has the home's database refuse what lives in cells, and that of a cell what does not live there. Whoever is writing is waited for: nobody writes any more who does
// not know it.
func (m *Migrator) holdOff(ctx context.Context, cell *Cell) error {
	region := ""
	if cell != nil {
		region = fmt.Sprintf(", '%d'", cell.Number)
	}
	var held []string
	if err := m.pool.SelectContext(ctx, &held, `SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'refused_elsewhere' AND (tgnargs > 1) = $1`, cell != nil); err != nil {
		return translate(ctx, err)
	}
	for table, column := range heldOff {
		if slices.Contains(held, table) {
			continue
		}
		if err := m.alter(ctx, fmt.Sprintf(`CREATE OR REPLACE TRIGGER refused_elsewhere BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION refused_elsewhere('%s'%s)`, table, column, region)); err != nil {
			return err
		}
	}
	return nil
}

// CloseCell takes back that a region has a cell of its own, where none has joined. Companies of the region then have what they have at the home, as before.
func (m *Migrator) CloseCell(ctx context.Context, region string) error {
	if err := m.isHome(ctx); err != nil {
		return err
	}
	id, err := regionID(ctx, m.pool, region)
	if err != nil {
		return err
	}
	var known struct{ Open, Moving, Joined bool }
	if err := m.pool.GetContext(ctx, &known, `
		SELECT EXISTS (SELECT FROM cells WHERE region_id = $1) AS open, EXISTS (SELECT FROM splits WHERE region_id = $1 AND switched_at IS NULL) AS moving,
			EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $2 AND database = current_database()) OR EXISTS (SELECT FROM cells WHERE region_id = $1 AND seen_at IS NOT NULL) AS joined`,
		id, slotOf(id)); err != nil {
		return translate(ctx, err)
	}
	switch {
	case known.Moving:
		return fmt.Errorf("what companies of %s have is to move into a cell: `canopy region split %[1]s --abort` takes that back", region)
	case !known.Open:
		return fmt.Errorf("the home knows of no cell of %s", region)
	case known.Joined:
		return fmt.Errorf("the cell of %s has joined: what companies of the region have is there, and comes back by no command", region)
	}
	return m.dropCell(ctx, id)
}

// regionID is the id of a region that can have a cell.
func regionID(ctx context.Context, pool *sqlx.DB, region string) (id int64, err error) {
	err = translate(ctx, getInto(ctx, pool, &id, `SELECT id FROM regions WHERE code = $1`, region))
	switch {
	case errors.Is(err, ErrNoRows):
		return 0, fmt.Errorf("there is no region %s", region)
	case err == nil && id > LastCell:
		return 0, fmt.Errorf("the region %s has the id %d: a cell is possible up to %d", region, id, LastCell)
	}
	return id, err
}

// JoinHome makes an empty database the cell of a region: it gets the schema, and the directory of the home behind a URL, which it follows from then on. It comes back when all is
// there; told hears now and then how many tables are. What was interrupted is gone on with.
func (m *Migrator) JoinHome(ctx context.Context, region, home string, told func(ready, of int)) error {
	if _, err := m.Up(ctx); err != nil {
		return err
	}
	number, err := m.atHome(ctx, region, home)
	if err == nil {
		err = m.mustBeApart(ctx, home)
	}
	if err != nil {
		return err
	}
	cell, err := cellOf(ctx, m.pool)
	switch {
	case err != nil:
		return err
	case cell == nil:
		err = m.become(ctx, Cell{Number: number, Region: region})
	case *cell != Cell{Number: number, Region: region}:
		err = fmt.Errorf("this is the database of the cell %s, with ids of %d", cell.Region, cell.Number)
	}
	if err != nil {
		return err
	}
	if err := m.settle(ctx); err != nil {
		return err
	}
	there, follows, err := m.subscribed(ctx)
	if err != nil {
		return err
	}
	filled, err := m.filled(ctx)
	if err != nil {
		return err
	}
	if there && !follows || !there && filled {
		return fmt.Errorf("the cell does not follow the home, as when it was joined anew and that was interrupted: `canopy region join %s --anew`", region)
	}
	if !there {
		text, err := subscription(home, number, "")
		if err != nil {
			return err
		}
		if _, err := m.pool.ExecContext(ctx, text); err != nil {
			return translate(ctx, err)
		}
	}
	return m.arrived(ctx, told)
}

// subscription makes a cell follow its home. What the home is told to be here is never sent again. By PostgreSQL's default that is told before a synchronous standby has it, so a failover to that one would lose
// revocations.
func subscription(home string, number int64, more string) (string, error) {
	home, err := pgconn.ToWrite(home)
	return fmt.Sprintf(`CREATE SUBSCRIPTION %s CONNECTION %s PUBLICATION %[1]s WITH (slot_name = %[3]s, synchronous_commit = on%[4]s)`,
		publication, pq.QuoteLiteral(home), slotOf(number), more), err
}

// subscribed tells whether a cell has its subscription, and whether that is one to follow by.
func (m *Migrator) subscribed(ctx context.Context) (there, follows bool, err error) {
	err = m.pool.QueryRowContext(ctx, `SELECT count(*) > 0, COALESCE(bool_or(subenabled), false) FROM pg_subscription WHERE subname = $1`, publication).Scan(&there, &follows)
	return there, follows, translate(ctx, err)
}

// atHome looks at the home whether a region's cell may join, and gives its number.
func (m *Migrator) atHome(ctx context.Context, region, url string) (number int64, err error) {
	home, err := Connect(url, Options{MaxConns: 1})
	if err != nil {
		return 0, err
	}
	defer func() { _ = home.Close() }()
	there, err := currentSchema(ctx, home)
	if err != nil {
		return 0, fmt.Errorf("CANOPY_HOME_URL: %w", err)
	}
	if there.Version > schemaVersion() {
		return 0, fmt.Errorf("the home's schema is at the version %d, which this program does not know: the cell needs a program of at least that", there.Version)
	}
	if number, err = regionID(ctx, home, region); err != nil {
		return 0, err
	}
	var open bool
	if err := getInto(ctx, home, &open, `
		SELECT (EXISTS (SELECT FROM cells WHERE region_id = $1) OR EXISTS (SELECT FROM splits WHERE region_id = $1)) AND EXISTS (SELECT FROM pg_publication WHERE pubname = $2)`, number, publication); err != nil {
		return 0, translate(ctx, err)
	}
	if !open {
		return 0, fmt.Errorf("the home knows of no cell of %s: `canopy region open %[1]s` there comes first", region)
	}
	return number, nil
}

// mustBeApart refuses a home on the cell's own PostgreSQL server: there, a subscription waits for the transaction that makes it.
func (m *Migrator) mustBeApart(ctx context.Context, url string) error {
	home, err := Connect(url, Options{MaxConns: 1})
	if err != nil {
		return err
	}
	defer func() { _ = home.Close() }()
	var here, there time.Time
	const begun = `SELECT pg_postmaster_start_time()`
	if err := errors.Join(m.pool.GetContext(ctx, &here, begun), getInto(ctx, home, &there, begun)); err != nil {
		return translate(ctx, err)
	}
	if here.Equal(there) {
		return errors.New("the home's database is on the same PostgreSQL server, which can't follow itself: the cell needs a server of its own")
	}
	return nil
}

// filled tells whether the database has anything of a directory.
func (m *Migrator) filled(ctx context.Context) (is bool, err error) {
	err = m.pool.GetContext(ctx, &is, `SELECT EXISTS (SELECT FROM customers) OR EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM regions)`)
	return is, translate(ctx, err)
}

// become makes a database without any companies a cell.
func (m *Migrator) become(ctx context.Context, cell Cell) error {
	filled, err := m.filled(ctx)
	if err != nil {
		return err
	}
	if filled {
		return errors.New("the database has companies, people or regions of its own: a cell begins empty")
	}
	_, err = m.pool.ExecContext(ctx, `INSERT INTO cell (number, region) VALUES ($1, $2)`, cell.Number, cell.Region)
	return translate(ctx, err)
}

// arrived waits until a cell has what the home had.
func (m *Migrator) arrived(ctx context.Context, told func(ready, of int)) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	before := -1
	for {
		var n struct {
			Ready int `db:"ready"`
			All   int `db:"of_all"`
		}
		if err := m.pool.GetContext(ctx, &n, `SELECT count(*) FILTER (WHERE srsubstate IN ('r', 's')) AS ready, count(*) AS of_all FROM pg_subscription_rel`); err != nil {
			return translate(ctx, err)
		}
		if n.Ready != before {
			told(n.Ready, n.All)
			before = n.Ready
		}
		if n.Ready == n.All && n.All > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// CellSeen is what the home knows of a cell.
type CellSeen struct {
	Region  string `db:"region" json:"region"`
	Address string `db:"address" json:"address"`
	// Version is that of its schema, 0 where it has told none.
	Version int64      `db:"version" json:"schemaVersion"`
	SeenAt  *time.Time `db:"seen_at" json:"seenAt"`
	// Follows: it is connected. BehindBytes is how much of the home's log it has yet to confirm, and Log whether all of that is kept for it, as PostgreSQL calls it:
	// reserved or extended; LogLost where it has to be joined anew, and none where it has not joined.
	Follows     bool   `db:"follows" json:"follows"`
	BehindBytes int64  `db:"behind" json:"behindBytes"`
	Log         string `db:"log" json:"log"`
	// Split is how far what companies of the region have has moved there; nil where nothing has.
	Split *SplitState `db:"-" json:"split,omitempty"`
}

// LogLost is of a cell that can't go on from where it is.
const LogLost = "lost"

// CellSelf is what a cell knows of itself.
type CellSelf struct {
	Region  string `db:"region" json:"region"`
	Version int64  `db:"version" json:"schemaVersion"`
	// Subscribed: it is to follow, which it is not while it is joined anew. Follows: it is connected to the home. Of Tables Ready have been copied, and Errors is how often it failed to apply a change.
	Subscribed bool       `db:"subscribed" json:"subscribed"`
	Follows    bool       `db:"follows" json:"follows"`
	Ready      int        `db:"ready" json:"tablesReady"`
	Tables     int        `db:"tables" json:"tables"`
	Errors     int64      `db:"errors" json:"errors"`
	HeardAt    *time.Time `db:"heard_at" json:"heardAt"`
}

// Cells tells of all cells at the home, and in a cell of that one.
func (m *Migrator) Cells(ctx context.Context) (own *CellSelf, all []CellSeen, err error) {
	cell, err := cellOf(ctx, m.pool)
	if err != nil {
		return nil, nil, err
	}
	if cell == nil {
		all = []CellSeen{}
		if err := m.pool.SelectContext(ctx, &all, `
			SELECT r.code AS region, z.address, COALESCE(z.schema_version, 0) AS version, z.seen_at, COALESCE(s.active, false) AS follows,
				COALESCE(pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn), 0)::bigint AS behind,
				COALESCE(s.wal_status, CASE WHEN z.seen_at IS NULL THEN 'none' ELSE $1 END) AS log
			FROM (SELECT region_id, address, schema_version, seen_at FROM cells
				UNION ALL SELECT region_id, address, NULL, NULL FROM splits WHERE switched_at IS NULL) z JOIN regions r ON r.id = z.region_id
			LEFT JOIN pg_replication_slots s ON s.slot_name = 'canopy_cell_' || r.id AND s.database = current_database()
			ORDER BY r.id`, LogLost); err != nil {
			return nil, nil, translate(ctx, err)
		}
		splits, err := m.Splits(ctx)
		for i := range all {
			if at := slices.IndexFunc(splits, func(s SplitState) bool { return s.Region == all[i].Region }); at >= 0 {
				all[i].Split = &splits[at]
			}
		}
		return nil, all, err
	}
	own = &CellSelf{Region: cell.Region}
	there, err := currentSchema(ctx, m.pool)
	if err != nil {
		return nil, nil, err
	}
	if err := m.pool.GetContext(ctx, own, `
		SELECT $1::text AS region, $2::bigint AS version, count(p.pid) > 0 AS follows, max(p.last_msg_receipt_time) AS heard_at,
			EXISTS (SELECT FROM pg_subscription WHERE subname = $3 AND subenabled) AS subscribed,
			(SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r') AS ready, (SELECT count(*) FROM pg_subscription_rel) AS tables,
			COALESCE((SELECT sum(apply_error_count + sync_error_count) FROM pg_stat_subscription_stats), 0)::bigint AS errors
		FROM pg_stat_subscription p WHERE p.subname = $3 AND p.relid IS NULL AND p.pid IS NOT NULL`, cell.Region, there.Version, publication); err != nil {
		return nil, nil, translate(ctx, err)
	}
	return own, nil, nil
}
