package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Where a table that is written to gets an end, PostgreSQL reads all of it under a lock, unless a valid check says that nothing lies behind. Such a check, a line, is validated while all goes on; but it
// refuses what comes to lie behind it. So it is drawn far ahead, for which ids are given away once, at the change-over alone. Once ids come near to it, it is taken away: by who has drawn it, and otherwise by the
// upkeep of any worker.

const lineName = "month_line"

// monthLine is where the next partition begins.
type monthLine struct {
	// at is its first id. From the id near on, the line is in the way.
	at, near int64
}

// lineOf gives the line that is being drawn through a table; nil where there is none.
func lineOf(ctx context.Context, on queryer, table string) (*monthLine, error) {
	var notes []string
	if err := selectInto(ctx, on, &notes, `SELECT COALESCE(obj_description(oid, 'pg_constraint'), '') FROM pg_constraint WHERE conrelid = $1::regclass AND conname = $2`, table, lineName); err != nil || len(notes) == 0 {
		return nil, translate(ctx, err)
	}
	if notes[0] == "" { // a dump may be restored without: nobody knows how far away it is
		return &monthLine{near: math.MinInt64}, nil
	}
	line := &monthLine{}
	if _, err := fmt.Sscanf(notes[0], "%d %d", &line.at, &line.near); err != nil {
		return nil, fmt.Errorf("the constraint %s of %s is not what it should be: %q", lineName, table, notes[0])
	}
	return line, nil
}

// endsWith refuses to go on where a log lies otherwise than when it was looked at: as who was alone has lost the connection that said so, and another has come. The suffix is that of its open partition, none of one table.
func (l *Log) endsWith(ctx context.Context, on queryer, suffix string) error {
	parts, err := l.parts(ctx, on)
	if err != nil {
		return err
	}
	there := ""
	if len(parts) > 0 {
		there = parts[len(parts)-1].suffix(l)
	}
	if there != suffix {
		return fmt.Errorf("%w: what this one was at is done", ErrMonthsBusy)
	}
	return nil
}

// errNear: ids have come near to the line while it was drawn.
var errNear = errors.New("ids have come near to the line")

// drawTries is how often a line is drawn anew, each time twice as far away.
const drawTries = 10

// draw draws a line through the tables of a log whose names have a suffix, has do put what is in front of it into a partition, and opens two behind it. A line that another has begun is gone on with.
func (m *Months) draw(ctx context.Context, l *Log, suffix string, do func(*monthTx, int64) error) error {
	for try := 0; ; try++ {
		line, err := m.mark(ctx, l, suffix, m.margin<<try)
		if err != nil {
			return err
		}
		size, err := m.expected(ctx, l)
		if err != nil {
			return err
		}
		after := line.at + size
		if err = m.prove(ctx, l, suffix, line); err == nil {
			err = errors.Join(m.make(ctx, l, suffix, line.at), m.make(ctx, l, suffix, after))
		}
		if err == nil {
			err = m.short(ctx, l, l.withPart(suffix), func(tx *monthTx) error {
				if err := l.endsWith(ctx, tx, suffix); err != nil {
					return err
				}
				if err := line.holds(ctx, tx, l, suffix); err != nil {
					return err
				}
				if err := do(tx, line.at); err != nil {
					return err
				}
				if err := errors.Join(tx.open(ctx, line.at, after), tx.open(ctx, after, 0)); err != nil {
					return err
				}
				return tx.jump(ctx, line.at)
			})
		}
		if !errors.Is(err, errNear) || try == drawTries {
			if err == nil {
				err = m.count(ctx, l)
			}
			return err
		}
		if err := m.discardRest(ctx, l); err != nil {
			return err
		}
	}
}

// count has PostgreSQL see what the tables of a log hold, for its plans: of a whole that has partitions it never does so by itself.
func (m *Months) count(ctx context.Context, l *Log) error {
	return m.long(ctx, l, `ANALYZE `+strings.Join(l.names(""), ", "))
}

// jump has the next id be one that is higher than all before it. Where the transaction fails it is not: a value that is set would stay, behind a line that refuses it.
func (tx *monthTx) jump(ctx context.Context, id int64) error {
	return tx.exec(ctx, fmt.Sprintf(`ALTER SEQUENCE %s RESTART WITH %d`, tx.log.sequence(), id))
}

// holdIDs has nobody draw an id until the transaction ends, also not who draws it before the row is written.
func (tx *monthTx) holdIDs(ctx context.Context) error {
	return tx.exec(ctx, `ALTER SEQUENCE `+tx.log.sequence()+` NO CYCLE`)
}

// holds tells whether ids are still far from a line, and nobody else has drawn another one.
func (line *monthLine) holds(ctx context.Context, on queryer, l *Log, suffix string) error {
	there, err := lineOf(ctx, on, l.table()+suffix)
	if err != nil {
		return err
	}
	last, err := l.lastID(ctx, on)
	if err == nil && (there == nil || *there != *line || last >= line.near) {
		err = errNear
	}
	return err
}

// lowestID is the first id that is given away here: in the cell of a region, far behind those that the region has brought along.
func (l *Log) lowestID(ctx context.Context, on queryer) (lowest int64, err error) {
	err = getInto(ctx, on, &lowest, `SELECT seqmin FROM pg_sequence WHERE seqrelid = $1::regclass`, l.sequence())
	return lowest, translate(ctx, err)
}

func (l *Log) lastID(ctx context.Context, on queryer) (last int64, err error) {
	err = getInto(ctx, on, &last, `SELECT last_value FROM `+l.sequence())
	return last, translate(ctx, err)
}

// mark begins a line, or goes on with one.
func (m *Months) mark(ctx context.Context, l *Log, suffix string, margin int64) (*monthLine, error) {
	line, err := lineOf(ctx, m.pool, l.table()+suffix)
	if err != nil {
		return nil, err
	}
	last, err := l.lastID(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	if line != nil && last < line.near {
		return line, nil
	}
	lowest, err := l.lowestID(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	// What two days bring is left to what is written meanwhile.
	var highest, days int64
	if err := m.pool.QueryRowContext(ctx, fmt.Sprintf(`
		SELECT GREATEST($1, COALESCE((SELECT max(id) FROM %[1]s), 0)),
			$1 - COALESCE((SELECT GREATEST(id, $2) FROM %[1]s WHERE created_at > now() - interval '2 days' ORDER BY created_at, id LIMIT 1), $1)`, l.table()+suffix), last, lowest).Scan(&highest, &days); err != nil {
		return nil, translate(ctx, err)
	}
	margin += max(0, days)
	line = &monthLine{at: highest + margin + 1, near: last + margin/4}
	return line, m.short(ctx, l, l.names(suffix), func(tx *monthTx) error {
		if err := l.endsWith(ctx, tx, suffix); err != nil {
			return err
		}
		if err := tx.erase(ctx, suffix); err != nil {
			return err
		}
		for _, t := range l.tables {
			table := t.name + suffix
			if err := tx.exec(ctx, fmt.Sprintf(`ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s < '%d'::bigint) NOT VALID`, table, lineName, t.key, line.at),
				fmt.Sprintf(`COMMENT ON CONSTRAINT %s ON %s IS '%d %d'`, lineName, table, line.at, line.near)); err != nil {
				return err
			}
		}
		return nil
	})
}

// erase takes a line away.
func (tx *monthTx) erase(ctx context.Context, suffix string) error {
	for _, table := range tx.log.names(suffix) {
		if err := tx.exec(ctx, `ALTER TABLE `+table+` DROP CONSTRAINT IF EXISTS `+lineName); err != nil {
			return err
		}
	}
	return nil
}

// eraseNear takes away a line that ids have come near to, and which somebody has left.
func (m *Months) eraseNear(ctx context.Context, l *Log, suffix string) error {
	line, err := lineOf(ctx, m.pool, l.table()+suffix)
	if err != nil || line == nil {
		return err
	}
	if last, err := l.lastID(ctx, m.pool); err != nil || last < line.near {
		return err
	}
	return m.short(ctx, l, l.names(suffix), func(tx *monthTx) error { return tx.erase(ctx, suffix) })
}

// prove has PostgreSQL read what is there while all goes on.
func (m *Months) prove(ctx context.Context, l *Log, suffix string, line *monthLine) error {
	for _, t := range l.tables {
		if err := m.At(fmt.Sprintf("%s%s: what there is is read, while all goes on", t.name, suffix)); err != nil {
			return err
		}
		reading, stop := context.WithCancelCause(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.watch(reading, l, line, stop)
		}()
		err := m.validate(reading, l, t.name+suffix)
		near := errors.Is(context.Cause(reading), errNear)
		stop(nil)
		<-done
		if near {
			return errNear
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watchEvery is how often it is looked how near ids have come to a line.
const watchEvery = 200 * time.Millisecond

func (m *Months) watch(ctx context.Context, l *Log, line *monthLine, stop context.CancelCauseFunc) {
	for {
		if last, err := l.lastID(ctx, m.pool); err == nil && last >= line.near {
			stop(errNear)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchEvery):
		}
	}
}

func (m *Months) validate(ctx context.Context, l *Log, table string) error {
	return m.long(ctx, l, fmt.Sprintf(`ALTER TABLE %s VALIDATE CONSTRAINT %s`, table, lineName))
}

// long does what may take as long as a table is large, as its owner: on a connection that waits for as long, as those of a store take it that the server is gone.
func (m *Months) long(ctx context.Context, l *Log, text string) error {
	pool := m.pool
	if m.url != "" {
		patient, err := Connect(m.url, Options{MaxConns: 1, patient: true})
		if err != nil {
			return err
		}
		defer func() { _ = patient.Close() }()
		pool = patient
	}
	owner, err := l.owner(ctx, pool)
	if err != nil {
		return err
	}
	tx, err := pool.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SET LOCAL ROLE `+owner+`; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; `+text); err != nil {
		return translate(ctx, err)
	}
	return translate(ctx, tx.Commit())
}

// monthTx is a short transaction that holds all tables of a log for itself.
type monthTx struct {
	*sqlx.Tx
	log *Log
}

func (tx *monthTx) exec(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%.80s: %w", text, translate(ctx, err))
		}
	}
	return nil
}

// Others wait behind who waits for a table. So nobody is waited for longer than this, and the tables are tried again after a pause. While somebody has had one for longer than a moment, such as a backup, it
// is not tried at all.
const (
	monthWait  = 300 * time.Millisecond
	monthPause = 700 * time.Millisecond
	monthTries = 60
)

// withPart are the tables of a log, and a partition of each, if any.
func (l *Log) withPart(suffix string) []string {
	if suffix == "" {
		return l.names("")
	}
	return append(l.names(""), l.names(suffix)...)
}

// short does something in one transaction that has tables for itself.
func (m *Months) short(ctx context.Context, l *Log, tables []string, do func(*monthTx) error) error {
	step := l.Name + ": a table is made or dropped that nobody else has"
	if len(tables) > 0 {
		step = strings.Join(tables, ", ") + ": waits for a moment in which nobody else has it"
	}
	if err := m.At(step); err != nil {
		return err
	}
	var seen []string
	return patiently(ctx, ErrBusy, func() (err error) {
		seen, err = m.once(ctx, l, tables, seen, do)
		return err
	})
}

// patiently tries something again as long as others are in its way.
func patiently(ctx context.Context, inTheWay error, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if !errors.Is(err, inTheWay) || try == monthTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(monthPause):
		}
	}
}

// holders are those who have some of the tables, and one that somebody has had for longer than a moment. Since when others have it is told to a role with the right to it alone; so who is there at two tries has it for long, too.
func (m *Months) holders(ctx context.Context, tables, seen []string) (who []string, held string, err error) {
	var locks []struct {
		Table string `db:"of_table"`
		By    string `db:"by"`
		Long  bool   `db:"long"`
	}
	err = m.pool.SelectContext(ctx, &locks, `
		SELECT k.relation::regclass::text AS of_table, k.virtualtransaction AS by, COALESCE(a.xact_start < now() - interval '1 second', false) OR COALESCE(k.virtualtransaction = ANY ($2), false) AS long
		FROM pg_locks k LEFT JOIN pg_stat_activity a USING (pid)
		WHERE k.granted AND k.relation = ANY ($1::text[]::regclass[]) AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())`, pq.Array(tables), pq.Array(seen))
	for _, k := range locks {
		who = append(who, k.By)
		if k.Long {
			held = k.Table
		}
	}
	return who, held, translate(ctx, err)
}

// once tries it, and tells who had the tables.
func (m *Months) once(ctx context.Context, l *Log, tables, seen []string, do func(*monthTx) error) ([]string, error) {
	who, held, err := m.holders(ctx, tables, seen)
	if err != nil {
		return nil, err
	}
	if held != "" {
		return who, fmt.Errorf("%w: a transaction that has lasted for more than a second has %s", ErrBusy, held)
	}
	tx, err := m.pool.BeginTxx(ctx, nil)
	if err != nil {
		return nil, translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	t := &monthTx{tx, l}
	if err := t.lock(ctx, tables); err != nil {
		return who, err
	}
	if err := do(t); err != nil {
		return who, err
	}
	return nil, translate(ctx, tx.Commit())
}
