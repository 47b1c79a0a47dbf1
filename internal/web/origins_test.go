package web_test

import (
	"testing"

	"canopy/internal/web"
)

func TestOrigins(t *testing.T) {
	listed, local := web.Origins{Listed: []string{"https://app.example.com"}}, web.Origins{Local: true}
	for origin, want := range map[string]struct{ listed, local bool }{
		"https://app.example.com":      {listed: true},
		"https://APP.example.com":      {listed: true},
		"https://app.example.com:8443": {},
		"http://app.example.com":       {},
		"http://localhost:5173":        {local: true},
		"http://localhost":             {local: true},
		"https://localhost:3000":       {local: true},
		"http://127.0.0.1:8000":        {local: true},
		"http://[::1]:8000":            {local: true},
		"http://localhost.example.com": {},
		"http://notlocalhost:5173":     {},
		"http://localhost@evil.com":    {},
		"http://192.0.2.7:5173":        {},
		"http://localhost:5173/page":   {},
		"file://localhost":             {},
		"null":                         {},
		"":                             {},
	} {
		if got := listed.Has(origin); got != want.listed {
			t.Errorf("%q is listed: %t", origin, got)
		}
		if got := local.Has(origin); got != want.local {
			t.Errorf("%q is local: %t", origin, got)
		}
	}
}
