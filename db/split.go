package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
)

// A region whose companies have something at the home moves into a cell of its own. The rows are compared and brought over again and again while the home goes on, until little differs; from then
// on the home refuses what would change them, what differs yet is brought, and all is compared once more. Then one transaction of the home says that the cell has it. Until that one nothing is
// lost by an end at any point, as only the cell is written: what was interrupted begins anew, and finds most of it there.

// The phases of a split, as its row tells them.
const (
	// SplitWaiting: the region may move, and nothing has.
	SplitWaiting = "waiting"
	// SplitCopying: its rows come into the cell while the home goes on.
	SplitCopying = "copying"
	// SplitChecking: the home refuses changes of them, and all is compared.
	SplitChecking = "checking"
	// SplitErasing: the cell has it, and the home forgets it.
	SplitErasing = "erasing"
	// SplitDone: nothing of it is left at the home.
	SplitDone = "done"
)

// splitPause is how long a process may take to hear that a region is to move, or has: each looks every half minute, and every second once it knows of the first.
const splitPause = time.Minute

// splitPasses is how often all is compared at most while the home goes on, and then while it waits, and fewDifferences how many of them are few enough for that.
const (
	splitPasses    = 5
	fewDifferences = 10_000
)

// splitAlso are tables of the home's own bookkeeping whose rows move, too, with the company's column: what was done for a key of idempotency is not done again in the cell.
var splitAlso = map[string]string{"idempotency_keys": "customer_id"}

// Split moves what companies of a region have into a cell.
type Split struct {
	anew
	// from is the home and to the cell.
	from, to *Migrator
	tables   []anewTable
	// hold is the transaction of the home by which all else waits, on the connection holds; nil until then.
	hold  *sqlx.Tx
	holds *sqlx.Conn
	// pause is splitPause, but in tests.
	pause time.Duration
}

// Number is that of the cell.
func (s *Split) Number() int64 { return s.cell.Number }

// SplitState is how far the split of a region is, as the home knows.
type SplitState struct {
	RegionID int64  `db:"region_id" json:"-"`
	Region   string `db:"region" json:"region"`
	Address  string `db:"address" json:"address"`
	Phase    string `db:"phase" json:"phase"`
	// At is the table that is looked at, or what else, for the how manieth time Pass tells; Rows of it have been.
	At         string     `db:"at" json:"at"`
	Pass       int        `db:"pass" json:"pass"`
	Rows       int64      `db:"rows" json:"rows"`
	BegunAt    time.Time  `db:"begun_at" json:"begunAt"`
	ToldAt     time.Time  `db:"told_at" json:"toldAt"`
	SwitchedAt *time.Time `db:"switched_at" json:"switchedAt"`
	ErasedAt   *time.Time `db:"erased_at" json:"erasedAt"`
	LastEvent  *int64     `db:"last_event" json:"-"`
}

const qSplits = `
	SELECT s.region_id, r.code AS region, s.address, s.phase, s.at, s.pass, s.rows, s.begun_at, s.told_at, s.switched_at, s.erased_at, s.last_event
	FROM splits s JOIN regions r ON r.id = s.region_id`

// Splits tells of all at the home.
func (m *Migrator) Splits(ctx context.Context) (list []SplitState, err error) {
	list = []SplitState{}
	err = translate(ctx, m.pool.SelectContext(ctx, &list, qSplits+` ORDER BY s.begun_at, s.region_id`))
	return list, err
}

func (m *Migrator) splitOf(ctx context.Context, region string) (st SplitState, err error) {
	err = translate(ctx, m.pool.GetContext(ctx, &st, qSplits+` WHERE r.code = $1`, region))
	if errors.Is(err, ErrNoRows) {
		err = fmt.Errorf("the region %s is not to move: `canopy region open %[1]s … --split` comes first", region)
	}
	return st, err
}

// addSplit notes that a region may move into a cell, and has the home's database hold off writers while it does.
func (m *Migrator) addSplit(ctx context.Context, regionID int64, region, address string) error {
	var has bool
	if err := m.pool.GetContext(ctx, &has, `SELECT EXISTS (SELECT FROM cells WHERE region_id = $1)`, regionID); err != nil {
		return translate(ctx, err)
	}
	if has {
		return fmt.Errorf("the region %s has a cell already", region)
	}
	if _, err := m.pool.ExecContext(ctx, `INSERT INTO splits (region_id, address) VALUES ($1, $2) ON CONFLICT (region_id) DO UPDATE SET address = excluded.address`, regionID, address); err != nil {
		return translate(ctx, err)
	}
	if err := m.holdOff(ctx, nil); err != nil {
		return err
	}
	return m.guardSplit(ctx)
}

// What is still written at the home once the cell has it, as the triggers are told.
const (
	goesOn  = "all"
	forgets = "forget"
)

var splitGuards = map[string]string{
	"audit_events": goesOn, "idempotency_keys": goesOn,
	"webhook_deliveries": forgets, "webhook_due": forgets, "context_queries": forgets, "runs": forgets, "run_steps": forgets, "chunks": forgets,
	"vector_blocks": forgets, "context_changes": forgets, "context_sizes": forgets,
}

// guardSplit makes the triggers by which writers wait for a split. Each is made where it is there already, too: that waits for whoever has written without it.
func (m *Migrator) guardSplit(ctx context.Context) error {
	for _, table := range splitTables() {
		if err := m.alter(ctx, fmt.Sprintf(`CREATE OR REPLACE TRIGGER refused_in_split BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION refused_in_split('%s', '%s')`,
			table, leadsBy(table), splitGuards[table])); err != nil {
			return err
		}
	}
	return nil
}

// unguardSplit takes them away, where no other region moves: each is taken away while nobody can note that one is to.
func (m *Migrator) unguardSplit(ctx context.Context) error {
	for _, table := range splitTables() {
		if err := m.alter(ctx, fmt.Sprintf(`DO $$ BEGIN
			LOCK TABLE splits IN SHARE MODE;
			IF NOT EXISTS (SELECT FROM splits WHERE erased_at IS NULL) AND EXISTS (SELECT FROM pg_trigger WHERE tgname = 'refused_in_split' AND tgrelid = '%[1]s'::regclass) THEN
				DROP TRIGGER refused_in_split ON %[1]s;
			END IF;
		END $$`, table)); err != nil {
			return err
		}
	}
	return nil
}

// splitTables are those of which rows move.
func splitTables() []string {
	list := tablesIn(data)
	for table := range splitAlso {
		list = append(list, table)
	}
	slices.Sort(list)
	return list
}

// leadsBy is the column of a table that leads to the company.
func leadsBy(table string) string {
	if by := splitAlso[table]; by != "" {
		return by
	}
	return places[table].by
}

// owners are the tables that such columns refer to.
var owners = map[string]string{"context_id": "contexts", "document_id": "documents", "agent_id": "agents", "run_id": "runs", "destination_id": "webhook_destinations"}

// ofRegion selects, of a table under an alias, what companies of a region have.
func ofRegion(table, alias string, region int64) string {
	by := leadsBy(table)
	switch by {
	case "customer_id":
		return fmt.Sprintf(`%s.customer_id IN (SELECT c.id FROM customers c WHERE c.region_id = %d)`, alias, region)
	case "account_id":
		return fmt.Sprintf(`%s.account_id IN (SELECT a.id FROM accounts a JOIN customers c ON c.id = a.customer_id WHERE c.region_id = %d)`, alias, region)
	}
	owner := owners[by]
	return fmt.Sprintf(`%s.%s IN (SELECT %s.id FROM %[3]s WHERE %s)`, alias, by, owner, ofRegion(owner, owner, region))
}

// BeginSplit looks whether the region may move, into the database behind the second URL, and has others wait who would move it. Close ends it.
func BeginSplit(ctx context.Context, home, cell, region string, told func(Difference)) (*Split, error) {
	begun := &Split{anew: anew{told: told}, pause: splitPause}
	if err := begun.begin(ctx, home, cell, region); err != nil {
		begun.Close()
		return nil, err
	}
	return begun, nil
}

func (s *Split) begin(ctx context.Context, home, cell, region string) (err error) {
	if s.from, err = NewMigrator(ctx, home); err != nil {
		return err
	}
	if s.to, err = NewMigrator(ctx, cell); err != nil {
		return fmt.Errorf("the cell's: %w", err)
	}
	for _, pool := range []*sqlx.DB{s.from.pool, s.to.pool} {
		pool.SetMaxOpenConns(6)
	}
	if err := s.from.isHome(ctx); err != nil {
		return err
	}
	st, err := s.from.splitOf(ctx, region)
	if err != nil {
		return err
	}
	joined, err := s.to.joined(ctx, region)
	if err != nil {
		return err
	}
	if joined.Number != st.RegionID {
		return fmt.Errorf("at this home the region %s has the number %d, and the cell is %d: it has joined another platform", region, st.RegionID, joined.Number)
	}
	s.cell = *joined
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.fits(ctx); err != nil {
		return err
	}
	return s.alone(ctx)
}

// Close ends what was begun, but for what was switched. It may be called at any time.
func (s *Split) Close() {
	if s.hold != nil {
		_ = s.hold.Rollback()
	}
	for _, conn := range []*sqlx.Conn{s.holds, s.home, s.replica, s.writes} {
		if conn != nil {
			_ = conn.Close()
		}
	}
	for _, m := range []*Migrator{s.from, s.to} {
		if m != nil {
			_ = m.Close()
		}
	}
}

func (s *Split) connect(ctx context.Context) (err error) {
	for _, way := range []struct {
		to   **sqlx.Conn
		from *Migrator
	}{{&s.home, s.from}, {&s.replica, s.to}, {&s.writes, s.to}} {
		if *way.to, err = way.from.pool.Connx(ctx); err != nil {
			return translate(ctx, err)
		}
		if _, err = (*way.to).ExecContext(ctx, alikeInText); err != nil {
			return translate(ctx, err)
		}
	}
	return nil
}

// fits refuses what would fail later, or take away what the cell has made itself.
func (s *Split) fits(ctx context.Context) error {
	if err := s.samePlatform(ctx); err != nil {
		return err
	}
	if err := s.schemas(ctx); err != nil {
		return err
	}
	st, err := s.State(ctx)
	if err != nil || st.SwitchedAt != nil {
		return err
	}
	// A month that is dropped takes its ids along, and rows of the home may have such.
	for _, l := range Logs() {
		if is, err := l.inMonths(ctx, s.to.pool); err != nil {
			return err
		} else if is {
			return fmt.Errorf("the log of %s has months in the cell: its logs can be changed over once the region has moved, and not before", l.Name)
		}
	}
	for _, table := range []string{"contexts", "agents", "webhook_destinations", "secrets", "audit_events"} {
		var own bool
		if err := getInto(ctx, s.replica, &own, `SELECT EXISTS (SELECT FROM `+table+` WHERE id >= $1)`, IDsOfCell); err != nil {
			return translate(ctx, err)
		}
		if own {
			return fmt.Errorf("the cell has made rows of %s itself: what moves comes into a cell that has nothing", table)
		}
	}
	return s.published(ctx)
}

// schemas refuses to move rows between two that are not the same.
func (s *Split) schemas(ctx context.Context) error {
	for what, m := range map[string]*Migrator{"home": s.from, "cell": s.to} {
		if there, err := currentSchema(ctx, m.pool); err != nil {
			return err
		} else if there.Version != schemaVersion() {
			return fmt.Errorf("the schema of the %s is at the version %d, and this program is of %d: both must be at that", what, there.Version, schemaVersion())
		}
	}
	return nil
}

// published are the tables that move, whole: each with the columns that are not computed.
func (s *Split) published(ctx context.Context) error {
	var columns []struct {
		Table string `db:"of_table"`
		Name  string `db:"name"`
	}
	if err := sqlx.SelectContext(ctx, s.home, &columns, `
		SELECT k.relname::text AS of_table, a.attname::text AS name FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE k.relnamespace = 'public'::regnamespace AND k.relkind IN ('r', 'p') AND NOT k.relispartition AND a.attgenerated = '' ORDER BY k.relname, a.attnum`); err != nil {
		return translate(ctx, err)
	}
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	for _, table := range splitTables() {
		t := anewTable{name: table, key: keys[table], of: ofRegion(table, "x", s.cell.Number)}
		for _, c := range columns {
			if c.Table == table {
				t.columns = append(t.columns, c.Name)
			}
		}
		s.tables = append(s.tables, t)
	}
	return nil
}

// State is how far it is.
func (s *Split) State(ctx context.Context) (SplitState, error) {
	return s.from.splitOf(ctx, s.cell.Region)
}

// note writes down how far it is.
func (s *Split) note(ctx context.Context, phase, at string, pass int, rows int64) error {
	_, err := s.from.pool.ExecContext(ctx, `UPDATE splits SET phase = $2, at = $3, pass = $4, rows = $5, told_at = now() WHERE region_id = $1`, s.cell.Number, phase, at, pass, rows)
	return translate(ctx, err)
}

// passed waits until a moment is the pause ago.
func (s *Split) passed(ctx context.Context, since string) error {
	for {
		var over bool
		if err := s.from.pool.GetContext(ctx, &over, `SELECT `+since+` <= now() - $2 * interval '1 second' FROM splits WHERE region_id = $1`, s.cell.Number, s.pause.Seconds()); err != nil || over {
			return translate(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Sizes tells what there is to move, table by table, and of originals of documents; it changes nothing.
func (s *Split) Sizes(ctx context.Context) (list []SplitSize, err error) {
	for _, t := range s.tables {
		size := SplitSize{Table: t.name}
		if err := getInto(ctx, s.home, &size, fmt.Sprintf(`SELECT count(*) AS rows, COALESCE(sum(pg_column_size(x)), 0)::bigint AS bytes FROM %s x WHERE %s`, t.name, t.of)); err != nil {
			return nil, translate(ctx, err)
		}
		list = append(list, size)
	}
	originals := SplitSize{Table: "originals"}
	if err := getInto(ctx, s.home, &originals, `SELECT count(*) AS rows, COALESCE(sum(d.size), 0)::bigint AS bytes FROM documents d WHERE `+ofRegion("documents", "d", s.cell.Number)); err != nil {
		return nil, translate(ctx, err)
	}
	return append(list, originals), nil
}

// SplitSize is what there is to move of a table. Bytes are those that its rows take.
type SplitSize struct {
	Table string `db:"-" json:"table"`
	Rows  int64  `db:"rows" json:"rows"`
	Bytes int64  `db:"bytes" json:"bytes"`
}

// Abort takes back that a region is to move, as long as it has not, and has the cell follow the home no longer: its database is of no more use.
func (s *Split) Abort(ctx context.Context) error {
	st, err := s.State(ctx)
	if err != nil {
		return err
	}
	if st.SwitchedAt == nil {
		if _, err := s.to.pool.ExecContext(ctx, `DROP SUBSCRIPTION IF EXISTS `+publication); err != nil { // which takes the home's slot away, too
			return translate(ctx, err)
		}
	}
	return s.from.forgetSplit(ctx, st)
}

// AbortSplit does so at the home alone, where the cell is gone.
func (m *Migrator) AbortSplit(ctx context.Context, region string) error {
	if err := m.isHome(ctx); err != nil {
		return err
	}
	st, err := m.splitOf(ctx, region)
	if err != nil {
		return err
	}
	return m.forgetSplit(ctx, st)
}

func (m *Migrator) forgetSplit(ctx context.Context, st SplitState) error {
	if st.SwitchedAt != nil {
		return fmt.Errorf("what companies of %s have is in the cell: it comes back by no command", st.Region)
	}
	var follows bool
	if err := m.pool.GetContext(ctx, &follows, `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database() AND active)`, slotOf(st.RegionID)); err != nil {
		return translate(ctx, err)
	}
	if follows {
		return errors.New("the cell follows the home: with --to it no longer does")
	}
	// One that has switched meanwhile is found by its row.
	res, err := m.pool.ExecContext(ctx, `DELETE FROM splits WHERE region_id = $1 AND switched_at IS NULL`, st.RegionID)
	if err != nil {
		return translate(ctx, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("what companies of %s have has moved meanwhile", st.Region))
	}
	if _, err := m.pool.ExecContext(ctx, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database()`, slotOf(st.RegionID)); err != nil {
		return translate(ctx, err)
	}
	return m.unguardSplit(ctx)
}
