package operations

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// previousVariable names a build of an earlier commit: `make upgrade` makes one and sets it.
const previousVariable = "CANOPY_TEST_PREVIOUS"

// schemaOf is the version of the schema that an earlier program knows.
func schemaOf(t *testing.T, program string) int64 {
	t.Helper()
	file := filepath.Join(filepath.Dir(program), "schema")
	raw := devtest.Must[[]byte](t)(os.ReadFile(file))
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return n
}

// TestRollingUpgrade migrates beneath servers of an earlier program, replaces them by this one and goes back with one of them, under load.
func TestRollingUpgrade(t *testing.T) {
	previous := os.Getenv(previousVariable)
	if previous == "" {
		t.Skip("make upgrade builds the program of an earlier commit, and runs this")
	}
	s := platform.Start(t)
	token := s.Root()
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), s.App.Config.DatabaseURL))
	defer func() { _ = m.Close() }()
	version := func() int64 { return s.Number(`SELECT max(version_id) FROM goose_db_version WHERE is_applied`) }
	newest := version()
	known := schemaOf(t, previous)
	if oldest := s.Number(`SELECT version_id FROM goose_db_version WHERE is_applied ORDER BY id DESC LIMIT 1`); known < oldest || known > newest {
		t.Fatalf("the program of PREVIOUS knows the schema %d, and this one's serves those of %d to %d alone: from there on it is no rolling upgrade (docs/upgrade.md)", known, oldest, newest)
	}
	for version() > known {
		if _, err := m.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := func(address string) *platform.ProgramProcess {
		p := s.StartAnother(t, previous, "serve", serving(s, address)...)
		t.Cleanup(p.Kill)
		return p
	}
	now := func(address string) *platform.ProgramProcess { return server(t, s, address) }
	f := newFleet(t, before)
	f.under(t, token, 2_000, func() {
		f.more(t)
		if _, err := m.Up(t.Context()); err != nil {
			t.Error(err)
		}
		f.more(t)
		for i, one := range f.servers {
			if !one.ready.Load() {
				t.Errorf("%s is not ready on the new schema", one.address)
			}
			f.replace(t, i, now)
		}
		f.replace(t, 0, before)
		f.more(t)
	})
	if version() != newest {
		t.Errorf("the schema is at %d", version())
	}
}
