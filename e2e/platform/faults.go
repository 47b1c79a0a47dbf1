package platform

import (
	"context"
	"testing"

	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// OwnPostgres starts a server with the demo data that the test may stop.
func OwnPostgres(t *testing.T) *devstack.Postgres {
	t.Helper()
	return devtest.Server(t, devstack.PostgresOptions{Durable: true}, "numbered", func(ctx context.Context, url string) error {
		return fillNumbered(ctx, t, url)
	})
}
