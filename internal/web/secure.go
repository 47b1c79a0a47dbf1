package web

import (
	"net/http"
	"strings"
)

// Policy is a Content-Security-Policy (https://www.w3.org/TR/CSP3/) that begins with nothing but
// the page's own origin. Each list adds sources to a directive, such as 'unsafe-inline' or data:.
type Policy struct {
	Script, Style, Image []string
	// Frame is what the page may show inside it; nothing where it is empty.
	Frame []string
	// Framed are the origins of the pages that may show the page inside them; none may where it is empty.
	Framed []string
}

// String is the header's value.
func (p Policy) String() string {
	return "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors " + p.ancestors() + "; manifest-src 'self'; script-src " +
		own(p.Script) + "; font-src 'self'; connect-src 'self'; worker-src 'self'; style-src " + own(p.Style) + "; img-src " + own(p.Image) + p.frames()
}

func (p Policy) frames() string {
	if len(p.Frame) == 0 {
		return "" // as is said by default
	}
	return "; frame-src " + strings.Join(p.Frame, " ")
}

func (p Policy) ancestors() string {
	if len(p.Framed) == 0 {
		return "'none'"
	}
	return strings.Join(p.Framed, " ")
}

func own(more []string) string { return strings.Join(append([]string{"'self'"}, more...), " ") }

// Bare puts on every answer what a browser needs to hear even of one that is no page: nothing is loaded or
// framed, types are not guessed, and no address is told on. Pages have a policy of their own by
// SecureHeaders. Where the platform is reached by https, browsers are to use nothing else for a year
// (RFC 6797).
func Bare(https bool) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("X-Frame-Options", "DENY")
			h.Set("Referrer-Policy", "no-referrer")
			if https {
				h.Set("Strict-Transport-Security", "max-age=31536000")
			}
			next.ServeHTTP(w, r)
		})
	}
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
