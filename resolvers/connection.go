package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/paging"
)

// PageInfo is the Relay type of that name.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	// start and end are the places of the first row and of the last one; nil for an empty page.
	start, end func() paging.Cursor
}

// StartCursor is that of the first row; nil for an empty page.
func (p *PageInfo) StartCursor() *string { return opaque(p.start) }

// EndCursor is that of the last row; nil for an empty page.
func (p *PageInfo) EndCursor() *string { return opaque(p.end) }

func opaque(at func() paging.Cursor) *string {
	if at == nil {
		return nil
	}
	s := at().String()
	return &s
}

// Edge is one row of a connection with its place.
type Edge[T any] struct {
	Node T
	at   func(T) paging.Cursor
}

// Cursor is the edge's place in its opaque form.
func (e *Edge[T]) Cursor() string { return e.at(e.Node).String() }

// Connection is one page of a list. Most callers ask for its rows alone, so that places are made when they are asked for.
type Connection[T any] struct {
	rows           []T
	at             func(T) paging.Cursor
	next, previous bool
	// count counts the whole list, and is nil once it has: it may be asked for twice, one after the other.
	count  func(context.Context) (int, error)
	total  int
	failed error
}

func (c *Connection[T]) whole(ctx context.Context) (int, error) {
	if c.count != nil {
		c.total, c.failed = c.count(ctx)
		c.count = nil
	}
	return c.total, c.failed
}

// newConnection makes a page of rows that were read with one more than asked for, which tells
// whether there are more. total counts the whole list, when it is asked for.
func newConnection[T any](p paging.Page, rows []T, at func(T) paging.Cursor, total func(context.Context) (int, error)) *Connection[T] {
	rows, more := paging.Trim(p, rows)
	c := &Connection[T]{rows: rows, at: at, next: more, previous: !p.IsOpen(), count: total}
	if p.Backward {
		c.next, c.previous = !p.IsOpen(), more
	}
	return c
}

// Nodes gives the rows without their cursors.
func (c *Connection[T]) Nodes() []T { return c.rows }

// Edges gives the rows with their cursors.
func (c *Connection[T]) Edges() []Edge[T] {
	edges := make([]Edge[T], len(c.rows))
	for i, r := range c.rows {
		edges[i] = Edge[T]{Node: r, at: c.at}
	}
	return edges
}

// PageInfo tells where the page begins and ends, and whether there are rows beyond.
func (c *Connection[T]) PageInfo() *PageInfo {
	p := &PageInfo{HasNextPage: c.next, HasPreviousPage: c.previous}
	if n := len(c.rows); n > 0 {
		p.start = func() paging.Cursor { return c.at(c.rows[0]) }
		p.end = func() paging.Cursor { return c.at(c.rows[n-1]) }
	}
	return p
}

// TotalCount counts the whole list, up to db.MaxCount.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) {
	n, err := c.whole(ctx)
	return min(n, db.MaxCount), err
}

// TotalCountCapped tells whether the list is longer than it is counted.
func (c *Connection[T]) TotalCountCapped(ctx context.Context) (bool, error) {
	n, err := c.whole(ctx)
	return n > db.MaxCount, err
}
