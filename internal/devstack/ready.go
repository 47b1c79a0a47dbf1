package devstack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

// The SQLSTATE invalid_catalog_name, and the class of invalid_authorization_specification.
const (
	unknownDatabase      = "3D000"
	invalidAuthorization = "28"
)

// noSocket is what the server says of a port that somebody else has, if only for a moment, as whoever looks for a free one.
const noSocket = "could not create any TCP/IP sockets"

// ready waits until the server answers queries on the superuser's database.
func (p *Postgres) ready(ctx context.Context) error {
	var last error
	answered := poll(ctx, func() bool {
		if !p.proc.running() {
			return true
		}
		last = p.ask(ctx)
		return last == nil || refused(last)
	})
	switch {
	case !p.proc.running() && (!portFree(p.port) || strings.Contains(tail(p.logPath()), noSocket)):
		return errPortTaken
	case !p.proc.running():
		return fmt.Errorf("PostgreSQL did not start: %s (log: %s)", tail(p.logPath()), p.logPath())
	case refused(last):
		return fmt.Errorf("PostgreSQL does not take the password kept in %s: %w", p.options.Dir, last)
	case !answered:
		return fmt.Errorf("PostgreSQL did not answer in time: %w", errors.Join(ctx.Err(), last))
	}
	return nil
}

// refused tells whether the server answered, and will not take our word however often it is asked.
func refused(err error) bool {
	var e *pq.Error
	return errors.As(err, &e) && e.Code.Class() == invalidAuthorization
}

// ask connects, and makes the database where the cluster is new.
func (p *Postgres) ask(ctx context.Context) error {
	err := ping(ctx, p.url(superuser), "")
	var e *pq.Error
	if errors.As(err, &e) && e.Code == unknownDatabase {
		return ping(ctx, p.url("postgres"), "CREATE DATABASE "+superuser)
	}
	return err
}

// ping connects once, and runs a statement if there is one.
func ping(ctx context.Context, url, statement string) error {
	connector, err := pq.NewConnector(url)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer func() { _ = pool.Close() }()
	if statement == "" {
		return pool.PingContext(ctx)
	}
	_, err = pool.ExecContext(ctx, statement)
	return err
}
