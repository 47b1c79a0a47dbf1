// Package egress sends HTTPS requests to addresses that strangers choose: webhook destinations and
// the http steps of diagrams. It takes no address for granted (server-side request forgery, OWASP
// A10:2021), and the rules are the same for both uses:
//
//   - https only, without user name or password; any port;
//   - every address that the host resolves to is public, by IANA's special-purpose registries;
//   - the address dialled is one of those that were judged, and is judged again by the dialer's
//     control hook at the socket, so a DNS answer that changes in between gains nothing;
//   - no proxy, no redirects, no cookies, no decompression; bounded time and size.
//
// The host is resolved and judged afresh for every attempt, also where a kept-alive connection is
// then reused: the pooled connection's own address was judged when it was dialled, and neither it
// nor the rules of a Client change afterwards. No DNS answer is kept. A literal address needs no
// lookup, only the judgement.
package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Defaults of Options.
const (
	DefaultTimeout         = 5 * time.Second
	DefaultMaxResponse     = 64 << 10
	DefaultMaxConnsPerHost = 64
)

const (
	idleTimeout       = 60 * time.Second
	maxIdleConns      = 2048
	maxIdlePerHost    = 128
	maxHeaderBytes    = 64 << 10
	pingAfter         = 15 * time.Second
	tlsSessions       = 1024
	defaultAgent      = "Canopy/1"
	keepAliveInterval = 30 * time.Second
)

// Resolver looks a host up. *net.Resolver is one; tests bring their own. host is absolute: it ends
// in a dot. The context carries the attempt's deadline and must be obeyed.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options of a Client. The zero value is the strict client for webhook deliveries.
type Options struct {
	// Allow lists prefixes exempt from the public-address rule, for tests and closed networks.
	Allow []netip.Prefix
	// Receiver is exempt, too, at its port alone: a receiver on the machine of one who develops. None where it is zero.
	Receiver netip.AddrPort
	// RootCAs are the trusted roots; nil means the system's. See Roots.
	RootCAs *x509.CertPool
	// Timeout bounds one attempt from the lookup to the last byte read; DefaultTimeout when 0.
	Timeout time.Duration
	// MaxResponse is how much of a response's body is read, in bytes; DefaultMaxResponse when 0.
	MaxResponse int64
	// MaxConnsPerHost bounds the connections to one host and port; DefaultMaxConnsPerHost when 0.
	// A request that waits for one uses up its own timeout.
	MaxConnsPerHost int
	// Resolver is the system's when nil.
	Resolver Resolver
	// UserAgent is sent where a request brings none.
	UserAgent string
}

// Client sends requests under the package's rules. It is safe for concurrent use, pools
// connections, and is made once per set of rules.
type Client struct {
	guard       *ssrf.Guardian
	receiver    netip.AddrPort
	resolver    Resolver
	dialer      *net.Dialer
	tls         *tls.Config
	transport   *http.Transport
	timeout     time.Duration
	maxResponse int64
	agent       string
}

// New makes a client.
func New(o Options) *Client {
	c := &Client{
		guard:       newGuardian(o.Allow),
		receiver:    o.Receiver,
		resolver:    o.Resolver,
		timeout:     orDefault(o.Timeout, DefaultTimeout),
		maxResponse: orDefault(o.MaxResponse, DefaultMaxResponse),
		agent:       orDefault(o.UserAgent, defaultAgent),
	}
	if c.resolver == nil {
		c.resolver = net.DefaultResolver
	}
	c.dialer = &net.Dialer{KeepAlive: keepAliveInterval, Control: c.control}
	c.tls = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            o.RootCAs,
		NextProtos:         []string{"h2", "http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions),
	}
	c.transport = &http.Transport{
		Proxy:                  nil, // a proxy of the environment would dial in our place, unjudged
		DialContext:            refusePlain,
		DialTLSContext:         c.dialTLS,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: c.timeout},
		DisableCompression:     true,
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		MaxConnsPerHost:        orDefault(o.MaxConnsPerHost, DefaultMaxConnsPerHost),
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	return c
}

// control is the last judge: it sees the address of the socket that is about to connect.
func (c *Client) control(network, address string, conn syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err == nil && c.receives(at) {
		return nil
	}
	return c.guard.Safe(network, address, conn)
}

func refusePlain(context.Context, string, string) (net.Conn, error) {
	return nil, blocked("the URL must start with https://", nil)
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// CheckURL applies every rule that can be applied without sending anything, DNS included, within
// the client's timeout. It returns an *Error: ErrBlocked where a rule forbids the destination,
// ErrDNS where the host does not resolve, ErrTimeout, or ErrCancelled. A URL that passes is judged
// again at each request.
func (c *Client) CheckURL(ctx context.Context, raw string) error {
	t, err := parseTarget(raw)
	if err != nil {
		return err
	}
	attempt, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if _, err := c.resolve(attempt, t); err != nil {
		return classify(ctx, attempt, err)
	}
	return nil
}

// CheckSpelling is CheckURL without DNS: a host that is a name is not looked up. It returns an *Error, ErrBlocked.
func (c *Client) CheckSpelling(raw string) error {
	t, err := parseTarget(raw)
	if err != nil || !t.addr.IsValid() {
		return err
	}
	return c.judgeLiteral(t)
}

// CloseIdle closes the connections that no request uses, at shutdown.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// ErrNoCertificate is what Roots returns for a file without a certificate.
var ErrNoCertificate = errors.New("no PEM certificate found")

// Roots is the system's trusted roots with the certificates of a PEM file added.
func Roots(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, ErrNoCertificate
	}
	return pool, nil
}
