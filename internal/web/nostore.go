package web

import "net/http"

// NoStore forbids caches to keep the answers to requests that are more than a look: an answer to a
// change may show a secret, once (RFC 9111, section 5.2.2.5). A handler may say otherwise.
func NoStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}
