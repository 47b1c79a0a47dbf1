package pgconn

import (
	"maps"
	"net"
	"strconv"
	"time"

	"github.com/lib/pq"
)

// Follower is a server that may follow another.
type Follower struct {
	// Name is its host and port.
	Name string
	*Connector
}

// Followers reads a URL as Parse does, and gives each of its hosts by itself: none has to take writes. One that says
// nothing for a time while it is asked is given up. Statements are kept as New keeps them.
func Followers(url string, wait time.Duration, statements ...string) (list []Follower, err error) {
	cfg, err := Parse(url)
	if err != nil {
		return nil, err
	}
	bounds := map[string]string{"statement_timeout": milliseconds(statementTimeout)}
	maps.Copy(bounds, byKey)
	hosts := append([]pq.ConfigMultihost{{Host: cfg.Host, Port: cfg.Port, Hostaddr: cfg.Hostaddr}}, cfg.Multi...)
	for _, h := range hosts {
		one := cfg.Clone()
		one.Host, one.Port, one.Hostaddr, one.Multi = h.Host, h.Port, h.Hostaddr, nil
		one.TargetSessionAttrs = pq.TargetSessionAttrsAny
		c, err := open(one, wait, bounds, statements)
		if err != nil {
			return nil, err
		}
		list = append(list, Follower{net.JoinHostPort(h.Host, strconv.Itoa(int(h.Port))), c})
	}
	return list, nil
}

// Replayed is where a connection's owner keeps how much of the log the connection has seen replayed. What a connection has seen once it sees for
// as long as it lives, for a server that begins anew ends all of them.
func (c *conn) Replayed() *int64 { return &c.replayed }
