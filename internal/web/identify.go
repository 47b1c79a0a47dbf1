package web

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"strings"

	"canopy/internal/unseen"
)

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 64
	maxAgent        = 256
)

// Identify gives each request an id (RequestID), which the answer carries as X-Request-Id, and
// finds the client's address (ClientAddress) and what it says it is (UserAgent). trusted are the networks of one's own proxies.
func Identify(trusted []netip.Prefix) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			e, w, r := observe(w, r)
			e.id = requestID(r.Header.Get(requestIDHeader))
			e.address = clientAddress(r, trusted)
			e.agent = r.UserAgent()
			w.Header().Set(requestIDHeader, e.id)
			next.ServeHTTP(w, r)
		})
	}
}

// RequestID is the id of the request that the context belongs to; empty outside of Identify.
func RequestID(ctx context.Context) string {
	if e := exchangeOf(ctx); e != nil {
		return e.id
	}
	return ""
}

// ClientAddress is the IP address that the request comes from; empty outside of Identify, and
// where the connection has none (a Unix socket).
func ClientAddress(ctx context.Context) string {
	if e := exchangeOf(ctx); e != nil {
		return e.address
	}
	return ""
}

// ComesFrom says which address the client of a request has, where somebody who is believed knows better; "" changes nothing. It does nothing outside of Identify.
func ComesFrom(ctx context.Context, address string) {
	if e := exchangeOf(ctx); e != nil && address != "" {
		e.address = address
	}
}

// Uncounted says that a request was let through without being counted against limits: where counts are kept could not be asked. It does nothing outside of Identify.
func Uncounted(ctx context.Context) {
	if e := exchangeOf(ctx); e != nil {
		e.uncounted.Store(true)
	}
}

// IsUncounted tells whether that was said of a request.
func IsUncounted(ctx context.Context) bool {
	e := exchangeOf(ctx)
	return e != nil && e.uncounted.Load()
}

// UserAgent is the program that the client says it is, at most 256 bytes of its text, without what would have it look like another one; empty outside of Identify.
func UserAgent(ctx context.Context) string {
	e := exchangeOf(ctx)
	if e == nil {
		return ""
	}
	return unseen.Without(strings.ToValidUTF8(e.agent[:min(len(e.agent), maxAgent)], ""))
}

// requestID takes the caller's id where it is safe in a header and a log line, or makes one of
// 130 random bits.
func requestID(given string) string {
	if given == "" || len(given) > maxRequestID {
		return rand.Text()
	}
	for i := range len(given) {
		if !idByte(given[i]) {
			return rand.Text()
		}
	}
	return given
}

func idByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// clientAddress is the nearest address that is not one of the trusted proxies. X-Forwarded-For is
// read from its right end, where each proxy wrote the peer that it saw: what stands left of the
// first foreign address is only that peer's word.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	addr, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return ""
	}
	lines := r.Header.Values("X-Forwarded-For")
	for i := len(lines) - 1; i >= 0; i-- {
		line := lines[i]
		for line != "" && within(addr, trusted) {
			var entry string
			line, entry = cutLast(line)
			before, ok := parseAddress(strings.TrimSpace(entry))
			if !ok {
				return addr.String()
			}
			addr = before
		}
	}
	return addr.String()
}

// cutLast splits a comma-separated list before its last entry.
func cutLast(list string) (rest, last string) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], list[i+1:]
	}
	return "", list
}

// parseAddress takes an address with or without a port, an IPv6 one also in brackets.
func parseAddress(s string) (netip.Addr, bool) {
	if p, err := netip.ParseAddrPort(s); err == nil {
		return p.Addr().Unmap().WithZone(""), true
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	a, err := netip.ParseAddr(s)
	return a.Unmap().WithZone(""), err == nil
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
