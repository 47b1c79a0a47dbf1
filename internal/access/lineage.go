package access

import (
	"slices"

	"github.com/lib/pq"
)

// Lineage is the path of a company in the tree: the ids from the root down to the company itself.
// Lineages compare element by element, as PostgreSQL compares bigint arrays, so a company's
// subtree is one contiguous range and their order is the tree's preorder.
type Lineage []int64

// Scope is a range of lineages, [from, to): the part of the tree that a read or a write may touch.
// The zero Scope holds nothing, so a forgotten one finds no rows.
type Scope struct{ from, to Lineage }

// Subtree is the range of the company itself and everything below it.
func (l Lineage) Subtree() Scope {
	if len(l) == 0 {
		return Scope{}
	}
	return Scope{from: l, to: l.next()}
}

// next is the first lineage after the whole subtree of l.
func (l Lineage) next() Lineage {
	n := slices.Clone(l)
	n[len(n)-1]++
	return n
}

// From is the lower bound as a statement argument; NULL for the zero Scope.
func (s Scope) From() pq.Int64Array { return pq.Int64Array(s.from) }

// To is the upper bound, exclusive, as a statement argument; NULL for the zero Scope.
func (s Scope) To() pq.Int64Array { return pq.Int64Array(s.to) }

// Scan reads a bigint[] column.
func (l *Lineage) Scan(src any) error { return (*pq.Int64Array)(l).Scan(src) }
