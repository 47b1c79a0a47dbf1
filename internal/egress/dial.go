package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"time"

	"code.dny.dev/ssrf"
)

// minDial is the least time that one of several addresses gets before the next one is tried.
const minDial = time.Second

// destination travels in the request's context to the dialer, which so dials the very addresses
// that were judged and never asks DNS again: an answer that changes after the check has no effect.
type destination struct {
	target *target
	addrs  []netip.Addr
}

type destinationKey struct{}

// dialTLS is the transport's dialer. It does the handshake too, so that a failure is known to be
// one of TLS, and the certificate is checked for the host of the URL.
func (c *Client) dialTLS(ctx context.Context, _, _ string) (net.Conn, error) {
	dest, ok := ctx.Value(destinationKey{}).(destination)
	if !ok {
		return nil, blocked("no destination was checked", nil)
	}
	// The transport goes on dialling for its pool after a request has given up; this ends it.
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	raw, err := c.dialAny(ctx, dest)
	if err != nil {
		return nil, err
	}
	config := c.tls.Clone()
	config.ServerName = dest.target.host
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close() // the handshake's error is the one to tell
		return nil, &Error{Kind: ErrTLS, Message: tlsReason(err), Cause: err}
	}
	return conn, nil
}

// dialAny tries the addresses in the resolver's order until one connects, sharing out the time
// that is left so that one dead address does not use it all.
func (c *Client) dialAny(ctx context.Context, dest destination) (net.Conn, error) {
	var failures []error
	for i, addr := range dest.addrs {
		conn, err := c.dialOne(ctx, netip.AddrPortFrom(addr, dest.target.port), len(dest.addrs)-i)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil || errors.Is(err, ErrBlocked) {
			break
		}
	}
	return nil, errors.Join(failures...)
}

func (c *Client) dialOne(ctx context.Context, addr netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(minDial, time.Until(deadline)/time.Duration(left)))
		defer cancel()
	}
	conn, err := c.dialer.DialContext(ctx, "tcp", addr.String())
	if err != nil && isProhibited(err) {
		return nil, blocked("the host resolves to an address that is not public", err)
	}
	return conn, err
}

func isProhibited(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort)
}

// tlsReason says in one sentence what the owner of the destination has to mend.
func tlsReason(err error) string {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &verification):
		return "the certificate is not valid: " + reason(verification.Err)
	case errors.As(err, &record):
		return "the server does not speak TLS on this port"
	}
	return "the TLS handshake failed: " + reason(err)
}
