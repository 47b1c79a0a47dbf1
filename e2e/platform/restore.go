package platform

import (
	"context"
	"os/exec"
	"testing"

	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// PostgresProgram runs one of PostgreSQL's programs.
func PostgresProgram(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := devstack.Program(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", name, err, said)
	}
}

// Restored puts a dump of the platform's database into another one, and gives its URL. It knows the demo key, which tests find in a comment.
func (s *Platform) Restored(t *testing.T, dump string) (url string) {
	t.Helper()
	url = devtest.Database(t, "nothing", func(context.Context, string) error { return nil })
	PostgresProgram(t, "pg_restore", "--no-owner", "--exit-on-error", "--dbname="+url, dump)
	var comment string
	s.Look(&comment, `SELECT quote_literal(obj_description('public'::regnamespace, 'pg_namespace'))`)
	PostgresProgram(t, "psql", "--quiet", "--dbname="+url, "--command=COMMENT ON SCHEMA public IS "+comment)
	return url
}
