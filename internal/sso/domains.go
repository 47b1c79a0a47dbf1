package sso

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

const (
	recordLabel = "_canopy-challenge."
	recordValue = "canopy-domain="
	// askFor is how long a look into the DNS takes at most.
	askFor = 5 * time.Second
)

// Domain gives a domain in the one form in which it is kept: small letters, international names as RFC 5891 writes them in ASCII.
func Domain(name string) (string, bool) {
	ascii, err := idna.Lookup.ToASCII(strings.ToLower(name))
	if err != nil || len(ascii) > 253 || !strings.Contains(ascii, ".") {
		return "", false
	}
	if _, err := netip.ParseAddr(ascii); err == nil {
		return "", false
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, foreign) {
			return "", false
		}
	}
	return ascii, true
}

func foreign(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }

// DomainOf gives the domain of an e-mail address. It has to be written as it is kept, or as that is shown: what merely looks like it, such
// as letters of another width, is no address of the domain.
func DomainOf(email string) (string, bool) {
	at := strings.LastIndexByte(email, '@')
	if at < 1 {
		return "", false
	}
	written := strings.ToLower(email[at+1:])
	domain, ok := Domain(written)
	shown, err := idna.Lookup.ToUnicode(domain)
	return domain, ok && err == nil && (written == domain || written == shown)
}

// Record is the TXT record by which a domain's DNS proves a claim.
func Record(domain, token string) (name, value string) {
	return recordLabel + domain, recordValue + token
}

// DNS looks into the domain name system.
type DNS struct{ resolver *net.Resolver }

// NewDNS asks a server, host:port, or with "" those of the system.
func NewDNS(server string) *DNS {
	if server == "" {
		return &DNS{net.DefaultResolver}
	}
	return &DNS{&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}}
}

// Proofs are the tokens that a domain's DNS has; none where there is no such record. An error says that it is not known.
func (d *DNS) Proofs(ctx context.Context, domain string) (tokens []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	name, _ := Record(domain, "")
	records, err := d.resolver.LookupTXT(ctx, name+".")
	var missing *net.DNSError
	if errors.As(err, &missing) && missing.IsNotFound {
		return nil, nil
	}
	for _, r := range records {
		if token, ok := strings.CutPrefix(strings.TrimSpace(r), recordValue); ok && token != "" {
			tokens = append(tokens, token)
		}
	}
	return slices.Compact(tokens), err
}

func withQuery(address string, add map[string]string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	for name, value := range add {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}
