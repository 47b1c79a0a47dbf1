package db

import (
	"context"
	"sync"
)

// group is the set of rows that one query returned. The first time an edge is asked of any member
// it is loaded for all of them in one query, so the number of statements of an operation does not
// depend on how many rows it returns, and nothing waits for a timer.
type group[P any] struct {
	rows  []*P
	mu    sync.Mutex
	edges map[string]*edge
}

type edge struct {
	once   sync.Once
	values any
	err    error
}

func (g *group[P]) edge(name string) *edge {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.edges[name]
	if e == nil {
		e = &edge{}
		if g.edges == nil {
			g.edges = map[string]*edge{}
		}
		g.edges[name] = e
	}
	return e
}

// siblings ties a row to its group.
type siblings[P any] struct{ group *group[P] }

// join makes rows of one query a group.
func join[P any](rows []*P, member func(*P) *siblings[P]) []*P {
	g := &group[P]{rows: rows}
	for _, r := range rows {
		member(r).group = g
	}
	return rows
}

// follow gives the edge called name of obj: load is called once for the keys of all siblings. The
// zero V stands for a key without a value.
func follow[P any, K comparable, V any](ctx context.Context, obj *P, member *siblings[P], name string,
	key func(*P) K, load func(context.Context, []K) (map[K]V, error),
) (V, error) {
	g := member.group
	if g == nil {
		g = &group[P]{rows: []*P{obj}}
	}
	e := g.edge(name)
	e.once.Do(func() { e.values, e.err = load(ctx, distinct(g.rows, key)) })
	if e.err != nil {
		var zero V
		return zero, e.err
	}
	return e.values.(map[K]V)[key(obj)], nil
}

func distinct[P any, K comparable](rows []*P, key func(*P) K) []K {
	seen := make(map[K]struct{}, len(rows))
	keys := make([]K, 0, len(rows))
	for _, r := range rows {
		k := key(r)
		if _, dup := seen[k]; !dup {
			seen[k] = struct{}{}
			keys = append(keys, k)
		}
	}
	return keys
}

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
