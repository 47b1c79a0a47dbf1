package cluster

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"net/url"
	"os"

	"github.com/lib/pq"

	"canopy/internal/devstack"
)

// asked does something with a database.
func asked(at string, do func(*sql.DB) error) error {
	connector, err := pq.NewConnector(at)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer func() { _ = pool.Close() }()
	return do(pool)
}

// number is what a question gives.
func number(ctx context.Context, at, question string, args ...any) (n int64, err error) {
	err = asked(at, func(pool *sql.DB) error { return pool.QueryRowContext(ctx, question, args...).Scan(&n) })
	return n, err
}

// execute runs statements on a database, one after the other.
func execute(ctx context.Context, at string, statements ...string) error {
	return asked(at, func(pool *sql.DB) error {
		for _, s := range statements {
			if _, err := pool.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// settings are those of the program: what is the cell's own, what all cells share, and what the options say.
func (c *Cluster) settings(shared []string) error {
	direct, err := together(c.Primary.URL(), c.Standby.URL())
	if err != nil {
		return err
	}
	c.env = append(os.Environ(), "DATABASE_URL="+c.pooled, "CANOPY_DATABASE_READ_URL="+direct, "REDIS_URL="+c.redis.URL,
		"CANOPY_BLOB_URL="+c.s3URL, "AWS_ACCESS_KEY_ID=canopy", "AWS_SECRET_ACCESS_KEY=canopy", "CANOPY_TRUSTED_PROXIES=127.0.0.0/8", "CANOPY_DB_MAX_CONNS=16")
	c.env = append(append(c.env, shared...), c.o.Env...)
	return nil
}

// past is the setting that leads a command past the poolers, which share connections between transactions.
func (c *Cluster) past() []string { return []string{"DATABASE_URL=" + c.Leader().URL()} }

// found makes the home's database with the first company, and lets the region have its cell.
func (c *Cluster) found(ctx context.Context) error {
	key := func() string {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails, by its documentation
		return base64.StdEncoding.EncodeToString(b)
	}
	c.shared = []string{"CANOPY_PUBLIC_URL=http://" + c.at.way, "CANOPY_SECRET_KEY=" + key()}
	if c.Cell != nil {
		c.shared = append(c.shared, "CANOPY_CELL_KEY="+key())
	}
	if err := c.settings(c.shared); err != nil {
		return err
	}
	if _, err := c.canopy("migrate", c.past(), "migrate", "up").Run(ctx); err != nil {
		return err
	}
	var err error
	if c.Key, err = c.canopy("bootstrap", nil, "bootstrap", "--company", "Example", "--email", "admin@example.com").Run(ctx); err != nil || c.Cell == nil {
		return err
	}
	c.Cell.comesBy = url.UserPassword("cell", rand.Text())
	password, _ := c.Cell.comesBy.Password()
	if err := execute(ctx, c.Primary.URL(), "CREATE ROLE cell LOGIN REPLICATION PASSWORD "+pq.QuoteLiteral(password)); err != nil {
		return err
	}
	_, err = c.canopy("region", c.past(), "region", "open", c.o.Region, "http://"+c.Cell.at.way, "--role", "cell").Run(ctx)
	return err
}

// join makes the database that of the region's cell, which follows the home.
func (c *Cluster) join(ctx context.Context, home *Cluster) error {
	first, err := c.wayTo(home.Primary)
	if err != nil {
		return err
	}
	second, err := c.wayTo(home.Standby)
	if err != nil {
		return err
	}
	both, err := together(first, second)
	if err != nil {
		return err
	}
	c.region = home.o.Region
	follows := []string{"CANOPY_REGION=" + c.region, "CANOPY_HOME_URL=" + both}
	if err := c.settings(append(follows, home.shared...)); err != nil {
		return err
	}
	_, err = c.canopy("region", c.past(), "region", "join", c.region).Run(ctx)
	return err
}

// wayTo is the URL by which the cell comes to a server of the home.
func (c *Cluster) wayTo(server *devstack.Postgres) (string, error) {
	at, err := url.Parse(server.URL())
	if err != nil {
		return "", err
	}
	at.User = c.comesBy
	if way := c.o.Way; way != nil {
		at.Host, err = way(at.Host)
	}
	return at.String(), err
}

// JoinAnew has a cell follow the home again that has failed over, and gives what the program prints of the differences, as JSON. A dry run changes nothing.
func (c *Cluster) JoinAnew(ctx context.Context, dryRun bool) (string, error) {
	args := []string{"region", "join", c.region, "--anew", "--json"}
	if dryRun {
		args = append(args, "--dry-run")
	}
	return c.canopy("region", c.past(), args...).Run(ctx)
}
