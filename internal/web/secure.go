package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// Policy is a Content-Security-Policy (https://www.w3.org/TR/CSP3/) that begins with nothing but
// the page's own origin. Each list adds sources to its directive, such as 'unsafe-inline', data:
// or what HashSource gives.
type Policy struct {
	Script, Style, Image, Font, Connect, Worker []string
}

// String is the header's value.
func (p Policy) String() string {
	var b strings.Builder
	b.WriteString("default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; manifest-src 'self'")
	for _, d := range []struct {
		name    string
		sources []string
	}{
		{"script-src", p.Script},
		{"style-src", p.Style},
		{"img-src", p.Image},
		{"font-src", p.Font},
		{"connect-src", p.Connect},
		{"worker-src", p.Worker},
	} {
		b.WriteString("; " + d.name + " 'self'")
		for _, s := range d.sources {
			b.WriteString(" " + s)
		}
	}
	return b.String()
}

// HashSource allows one inline script or style, by its text between the tags.
func HashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// SecureHeaders puts the headers on answers that a browser shows as pages: the policy, no content
// sniffing, no framing, and no referrer, since a page's address may hold a token.
func SecureHeaders(p Policy) Middleware {
	policy := p.String()
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Security-Policy", policy)
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("X-Frame-Options", "DENY")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			next.ServeHTTP(w, r)
		})
	}
}
