package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
)

// BasicAuth guards operators' pages with one user and password (RFC 7617).
type BasicAuth struct {
	User, Password string
	// Realm is what the browser shows when it asks.
	Realm string
	// Open lets everybody in where neither User nor Password is set. Without it, such a guard
	// lets nobody in.
	Open bool
}

// Guard lets a request pass with the right credentials. A browser sends those along with requests
// that other sites make, so a write from another origin is refused with 403 whoever sends it.
func (b BasicAuth) Guard(next http.Handler) http.Handler {
	if b.User == "" && b.Password == "" {
		if b.Open {
			return http.NewCrossOriginProtection().Handler(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "This page is closed: no credentials are configured for it.", http.StatusForbidden)
		})
	}
	return http.NewCrossOriginProtection().Handler(b.challenge(next))
}

func (b BasicAuth) challenge(next http.Handler) http.Handler {
	user, password := sha256.Sum256([]byte(b.User)), sha256.Sum256([]byte(b.Password))
	challenge := "Basic realm=" + strconv.Quote(b.Realm) + `, charset="UTF-8"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, _ := r.BasicAuth()
		// Hashes are of one length, so the comparison tells neither content nor length; both
		// are always compared.
		gotUser, gotPassword := sha256.Sum256([]byte(u)), sha256.Sum256([]byte(p))
		if subtle.ConstantTimeCompare(gotUser[:], user[:])&subtle.ConstantTimeCompare(gotPassword[:], password[:]) != 1 {
			w.Header().Set("WWW-Authenticate", challenge)
			http.Error(w, "Credentials are required.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
