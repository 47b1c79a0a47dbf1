package redisconn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const (
	schemePlain    = "redis"
	schemeTLS      = "rediss"
	schemeCluster  = "redis-cluster"
	schemeSentinel = "redis-sentinel"

	defaultPort         = "6379"
	defaultSentinelPort = "26379"
)

// parameters are what each scheme takes behind the question mark.
var parameters = map[string]map[string]bool{
	schemePlain:    {},
	schemeTLS:      {},
	schemeCluster:  {"tls": true},
	schemeSentinel: {"master": true, "tls": true, "sentinel_username": true, "sentinel_password": true},
}

// address is what a URL says.
type address struct {
	scheme                             string
	hosts                              []string // host:port, at least one
	username, password                 string
	database                           int
	secure                             bool
	master                             string
	sentinelUsername, sentinelPassword string
}

// parseAddress reads a URL. net/url takes one host only, so the list of hosts is taken out first.
func parseAddress(raw string) (*address, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if _, known := parameters[scheme]; !ok || !known {
		return nil, errors.New("must begin with redis://, rediss://, redis-cluster:// or redis-sentinel://")
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	credentials, list := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		credentials, list = authority[:i+1], authority[i+1:]
	}
	u, err := url.Parse(scheme + "://" + credentials + "host" + tail)
	if err != nil || u.Fragment != "" {
		return nil, errors.New("is not a URL; in user and password, letters such as / ? # @ are written with %")
	}
	a := &address{scheme: scheme, secure: scheme == schemeTLS, username: u.User.Username()}
	a.password, _ = u.User.Password()
	if err := errors.Join(a.setHosts(list), a.setDatabase(u.Path), a.setParameters(u.RawQuery)); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *address) setHosts(list string) error {
	port := defaultPort
	if a.scheme == schemeSentinel {
		port = defaultSentinelPort
	}
	for host := range strings.SplitSeq(list, ",") {
		full, err := hostPort(host, port)
		if err != nil {
			return err
		}
		a.hosts = append(a.hosts, full)
	}
	if len(a.hosts) > 1 && (a.scheme == schemePlain || a.scheme == schemeTLS) {
		return fmt.Errorf("names several hosts: that is for %s:// and %s://", schemeCluster, schemeSentinel)
	}
	return nil
}

// hostPort checks one host and gives it a port. A fault does not show it: a password with a slash
// that is not escaped ends up here.
func hostPort(s, otherwise string) (string, error) {
	u, err := url.Parse("//" + s)
	colons := err == nil && strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(s, "[")
	if err != nil || u.Host != s || u.Hostname() == "" || colons || strings.ContainsAny(u.Hostname(), " \t%") {
		return "", errors.New("has something for a host that is not host or host:port")
	}
	port := u.Port()
	if port == "" {
		port = otherwise
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("has a port that is not 1 to 65535")
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

func (a *address) setDatabase(path string) error {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		return nil
	}
	n, err := strconv.ParseUint(path, 10, 31)
	if err != nil {
		return errors.New("has a path that is not the number of a database")
	}
	if a.scheme == schemeCluster && n != 0 {
		return errors.New("a cluster has database 0 only")
	}
	a.database = int(n) // 31 bits
	return nil
}

func (a *address) setParameters(raw string) error {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("has parameters that can't be read")
	}
	for name, values := range q {
		if !parameters[a.scheme][name] || len(values) > 1 {
			return fmt.Errorf("has a parameter twice, or one that %s:// does not take", a.scheme)
		}
	}
	if q.Has("tls") {
		if a.secure, err = strconv.ParseBool(q.Get("tls")); err != nil {
			return errors.New("the parameter tls must be true or false")
		}
	}
	a.master, a.sentinelUsername, a.sentinelPassword = q.Get("master"), q.Get("sentinel_username"), q.Get("sentinel_password")
	if a.scheme == schemeSentinel && a.master == "" {
		return errors.New("the parameter master must name the master that the sentinels watch")
	}
	return nil
}
