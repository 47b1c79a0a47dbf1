package web

import (
	"net/http"
	"strings"
)

// What web front ends of other origins may send and see.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, X-Request-Id, GraphQL-Preflight, Apollo-Require-Preflight, Idempotency-Key, Canopy-Context, If-Match, If-None-Match"
	corsExposed = "X-Request-Id, Link, Retry-After, ETag, Idempotency-Replayed"
	corsMaxAge  = "7200" // seconds; no browser keeps it longer
	cookiePath  = "/auth/session"
)

// CORS lets the pages of other origins ("https://app.example.com") call this server, as the
// Fetch standard asks (https://fetch.spec.whatwg.org/#http-cors-protocol). Credentials are off: tokens travel in
// the Authorization header, and the only cookie that is read is that of /auth/session and what is below. A preflight of an origin
// that is not listed goes to the handler like any other request, and gets no permission.
func CORS(origins Origins) Middleware {
	return func(next http.Handler) http.Handler {
		if len(origins.Listed) == 0 && !origins.Local {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Add("Vary", "Origin")
			origin := r.Header.Get("Origin")
			if !origins.Has(origin) {
				next.ServeHTTP(w, r)
				return
			}
			h.Set("Access-Control-Allow-Origin", origin)
			if r.URL.Path == cookiePath || strings.HasPrefix(r.URL.Path, cookiePath+"/") {
				h.Set("Access-Control-Allow-Credentials", "true")
			}
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight(w)
				return
			}
			h.Set("Access-Control-Expose-Headers", corsExposed)
			next.ServeHTTP(w, r)
		})
	}
}

func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
}
