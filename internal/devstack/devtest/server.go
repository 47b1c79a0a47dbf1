package devtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"canopy/internal/devstack"
)

// serverTemplates are the servers that fill has filled and that others are copied from, by their fingerprints.
var serverTemplates struct {
	sync.Mutex
	of map[string]*serverTemplate
}

type serverTemplate struct {
	sync.Once
	postgres *devstack.Postgres
	err      error
}

// Server gives a PostgreSQL server of the test's own, with what Database's fill makes: in the superuser's database of a server, whose data are
// copied once it has ended. It is filled once for all tests of this binary that give the same fingerprint. They have PostgreSQL's system identifier
// in common, by which it tells whose log it reads: servers that are to be strangers want fingerprints of their own.
func Server(t testing.TB, o devstack.PostgresOptions, fingerprint string, fill func(ctx context.Context, url string) error) *devstack.Postgres {
	t.Helper()
	template := templateOf(fingerprint)
	template.Do(func() { template.postgres, template.err = filled(context.Background(), fill) })
	if template.postgres == nil {
		t.Fatalf("the template server: %v", template.err)
	}
	o.Dir = serverFolder(t)
	p := Must[*devstack.Postgres](t)(template.postgres.StartCopy(context.WithoutCancel(t.Context()), o))
	t.Cleanup(p.Remove)
	return p
}

// Standby gives a standby of a server.
func Standby(t testing.TB, primary *devstack.Postgres) *devstack.Postgres {
	t.Helper()
	standby := Must[*devstack.Postgres](t)(primary.StartStandby(t.Context(), serverFolder(t)))
	t.Cleanup(standby.Remove)
	return standby
}

// serverFolder is a folder for a server's data, which ends with the test.
func serverFolder(t testing.TB) string {
	t.Helper()
	dir := Must[string](t)(devstack.TemporaryFolder())
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func templateOf(fingerprint string) *serverTemplate {
	serverTemplates.Lock()
	defer serverTemplates.Unlock()
	if serverTemplates.of == nil {
		serverTemplates.of = map[string]*serverTemplate{}
	}
	if serverTemplates.of[fingerprint] == nil {
		serverTemplates.of[fingerprint] = &serverTemplate{}
	}
	return serverTemplates.of[fingerprint]
}

// filled makes a server, fills it and ends it. Its log is kept short: that is copied, too.
func filled(ctx context.Context, fill func(ctx context.Context, url string) error) (*devstack.Postgres, error) {
	dir, err := devstack.TemporaryFolder()
	if err != nil {
		return nil, err
	}
	p, err := devstack.StartPostgres(ctx, devstack.PostgresOptions{Dir: dir, Settings: map[string]string{"max_wal_size": "32MB", "min_wal_size": "32MB"}})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if err := fill(ctx, p.URL()); err != nil {
		p.Remove()
		return nil, fmt.Errorf("fill it: %w", err)
	}
	p.Stop(ctx)
	return p, nil
}

// removeServerTemplates removes what no test needs any more.
func removeServerTemplates() {
	serverTemplates.Lock()
	defer serverTemplates.Unlock()
	for _, template := range serverTemplates.of {
		if template.postgres != nil {
			template.postgres.Remove()
		}
	}
	serverTemplates.of = nil
}
