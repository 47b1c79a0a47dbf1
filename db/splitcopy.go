package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Copy brings what the home has into the cell while the home goes on, until little differs: what has changed meanwhile is brought by the next pass. objects brings what belongs to the rows that
// are there, and is called after each.
func (s *Split) Copy(ctx context.Context, objects func(context.Context) error) error {
	for n := 1; n <= splitPasses; n++ {
		all, err := s.pass(ctx, SplitCopying, n)
		if err != nil {
			return err
		}
		if err := s.note(ctx, SplitCopying, "objects", n, 0); err != nil {
			return err
		}
		if err := objects(ctx); err != nil {
			return err
		}
		if differing(all) <= fewDifferences {
			break
		}
	}
	return nil
}

// differing is how many rows differ.
func differing(all []Difference) (n int64) {
	for _, d := range all {
		n += d.Missing + d.Different + d.Gone
	}
	return n
}

// pass compares all that moves with what the cell has, by one snapshot of the home, and brings what differs.
func (s *Split) pass(ctx context.Context, phase string, n int) (all []Difference, err error) {
	if _, err := s.home.ExecContext(ctx, beginSnapshot); err != nil {
		return nil, translate(ctx, err)
	}
	defer func() {
		_, failed := s.home.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		err = errors.Join(err, translate(ctx, failed))
	}()
	told := s.told
	defer func() { s.told = told }()
	s.told = func(d Difference) {
		told(d)
		err := s.note(ctx, phase, d.Table, n, d.Rows)
		_ = err // how far it is can't be told at the moment, which keeps nobody
	}
	for _, t := range s.tables {
		d, err := s.bring(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// bring compares a table, and has the cell's like the home's.
func (s *Split) bring(ctx context.Context, t anewTable) (d Difference, err error) {
	defer func() {
		_, failed := s.writes.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(`DROP TABLE IF EXISTS %s, %s`, t.staged(), t.gone()))
		err = errors.Join(err, translate(ctx, failed))
	}()
	d, err = s.compare(ctx, t, func() error {
		// What is unique may be free only once a row has been brought that comes later: both are brought together then.
		var c *Conflict
		if err := s.right(ctx, t); !errors.As(err, &c) {
			return err
		}
		return nil
	})
	if err == nil && differing([]Difference{d}) > 0 {
		err = s.right(ctx, t)
	}
	return d, err
}

// right puts right what has been found to differ in a table, and forgets it.
func (s *Split) right(ctx context.Context, t anewTable) error {
	return s.change(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `SET LOCAL session_replication_role = replica`); err != nil { // all that follows from these rows comes with the others
			return err
		}
		for _, text := range append(t.right(), fmt.Sprintf(`TRUNCATE %s, %s`, t.staged(), t.gone())) {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return translate(ctx, err)
			}
		}
		return nil
	})
}
