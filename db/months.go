package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// A log is one table until it is large, or an operator changes it over: then it has partitions, each of which holds what about a month brings. They are ranges of ids, which rise with time, and made ahead: the one that rows
// come into has an end, behind it lies an empty one of the size that a month is expected to need, and behind that an empty one without end. So there is a partition for each row, also where nobody has made one
// for long; and only empty ones get an end, for which PostgreSQL has nothing to read. What was there before the change-over is the first.

// Log is what grows until retention takes the oldest away.
type Log struct {
	// Name is what operators call it.
	Name string
	// ended is the column that tells since when a row is done with, and straggling how long after a month was over the last of its rows may end.
	ended      string
	straggling time.Duration
	// tables are those of the log, the one with its sequence first. Rows of the others belong to one of its rows.
	tables []logTable
}

type logTable struct {
	// name is the table's, and key the column that its partitions are ranges of.
	name, key string
}

// The logs. A delivery is tried for up to some days.
var (
	DeliveryLog = &Log{Name: "deliveries", ended: "completed_at", straggling: 3 * 24 * time.Hour, tables: []logTable{{"webhook_deliveries", "id"}}}
	AuditLog    = &Log{Name: "audit", ended: "created_at", tables: []logTable{{"audit_events", "id"}}}
	RunLog      = &Log{Name: "runs", ended: "finished_at", straggling: 3 * 24 * time.Hour, tables: []logTable{{"runs", "id"}, {"run_steps", "run_id"}}}
)

// monthsFrom is the version of the schema from which on logs may have months: a migration before it does what can't be done, or taken back, with partitions.
const monthsFrom = 121

// Logs are all of them.
func Logs() []*Log { return []*Log{DeliveryLog, AuditLog, RunLog} }

func (l *Log) table() string    { return l.tables[0].name }
func (l *Log) sequence() string { return l.table() + "_id_seq" }

// names are those of the log's tables, with what a name of a partition ends with.
func (l *Log) names(suffix string) []string {
	var list []string
	for _, t := range l.tables {
		list = append(list, t.name+suffix)
	}
	return list
}

// keys are the columns that partitions of the log's tables are ranges of.
func (l *Log) keys() (list []string) {
	for _, t := range l.tables {
		list = append(list, t.key)
	}
	return list
}

// beforeMonths is what the name of the first partition ends with.
const beforeMonths = "_before"

// fromID is what the name of another partition ends with.
func fromID(id int64) string { return fmt.Sprintf("_from_%d", id) }

// part is a partition of a log's first table.
type part struct {
	Name  string `db:"name"`
	Bound string `db:"bound"`
	// from and to are its ids: from the first to right below the last, none where it has no such bound.
	from, to *int64
}

// suffix is what the names of its tables end with.
func (p part) suffix(l *Log) string { return strings.TrimPrefix(p.Name, l.table()) }

var partBound = regexp.MustCompile(`^FOR VALUES FROM \('?(MINVALUE|-?\d+)'?\) TO \('?(MAXVALUE|-?\d+)'?\)$`)

// parts gives the partitions of a log, the oldest first: none of a log that is one table.
func (l *Log) parts(ctx context.Context, on queryer) ([]part, error) {
	var list []part
	if err := selectInto(ctx, on, &list, `
		SELECT c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`, l.table()); err != nil {
		return nil, translate(ctx, err)
	}
	for i, p := range list {
		bound := partBound.FindStringSubmatch(p.Bound)
		if bound == nil {
			return nil, fmt.Errorf("%s is no partition of months: %s", p.Name, p.Bound)
		}
		list[i].from, list[i].to = idIn(bound[1]), idIn(bound[2])
	}
	slices.SortFunc(list, func(a, b part) int {
		switch {
		case a.from == nil || b.to == nil:
			return -1
		case b.from == nil || a.to == nil:
			return 1
		}
		return int(*a.from - *b.from)
	})
	return list, nil
}

// idIn reads an id; nil stands for one of the two ends.
func idIn(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// inMonths tells whether a log has been changed over; one whose table there is not yet has not.
func (l *Log) inMonths(ctx context.Context, on queryer) (is bool, err error) {
	err = getInto(ctx, on, &is, `SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'p')`, l.table())
	return is, translate(ctx, err)
}

// owner is the role that has the log, quoted.
func (l *Log) owner(ctx context.Context, on queryer) (role string, err error) {
	err = getInto(ctx, on, &role, `SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = $1::regclass`, l.table())
	return role, translate(ctx, err)
}

// owned tells whether the role here may do with a log what its owner may. As another role, workers leave its months as they are: rows come into the one without end, and go one by one.
func (l *Log) owned(ctx context.Context, on queryer) (is bool, err error) {
	err = getInto(ctx, on, &is, `SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = $1::regclass`, l.table())
	return is, translate(ctx, err)
}

// Months makes months of logs, and drops them.
type Months struct {
	pool *sqlx.DB
	// url is that of the database where the pool's connections wait for an answer for a time only.
	url string
	// margin is how many ids at least are left to what is written while a log is changed over, and least how many a partition has. A few rows are read under a lock in no time.
	margin, least, few int64
	// later is for how much longer than PostgreSQL's clock says it is taken to be.
	later time.Duration
	// At is told of each step before it is done; with an error it ends there.
	At func(step string) error
}

// These are the sizes outside tests.
const (
	lineMargin = 1_000_000
	leastMonth = 10_000
	fewInMonth = 20_000
)

func monthsOf(pool *sqlx.DB) *Months {
	return &Months{pool: pool, margin: lineMargin, least: leastMonth, few: fewInMonth, At: func(string) error { return nil }}
}

// Months are those of the store's database.
func (s *Store) Months() *Months {
	m := monthsOf(s.pool)
	m.url = s.url
	return m
}

// Months are those of the migrator's database.
func (m *Migrator) Months() *Months {
	m.pool.SetMaxOpenConns(4) // who is alone has one, what is read another, and a third looks how near ids have come
	return monthsOf(m.pool)
}

// ErrMonthsBusy says that another process makes or drops months.
var ErrMonthsBusy = errors.New("another process is at work on the months of logs")

// clock gives the time by PostgreSQL's clock, by which rows have theirs: were a worker's wrong, it would drop what is young.
func (m *Months) clock(ctx context.Context) (now time.Time, err error) {
	err = m.pool.GetContext(ctx, &now, `SELECT now()`)
	return now.Add(m.later), translate(ctx, err)
}

// alone does what one process at a time does. Where the connection that says so is lost, another may begin: each step is one transaction, and looks itself at what there is.
func (m *Months) alone(ctx context.Context, do func() error) error {
	tx, err := m.pool.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`+strings.ReplaceAll(soonGone, "SET", "SET LOCAL")); err != nil {
		return translate(ctx, err)
	}
	var free bool
	if err := tx.GetContext(ctx, &free, `SELECT pg_try_advisory_xact_lock(hashtext('canopy months of logs'))`); err != nil {
		return translate(ctx, err)
	}
	if !free {
		return ErrMonthsBusy
	}
	return do()
}

// Ahead makes the partitions that each log with months needs next. What another process is doing is left to it.
func (m *Months) Ahead(ctx context.Context) error {
	err := m.alone(ctx, func() (err error) {
		for _, l := range Logs() {
			if failed := m.ahead(ctx, l); failed != nil && !errors.Is(failed, ErrMonthsBusy) {
				err = errors.Join(err, fmt.Errorf("%s: %w", l.Name, failed))
			}
		}
		return err
	})
	if errors.Is(err, ErrMonthsBusy) {
		return nil
	}
	return err
}

// Partition changes a log over to months. One that has been is left alone: false. Where rows have come into the partition without end, as nobody has made any for long, that one gets its end.
func (m *Months) Partition(ctx context.Context, l *Log) (changed bool, err error) {
	err = patiently(ctx, ErrMonthsBusy, func() error {
		err := m.alone(ctx, func() (err error) {
			changed, err = m.toMonths(ctx, l)
			return err
		})
		if errors.Is(err, ErrMonthsBusy) {
			return errors.Join(err, m.At("waits, as "+err.Error()))
		}
		return err
	})
	return changed && err == nil, err
}

// toMonths does so for who is alone.
func (m *Months) toMonths(ctx context.Context, l *Log) (changed bool, err error) {
	if err := m.discardRest(ctx, l); err != nil {
		return false, err
	}
	parts, err := l.parts(ctx, m.pool)
	if err != nil {
		return false, err
	}
	if len(parts) > 0 {
		open := parts[len(parts)-1]
		if last, err := l.lastID(ctx, m.pool); err != nil || last < *open.from {
			return false, err
		}
		return false, m.draw(ctx, l, open.suffix(l), func(tx *monthTx, at int64) error { return tx.close(ctx, open, at) })
	}
	if err := m.mayPartition(ctx, l); err != nil {
		return false, err
	}
	return true, m.draw(ctx, l, "", func(tx *monthTx, at int64) error { return tx.changeOver(ctx, at) })
}

// Unattended gives the names of the logs whose months the role here, which is not their owner, neither makes nor drops.
func (m *Months) Unattended(ctx context.Context) (logs []string, err error) {
	for _, l := range Logs() {
		is, err := l.inMonths(ctx, m.pool)
		if err != nil {
			return nil, err
		}
		owns, err := l.owned(ctx, m.pool)
		if err != nil {
			return nil, err
		}
		if is && !owns {
			logs = append(logs, l.Name)
		}
	}
	return logs, nil
}

// LogState is how a log lies.
type LogState struct {
	Log string `json:"log"`
	// Months tells whether it has been changed over; Changing, that this was begun and not ended; MonthsFrom, how many rows of a table of it have workers change it over, none where they don't.
	Months     bool      `json:"months"`
	Changing   bool      `json:"changing"`
	MonthsFrom *int      `json:"monthsFrom"`
	Parts      []LogPart `json:"parts"`
}

// LogPart is a partition of a log, with what belongs to its rows, or the whole table. Rows are estimated.
type LogPart struct {
	Name  string     `json:"name"`
	Rows  int64      `json:"rows"`
	Bytes int64      `json:"bytes"`
	First *time.Time `json:"first"`
	Last  *time.Time `json:"last"`
	// Filled: what is written comes here. Ahead: it will once those before it are full. Goes is when others may be dropped, unless something in them is under way; none without a retention.
	Filled bool       `json:"filled"`
	Ahead  bool       `json:"ahead"`
	Goes   *time.Time `json:"goes"`
}

// State tells how a log lies, and when what retention drops, with keep; 0 is for ever.
func (m *Months) State(ctx context.Context, l *Log, keep time.Duration) (state LogState, err error) {
	state.Log = l.Name
	if state.Months, err = l.inMonths(ctx, m.pool); err != nil {
		return state, err
	}
	parts := []part{{Name: l.table()}}
	if state.Months {
		if parts, err = l.parts(ctx, m.pool); err != nil {
			return state, err
		}
	} else {
		line, err := lineOf(ctx, m.pool, l.table())
		if err != nil {
			return state, err
		}
		state.Changing = line != nil
	}
	last, err := l.lastID(ctx, m.pool)
	if err != nil {
		return state, err
	}
	for _, p := range parts {
		of := LogPart{Name: p.Name, Ahead: p.from != nil && *p.from > last}
		of.Filled = !of.Ahead && (p.to == nil || *p.to > last)
		if err := m.pool.QueryRowContext(ctx, `
			SELECT (SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = $1::regclass), (SELECT sum(pg_total_relation_size(name::regclass))::bigint FROM unnest($2::text[]) name)`,
			p.Name, pq.Array(l.names(p.suffix(l)))).Scan(&of.Rows, &of.Bytes); err != nil {
			return state, translate(ctx, err)
		}
		if of.First, of.Last, err = p.span(ctx, m.pool); err != nil {
			return state, err
		}
		if !of.Filled && keep > 0 && of.Last != nil {
			goes := of.Last.Add(keep + l.straggling)
			of.Goes = &goes
		}
		state.Parts = append(state.Parts, of)
	}
	return state, nil
}
