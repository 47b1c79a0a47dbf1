package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"
)

const (
	// aMonth is what a partition is to hold.
	aMonth = 30 * 24 * time.Hour
	// longMonth is for how long one is filled at most: less comes than was expected.
	longMonth = 35 * 24 * time.Hour
)

// ahead makes the partitions that a log needs next, and goes on to the next one where the one that is filled has been for long.
func (m *Months) ahead(ctx context.Context, l *Log) error {
	is, err := l.inMonths(ctx, m.pool)
	if err != nil {
		return err
	}
	if owns, err := l.owned(ctx, m.pool); err != nil || !owns {
		return err
	}
	if !is {
		return m.eraseNear(ctx, l, "")
	}
	if err := m.discardRest(ctx, l); err != nil {
		return err
	}
	for {
		parts, err := l.parts(ctx, m.pool)
		if err != nil {
			return err
		}
		last, err := l.lastID(ctx, m.pool)
		if err != nil {
			return err
		}
		open := parts[len(parts)-1]
		if len(parts) < 2 || open.to != nil {
			return fmt.Errorf("the last partition of %s has an end: rows behind it would be refused", l.table())
		}
		if err := m.eraseNear(ctx, l, open.suffix(l)); err != nil {
			return err
		}
		if before := parts[len(parts)-2]; before.from == nil || last < *before.from {
			return m.goOn(ctx, l, parts, last)
		}
		if err := m.end(ctx, l, open, last); err != nil {
			return err
		}
	}
}

// end gives the open partition an end, as the one before it is filled, and opens another one.
func (m *Months) end(ctx context.Context, l *Log, open part, last int64) error {
	var many bool
	if err := m.pool.GetContext(ctx, &many, fmt.Sprintf(`SELECT count(*) > %d FROM (SELECT FROM %s LIMIT %[1]d + 1) few`, m.few, pq.QuoteIdentifier(open.Name))); err != nil {
		return translate(ctx, err)
	}
	if many {
		return fmt.Errorf("nobody has made partitions for so long that rows have come into the one without end: `canopy logs partition %s` gives it one", l.Name)
	}
	size, err := m.expected(ctx, l)
	if err != nil {
		return err
	}
	at := max(last, *open.from) + size
	if err := m.make(ctx, l, open.suffix(l), at); err != nil {
		return err
	}
	if err := m.short(ctx, l, l.withPart(open.suffix(l)), func(tx *monthTx) error {
		if err := l.endsWith(ctx, tx, open.suffix(l)); err != nil {
			return err
		}
		if err := tx.close(ctx, open, at); err != nil {
			return err
		}
		return tx.open(ctx, at, 0)
	}); err != nil {
		return err
	}
	return m.count(ctx, l)
}

// goOn has rows come into the next partition, where the first one of the one that is filled is old.
func (m *Months) goOn(ctx context.Context, l *Log, parts []part, last int64) error {
	for _, p := range parts {
		if p.to == nil || last >= *p.to {
			continue
		}
		first, _, err := p.span(ctx, m.pool)
		if err != nil || first == nil {
			return err
		}
		if now, err := m.clock(ctx); err != nil || first.After(now.Add(-longMonth)) {
			return err
		}
		return m.short(ctx, l, l.names(""), func(tx *monthTx) error {
			if err := tx.holdIDs(ctx); err != nil {
				return err
			}
			if last, err := l.lastID(ctx, tx); err != nil || last >= *p.to {
				return err
			}
			return tx.jump(ctx, *p.to)
		})
	}
	return nil
}

// expected is how many ids a month is expected to use: as many as the last one has. What lies between partitions was used by nobody.
func (m *Months) expected(ctx context.Context, l *Log) (int64, error) {
	parts, err := l.parts(ctx, m.pool)
	if err != nil {
		return 0, err
	}
	if len(parts) == 0 {
		parts = []part{{Name: l.table()}}
	}
	now, err := m.clock(ctx)
	if err != nil {
		return 0, err
	}
	lowest, err := l.lowestID(ctx, m.pool)
	if err != nil {
		return 0, err
	}
	used, begun, since := int64(0), now, now.Add(-aMonth)
	for _, p := range parts {
		var here []struct {
			Used  int64     `db:"used"`
			Begun time.Time `db:"begun"`
		}
		// What a region has brought into its cell has ids from before those that are given away here.
		if err := m.pool.SelectContext(ctx, &here, fmt.Sprintf(`
			SELECT (SELECT max(id) FROM %[1]s) - own.id + 1 AS used, own.created_at AS begun FROM (SELECT id FROM %[1]s WHERE created_at > $1 ORDER BY created_at, id LIMIT 1) f
			CROSS JOIN LATERAL (SELECT id, created_at FROM %[1]s WHERE id >= GREATEST(f.id, $2) ORDER BY id LIMIT 1) own`, pq.QuoteIdentifier(p.Name)), since, lowest); err != nil {
			return 0, translate(ctx, err)
		}
		for _, h := range here {
			used += h.Used
			if h.Begun.Before(begun) {
				begun = h.Begun
			}
		}
	}
	// What was written within a day tells little of a month.
	part := max(now.Sub(begun), 24*time.Hour)
	return max(m.least, int64(float64(used)*float64(aMonth)/float64(part))), nil
}
