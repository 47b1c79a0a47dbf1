package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// homeWait bounds what a cell asks of its home: whoever asks goes on without an answer, and asks again.
const homeWait = 10 * time.Second

// Home is a cell's way to the database of the home: it asks how far that is, and tells it what was used. It may be away.
type Home struct {
	pool *sqlx.DB
	cell Cell
}

// OpenHome makes the way from a cell to its home's database behind a URL, without looking whether that is there.
func (s *Store) OpenHome(url string) (*Home, error) {
	pool, err := Connect(url, Options{MaxConns: 2, silence: homeWait})
	if err != nil {
		return nil, fmt.Errorf("CANOPY_HOME_URL: %w", err)
	}
	return &Home{pool: pool, cell: *s.cell}, nil
}

// Close closes its connections.
func (h *Home) Close() error { return h.pool.Close() }

// Answer is what the home says when it is asked how far it is.
type Answer struct {
	Pulse int64 `db:"pulse"`
	// Kept: the home keeps what the cell has yet to take. Where it does not, the cell is joined anew.
	Kept bool `db:"kept"`
}

// Ask has the home count its pulse; it hears of the cell's schema.
func (h *Home) Ask(ctx context.Context, schema int64) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	err = translate(ctx, getInto(ctx, h.pool, &a, `
		SELECT ask_home($1, $2) AS pulse, EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $3 AND wal_status <> 'lost') AS kept`, h.cell.Number, schema, slotOf(h.cell.Number)))
	return a, err
}

// Count has the home count its pulse now: a replica that is as far has all that was committed there before.
func (h *Home) Count(ctx context.Context) (pulse int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	err = translate(ctx, getInto(ctx, h.pool, &pulse, `SELECT count_home()`))
	return pulse, err
}

// Take tells the home what was used.
func (h *Home) Take(ctx context.Context, marks []UseMark) error {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	kinds, ids, times := columnsOf(marks)
	_, err := h.pool.ExecContext(ctx, `SELECT FROM (SELECT take_use_marks($1, $2, $3)) taken`, pq.Array(kinds), pq.Array(ids), pq.Array(times))
	return translate(ctx, err)
}

// Erased tells the home that the cell has nothing left of a company that was deleted, and of those below it.
func (h *Home) Erased(ctx context.Context, customerID int64) error {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	_, err := h.pool.ExecContext(ctx, `SELECT FROM (SELECT erased_in_cell($1, $2)) told`, h.cell.Number, customerID)
	return translate(ctx, err)
}

// UseMark is that something was used in a cell: a permission or an API key.
type UseMark struct {
	Kind   string    `db:"kind"`
	ID     int64     `db:"id"`
	UsedAt time.Time `db:"used_at"`
}

func columnsOf(marks []UseMark) (kinds []string, ids []int64, times []time.Time) {
	for _, m := range marks {
		kinds, ids, times = append(kinds, m.Kind), append(ids, m.ID), append(times, m.UsedAt)
	}
	return kinds, ids, times
}

const (
	usedPermission = "permission"
	usedKey        = "key"
)

var (
	qPulse   = prepare(`SELECT COALESCE((SELECT n FROM pulse), 0)`)
	qMarkUse = prepare(`
		INSERT INTO use_marks AS m (kind, id) VALUES ($1, $2)
		ON CONFLICT (kind, id) DO UPDATE SET used_at = excluded.used_at WHERE m.used_at < now() - interval '1 minute'`)
	qUseMarks       = prepare(`SELECT kind, id, used_at FROM use_marks ORDER BY kind, id LIMIT $1`)
	qForgetUseMarks = prepare(`
		DELETE FROM use_marks m USING unnest($1::text[], $2::bigint[], $3::timestamptz[]) t(kind, id, used_at)
		WHERE m.kind = t.kind AND m.id = t.id AND m.used_at = t.used_at`)
)

// Pulse is how far a cell's replica is, as the home's pulse counts.
func (s *Store) Pulse(ctx context.Context) (n int64, err error) {
	err = s.get(ctx, &n, qPulse)
	return n, err
}

// SchemaVersion is the version of the database's schema.
func (s *Store) SchemaVersion(ctx context.Context) (int64, error) {
	there, err := currentSchema(ctx, s.pool)
	return there.Version, err
}

// SendMarks tells the home what was used in the cell, at most so many at once, and tells how many there were.
func (s *Store) SendMarks(ctx context.Context, home *Home, most int) (n int64, err error) {
	var marks []UseMark
	if err := s.list(ctx, &marks, qUseMarks, most); err != nil || len(marks) == 0 {
		return 0, err
	}
	if err := home.Take(ctx, marks); err != nil {
		return 0, err
	}
	kinds, ids, times := columnsOf(marks)
	_, err = s.exec(ctx, qForgetUseMarks, pq.Array(kinds), pq.Array(ids), pq.Array(times))
	return int64(len(marks)), err
}
