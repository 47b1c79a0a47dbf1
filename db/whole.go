package db

import (
	"context"

	"canopy/internal/access"
)

// wholePage is how many rows of a whole list are read at one go.
const wholePage = 500

// wholeList is how a list is read: its rows from behind a place on, at most limit of them, and a row's place.
type wholeList[T, C any] struct {
	read  func(ctx context.Context, s *Store, after C, limit int) ([]*T, error)
	place func(*T) C
}

// each hands on the rows of the list from behind a place on, at most limit of them (0: all). A whole list is
// read in pages, and between them no connection is held: its client may take its time, and so may
// thousands. The pages are read by turns of tenants. What changes behind the place that is reached is told as
// it is then. The error of do ends it.
func (l wholeList[T, C]) each(ctx context.Context, s *Store, after C, limit int, do func(*T) error) error {
	for {
		rows, err := l.page(ctx, s, after, limit)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := do(row); err != nil {
				return err
			}
		}
		if limit > 0 || len(rows) < wholePage {
			return nil
		}
		after = l.place(rows[len(rows)-1])
	}
}

func (l wholeList[T, C]) page(ctx context.Context, s *Store, after C, limit int) ([]*T, error) {
	if limit > 0 {
		return l.read(ctx, s, after, limit)
	}
	if s.tx == nil {
		tenant := access.TenantOf(ctx)
		if err := s.pages.Enter(ctx, tenant); err != nil {
			return nil, err
		}
		defer s.pages.Leave(tenant)
	}
	return l.read(ctx, s, after, wholePage)
}

// rowsOf is the list whose rows a query gives, which takes the arguments.
func rowsOf[T, C any](q query, args func(after C, limit int) []any, place func(*T) C) wholeList[T, C] {
	return wholeList[T, C]{place: place, read: func(ctx context.Context, s *Store, after C, limit int) (rows []*T, err error) {
		err = s.list(ctx, &rows, q, args(after, limit)...)
		return rows, err
	}}
}
