package db

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/quota"
)

// Usage is how much a company has of something, with everything below it, and how much that may be.
type Usage struct {
	Name quota.Name
	Used int64
	// Limit is the smallest of the company's own limit and those above it; nil where there is none.
	Limit *int64
	// Own is what was set for the company itself; nil where nothing was.
	Own *int64
	// By is the company whose limit that is; 0 where there is none.
	By int64
	// AsOf is when other cells told last what they have of it, give or take a minute; nil where they have nothing.
	AsOf *time.Time

	siblings
}

// LimitReached says that a change was refused, as it would have gone over a limit.
type LimitReached struct {
	// CustomerID is the company whose limit it is.
	CustomerID int64      `db:"customer_id" json:"customerId"`
	Name       quota.Name `db:"name" json:"name"`
	// Used is what was counted before the change.
	Used int64 `db:"used" json:"used"`
	Max  int64 `db:"most" json:"max"`
}

func (e *LimitReached) Error() string { return e.face().Error() }

// Unwrap gives what a caller hears.
func (e *LimitReached) Unwrap() error { return e.face() }

func (e *LimitReached) face() *problem.Error {
	if !e.Name.Rate() {
		return problem.LimitReached(string(e.Name), e.Used, e.Max)
	}
	return problem.OverRate(string(e.Name), e.Max, e.Wait())
}

// aRunsTime is when it is worth to ask again for the place of a run.
const aRunsTime = 5 * time.Second

// Wait is how long it takes until a rate has room again: that of a day when the next one begins.
func (e *LimitReached) Wait() time.Duration {
	if e.Name == quota.ConcurrentRuns {
		return aRunsTime
	}
	const day = 24 * time.Hour
	now := time.Now()
	return now.Truncate(day).Add(day).Sub(now)
}

// limitReached is the SQLSTATE by which the schema refuses what goes over a limit; the error's detail tells which.
const limitReached = "CL001"

func reached(e *pq.Error) error {
	r := &LimitReached{}
	if err := json.Unmarshal([]byte(e.Detail), r); err != nil {
		return errors.Join(e, err)
	}
	return r
}

var (
	qSameDefaultLimits = prepare(`
		SELECT NOT EXISTS (SELECT 1 FROM default_limits d FULL JOIN unnest($1::text[], $2::bigint[]) n(name, most) ON n.name = d.name AND n.most = d.most
			WHERE d.name IS NULL OR n.name IS NULL)`)
	qPutDefaultLimits = prepare(`
		WITH kept AS (
			INSERT INTO default_limits (name, most) SELECT * FROM unnest($1::text[], $2::bigint[])
			ON CONFLICT (name) DO UPDATE SET most = excluded.most WHERE default_limits.most <> excluded.most)
		DELETE FROM default_limits WHERE name <> ALL ($1)`)
	qLimitsOf = prepare(`SELECT name, most FROM customer_limits WHERE customer_id = $1`)
	qSetLimit = prepare(`
		INSERT INTO customer_limits (customer_id, name, most) VALUES ($1, $2, $3)
		ON CONFLICT (customer_id, name) DO UPDATE SET most = excluded.most`)
	qUnsetLimit = prepare(`DELETE FROM customer_limits WHERE customer_id = $1 AND name = $2`)
	qCounts     = prepare(`
		SELECT customer_id, name, sum(n)::bigint AS used, min(as_of) AS as_of FROM (
			SELECT customer_id, name, n, day, NULL::timestamptz AS as_of FROM usage_counts WHERE customer_id = ANY($1)
			UNION ALL SELECT customer_id, name, n, day, as_of FROM counts_elsewhere WHERE customer_id = ANY($1)) u
		WHERE day IS NULL OR day = (now() AT TIME ZONE 'UTC')::date GROUP BY customer_id, name`)
	qLimitsOn = prepare(`
		SELECT customer_id, name, most, true AS own FROM customer_limits WHERE customer_id = ANY($1)
		UNION ALL
		SELECT c.id, d.name, d.most, false FROM customers c CROSS JOIN default_limits d WHERE c.id = ANY($1) AND c.level = 1
			AND NOT EXISTS (SELECT 1 FROM customer_limits l WHERE l.customer_id = c.id AND l.name = d.name OFFSET 0)`)
	qTightest = prepare(`
		SELECT customer_id, name, used, most FROM (
			SELECT a.id AS customer_id, $2::text AS name, limit_of(a.id, $2) AS most, ` + usedOf("a.id", "$2") + ` AS used
			FROM accounts o JOIN customers c ON c.id = o.customer_id JOIN customers a ON a.id = ANY (c.lineage) WHERE o.id = $1) l
		WHERE most IS NOT NULL ORDER BY most - used LIMIT 1`)
	qSpend = prepare(`
		SELECT count_from($2, (now() AT TIME ZONE 'UTC')::date, ARRAY[a.customer_id], ARRAY[$3::bigint]) FROM accounts a WHERE a.id = $1`)
	qRefsInScope     = prepare(`SELECT ` + columns[CustomerRef]("c") + eachByID("customers", "c") + `WHERE ` + withinScope)
	qDueLimitNotices = prepare(`
		SELECT n.customer_id, branch_of(n.customer_id) AS branch_id, n.name, n.level, n.day, n.used, n.most FROM limit_notices n
		WHERE n.told_at IS NULL ORDER BY n.day LIMIT $1 FOR UPDATE SKIP LOCKED`)
	qLimitTold    = prepare(`UPDATE limit_notices SET told_at = now() WHERE customer_id = $1 AND name = $2 AND level = $3 AND day = $4`)
	qSweepNotices = prepare(`DELETE FROM limit_notices WHERE told_at < now() - interval '2 days'`)
	qNoteLimit    = prepare(`
		INSERT INTO limit_notices (customer_id, name, level, day, used, most)
		SELECT $1::bigint, $2::text, $3::integer, (now() AT TIME ZONE 'UTC')::date, $4::bigint, $5::bigint WHERE $6::boolean OR lives_here($1) ON CONFLICT DO NOTHING`)
)

// usedOf is how much a company has of something that is counted, or has done today, in all cells, as SQL.
func usedOf(company, name string) string {
	const today = `(n.day IS NULL OR n.day = (now() AT TIME ZONE 'UTC')::date)`
	of := func(table string) string {
		return `COALESCE((SELECT sum(n.n) FROM ` + table + ` n WHERE n.customer_id = ` + company + ` AND n.name = ` + name + ` AND ` + today + `), 0)`
	}
	return `(` + of("usage_counts") + ` + ` + of("counts_elsewhere") + `)::bigint`
}

// PutDefaultLimits sets the limits of companies right below root that have none of their own. Where they are
// these already, nothing is written.
func (s *Store) PutDefaultLimits(ctx context.Context, limits map[quota.Name]int64) error {
	names, most := pq.StringArray{}, pq.Int64Array{}
	for name, m := range limits {
		names, most = append(names, string(name)), append(most, m)
	}
	var same bool
	if err := s.get(ctx, &same, qSameDefaultLimits, names, most); err != nil || same {
		return err
	}
	_, err := s.exec(ctx, qPutDefaultLimits, names, most)
	return err
}

// limitRow is a limit of a company.
type limitRow struct {
	CustomerID int64      `db:"customer_id"`
	Name       quota.Name `db:"name"`
	Most       int64      `db:"most"`
	// Own tells it from the platform's default.
	Own bool `db:"own"`
}

// LimitsOf reads the limits that a company has of its own.
func (s *Store) LimitsOf(ctx context.Context, customerID int64) (map[quota.Name]int64, error) {
	var rows []limitRow
	err := s.list(ctx, &rows, qLimitsOf, customerID)
	limits := make(map[quota.Name]int64, len(rows))
	for _, r := range rows {
		limits[r.Name] = r.Most
	}
	return limits, err
}

// SetLimit sets a limit of a company; nil takes it away.
func (s *Store) SetLimit(ctx context.Context, customerID int64, name quota.Name, most *int64) error {
	if most == nil {
		_, err := s.exec(ctx, qUnsetLimit, customerID, string(name))
		return err
	}
	return s.must(ctx, qSetLimit, customerID, string(name), *most)
}

// Spend counts what is done for an account against the day of its company; LimitReached where that is too much, and
// nothing is counted.
func (s *Store) Spend(ctx context.Context, accountID int64, name quota.Name, n int64) error {
	_, err := s.exec(ctx, qSpend, accountID, string(name), n)
	return err
}

// Tightest is the limit that leaves an account's company the least room at the moment; nil where there is none.
func (s *Store) Tightest(ctx context.Context, accountID int64, name quota.Name) (*LimitReached, error) {
	r := &LimitReached{}
	err := s.get(ctx, r, qTightest, accountID, string(name))
	if errors.Is(err, ErrNoRows) {
		return nil, nil
	}
	return r, err
}

// Room is how much may still be added; everything where there is no limit.
func (e *LimitReached) Room() int64 {
	if e == nil {
		return math.MaxInt64
	}
	return max(0, e.Max-e.Used)
}

// noteReached has it told that a limit was reached, where a change was refused for it. The change's own
// transaction leaves nothing behind.
func (s *Store) noteReached(ctx context.Context, err error) {
	var r *LimitReached
	if errors.As(err, &r) && r.Used >= r.Max-r.Max/5 {
		s.NoteLimit(ctx, r.CustomerID, r.Name, LimitFull, r.Used, r.Max)
	}
}

// The levels of limits that are told, in percent.
const (
	LimitNearly = 80
	LimitFull   = 100
)

// NoteLimit has it told that a limit is reached, or nearly, by the cell that has what the company has; what is counted by the minute is told where it is counted. That it can't be noted is
// no reason to refuse what was asked for.
func (s *Store) NoteLimit(ctx context.Context, customerID int64, name quota.Name, level int, used, most int64) {
	_, _ = s.exec(context.WithoutCancel(ctx), qNoteLimit, customerID, string(name), level, used, most, name.PerMinute())
}

// LimitNotice is what is to be told of a limit, once a day and level.
type LimitNotice struct {
	CustomerID int64      `db:"customer_id"`
	BranchID   int64      `db:"branch_id"`
	Name       quota.Name `db:"name"`
	// Level is LimitNearly or LimitFull.
	Level int       `db:"level"`
	Day   time.Time `db:"day"`
	Used  int64     `db:"used"`
	Max   int64     `db:"most"`
}

// Reached tells that the limit is reached, and not only nearly.
func (n *LimitNotice) Reached() bool { return n.Level == LimitFull }

// DueLimitNotices takes up to limit notices that nobody has told, and holds them until the transaction ends.
func (s *Store) DueLimitNotices(ctx context.Context, limit int) (rows []*LimitNotice, err error) {
	err = s.list(ctx, &rows, qDueLimitNotices, limit)
	return rows, err
}

// LimitTold marks a notice as told.
func (s *Store) LimitTold(ctx context.Context, n *LimitNotice) error {
	return s.must(ctx, qLimitTold, n.CustomerID, string(n.Name), n.Level, n.Day)
}

// SweepLimitNotices forgets notices of days that are over.
func (s *Store) SweepLimitNotices(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepNotices)
	return err
}

var (
	customerUsage = edgeBy(func(c *Customer) *Customer { return c }, usage)
	usageLimiter  = edgeBy(func(u *Usage) int64 { return u.By }, rowsBy(qRefsInScope, scoped, (*CustomerRef).key))
)

// LimitedBy is the edge to the company whose limit it is; nil where there is none, and beyond the scope.
func (u *Usage) LimitedBy(ctx context.Context, s *Store, scope access.Scope) (*CustomerRef, error) {
	return follow(ctx, s, u, usageLimiter, scope)
}

// Usage is how much the company has of everything that is counted, and how much that may be.
func (c *Customer) Usage(ctx context.Context, s *Store) ([]*Usage, error) {
	return follow(ctx, s, c, customerUsage, none{})
}

// usage loads what companies have, and the limits on it.
func usage(ctx context.Context, s *Store, _ none, cs []*Customer) (map[*Customer][]*Usage, error) {
	var counts []struct {
		CustomerID int64      `db:"customer_id"`
		Name       quota.Name `db:"name"`
		Used       int64      `db:"used"`
		AsOf       *time.Time `db:"as_of"`
	}
	ids, lineages := []int64{}, []int64{}
	for _, c := range cs {
		ids, lineages = append(ids, c.ID), append(lineages, c.Lineage...)
	}
	if err := s.list(ctx, &counts, qCounts, ids); err != nil {
		return nil, err
	}
	var limits []limitRow
	if err := s.list(ctx, &limits, qLimitsOn, lineages); err != nil {
		return nil, err
	}
	type of struct {
		customerID int64
		name       quota.Name
	}
	used, asOf, most, own := map[of]int64{}, map[of]*time.Time{}, map[of]*int64{}, map[of]*int64{}
	for _, c := range counts {
		used[of{c.CustomerID, c.Name}], asOf[of{c.CustomerID, c.Name}] = c.Used, c.AsOf
	}
	for i, l := range limits {
		most[of{l.CustomerID, l.Name}] = &limits[i].Most
		if l.Own {
			own[of{l.CustomerID, l.Name}] = &limits[i].Most
		}
	}
	found := make(map[*Customer][]*Usage, len(cs))
	var all []*Usage
	for _, c := range cs {
		for _, name := range quota.Names() {
			u := &Usage{Name: name, Used: used[of{c.ID, name}], Own: own[of{c.ID, name}], AsOf: asOf[of{c.ID, name}]}
			for _, id := range c.Lineage {
				// Of equal limits the nearest counts.
				if m := most[of{id, name}]; m != nil && (u.Limit == nil || *m <= *u.Limit) {
					u.Limit, u.By = m, id
				}
			}
			found[c] = append(found[c], u)
		}
		all = append(all, found[c]...)
	}
	join(all)
	return found, nil
}
