package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/lib/pq"

	"canopy/internal/pgconn"
	"canopy/internal/problem"
)

// ErrNoRows says that no row within the scope answers.
var ErrNoRows = errors.New("no such row in scope")

// ErrAway says that the database is away, or gave up on the statement for a cause that passes: it is
// worth another try. The error is a *problem.Error at the same time.
var ErrAway = errors.New("the database is away")

// ErrBusy says that what the transaction needed was held by another, and that it gave way. It is an ErrAway.
var ErrBusy = errors.New("others hold what is needed")

// ErrReplica says that a replica was lost when it had given some rows already. It is an ErrAway: the primary has the answer.
var ErrReplica = errors.New("a replica was lost")

// ErrReadOnly says that the database takes no writes: it is a standby, or read-only by its settings.
var ErrReadOnly = errors.New("the database is read-only")

// errUnstorable says that a text holds what PostgreSQL stores in none.
var errUnstorable = errors.New("a text can't be stored")

// IsUnstorable tells whether a statement was refused for a text with a NUL byte or in an invalid
// encoding: it will be, however often it is tried.
func IsUnstorable(err error) bool { return errors.Is(err, errUnstorable) }

// away is what callers hear of such a failure.
func away(cause error) error {
	return problem.Away("the database", fmt.Errorf("%w: %w", ErrAway, cause))
}

// busy is what they hear where others were in the way for too long.
func busy(cause error) error {
	p := problem.Away("the database", fmt.Errorf("%w: %w: %w", ErrAway, ErrBusy, cause))
	p.Detail = "others are changing what is to be changed: try again"
	return p
}

// readOnly is what they hear of a write where none is taken: it passes, as one server takes over
// from another.
func readOnly(cause error) error {
	p := problem.Away("the database", fmt.Errorf("%w: %w: %w", ErrAway, ErrReadOnly, cause))
	p.Detail = "the database takes no changes at the moment"
	return p
}

// moving is what they hear of a write to what is on its way into a cell.
func moving(cause *pq.Error) error {
	p := problem.Away("the database", fmt.Errorf("%w: %w: %w", ErrAway, ErrBusy, cause)).With("moving")
	p.Detail = "what companies of the region " + cause.Detail + " have moves into its cell and takes no changes until it is there: try again"
	p.RetryAfter = 5 * time.Second
	return p
}

// Refused tells whether the server refused what a transaction was to write, or a statement found no row, so that surely nothing of it is there:
// unlike with a connection that was lost, perhaps while it was committed.
func Refused(err error) bool {
	var said *pq.Error
	var full *LimitReached
	if errors.Is(err, ErrAway) && !errors.Is(err, ErrBusy) {
		return false
	}
	return errors.As(err, &said) || errors.As(err, &full) || errors.Is(err, ErrNoRows)
}

func ignoreNoRows(err error) error {
	if errors.Is(err, ErrNoRows) {
		return nil
	}
	return err
}

// Conflict says that a constraint of the schema refused a write. SQLSTATEs do not leave this
// package; the constraint's name does.
type Conflict struct {
	Constraint string
	cause      error
}

func (e *Conflict) Error() string { return fmt.Sprintf("constraint %s: %v", e.Constraint, e.cause) }
func (e *Conflict) Unwrap() error { return e.cause }

// Violates tells whether err is the refusal of the named constraint or unique index.
func Violates(err error, constraint string) bool {
	var c *Conflict
	return errors.As(err, &c) && c.Constraint == constraint
}

// translate maps what the driver says to the package's errors: no rows, a refused write, a
// cancelled request, a database that is away.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoRows
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		return fmt.Errorf("%w: %w", ctxErr, err)
	}
	var p *problem.Error
	if errors.As(err, &p) {
		return err
	}
	if errors.Is(err, pgconn.ErrConnect) || isConnectionLoss(err) {
		return away(err)
	}
	if pgconn.IsReadOnly(err) {
		return readOnly(err)
	}
	var pe *pq.Error
	if errors.As(err, &pe) {
		return translateState(pe)
	}
	return err
}

// translateState sorts by SQLSTATE (PostgreSQL documentation, appendix A).
func translateState(e *pq.Error) error {
	state := string(e.Code)
	switch {
	case state == "23505", state == "23503", state == "23001", state == "23514", state == "23P01", state == "23502": // 23001 is what 23503 was before PostgreSQL 18, for what may not be deleted
		return &Conflict{Constraint: e.Constraint, cause: e}
	case state == limitReached:
		return reached(e)
	case state == writtenAtHome:
		return atHome(e)
	case state == writtenElsewhere:
		return problem.Elsewhere(e.Detail, e.Hint)
	case state == inSplit:
		return moving(e)
	case state == "40001", state == "40P01", state == "55P03":
		return busy(e)
	case strings.HasPrefix(state, "08"), strings.HasPrefix(state, "57P"), state == "53300", state == "57014":
		return away(e)
	case state == "22021", state == "22P05":
		return problem.Bad("text with a NUL byte or in an invalid encoding can't be stored").Because(fmt.Errorf("%w: %w", errUnstorable, e))
	}
	return fmt.Errorf("postgres %s: %w", state, e)
}

func isConnectionLoss(err error) bool {
	var netErr net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || errors.As(err, &netErr)
}
