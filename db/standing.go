package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/problem"
)

var qPlace = prepare(`
	SELECT lineage, COALESCE((SELECT o.moves <> $3 FROM customers o WHERE o.id = $2), false) AS moved FROM customers WHERE id = $1`)

// errMoved says that the company of a scope, or one above it, was moved while something was asked for in the scope.
var errMoved = errors.New("the company of the scope was moved")

// ErrNotThere is the ErrNoRows of a scope of which it was looked afterwards that it stands: nobody has to look again.
var ErrNotThere = fmt.Errorf("%w, which stands", ErrNoRows)

// moves tells whether the company of a scope can be moved: all but the root can.
func moves(scope access.Scope) bool { return len(scope.From()) > 1 }

// Stands tells whether the company of a scope is where it was when the scope was looked up, and the caller's has been there all the time. What was not found in the
// scope says nothing where it is not: the error is worth another try, which begins with the new place.
func (s *Store) Stands(ctx context.Context, scope access.Scope) error {
	if !moves(scope) {
		return nil
	}
	from := scope.From()
	id := from[len(from)-1]
	var now struct {
		Lineage pq.Int64Array `db:"lineage"`
		Moved   bool          `db:"moved"` // there may be the caller's company again
	}
	of := access.PrincipalOf(ctx)
	if of == nil || len(of.Lineage) > len(from) || !slices.Equal(of.Lineage, access.Lineage(from[:len(of.Lineage)])) {
		of = &access.Principal{} // the scope is of a caller who was looked up since, at another place
	}
	if err := s.get(Alone(ctx), &now, qPlace, id, of.CustomerID, of.Moves); err != nil || slices.Equal(now.Lineage, from) && !now.Moved {
		return ignoreNoRows(err)
	}
	p := problem.Away("the company", fmt.Errorf("%w: %w", ErrAway, errMoved)).With("moved")
	p.Detail = fmt.Sprintf("the company %d, or one above it, was moved meanwhile: try again", id)
	return p
}

// findWithin reads a page of a list within a scope. A page that was read at one moment, and has any row, is whole; of another one the list may have been cut off by a move.
func findWithin[V any, R member[V]](ctx context.Context, s *Store, scope access.Scope, l *List, a Ask, w ways) ([]*V, error) {
	rows, err := find[V, R](ctx, s, l, a, w, scope.From(), scope.To())
	if err == nil && (len(rows) == 0 || len(rows) <= a.Page.Size && a.inSteps()) {
		err = s.Stands(ctx, scope)
	}
	return rows, err
}

// inSteps tells whether several statements may find a page, as in an order of several fields.
func (a Ask) inSteps() bool { return strings.Contains(a.order, ",") }

// countWithin counts the rows of a list within a scope, as far as lists are counted.
func countWithin(ctx context.Context, s *Store, scope access.Scope, l *List, a Ask, w ways) (int, error) {
	n, err := countOf(ctx, s, l, a.counted(), w, scope.From(), scope.To())
	if err == nil && n == 0 {
		err = s.Stands(ctx, scope)
	}
	return n, err
}
