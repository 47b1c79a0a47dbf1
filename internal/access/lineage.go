package access

import (
	"encoding/binary"

	"github.com/lib/pq"
)

// Lineage is the path of a company in the tree: the ids from the root down to the company itself.
// Lineages compare element by element, as PostgreSQL compares bigint arrays, so a company's
// subtree is one contiguous range and their order is the tree's preorder.
type Lineage []int64

// Branch is the company that work and budgets are counted for: the one right below the root, with all
// below it; the root itself is one. It is 0 for the empty lineage.
func (l Lineage) Branch() int64 {
	if len(l) == 0 {
		return 0
	}
	return l[min(1, len(l)-1)]
}

// Scope is a range of lineages: the part of the tree that a read or a write may touch. The zero
// Scope holds nothing, so a forgotten one finds no rows. Scopes of the same part are equal by ==.
type Scope struct {
	// top is the lineage whose subtree it is, eight bytes for each id; empty for nothing.
	top string
}

// idBytes is the length of an id in a Scope.
const idBytes = 8

// Subtree is the range of the company itself and everything below it.
func (l Lineage) Subtree() Scope {
	top := make([]byte, 0, 16*idBytes)
	for _, id := range l {
		top = binary.BigEndian.AppendUint64(top, uint64(id))
	}
	return Scope{top: string(top)}
}

// Whole tells whether the scope is that of the root, with everything below it.
func (s Scope) Whole() bool { return len(s.top) == idBytes }

// From is the lower bound as a statement argument; NULL for the zero Scope.
func (s Scope) From() pq.Int64Array {
	if s.top == "" {
		return nil
	}
	ids := make(pq.Int64Array, len(s.top)/idBytes)
	for i := range ids {
		ids[i] = int64(binary.BigEndian.Uint64([]byte(s.top[i*idBytes : (i+1)*idBytes])))
	}
	return ids
}

// To is the upper bound, exclusive, as a statement argument: the first lineage after the whole
// subtree. NULL for the zero Scope.
func (s Scope) To() pq.Int64Array {
	ids := s.From()
	if len(ids) > 0 {
		ids[len(ids)-1]++
	}
	return ids
}

// Scan reads a bigint[] column.
func (l *Lineage) Scan(src any) error { return (*pq.Int64Array)(l).Scan(src) }
