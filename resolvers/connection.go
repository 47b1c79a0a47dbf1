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
	start, end      *paging.Cursor
}

// StartCursor is that of the first row; nil for an empty page.
func (p *PageInfo) StartCursor() *string { return opaque(p.start) }

// EndCursor is that of the last row; nil for an empty page.
func (p *PageInfo) EndCursor() *string { return opaque(p.end) }

func opaque(at *paging.Cursor) *string {
	if at == nil {
		return nil
	}
	s := at.String()
	return &s
}

// Edge is one row of a connection with its place.
type Edge[T any] struct {
	Node T
	at   paging.Cursor
}

// Cursor is the edge's place in its opaque form.
func (e *Edge[T]) Cursor() string { return e.at.String() }

// Connection is one page of a list.
type Connection[T any] struct {
	Edges    []Edge[T]
	PageInfo PageInfo
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
	c := &Connection[T]{count: total}
	rows, more := paging.Trim(p, rows)
	c.PageInfo.HasNextPage, c.PageInfo.HasPreviousPage = more, !p.IsOpen()
	if p.Backward {
		c.PageInfo.HasNextPage, c.PageInfo.HasPreviousPage = !p.IsOpen(), more
	}
	c.Edges = make([]Edge[T], len(rows))
	for i, r := range rows {
		c.Edges[i] = Edge[T]{Node: r, at: at(r)}
	}
	if n := len(c.Edges); n > 0 {
		c.PageInfo.start, c.PageInfo.end = &c.Edges[0].at, &c.Edges[n-1].at
	}
	return c
}

// Nodes gives the rows without their cursors.
func (c *Connection[T]) Nodes() []T {
	nodes := make([]T, len(c.Edges))
	for i := range c.Edges {
		nodes[i] = c.Edges[i].Node
	}
	return nodes
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
