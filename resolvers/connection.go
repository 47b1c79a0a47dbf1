package resolvers

import (
	"context"
	"sync"

	"canopy/db"
	"canopy/internal/paging"
)

// PageInfo is the Relay type of that name.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
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
	total    func(context.Context) (int, error)
}

// newConnection makes a page of rows that were read with one more than asked for, which tells
// whether there are more. total counts the whole list, when it is asked for.
func newConnection[T any](p paging.Page, rows []T, at func(T) paging.Cursor, total func(context.Context) (int, error)) *Connection[T] {
	c := &Connection[T]{total: once(total)}
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
		start, end := c.Edges[0].Cursor(), c.Edges[n-1].Cursor()
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &start, &end
	}
	return c
}

// once remembers what a count gave, which may be asked for twice.
func once(total func(context.Context) (int, error)) func(context.Context) (int, error) {
	var asked sync.Once
	var n int
	var err error
	return func(ctx context.Context) (int, error) {
		asked.Do(func() { n, err = total(ctx) })
		return n, err
	}
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
	n, err := c.total(ctx)
	return min(n, db.MaxCount), err
}

// TotalCountCapped tells whether the list is longer than it is counted.
func (c *Connection[T]) TotalCountCapped(ctx context.Context) (bool, error) {
	n, err := c.total(ctx)
	return n > db.MaxCount, err
}
