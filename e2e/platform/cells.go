package platform

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/config"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// Cells are a home with the demo data, and the cell of a region: each with a PostgreSQL of its own, Redis, documents and workers.
type Cells struct {
	Home, Cell *Platform
	// HomeServer and CellServer are their PostgreSQL servers.
	HomeServer, CellServer *devstack.Postgres
	// blobs is the store of documents of a cell that is not there yet.
	blobs string
}

// StartCells starts both. change may alter the cell's settings first.
func StartCells(t testing.TB, region string, change ...func(*config.Config)) *Cells {
	t.Helper()
	return startCells(t, region, nil, change)
}

// StartOneDoor starts both, with a key by which each passes on what the other has.
func StartOneDoor(t testing.TB, region string, change ...func(*config.Config)) *Cells {
	t.Helper()
	return startCells(t, region, oneKey(), change)
}

func startCells(t testing.TB, region string, keys [][]byte, change []func(*config.Config)) *Cells {
	t.Helper()
	return startHome(t, keys).Another(t, region, change...)
}

// StartAll starts both, as StartOneDoor does. change may alter the settings of both.
func StartAll(t testing.TB, region string, change ...func(*config.Config)) *Cells {
	t.Helper()
	return startHome(t, oneKey(), change...).Another(t, region, change...)
}

// oneKey is the key that all cells of a test share.
func oneKey() [][]byte { return [][]byte{bytes.Repeat([]byte{9}, 32)} }

func startHome(t testing.TB, keys [][]byte, change ...func(*config.Config)) *Cells {
	t.Helper()
	c := &Cells{HomeServer: startServer(t, "home", func(ctx context.Context, url string) error {
		return errors.Join(db.Migrate(ctx, url), fillDemo(ctx, t, url))
	})}
	c.Home = Start(t, append([]func(*config.Config){func(cfg *config.Config) { cfg.DatabaseURL, cfg.CellKeys = c.HomeServer.URL(), keys }}, change...)...)
	return c
}

// startServer starts the server of the home or of a region's cell, none of which shares its system identifier with another.
func startServer(t testing.TB, of string, fill func(ctx context.Context, url string) error) *devstack.Postgres {
	t.Helper()
	// What is committed is written, as it is where people work: a cell hears of it at once, not as a writer wakes that does so five times a second.
	return devtest.Server(t, devstack.PostgresOptions{Settings: map[string]string{"wal_level": "logical", "synchronous_commit": "on"}}, of, fill)
}

// Another starts the cell of another region of the same home.
func (c *Cells) Another(t testing.TB, region string, change ...func(*config.Config)) *Cells {
	t.Helper()
	c = &Cells{Home: c.Home, HomeServer: c.HomeServer, CellServer: startServer(t, region, db.Migrate)}
	c.join(t, region, (*db.Migrator).OpenCell)
	c.serve(t, region, change)
	return c
}

// StartSplit starts a home, and gives its region's companies a cell that they move into: Serve starts that, once they have.
func StartSplit(t testing.TB, region string, change ...func(*config.Config)) *Cells {
	t.Helper()
	c := startHome(t, oneKey(), change...)
	c.CellServer = startServer(t, region, db.Migrate)
	c.blobs = "file://" + t.TempDir()
	c.join(t, region, (*db.Migrator).OpenSplit)
	return c
}

// SplitInto are the settings of Split, beside the home's.
func (c *Cells) SplitInto(region string) []string {
	return []string{splitRegion + "=" + region, splitCell + "=" + c.CellServer.URL(), splitBlobs + "=" + c.blobs}
}

// Serve starts the cell: it waits until what its companies have has come.
func (c *Cells) Serve(t testing.TB, region string, change ...func(*config.Config)) {
	t.Helper()
	c.serve(t, region, append(change, func(cfg *config.Config) { cfg.BlobURL = c.blobs }))
}

func (c *Cells) join(t testing.TB, region string, open func(m *db.Migrator, ctx context.Context, region, address, role string) error) {
	t.Helper()
	on := func(url string, do func(*db.Migrator) error) {
		t.Helper()
		m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), url))
		defer func() { _ = m.Close() }()
		devtest.Check(t, do(m))
	}
	on(c.HomeServer.URL(), func(m *db.Migrator) error { return open(m, t.Context(), region, "http://cell.example", "") })
	devtest.Check(t, c.Home.App.Store.LookForCells(t.Context())) // as its processes do every half minute
	on(c.CellServer.URL(), func(m *db.Migrator) error {
		return m.JoinHome(t.Context(), region, c.HomeServer.URL(), func(int, int) {})
	})
}

func (c *Cells) serve(t testing.TB, region string, change []func(*config.Config)) {
	t.Helper()
	c.Cell = Start(t, append([]func(*config.Config){func(cfg *config.Config) {
		cfg.DatabaseURL, cfg.Region, cfg.HomeURL = c.CellServer.URL(), region, c.HomeServer.URL()
		cfg.PublicURL, cfg.CellKeys = c.Home.App.Config.PublicURL, c.Home.App.Config.CellKeys // tokens are of one issuer
	}}, change...)...)
	c.Cell.Demo = c.Home.Demo
	if len(c.Home.App.Config.CellKeys) > 0 {
		c.Home.SQL(`UPDATE cells SET address = $1 WHERE region_id = $2`, c.Cell.URL, c.Cell.App.Store.Cell().Number)
	}
}

// Follow waits until the cell knows what the home has done by now, as the home's pulse tells, which is counted up for it.
func (c *Cells) Follow(t testing.TB) {
	t.Helper()
	pulse := c.Home.Number(`UPDATE pulse SET n = n + 1, counted_at = now() RETURNING n`)
	for until := time.Now().Add(Patience); ; time.Sleep(time.Millisecond) {
		var there int64
		devtest.Check(t, c.Cell.DB.Get(&there, `SELECT n FROM pulse`))
		if there >= pulse {
			return
		}
		if time.Now().After(until) {
			t.Fatal("the cell does not hear of the home")
		}
	}
}

// Key makes an API key of somebody of a company at the home, and gives it once the cell knows it.
func (c *Cells) Key(t testing.TB, customer int64, email string) (id, secret string) {
	t.Helper()
	key, secret, err := c.Home.App.Resolver.OperatorCreateKey(t.Context(), customer, email, "cell")
	devtest.Check(t, err)
	devtest.Eventually(t, "the cell knows the key", func() bool {
		return c.Cell.Number(`SELECT count(*) FROM api_keys k JOIN api_key_secrets x ON x.api_key_id = k.id WHERE k.client_id = $1`, key.ClientID) > 0
	})
	return key.ClientID, secret
}

// Settings are those of the cell's own processes, beside what they share with all.
func (c *Cells) Settings() []string {
	cfg := c.Cell.App.Config
	return []string{"CANOPY_REGION=" + cfg.Region, "CANOPY_HOME_URL=" + cfg.HomeURL, "CANOPY_PUBLIC_URL=" + cfg.PublicURL.String()}
}
