package db

import (
	"context"
	"strconv"
	"sync"

	"github.com/lib/pq"

	"canopy/internal/problem"
)

// group is the set of rows that one query returned. The first time an edge is asked of any member
// it is loaded for all of them in one query, so the number of statements of an operation does not
// depend on how many rows it returns, and nothing waits for a timer.
type group struct {
	// rows is a slice of pointers to the rows.
	rows any
	mu   sync.Mutex
	// loads holds a *loaded for each edge that was asked for, with each of its arguments.
	loads []any
}

// siblings ties a row to its group; a row type that edges lead from, or that is listed, embeds it.
type siblings struct {
	group *group
	// there is the cell that has the row; nil where it is this one.
	there *problem.Place
	// Place is what the row has of the order of the list that it was found in, as its cursor has it.
	Place pq.StringArray `db:"found_place"`
	// At is that place where it is an id alone; 0 where it is not.
	At int64 `db:"found_at"`
	// From is the row that the list hangs from, where it does.
	From int64 `db:"found_from"`
}

// FoundAt is the place of the row in the list that it was found in.
func (s *siblings) FoundAt() []string {
	if s.At != 0 {
		return []string{strconv.FormatInt(s.At, 10)}
	}
	return s.Place
}

func (s *siblings) kin() *siblings { return s }

// member is a pointer to what embeds siblings.
type member[P any] interface {
	*P
	sibling
}

type sibling interface{ kin() *siblings }

// join makes rows of one query a group.
func join[P any, R member[P]](rows []*P) []*P {
	g := &group{rows: rows}
	for _, r := range rows {
		R(r).kin().group = g
	}
	return rows
}

// Together makes rows that were read one by one siblings, as far as there are rows: their edges are loaded for all of them.
func Together[P any, R member[P]](rows []R) {
	var there []*P
	for _, r := range rows {
		if r != nil {
			there = append(there, r)
		}
	}
	join[P, R](there)
}

// edge leads from rows P to values V. It is declared once, outside of any function: so load has only
// its arguments to go by, and since what it gave is kept under these, none of them can be forgotten.
type edge[P any, A, K comparable, V any] struct {
	key  func(*P) K
	load load[A, K, V]
}

// load gives the values for all keys at once; a key without a value is left out.
type load[A, K comparable, V any] func(ctx context.Context, s *Store, args A, keys []K) (map[K]V, error)

// none is the argument of an edge that takes none.
type none struct{}

func edgeBy[P any, A, K comparable, V any](key func(*P) K, load load[A, K, V]) *edge[P, A, K, V] {
	return &edge[P, A, K, V]{key: key, load: load}
}

// loaded is what an edge with certain arguments gave for a group.
type loaded[P any, A, K comparable, V any] struct {
	edge   *edge[P, A, K, V]
	args   A
	once   sync.Once
	values map[K]V
	err    error
}

// in finds the edge's place in a group. A document asks for few edges of a group, so a list is
// quicker than a map.
func (e *edge[P, A, K, V]) in(g *group, args A) *loaded[P, A, K, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.loads {
		if l, ok := other.(*loaded[P, A, K, V]); ok && l.edge == e && l.args == args {
			return l
		}
	}
	l := &loaded[P, A, K, V]{edge: e, args: args}
	g.loads = append(g.loads, l)
	return l
}

// follow gives a row's value of an edge, which is loaded once for all siblings. The zero V stands for
// a key without a value.
func follow[P any, R member[P], A, K comparable, V any](ctx context.Context, s *Store, r R, e *edge[P, A, K, V], args A) (value V, err error) {
	g := r.kin().group
	if g == nil {
		g = &group{rows: []*P{r}}
	}
	l := e.in(g, args)
	l.once.Do(func() { l.values, l.err = e.load(ctx, s, args, distinct(g.rows.([]*P), e.key)) })
	if l.err != nil {
		return value, l.err
	}
	return l.values[e.key(r)], nil
}

// have gives a group the values of an edge that were read together with its only row.
func (e *edge[P, A, K, V]) have(r sibling, args A, values map[K]V) {
	l := e.in(r.kin().group, args)
	l.once.Do(func() { l.values = values })
}

func distinct[P any, K comparable](rows []*P, key func(*P) K) []K {
	const some = 64 // many rows mostly lead to few others
	seen := make(map[K]struct{}, min(len(rows), some))
	keys := make([]K, 0, min(len(rows), some))
	for _, r := range rows {
		k := key(r)
		if _, dup := seen[k]; !dup {
			seen[k] = struct{}{}
			keys = append(keys, k)
		}
	}
	return keys
}
