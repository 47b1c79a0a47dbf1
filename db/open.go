package db

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// The times that bound a statement. A statement of a request is over long before; the dialer's
// read deadline catches a connection whose other side has gone without a word, for the driver
// itself ignores the context there.
const (
	statementTimeout = 30 * time.Second
	readTimeout      = 45 * time.Second
	dialTimeout      = 5 * time.Second
)

// Options shape the connection pool.
type Options struct {
	// MaxConns bounds the pool; 0 stands for eight for each processor, at least 16.
	MaxConns int
}

// Connect opens a pool without looking at the schema.
func Connect(url string, o Options) (*sqlx.DB, error) {
	cfg, err := pq.NewConfig(url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	if cfg.Runtime == nil {
		cfg.Runtime = map[string]string{}
	}
	if _, set := cfg.Runtime["statement_timeout"]; !set {
		cfg.Runtime["statement_timeout"] = strconv.FormatInt(statementTimeout.Milliseconds(), 10)
	}
	if cfg.ApplicationName == "" {
		cfg.ApplicationName = "canopy"
	}
	connector, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	connector.Dialer(deadlineDialer{net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}})
	pool := sqlx.NewDb(sql.OpenDB(connector), "postgres")
	if o.MaxConns == 0 {
		o.MaxConns = max(16, 8*runtime.GOMAXPROCS(0))
	}
	pool.SetMaxOpenConns(o.MaxConns)
	pool.SetMaxIdleConns(o.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return pool, nil
}

// Open connects to a database of the schema that this program knows, and prepares its statements.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	pool, err := Connect(url, o)
	if err != nil {
		return nil, err
	}
	s := &Store{
		pool: pool, executed: new(atomic.Int64),
		// A list holds its connection at its client's pace; the others are for everybody else.
		streams: make(chan struct{}, max(2, pool.Stats().MaxOpenConnections/4)),
	}
	if err := checkSchema(ctx, pool); err != nil {
		return nil, closing(pool, err)
	}
	if s.prepared, err = prepareAll(ctx, pool); err != nil {
		return nil, closing(pool, translate(ctx, err))
	}
	return s, nil
}

// Ready tells whether the database answers with the schema that this program knows.
func (s *Store) Ready(ctx context.Context) error { return checkSchema(ctx, s.pool) }

func closing(pool *sqlx.DB, err error) error {
	_ = pool.Close()
	return err
}

type deadlineDialer struct{ net.Dialer }

func (d deadlineDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d deadlineDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

func (d deadlineDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &deadlineConn{Conn: c}, nil
}

// deadlineConn gives every read and write a deadline of its own.
type deadlineConn struct{ net.Conn }

func (c *deadlineConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c *deadlineConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(readTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
