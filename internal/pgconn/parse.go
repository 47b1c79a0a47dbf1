package pgconn

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/lib/pq"
)

// schemes are the two that a URL may have.
var schemes = []string{"postgres://", "postgresql://"}

var errScheme = errors.New("the URL begins neither with postgres:// nor with postgresql://")

// Parse reads a URL as libpq does:
//
//	postgres://[user[:password]@][host[:5432][,host[:5432]…]][/database][?parameter=value&…]
//
// Of several hosts the first that takes writes is connected to, unless target_session_attrs says
// something else. Its errors may show the URL, and with it a password.
func Parse(raw string) (pq.Config, error) {
	raw, err := hostsApart(raw)
	if err != nil {
		return pq.Config{}, err
	}
	cfg, err := pq.NewConfig(raw)
	if err == nil && len(cfg.Multi) > 0 && cfg.TargetSessionAttrs == "" {
		cfg.TargetSessionAttrs = pq.TargetSessionAttrsReadWrite
	}
	return cfg, err
}

// ToWrite is a URL as PostgreSQL's own library reads it, too: of several hosts that takes the first that answers, unless the URL says what Parse takes for granted.
func ToWrite(raw string) (string, error) {
	cfg, err := Parse(raw)
	if err != nil || len(cfg.Multi) == 0 {
		return raw, err
	}
	before, query, _ := strings.Cut(raw, "?")
	values, err := url.ParseQuery(query)
	if err != nil || values.Has("target_session_attrs") {
		return raw, err
	}
	if query != "" {
		query += "&"
	}
	return before + "?" + query + "target_session_attrs=" + string(pq.TargetSessionAttrsReadWrite), nil
}

// hostsApart moves several hosts and their ports to the parameters host and port: the driver knows
// them there, but takes no host of several with its own port.
func hostsApart(raw string) (string, error) {
	for _, scheme := range schemes {
		rest, ok := strings.CutPrefix(raw, scheme)
		if !ok {
			continue
		}
		end := strings.IndexAny(rest+"/", "/?#")
		authority, tail := rest[:end], rest[end:]
		at := strings.LastIndex(authority, "@") + 1
		if !strings.Contains(authority[at:], ",") {
			return raw, nil
		}
		return moveHosts(scheme+authority[:at], authority[at:], tail)
	}
	return "", errScheme
}

// moveHosts makes the URL whose authority is the user before, and whose hosts are parameters.
func moveHosts(before, list, tail string) (string, error) {
	var hosts, ports []string
	own := false // whether a host has a port of its own: otherwise one that is a parameter holds for all
	for one := range strings.SplitSeq(list, ",") {
		u, err := url.Parse("//" + one)
		if err != nil || u.Host != one || u.Hostname() == "" {
			return "", fmt.Errorf("%q is no host", one)
		}
		hosts, ports = append(hosts, u.Hostname()), append(ports, cmp.Or(u.Port(), "5432"))
		own = own || u.Port() != ""
	}
	u, err := url.Parse(before + tail)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("host", strings.Join(hosts, ","))
	if own {
		q.Set("port", strings.Join(ports, ","))
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}
