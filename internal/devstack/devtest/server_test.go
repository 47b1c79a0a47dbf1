package devtest

import (
	"context"
	"sync/atomic"
	"testing"

	"canopy/internal/devstack"
)

func TestServersAreApart(t *testing.T) {
	var filled atomic.Int32
	server := func(fingerprint string) string {
		return Server(t, devstack.PostgresOptions{}, fingerprint, func(ctx context.Context, url string) error {
			filled.Add(1)
			return fill(ctx, url)
		}).URL()
	}
	first, second, stranger := server("one"), server("one"), server("other")
	if n := filled.Load(); n != 2 {
		t.Errorf("servers of two kinds were filled %d times", n)
	}
	Check(t, run(t.Context(), first, `DELETE FROM things`))
	identifiers := map[string]bool{}
	for url, want := range map[string]int{first: 0, second: 1, stranger: 1} {
		pool := open(t, url)
		var n int
		var identifier string
		Check(t, pool.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM things), system_identifier FROM pg_control_system()`).Scan(&n, &identifier))
		Check(t, pool.Close())
		if n != want {
			t.Errorf("%d things, not %d", n, want)
		}
		identifiers[identifier] = true
	}
	if len(identifiers) != 2 {
		t.Errorf("servers of two kinds have the identifiers %v", identifiers)
	}
}
