package pgconn

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"time"

	"github.com/lib/pq"
)

// settled is how old a connection is before it is given up for refusing writes: while no server
// takes any, new connections would be refused as well, and the pool should not spin.
const settled = time.Second

// whole is what the driver's connections can do.
type whole interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection of the driver that keeps to the server's own idea of what a transaction may
// do, and is given up when that server turns out to take no writes: another may have taken over.
type conn struct {
	whole
	opened time.Time
	unfit  bool
	// kept has the connector's statements: nil until they are first run here.
	kept map[string]wholeStmt
	// latest has the statements that were put together, and run as Composed.
	latest latest
	// replayed is for who reads from a server that follows another.
	replayed int64
}

// BeginTx begins a transaction without saying whether it may write. The driver's own says READ
// WRITE, which a standby refuses, and which overrides default_transaction_read_only.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	begin := c.Begin // the one way to the driver's plain BEGIN
	if o != (driver.TxOptions{}) {
		// The driver would keep what watches ctx beyond the end of the transaction, and call it at the ends of plain ones, too.
		begin = func() (driver.Tx, error) { return c.whole.BeginTx(context.WithoutCancel(ctx), o) }
	}
	inner, err := begin()
	if err != nil {
		return nil, err
	}
	return &tx{inner, ctx, c}, nil
}

// CheckNamedValue makes an argument one that the driver knows. JSON goes as text, unlike other bytes; a moment in UTC, as the server knows no zones
// beyond 16 hours.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	switch x := v.Value.(type) {
	case json.RawMessage:
		if x != nil {
			v.Value = string(x)
			return nil
		}
	case time.Time:
		v.Value = x.UTC()
		return nil
	case *time.Time:
		if x != nil {
			v.Value = x.UTC()
			return nil
		}
	}
	return c.whole.CheckNamedValue(v)
}

// PrepareContext prepares a statement.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	inner, err := c.whole.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.judge(err)
	}
	if usual, ok := inner.(wholeStmt); ok {
		return &stmt{usual, c}, nil
	}
	return inner, nil // COPY, which takes rows in its own way
}

// ExecContext runs a statement.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	st, err := c.keep(ctx, query)
	if err != nil {
		return nil, c.judge(err)
	}
	if st != nil {
		result, err := st.ExecContext(ctx, args)
		return result, c.judge(err)
	}
	result, err := c.whole.ExecContext(ctx, query, args)
	return result, c.judge(err)
}

// QueryContext runs a query.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	st, err := c.keep(ctx, query)
	if err != nil {
		return nil, c.judge(err)
	}
	if st != nil {
		rows, err := st.QueryContext(ctx, args)
		return rows, c.judge(err)
	}
	rows, err := c.whole.QueryContext(ctx, query, args)
	return rows, c.judge(err)
}

// keep gives the statement that was prepared for a text, or prepares it; nil where the text is none of the
// connector's, and was not put together by it.
func (c *conn) keep(ctx context.Context, query string) (wholeStmt, error) {
	st, ours := c.kept[query]
	switch {
	case st != nil:
		return st, nil
	case !ours && isComposed(ctx):
		return c.latest.keep(query, func() (driver.Stmt, error) { return c.whole.PrepareContext(ctx, query) })
	case !ours:
		return nil, nil
	}
	inner, err := c.whole.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	st = inner.(wholeStmt)
	c.kept[query] = st
	return st, nil
}

// IsValid tells whether the pool should keep the connection.
func (c *conn) IsValid() bool { return !c.unfit && c.whole.IsValid() }

// judge looks at what a statement ended with, and passes it on.
func (c *conn) judge(err error) error {
	if err != nil && IsReadOnly(err) && time.Since(c.opened) > settled {
		c.unfit = true
	}
	return err
}

// IsReadOnly tells whether the server refused a statement because it takes no writes: it is a
// standby, or read-only by its settings.
func IsReadOnly(err error) bool {
	var e *pq.Error
	return errors.As(err, &e) && e.Code == "25006" // read_only_sql_transaction
}

type wholeStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	wholeStmt
	conn *conn
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.wholeStmt.ExecContext(ctx, args)
	return result, s.conn.judge(err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.wholeStmt.QueryContext(ctx, args)
	return rows, s.conn.judge(err)
}

// tx is a transaction whose connection is not used again once its context has ended: the request
// that cancels its statement may still be on its way, and would hit the next one.
type tx struct {
	driver.Tx
	ctx  context.Context // that of the transaction
	conn *conn
}

// Rollback ends the transaction, with its connection where the context has ended.
func (t *tx) Rollback() error {
	if t.ctx.Err() != nil {
		t.conn.unfit = true
		return driver.ErrBadConn
	}
	return t.Tx.Rollback()
}
