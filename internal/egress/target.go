package egress

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxURL bounds a destination's URL, in bytes.
const maxURL = 2048

// target is a URL that passed every check that needs no network.
type target struct {
	url  *url.URL   // with the host in ASCII, lower case, without a trailing dot
	host string     // the host as dialled and as the certificate is checked for
	addr netip.Addr // valid where the host is a literal address
	port uint16
}

// parseTarget applies the rules about the URL itself: https, no user name or password, a host
// whose spelling leaves no doubt, any port. Every refusal is an ErrBlocked.
func parseTarget(raw string) (*target, error) {
	if len(raw) > maxURL {
		return nil, blocked("the URL is longer than "+strconv.Itoa(maxURL)+" characters", nil)
	}
	// Readers of URLs disagree on these characters, and a check that disagrees with the dialer is none.
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return nil, blocked("the URL must not hold spaces, backslashes or control characters", nil)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, blocked("the URL can't be read", err)
	}
	switch {
	case !strings.EqualFold(u.Scheme, "https"):
		return nil, blocked("the URL must start with https://", nil)
	case u.Opaque != "" || u.Host == "":
		return nil, blocked("the URL must name a host", nil)
	case u.User != nil:
		return nil, blocked("the URL must not hold a user name or password", nil)
	}
	t := &target{}
	if t.port, err = parsePort(u.Port()); err != nil {
		return nil, err
	}
	if t.host, t.addr, err = parseHost(u); err != nil {
		return nil, err
	}
	t.url = canonicalURL(u, t)
	return t, nil
}

func parsePort(s string) (uint16, error) {
	if s == "" {
		return 443, nil
	}
	port, err := strconv.ParseUint(s, 10, 16)
	if err != nil || port == 0 {
		return 0, blocked("the URL's port must be a number from 1 to 65535", err)
	}
	return uint16(port), nil
}

// parseHost gives the host in the one spelling that is used from here on, and its address where
// it is a literal one.
func parseHost(u *url.URL) (string, netip.Addr, error) {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		return parseIPv6(host)
	}
	host, err := asciiHost(host)
	if err != nil {
		return "", netip.Addr{}, err
	}
	if !endsInNumber(host) {
		return host, netip.Addr{}, nil
	}
	// netip takes four decimal numbers without leading zeros only. The octal, hex and integer
	// spellings mean different addresses to different libraries, so they are refused, not judged.
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is4() {
		return "", netip.Addr{}, blocked("an IPv4 address must be written as four decimal numbers", err)
	}
	return host, addr, nil
}

func parseIPv6(host string) (string, netip.Addr, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is6() {
		return "", netip.Addr{}, blocked("the IPv6 address can't be read", err)
	}
	if addr.Zone() != "" {
		return "", netip.Addr{}, blocked("an IPv6 address must not have a zone", nil)
	}
	if addr.Is4In6() {
		return "", netip.Addr{}, blocked("an IPv4 address must be written as four decimal numbers", nil)
	}
	return addr.String(), addr, nil
}

// asciiHost lower-cases a host name, maps an international one by the lookup profile of IDNA 2008
// (UTS 46), takes off the root's dot, and checks the labels' form (RFC 1123, underscores let in).
func asciiHost(host string) (string, error) {
	host = strings.ToLower(host)
	if !isASCII(host) || strings.Contains(host, "xn--") {
		mapped, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", blocked("the host name is not a valid international name", err)
		}
		host = mapped
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 {
		return "", blocked("the URL must name a host", nil)
	}
	for label := range strings.SplitSeq(host, ".") {
		if !validLabel(label) {
			return "", blocked("the host name is not valid", nil)
		}
	}
	return host, nil
}

func validLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(label, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// endsInNumber tells that some library would read the host as an IPv4 address: its last label is
// a decimal, octal or hex number ("ends in a number" of the WHATWG URL standard).
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// canonicalURL is the URL that is sent: its host is the one that was judged. The fragment stays
// behind, as it never goes over the wire.
func canonicalURL(u *url.URL, t *target) *url.URL {
	out := *u
	out.Scheme, out.Fragment, out.RawFragment = "https", "", ""
	out.Host = t.host
	if t.addr.Is6() {
		out.Host = "[" + t.host + "]"
	}
	if t.port != 443 {
		out.Host = net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
	}
	return &out
}

// resolve finds the target's addresses and judges every one of them: a single address that is not
// public blocks the whole name, so that an answer can't hide a private address among public ones.
func (c *Client) resolve(ctx context.Context, t *target) ([]netip.Addr, error) {
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}, c.judgeLiteral(t)
	}
	addrs, err := c.lookup(ctx, t)
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		if err := c.judge(netip.AddrPortFrom(addr, t.port)); err != nil {
			return nil, blocked("the host resolves to an address that is not public", err)
		}
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// judgeLiteral judges a host that is an address.
func (c *Client) judgeLiteral(t *target) error {
	if err := c.judge(netip.AddrPortFrom(t.addr, t.port)); err != nil {
		return blocked("the address "+t.addr.String()+" is not public", err)
	}
	return nil
}

func (c *Client) lookup(ctx context.Context, t *target) ([]netip.Addr, error) {
	if t.host == "localhost" || strings.HasSuffix(t.host, ".localhost") {
		return c.loopback(t.port), nil
	}
	// The trailing dot keeps the search list of resolv.conf out: a name means the same everywhere.
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", t.host+".")
	if err != nil {
		return nil, &Error{Kind: ErrDNS, Message: "the host name could not be resolved", Cause: err}
	}
	if len(addrs) == 0 {
		return nil, &Error{Kind: ErrDNS, Message: "the host name has no address"}
	}
	return addrs, nil
}

// loopback is what the localhost names mean without asking DNS (RFC 6761, section 6.3): the
// loopback address that is exempt where there is one, otherwise one that will be refused.
func (c *Client) loopback(port uint16) []netip.Addr {
	v4, v6 := netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
	if c.judge(netip.AddrPortFrom(v4, port)) != nil && c.judge(netip.AddrPortFrom(v6, port)) == nil {
		return []netip.Addr{v6}
	}
	return []netip.Addr{v4}
}
