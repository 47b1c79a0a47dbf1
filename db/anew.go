package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/pgconn"
)

// anewWait is how long whoever joins anew waits for what a process that was ended a moment ago still holds at the home, and for the replication to begin.
const anewWait = 30 * time.Second

// Difference is how a table of a cell's replica differs from the home's: Rows are there, of which Missing were not in the cell and Different were other there; Gone were in the cell alone.
type Difference struct {
	Table     string `json:"table"`
	Rows      int64  `json:"rows"`
	Missing   int64  `json:"missing"`
	Different int64  `json:"different"`
	Gone      int64  `json:"gone"`
}

// anew is a cell that is compared with its home, and put right.
type anew struct {
	cell Cell
	url  string
	// home reads there, in one snapshot, and holds the lock by which a cell is joined anew by one process at a time; replica reads what the cell has, and writes puts it right.
	home, replica, writes *sqlx.Conn
	// point is where the new slot begins in the home's log.
	point string
	told  func(Difference)
}

// JoinAnew has a cell follow its home again whose slot there is lost, or whose replica is not what the home has published, as after one of the two was restored from a backup. The replica
// is compared with the home as a new slot's snapshot shows that, put right in one transaction, and follows from there on. Whoever reads the replica sees it as it was until then; how far
// it is, as its pulse tells, comes with that transaction, too. What was interrupted is begun again.
func (m *Migrator) JoinAnew(ctx context.Context, region, home string, told func(Difference)) (all []Difference, err error) {
	a, end, err := m.beginAnew(ctx, region, home, told)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := a.alone(ctx); err != nil {
		return nil, err
	}
	if err := a.subscribe(ctx); err != nil {
		return nil, err
	}
	if err := a.freeSlot(ctx); err != nil {
		return nil, err
	}
	if err := a.newSlot(ctx); err != nil {
		return nil, err
	}
	tables, all, err := a.compareAll(ctx)
	if err == nil {
		err = a.putRight(ctx, tables)
	}
	if err != nil {
		return nil, errors.Join(err, a.abandon(ctx))
	}
	return all, a.followed(ctx)
}

// CompareWithHome tells how a cell's replica differs from its home, and leaves both as they are. What is on its way at that moment counts as a difference.
func (m *Migrator) CompareWithHome(ctx context.Context, region, home string, told func(Difference)) (all []Difference, err error) {
	a, end, err := m.beginAnew(ctx, region, home, told)
	if err != nil {
		return nil, err
	}
	defer end()
	if _, err := a.home.ExecContext(ctx, beginSnapshot); err != nil {
		return nil, translate(ctx, err)
	}
	_, all, err = a.compareAll(ctx)
	return all, err
}

const beginSnapshot = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

// beginAnew looks at the cell and at the home whether one can be compared with the other, and opens the ways to both.
func (m *Migrator) beginAnew(ctx context.Context, region, url string, told func(Difference)) (a *anew, end func(), err error) {
	cell, err := m.joined(ctx, region)
	if err != nil {
		return nil, nil, err
	}
	number, err := m.atHome(ctx, region, url)
	if err == nil && number != cell.Number {
		err = fmt.Errorf("at that home the region %s has the number %d, and this cell is %d: CANOPY_HOME_URL leads to another platform", region, number, cell.Number)
	}
	if err != nil {
		return nil, nil, err
	}
	pool, err := Connect(url, Options{MaxConns: 1, patient: true})
	if err != nil {
		return nil, nil, err
	}
	a = &anew{cell: *cell, url: url, told: told}
	var open []func() error
	end = func() {
		for _, shut := range append(open, pool.Close) {
			_ = shut()
		}
	}
	for _, way := range []struct {
		to   **sqlx.Conn
		from *sqlx.DB
	}{{&a.home, pool}, {&a.replica, m.pool}, {&a.writes, m.pool}} {
		if *way.to, err = way.from.Connx(ctx); err != nil {
			end()
			return nil, nil, translate(ctx, err)
		}
		open = append(open, (*way.to).Close)
		if _, err = (*way.to).ExecContext(ctx, alikeInText); err != nil {
			end()
			return nil, nil, translate(ctx, err)
		}
	}
	if err := a.fitting(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return a, end, nil
}

// alikeInText has all servers write the same value by the same text. Who reads waits for whoever changes the schema, and for the other side.
const alikeInText = `SET DateStyle = 'ISO, YMD'; SET TimeZone = 'UTC'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
	SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET idle_session_timeout = 0`

// joined is the cell that the database is, of a region.
func (m *Migrator) joined(ctx context.Context, region string) (*Cell, error) {
	there, err := currentSchema(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	var cell *Cell
	if there.Version > 0 {
		if err := there.runs(schemaVersion()); err != nil {
			return nil, err
		}
		if cell, err = cellOf(ctx, m.pool); err != nil {
			return nil, err
		}
	}
	switch {
	case cell == nil:
		return nil, fmt.Errorf("this database is no cell: `canopy region join %s`, without --anew, makes an empty one that", region)
	case cell.Region != region:
		return nil, fmt.Errorf("this is the database of the cell %s", cell.Region)
	}
	return cell, nil
}

// fitting refuses, before anything is changed, what would fail later, or fill the cell with another platform's directory.
func (a *anew) fitting(ctx context.Context) error {
	var home struct {
		Level string `db:"level"`
		May   bool   `db:"may"`
		Role  string `db:"role"`
	}
	if err := getInto(ctx, a.home, &home, `
		SELECT current_setting('wal_level') AS level, current_user::text AS role,
			(SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user) AS may`); err != nil {
		return translate(ctx, err)
	}
	switch {
	case home.Level != "logical":
		return fmt.Errorf("the home's PostgreSQL has wal_level = %s: it must be logical", home.Level)
	case !home.May:
		return fmt.Errorf("the role %s of CANOPY_HOME_URL has no REPLICATION at the home", home.Role)
	}
	return a.samePlatform(ctx)
}

// samePlatform refuses a cell of another platform, and one that can't be written as replication does.
func (a *anew) samePlatform(ctx context.Context) error {
	const root = `SELECT COALESCE((SELECT concat(id, ' of ', created_at) FROM customers WHERE parent_id IS NULL), '')`
	var home, own string
	if err := getInto(ctx, a.home, &home, root); err != nil {
		return translate(ctx, err)
	}
	if err := getInto(ctx, a.replica, &own, root); err != nil {
		return translate(ctx, err)
	}
	if own != "" && own != home {
		return errors.New("the home's root company is another than this cell's: CANOPY_HOME_URL leads to another platform")
	}
	_, err := a.writes.ExecContext(ctx, `SET session_replication_role = replica; SET session_replication_role = DEFAULT; DISCARD TEMP`)
	if pe := new(pq.Error); errors.As(err, &pe) && pe.Code == "42501" { // insufficient_privilege
		return errors.New("DATABASE_URL must be of a superuser of the cell's PostgreSQL, or of a role that may SET session_replication_role")
	}
	return translate(ctx, err)
}

// alone holds off others who would join the same cell anew, for as long as the connection to the home stands.
func (a *anew) alone(ctx context.Context) error {
	return waitFor(ctx, fmt.Errorf("another process joins the cell of %s anew", a.cell.Region), func() (got bool, err error) {
		err = getInto(ctx, a.home, &got, `SELECT pg_try_advisory_lock(hashtextextended('canopy join ' || $1, 0))`, slotOf(a.cell.Number))
		return got, err
	})
}

// waitFor asks until something is so, or for anewWait: then it is the error that is given.
func waitFor(ctx context.Context, otherwise error, is func() (bool, error)) error {
	wait, cancel := context.WithTimeout(ctx, anewWait)
	defer cancel()
	for {
		if so, err := is(); so || err != nil {
			return translate(ctx, err)
		}
		select {
		case <-wait.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return otherwise
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// subscribe gives the cell a subscription that waits, in place of the one that it has: a new one begins where its slot does, wherever the former one was. The home's slot of that is left alone,
// as it may be gone, with its server.
func (a *anew) subscribe(ctx context.Context) error {
	return aside(ctx, func() error {
		return a.change(ctx, func(tx *sqlx.Tx) error {
			var there bool
			if err := tx.GetContext(ctx, &there, `SELECT EXISTS (SELECT FROM pg_subscription WHERE subname = $1)`, publication); err != nil {
				return err
			}
			text, err := subscription(a.url, a.cell.Number, ", create_slot = false, enabled = false, copy_data = false")
			if err != nil {
				return err
			}
			if there {
				text = fmt.Sprintf(`ALTER SUBSCRIPTION %[1]s DISABLE; ALTER SUBSCRIPTION %[1]s SET (slot_name = NONE); DROP SUBSCRIPTION %[1]s; `, publication) + text
			}
			_, err = tx.ExecContext(ctx, text)
			return err
		})
	})
}

// change is a transaction in the cell, which steps back from whoever has what it needs for long.
func (a *anew) change(ctx context.Context, do func(*sqlx.Tx) error) error {
	tx, err := a.writes.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	if _, err = tx.ExecContext(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = %d`, lockWait.Milliseconds())); err == nil {
		err = do(tx)
	}
	if err != nil {
		return errors.Join(translate(ctx, err), ignoreDone(tx.Rollback()))
	}
	return translate(ctx, tx.Commit())
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// freeSlot takes away the slot that the cell has at the home, if any. Who has used it until now is given time to let go of it.
func (a *anew) freeSlot(ctx context.Context) error {
	var slot []struct {
		Elsewhere bool   `db:"elsewhere"`
		Database  string `db:"database"`
		Holder    int64  `db:"holder"`
	}
	name := slotOf(a.cell.Number)
	err := waitFor(ctx, errHeld, func() (bool, error) {
		slot = nil
		if err := selectInto(ctx, a.home, &slot, `
			SELECT database <> current_database() AS elsewhere, database::text AS database, COALESCE(active_pid, 0) AS holder FROM pg_replication_slots WHERE slot_name = $1`, name); err != nil {
			return false, err
		}
		switch {
		case len(slot) == 0:
			return true, nil
		case slot[0].Elsewhere:
			return false, fmt.Errorf("the slot %s is of the database %s, on the same server as the home", name, slot[0].Database)
		case slot[0].Holder != 0:
			return false, nil
		}
		_, err := a.home.ExecContext(ctx, `SELECT pg_drop_replication_slot($1)`, name)
		if pe := new(pq.Error); errors.As(err, &pe) && pe.Code == "55006" { // object_in_use: somebody was faster
			return false, nil
		}
		return err == nil, err
	})
	if errors.Is(err, errHeld) {
		err = fmt.Errorf("the process %d of the home's PostgreSQL has the slot %s: another database follows the home as this cell, or one that has gone and is not missed yet", slot[0].Holder, name)
	}
	return err
}

var errHeld = errors.New("the slot is held")

// newSlot makes the cell's slot at the home, and has home read what that begins with. Snapshots that a slot exports live as long as the connection that has made it, and then with whoever reads by
// them.
func (a *anew) newSlot(ctx context.Context) error {
	connector, err := pgconn.Replicating(a.url)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer func() { _ = pool.Close() }()
	var name, snapshot, plugin string
	if err := pool.QueryRowContext(ctx, fmt.Sprintf(`CREATE_REPLICATION_SLOT %s LOGICAL pgoutput EXPORT_SNAPSHOT`, slotOf(a.cell.Number))).Scan(&name, &a.point, &snapshot, &plugin); err != nil {
		return translate(ctx, err)
	}
	if _, err := a.home.ExecContext(ctx, beginSnapshot+`; SET TRANSACTION SNAPSHOT `+pq.QuoteLiteral(snapshot)); err != nil {
		return errors.Join(translate(ctx, err), a.abandon(ctx))
	}
	return nil
}

// abandon takes the new slot away that nobody follows from, so that the home does not keep its log for it. By then the connection to the home may be of no use.
func (a *anew) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), homeWait)
	defer cancel()
	pool, err := Connect(a.url, Options{MaxConns: 1, patient: true})
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	_, err = pool.ExecContext(ctx, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND confirmed_flush_lsn = $2::pg_lsn AND NOT active`,
		slotOf(a.cell.Number), a.point)
	return translate(ctx, err)
}

// kept refuses to go on from a slot that is no more what it was: the home has not kept enough of its log, or the connection that holds off others was lost.
func (a *anew) kept(ctx context.Context) error {
	var kept bool
	if err := getInto(ctx, a.home, &kept, `
		SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND confirmed_flush_lsn = $2::pg_lsn AND wal_status <> 'lost')`, slotOf(a.cell.Number), a.point); err != nil {
		return translate(ctx, err)
	}
	if !kept {
		return errors.New("the home has not kept its log for as long as the comparison took: raise its max_slot_wal_keep_size")
	}
	return nil
}

// followed waits until the home sends what has come after the snapshot.
func (a *anew) followed(ctx context.Context) error {
	return waitFor(ctx, errors.New("the replica is right, and PostgreSQL does not follow the home: its log says why"), func() (follows bool, err error) {
		err = getInto(ctx, a.home, &follows, `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active)`, slotOf(a.cell.Number))
		return follows, err
	})
}

// quoted are names of columns, of a table that has the alias, or of none.
func quoted(columns []string, alias string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = alias + pq.QuoteIdentifier(c)
	}
	return strings.Join(list, ", ")
}
