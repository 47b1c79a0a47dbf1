package identity

import (
	"os"
	"strings"
	"testing"

	"canopy/internal/devstack/npmtest"
)

// TestScimClients has what directories are answered judged by libraries that others have written.
func TestScimClients(t *testing.T) {
	t.Parallel()
	project := npmtest.New(t, os.DirFS("testdata/scim"))
	d := newDirectory(t)
	out := project.Run("node", "scim.mjs", d.URL, d.token)
	if n := strings.Count(out, "ok "); n != 7 {
		t.Fatalf("%d of 7 checks:\n%s", n, out)
	}
}
