package devtest

import (
	"net/url"
	"testing"

	"canopy/internal/devstack"
)

// WayTo opens a way to the server of a URL, until the test ends, and gives it with the URL that leads along it.
func WayTo(t testing.TB, server string) (*devstack.Way, string) {
	t.Helper()
	u := Must[*url.URL](t)(url.Parse(server))
	w := Must[*devstack.Way](t)(devstack.OpenWay(u.Host))
	t.Cleanup(w.Close)
	u.Host = w.Address()
	return w, u.String()
}
