package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"canopy/internal/limit"
)

// BasicAuth guards operators' pages with one user and password (RFC 7617).
type BasicAuth struct {
	User, Password string
	// Realm is what the browser shows when it asks.
	Realm string
	// Tries slow down who guesses, by address; nil lets them.
	Tries *limit.Throttle
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
	challenge := "Basic realm=" + strconv.Quote(b.Realm) + `, charset="UTF-8"`
	right := b.judge()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, tried := r.BasicAuth()
		wait, passed := b.try(r, tried, func() bool { return right(user, password) })
		switch {
		case wait > 0:
			w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
			http.Error(w, "Too many wrong credentials came from here: try again later.", http.StatusTooManyRequests)
		case !passed:
			w.Header().Set("WWW-Authenticate", challenge)
			http.Error(w, "Credentials are required.", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// judge gives what tells right credentials. Hashes are of one length, so the comparison tells neither
// content nor length; both are always compared.
func (b BasicAuth) judge() func(user, password string) bool {
	user, password := sha256.Sum256([]byte(b.User)), sha256.Sum256([]byte(b.Password))
	return func(u, p string) bool {
		gotUser, gotPassword := sha256.Sum256([]byte(u)), sha256.Sum256([]byte(p))
		return subtle.ConstantTimeCompare(gotUser[:], user[:])&subtle.ConstantTimeCompare(gotPassword[:], password[:]) == 1
	}
}

// try judges one request: it passes, has to wait, or neither. A request without credentials is no try.
func (b BasicAuth) try(r *http.Request, tried bool, right func() bool) (wait time.Duration, passed bool) {
	if !tried || b.Tries == nil {
		return 0, tried && right()
	}
	key := "operator|" + neighbourhood(r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if wait := b.Tries.Wait(ctx, key); wait > 0 {
		return wait, false
	}
	if passed = right(); passed {
		b.Tries.Succeed(ctx, key)
	} else {
		b.Tries.Fail(ctx, key)
	}
	return 0, passed
}

// neighbourhood is the client's address, or the part of an IPv6 one that is one household's.
func neighbourhood(r *http.Request) string {
	address := ClientAddress(r.Context())
	if address == "" {
		address = clientAddress(r, nil)
	}
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return address
}
