package jobs

import (
	"bytes"
	"log/slog"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/secret"
)

func TestMain(m *testing.M) { devtest.Main(m) }

// room is what the jobs need: a database of their own, and a key to seal with.
type room struct {
	store *db.Store
	box   *secret.Box
	url   string
	log   *slog.Logger
}

func newRoom(t *testing.T) *room {
	t.Helper()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	store, err := db.Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	box, err := secret.NewBox(bytes.Repeat([]byte{9}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return &room{store, box, url, slog.New(slog.DiscardHandler)}
}

// sql changes the database past the store, to let time go by.
func (r *room) sql(t *testing.T, statement string, args ...any) {
	t.Helper()
	c, err := db.Connect(r.url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}

// number reads one number of the database.
func (r *room) number(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	c, err := db.Connect(r.url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
