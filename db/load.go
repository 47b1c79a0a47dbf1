package db

import (
	"context"
	"errors"

	"canopy/internal/access"
)

// rowsBy loads the rows of a query as one group, each under a key of its own. That a scope has none of them is told where the scope stands alone.
func rowsBy[V any, R member[V], A, K comparable](q query, args func(A, []K) []any, key func(*V) K) load[A, K, *V] {
	return func(ctx context.Context, s *Store, a A, keys []K) (map[K]*V, error) {
		var rows []*V
		err := s.list(ctx, &rows, q, args(a, keys)...)
		if scope, is := any(a).(access.Scope); is && err == nil && len(rows) == 0 {
			err = s.Stands(ctx, scope)
		}
		return index(join[V, R](rows), key), err
	}
}

// valueOf loads the column value of each id's row; an id without a row has the zero value.
func valueOf[V any, A comparable](q query, args func(A, []int64) []any) load[A, int64, V] {
	return func(ctx context.Context, s *Store, a A, ids []int64) (map[int64]V, error) {
		var rows []struct {
			ID    int64 `db:"id"`
			Value V     `db:"value"`
		}
		err := s.list(ctx, &rows, q, args(a, ids)...)
		found := make(map[int64]V, len(rows))
		for _, r := range rows {
			found[r.ID] = r.Value
		}
		return found, err
	}
}

// one loads a single row; ErrNoRows when there is none.
func one[A comparable, V any](ctx context.Context, s *Store, load load[A, int64, *V], args A, id int64) (*V, error) {
	found, err := load(ctx, s, args, []int64{id})
	if err == nil && found[id] == nil {
		err = ErrNoRows
		if scope, is := any(args).(access.Scope); is && moves(scope) { // rowsBy has looked
			err = ErrNotThere
		}
	}
	return found[id], err
}

// oneHere loads a single row of a table of what companies have, which another cell may have.
func oneHere[A comparable, V any](ctx context.Context, s *Store, kind string, load load[A, int64, *V], args A, id int64) (*V, error) {
	if s.forgets() {
		if err := s.hasMoved(ctx, rowName{kind: kind, id: id}); err != nil {
			return nil, err
		}
	}
	row, err := one(ctx, s, load, args, id)
	if !errors.Is(err, ErrNoRows) {
		return row, err
	}
	if there := s.madeElsewhere(ctx, rowName{kind: kind, id: id}); !errors.Is(there, ErrNoRows) {
		err = there
	}
	return nil, err
}

// onlyIDs is for a query that takes the ids alone.
func onlyIDs(_ none, ids []int64) []any { return []any{ids} }

// scoped is for a query whose ids come behind a scope's bounds.
func scoped(scope access.Scope, ids []int64) []any { return []any{scope.From(), scope.To(), ids} }

// byKey sorts rows under the key that they were reached from.
func byKey[K comparable, V any](rows []V, key func(V) K) map[K][]V {
	m := make(map[K][]V)
	for _, r := range rows {
		k := key(r)
		m[k] = append(m[k], r)
	}
	return m
}

// index maps rows by a key of their own.
func index[K comparable, V any](rows []V, key func(V) K) map[K]V {
	m := make(map[K]V, len(rows))
	for _, r := range rows {
		m[key(r)] = r
	}
	return m
}

// orZero is the id behind a pointer; no row has the id 0.
func orZero(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}
