// Package pgconn opens connections to PostgreSQL: to one server or the one of several that takes
// writes, directly or through a pooler.
//
// The start of a connection asks for nothing that a pooler's default settings refuse. What the URL
// sets of the server's parameters is set by statements, once the connection stands.
package pgconn

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
)

// The times that bound a statement. A statement of a request is over long before; the dialer's
// read deadline catches a connection whose other side has gone without a word, for the driver
// itself ignores the context there.
const (
	statementTimeout = 30 * time.Second
	readTimeout      = 45 * time.Second
	dialTimeout      = 5 * time.Second
	// openTimeout is how long a server may take to let a connection in, where the URL has no connect_timeout: the next one of several is asked then.
	openTimeout = 15 * time.Second
	keepAlive   = 15 * time.Second
)

// ErrConnect says that no connection could be opened: nobody answered, or no server that was asked
// let the platform in or takes writes.
var ErrConnect = errors.New("no connection to PostgreSQL")

// Connector opens connections, for sql.OpenDB.
type Connector struct {
	pq *pq.Connector
	// begin is what each connection is told first.
	begin string
	kept  []string
}

// New reads a URL as Parse does. A connection prepares each of the statements when it first runs it, and keeps it
// for as long as it lives.
func New(url string, statements ...string) (*Connector, error) {
	return Within(url, readTimeout, statements...)
}

// Within is New for a server that is given up where it says nothing for a time while it is asked.
func Within(url string, wait time.Duration, statements ...string) (*Connector, error) {
	cfg, err := Parse(url)
	if err != nil {
		return nil, err
	}
	bounds := map[string]string{"statement_timeout": milliseconds(statementTimeout)}
	maps.Copy(bounds, byKey)
	return open(cfg, wait, bounds, statements)
}

// byKey has rows found by keys, one by one. A plan that is made while a table is empty is kept when it has thousands of rows: it must not read
// all of them for each one that it looks for. What no index serves is read whole all the same.
var byKey = map[string]string{"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off"}

// Planning is New for statements that are planned for the values at hand, each time, and are not kept.
func Planning(url string) (*Connector, error) {
	cfg, err := Parse(url)
	if err != nil {
		return nil, err
	}
	return open(cfg, readTimeout, map[string]string{"statement_timeout": milliseconds(statementTimeout), "plan_cache_mode": "force_custom_plan"}, nil)
}

// Patient is New for work that takes as long as it takes, whatever the URL says of that. A statement waits for what others have locked no
// longer than lockWait, or what the URL says, and fails then: SQLSTATE 55P03.
func Patient(url string, lockWait time.Duration) (*Connector, error) {
	cfg, err := Parse(url)
	if err != nil {
		return nil, err
	}
	delete(cfg.Runtime, "statement_timeout")
	return open(cfg, 0, map[string]string{"statement_timeout": "0", "lock_timeout": milliseconds(lockWait)}, nil)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// open makes a connector whose connections wait for an answer for a time, or forever where it is 0.
func open(cfg pq.Config, wait time.Duration, bounds map[string]string, statements []string) (*Connector, error) {
	settings := map[string]string{
		// What is asked for is found by indexes; whatever reads a whole table has one processor for it, and no more.
		"max_parallel_workers_per_gather": "0",
		// A page of a list is read by the index that has its order, and not by another that begins alike and gives all
		// that is to be ordered, piece by piece.
		"enable_incremental_sort": "off",
		// Pages that are not in memory are on a disk without a head that moves: the default of 4 has small tables read whole.
		"random_page_cost": "1.1",
		// Statements are written for one plan that serves all values (TestPlans), so none is planned anew for each.
		"plan_cache_mode": "force_generic_plan",
		// No statement runs for as long as it would take to compile it.
		"jit": "off",
	}
	maps.Copy(settings, bounds)
	maps.Copy(settings, cfg.Runtime)
	cfg.Runtime = nil
	if cfg.ApplicationName == "" {
		cfg.ApplicationName = "canopy"
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, openTimeout)
	// Bytes go as they are, and not as text of twice their length that the server reads back: what is bytes here is a bytea there, or what the
	// server has in the same form.
	cfg.BinaryParameters = true
	inner, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, err
	}
	inner.Dialer(deadlineDialer{net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}, wait})
	return &Connector{pq: inner, begin: setAll(settings), kept: statements}, nil
}

// setAll is the statements that set these parameters for the session.
func setAll(settings map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "SET %s = %s;", name, pq.QuoteLiteral(settings[name]))
	}
	return b.String()
}

// Connect opens a connection. Its errors are ErrConnect, but for the context's.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.open(ctx)
	switch {
	case err == nil:
		return opened, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, pq.ErrSSLNotSupported): // what URLs without sslmode ask for
		err = errors.New("the server has no TLS; where the way to it is safe without, add sslmode=disable to the URL")
	}
	return nil, fmt.Errorf("%w: %w", ErrConnect, err)
}

func (c *Connector) open(ctx context.Context) (driver.Conn, error) {
	o := &opening{}
	stop := context.AfterFunc(ctx, o.end)
	defer stop()
	opened, err := c.pq.Connect(context.WithValue(ctx, openingKey{}, o))
	if err != nil {
		return nil, err
	}
	inner := opened.(whole)
	if _, err := inner.ExecContext(ctx, c.begin, nil); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	if !stop() {
		return nil, errors.Join(context.Cause(ctx), inner.Close())
	}
	kept := make(map[string]wholeStmt, len(c.kept))
	for _, text := range c.kept {
		kept[text] = nil
	}
	return &conn{whole: inner, opened: time.Now(), kept: kept}, nil
}

// Driver is the driver beneath.
func (c *Connector) Driver() driver.Driver { return c.pq.Driver() }
