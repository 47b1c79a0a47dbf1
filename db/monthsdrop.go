package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lib/pq"
)

// A month is dropped once all of its rows are older than the retention. What keeps one back, such as a run that somebody has suspended, does so for some days; then its other rows are deleted as those of a log
// that is one table are, and it is dropped when the last one may go.

// monthsLate is for how much longer than the retention a row may lie before it is deleted by itself: as long as a month and what ends late have. What lies in the first partition, or in one that nobody has
// given an end for long, goes like that.
const monthsLate = 40 * 24 * time.Hour

// IDs are some: those behind After, up to Last, or all where that is 0.
type IDs struct{ After, Last int64 }

// Drop drops the months of a log of which nothing is younger than keep. It gives the ids among which rows are older than that and have to be deleted one by one: all, of a log that is one table,
// or of which somebody else is the owner.
func (m *Months) Drop(ctx context.Context, l *Log, keep time.Duration) (rest []IDs, err error) {
	is, err := l.inMonths(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	if !is {
		return []IDs{{}}, nil
	}
	if owns, err := l.owned(ctx, m.pool); err != nil || !owns {
		return []IDs{{}}, err
	}
	err = m.alone(ctx, func() error {
		if err := m.discardRest(ctx, l); err != nil {
			return err
		}
		parts, err := l.parts(ctx, m.pool)
		if err != nil {
			return err
		}
		now, err := m.clock(ctx)
		if err != nil {
			return err
		}
		for _, p := range parts {
			goes, byRows, err := m.over(ctx, l, p, now.Add(-keep))
			if err != nil {
				return err
			}
			if goes {
				if err := m.drop(ctx, l, p); err != nil {
					return fmt.Errorf("%s: %w", p.Name, err)
				}
			} else if byRows {
				rest = append(rest, p.ids())
			}
		}
		return nil
	})
	if errors.Is(err, ErrMonthsBusy) {
		return nil, nil
	}
	return rest, err
}

func (p part) ids() (ids IDs) {
	if p.from != nil {
		ids.After = *p.from - 1
	}
	if p.to != nil {
		ids.Last = *p.to - 1
	}
	return ids
}

// span is when the first and the last row of a partition were made; none where it is empty.
func (p part) span(ctx context.Context, on queryer) (first, last *time.Time, err error) {
	var at struct {
		First *time.Time `db:"first"`
		Last  *time.Time `db:"last"`
	}
	err = getInto(ctx, on, &at, fmt.Sprintf(`SELECT (SELECT created_at FROM %[1]s ORDER BY created_at LIMIT 1) AS first, (SELECT created_at FROM %[1]s ORDER BY created_at DESC LIMIT 1) AS last`, pq.QuoteIdentifier(p.Name)))
	return at.First, at.Last, translate(ctx, err)
}

// passedFor is for how long rows have come behind a partition that is dropped: who has drawn an id of it has written the row since.
const passedFor = time.Hour

// passed tells whether no row comes into a partition any more.
func (p part) passed(ctx context.Context, on queryer, l *Log) (is bool, err error) {
	if p.to == nil {
		return false, nil
	}
	err = getInto(ctx, on, &is, `SELECT COALESCE((SELECT created_at < now() - $2 * interval '1 second' FROM `+l.table()+` WHERE id >= $1 ORDER BY id LIMIT 1), false)`, *p.to, passedFor.Seconds())
	return is, translate(ctx, err)
}

// over tells whether a partition is to be dropped, as nothing in it ended after a moment, or is under way; otherwise, whether rows of it are so old that they go by themselves. What has ended does not begin again, and
// no row comes into a partition that is passed: so what is found here stays so.
func (m *Months) over(ctx context.Context, l *Log, p part, until time.Time) (goes, byRows bool, err error) {
	passed, err := p.passed(ctx, m.pool, l)
	if err != nil {
		return false, false, err
	}
	first, last, err := p.span(ctx, m.pool)
	if err != nil || last == nil {
		return passed, false, err
	}
	late := first.Before(until.Add(-monthsLate))
	if !passed || !last.Before(until.Add(-l.straggling)) {
		return false, late, nil
	}
	kept, err := m.keeps(ctx, l, p, until)
	return !kept, true, err
}

// atOnce is how many rows are looked through by one statement, which has its time.
const atOnce = 100_000

// keeps tells whether something in a partition is under way, or has ended after a moment.
func (m *Months) keeps(ctx context.Context, l *Log, p part, until time.Time) (kept bool, err error) {
	text := fmt.Sprintf(`SELECT max(id), COALESCE(bool_or(kept), false) FROM (SELECT id, (%s >= $2) IS NOT FALSE AS kept FROM %s WHERE id > $1 ORDER BY id LIMIT %d) looked`,
		l.ended, pq.QuoteIdentifier(p.Name), atOnce)
	for after := int64(math.MinInt64); ; {
		var last *int64
		if err := m.pool.QueryRowContext(ctx, text, after, until).Scan(&last, &kept); err != nil || kept || last == nil {
			return kept, translate(ctx, err)
		}
		after = *last
	}
}

// drop drops a partition with what belongs to its rows.
func (m *Months) drop(ctx context.Context, l *Log, p part) error {
	suffix := p.suffix(l)
	if err := m.short(ctx, l, l.withPart(suffix), func(tx *monthTx) error {
		if err := tx.detach(ctx, suffix); err != nil {
			return err
		}
		for _, t := range l.tables {
			if err := tx.exec(ctx, fmt.Sprintf(`ALTER TABLE %s%s RENAME TO %[1]s%[2]s%s`, t.name, suffix, goneMonth)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return m.discard(ctx, l, suffix+goneMonth)
}
