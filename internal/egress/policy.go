package egress

import (
	"fmt"
	"net/netip"

	"code.dny.dev/ssrf"
)

// platformPrefixes are addresses that IANA calls ordinary and that a cloud still answers itself:
// 168.63.129.16 is the virtual host address of Azure, reachable from inside every machine there.
var platformPrefixes = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// newGuardian builds the judge of addresses: public unicast only, by IANA's special-purpose
// registries (RFC 6890), plus the platform's own, with exempt prefixes going first. IPv6 outside
// 2000::/3 is refused whole, which covers the mapped, NAT64 and unique-local forms; 6to4 and Teredo
// lie inside it and are refused by name. Every port is allowed.
func newGuardian(allow []netip.Prefix) *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, p := range allow {
		p = unmapPrefix(p)
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(platformPrefixes...),
	)
}

// unmapPrefix writes ::ffff:a.b.c.d/n as the IPv4 prefix that it means.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// judge refuses an address that is not public. A resolver may hand IPv4 in its mapped form, which
// is judged as the IPv4 address that would be dialled. A zone always means a local link.
func (c *Client) judge(at netip.AddrPort) error {
	addr := at.Addr()
	if !addr.IsValid() || addr.Zone() != "" {
		return fmt.Errorf("%w: %s", ssrf.ErrProhibitedIP, addr)
	}
	if c.receives(at) {
		return nil
	}
	return c.guard.SafeAddr(addr.Unmap())
}

// receives tells whether an address is the one that is exempt at its port alone.
func (c *Client) receives(at netip.AddrPort) bool {
	return c.receiver.IsValid() && netip.AddrPortFrom(at.Addr().Unmap(), at.Port()) == c.receiver
}
