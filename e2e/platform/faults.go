package platform

import (
	"log/slog"
	"testing"

	"canopy/internal/devstack"
)

// OwnPostgres starts a server with the demo data that the test may stop.
func OwnPostgres(t *testing.T) *devstack.Postgres {
	t.Helper()
	p, err := devstack.StartPostgres(t.Context(), devstack.PostgresOptions{Dir: t.TempDir(), Durable: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Remove)
	if err := fillNumbered(t.Context(), t, p.URL()); err != nil {
		t.Fatal(err)
	}
	return p
}
