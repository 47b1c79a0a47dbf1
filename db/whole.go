package db

import (
	"context"
	"errors"
	"sync"

	"canopy/internal/access"
	"canopy/internal/share"
)

// wholePage is how many rows of a whole list are read at one go.
const wholePage = 500

// wholeList is how a list is read: its rows from behind a place on, at most limit of them, and a row's place.
type wholeList[T, C any] struct {
	read  func(ctx context.Context, s *Store, after C, limit int) ([]*T, error)
	place func(*T) C
	// scope is that within which the rows are read, where an empty page is not told from one whose company was moved.
	scope access.Scope
}

// each hands on the rows of the list from behind a place on, at most limit of them (0: all). A whole list is
// read in pages, and between them no connection is held: its client may take its time, and so may
// thousands. The pages are read by turns of branches, each while the one before it is handed on. What changes
// behind the place that is reached is told as it is then. The error of do ends it.
func (l wholeList[T, C]) each(ctx context.Context, s *Store, after C, limit int, do func(*T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := l.ahead(ctx, s, after, limit)
	for {
		rows, err := next()
		if err != nil {
			return err
		}
		last := limit > 0 || len(rows) < wholePage
		if !last {
			next = l.ahead(ctx, s, l.place(rows[len(rows)-1]), limit)
		}
		for _, row := range rows {
			if err := do(row); err != nil {
				cancel()
				_, _ = next() // what is being read ends before this does
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// ahead begins to read a page, and gives what waits for it. Within a transaction one thing is done at a time.
func (l wholeList[T, C]) ahead(ctx context.Context, s *Store, after C, limit int) func() ([]*T, error) {
	read := sync.OnceValues(func() ([]*T, error) {
		return share.Guarded(func() ([]*T, error) { return l.page(ctx, s, after, limit) })
	})
	if s.tx == nil && limit == 0 {
		go func() { _, _ = read() }()
	}
	return read
}

func (l wholeList[T, C]) page(ctx context.Context, s *Store, after C, limit int) ([]*T, error) {
	if limit > 0 {
		return l.rows(ctx, s, after, limit)
	}
	if s.tx == nil {
		branch := access.BranchOf(ctx)
		if err := s.pages.Enter(ctx, branch); err != nil {
			return nil, err
		}
		var leave func()
		ctx, leave = share.Holding(ctx, func() { s.pages.Leave(branch) })
		defer leave()
	}
	return l.rows(ctx, s, after, wholePage)
}

// rows reads a page, and from the primary where a replica breaks off within it: nothing of it is handed on yet.
func (l wholeList[T, C]) rows(ctx context.Context, s *Store, after C, limit int) ([]*T, error) {
	rows, err := l.read(ctx, s, after, limit)
	if errors.Is(err, ErrReplica) {
		rows, err = l.read(Alone(ctx), s, after, limit)
	}
	if err == nil && len(rows) == 0 {
		err = s.Stands(ctx, l.scope)
	}
	return rows, err
}

// rowsOf is the list whose rows a query gives, which takes the arguments.
func rowsOf[T, C any](q query, args func(after C, limit int) []any, place func(*T) C) wholeList[T, C] {
	return wholeList[T, C]{place: place, read: func(ctx context.Context, s *Store, after C, limit int) (rows []*T, err error) {
		err = s.list(ctx, &rows, q, args(after, limit)...)
		return rows, err
	}}
}
