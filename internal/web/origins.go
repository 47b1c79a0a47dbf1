package web

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Origins are those of web front ends, beside the platform's own.
type Origins struct {
	// Listed are as browsers send them: scheme://host[:port] in lower case.
	Listed []string
	// Local also lets in what this machine serves to itself, at any port, such as http://localhost:5173: for development alone.
	Local bool
}

// Has tells whether pages of an origin, as the header Origin names it, may call the platform.
func (o Origins) Has(origin string) bool {
	origin = strings.ToLower(origin)
	return slices.Contains(o.Listed, origin) || o.Local && isLocal(origin)
}

// isLocal tells the origins of localhost and of the loopback addresses.
func isLocal(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != origin {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.IsLoopback()
}
