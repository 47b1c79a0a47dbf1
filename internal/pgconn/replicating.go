package pgconn

import (
	"net"

	"github.com/lib/pq"
)

// Replicating is for commands of PostgreSQL's replication protocol in the database of a URL. They take no arguments, and as long as they take; statements that prepare anything are refused.
func Replicating(url string) (*Connector, error) {
	cfg, err := Parse(url)
	if err != nil {
		return nil, err
	}
	cfg.Runtime = map[string]string{"replication": "database"}
	inner, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, err
	}
	inner.Dialer(deadlineDialer{net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}, 0})
	return &Connector{pq: inner, begin: setAll(map[string]string{"statement_timeout": "0"})}, nil
}
