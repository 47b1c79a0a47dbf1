// Package client tries the client in TypeScript against a running platform, as programs and as pages use it.
package client

import (
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
)

// TestTypescriptClients runs the client's own tests, in Node.js.
func TestTypescriptClients(t *testing.T) {
	t.Parallel()
	project := npmtest.Client(t, "../..").Folder("clients/typescript")
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	s.SetUp("greta@alpine.example")
	s.Must(200, "POST", "/permission", s.Root(), map[string]any{
		"appAccountId": s.Account(hydro, "tenant"), "appRoleId": s.RoleID(hydro, "tenant", "Viewer"), "userIdentityId": s.UserID("greta@alpine.example"),
	})
	s.NoDemoMails()
	s.Work(nil)
	for name, value := range map[string]string{
		"CANOPY_URL": serve(t, s), "CANOPY_CLIENT_ID": s.Demo.ClientID, "CANOPY_CLIENT_SECRET": s.Demo.ClientSecret,
		"CANOPY_EMAIL": "greta@alpine.example", "CANOPY_PASSWORD": platform.NewPassword,
		"CANOPY_CUSTOMER": platform.Decimal(s.Customer("Alpine Energy")), "CANOPY_OTHER_CUSTOMER": platform.Decimal(hydro),
	} {
		project.Set(name, value)
	}
	out := project.Run("npm", "test")
	if !strings.Contains(out, "\n# fail 0\n") || strings.Contains(out, "\n# pass 0\n") {
		t.Errorf("the tests say:\n%s", out)
	}
}
