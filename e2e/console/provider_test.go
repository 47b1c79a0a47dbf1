package console

import (
	"os"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/npmtest"
)

// TestProviderPageClients sets oidc-provider up in a browser, and signs in and out at it.
func TestProviderPageClients(t *testing.T) {
	t.Parallel()
	project := npmtest.New(t, os.DirFS("../identity/testdata/provider"))
	s := platform.Start(t, platform.DeliverLocally(t), func(c *config.Config) { c.PublicURL.Host = platform.Localhost(c.PublicURL.Host) })
	s.SetUp("greta@alpine.example")
	public := s.App.Config.PublicURL.String()
	s.Browse("clients/provider.test.js", "CANOPY_URL="+public, "CANOPY_OTHERS_PASSWORD="+platform.NewPassword, "CANOPY_ISSUER="+s.RealProvider(project, public).URL,
		"CANOPY_MAILS="+t.TempDir(), "CANOPY_CLIENT_ID="+s.Demo.ClientID, "CANOPY_CLIENT_SECRET="+s.Demo.ClientSecret, "CANOPY_RECEIVER=", "CANOPY_FAILING_RECEIVER=", "CANOPY_SLOW_RECEIVER=")
}
