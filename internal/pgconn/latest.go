package pgconn

import (
	"context"
	"database/sql/driver"
	"slices"
)

// mostComposed is how many of the statements that are put together a connection keeps prepared.
const mostComposed = 100

type composedKey struct{}

// Composed marks a statement that was put together for what is asked, out of parts of which there are only so many
// combinations: a connection keeps the latest of these prepared. The values must be arguments.
func Composed(ctx context.Context) context.Context {
	return context.WithValue(ctx, composedKey{}, true)
}

func isComposed(ctx context.Context) bool { return ctx.Value(composedKey{}) != nil }

// latest are the statements that were used last, the latest at the end.
type latest struct{ list []composed }

type composed struct {
	query string
	st    wholeStmt
}

// keep gives the statement of a text, which is prepared unless it is at hand. The one that was not used for the longest
// time makes room.
func (l *latest) keep(query string, prepare func() (driver.Stmt, error)) (wholeStmt, error) {
	if i := slices.IndexFunc(l.list, func(c composed) bool { return c.query == query }); i >= 0 {
		found := l.list[i]
		l.list = append(slices.Delete(l.list, i, i+1), found)
		return found.st, nil
	}
	if len(l.list) == mostComposed {
		oldest := l.list[0].st
		l.list = slices.Delete(l.list, 0, 1)
		if err := oldest.Close(); err != nil {
			return nil, err
		}
	}
	inner, err := prepare()
	if err != nil {
		return nil, err
	}
	st := inner.(wholeStmt)
	l.list = append(l.list, composed{query, st})
	return st, nil
}
