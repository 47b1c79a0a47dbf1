package config

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

func (l *loader) words(name string) (list []string) {
	for v := range strings.SplitSeq(l.getenv(name), ",") {
		if v = strings.TrimSpace(v); v != "" {
			list = append(list, v)
		}
	}
	return list
}

// prefixes reads CIDRs; a lone address stands for itself.
func (l *loader) prefixes(name string) (list []netip.Prefix) {
	for _, v := range l.words(name) {
		p, err := parsePrefix(v)
		if err != nil {
			l.fault(name, "must be a comma-separated list of CIDRs, such as 10.0.0.0/8,fd00::/8; %q is none", v)
			continue
		}
		list = append(list, p)
	}
	return list
}

var errNoPrefix = errors.New("neither an address nor a prefix")

func parsePrefix(v string) (netip.Prefix, error) {
	if !strings.Contains(v, "/") {
		a, err := netip.ParseAddr(v)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, errNoPrefix
		}
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(v)
	return p.Masked(), err
}

// origins reads what browsers send in Origin. A star is none: who may read an answer is named.
func (l *loader) origins(name string) (list []string) {
	for _, v := range l.words(name) {
		u, err := url.Parse(v)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(u.Host, "*;") ||
			strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			l.fault(name, "must be a comma-separated list of origins, such as https://app.example.com; %q is none", v)
			continue
		}
		list = append(list, u.Scheme+"://"+originHost(u))
	}
	return list
}

// originHost leaves a scheme's own port away, as browsers do (RFC 6454, section 6.2).
func originHost(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		return strings.TrimSuffix(host, ":80")
	}
	return strings.TrimSuffix(host, ":443")
}
