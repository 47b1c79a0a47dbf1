package operations

import (
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestAddressIsFollowed: once a platform is served at another address, accounts and applications show that one.
func TestAddressIsFollowed(t *testing.T) {
	t.Parallel()
	const other = "https://api.example.com"
	s := platform.Start(t)
	p := s.StartProgram(t, "serve", "CANOPY_LISTEN=127.0.0.1:0", "CANOPY_PUBLIC_URL="+other+"/")
	t.Cleanup(p.Kill)
	devtest.Eventually(t, "every account is at "+other, func() bool {
		list := s.MustGQL(s.Root(), `{ customer(id: 1) { accounts { nodes { domain application { authUrl } } } } }`, nil)["customer"].(map[string]any)["accounts"].(map[string]any)["nodes"].([]any)
		for _, n := range list {
			a := n.(map[string]any)
			if a["domain"] != other || a["application"].(map[string]any)["authUrl"] != other {
				return false
			}
		}
		return len(list) > 0
	})
}
