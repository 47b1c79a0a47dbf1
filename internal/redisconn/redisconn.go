// Package redisconn reads REDIS_URL, once, for the task queue and for everything else. It knows
//
//	redis://[user:password@]host[:6379][/database]
//	rediss://…                      the same over TLS
//	redis-cluster://[user:password@]host[:6379][,host…][?tls=true]
//	redis-sentinel://[user:password@]host[:26379][,host…][/database]?master=NAME[&tls=true]
//
// User and password are those of the servers that hold the data; those of the sentinels themselves
// are the parameters sentinel_username and sentinel_password.
package redisconn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// ErrURL is what is wrong with a URL. It never shows the URL, which may hold a password.
var ErrURL = errors.New("REDIS_URL")

// Parse reads a URL for the task queue. Its errors are ErrURL.
func Parse(raw string) (asynq.RedisConnOpt, error) {
	a, err := parseAddress(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	switch a.scheme {
	case schemeCluster:
		return Cluster{Addrs: a.hosts, Username: a.username, Password: a.password, TLSConfig: a.tls()}, nil
	case schemeSentinel:
		return asynq.RedisFailoverClientOpt{
			MasterName: a.master, SentinelAddrs: a.hosts, DB: a.database, Username: a.username, Password: a.password,
			SentinelUsername: a.sentinelUsername, SentinelPassword: a.sentinelPassword, TLSConfig: a.tls(),
		}, nil
	}
	return asynq.RedisClientOpt{
		Addr: a.hosts[0], DB: a.database, Username: a.username, Password: a.password, TLSConfig: a.tls(),
	}, nil
}

// Cluster makes clients of a Redis Cluster.
type Cluster asynq.RedisClusterClientOpt

// clusterReload is how often a client asks who has which part of a cluster. By itself it asks once a minute: for so long it would go to a master that is
// gone, and not to the replica that has taken its place.
const clusterReload = 2 * time.Second

// MakeRedisClient makes a client, as asynq wants it.
func (c Cluster) MakeRedisClient() any {
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Addrs, Username: c.Username, Password: c.Password, TLSConfig: c.TLSConfig, ClusterStateReloadInterval: clusterReload,
	})
}

// Client reads a URL and makes a client of it, which connects when it is first used. Its errors are
// ErrURL.
func Client(raw string) (redis.UniversalClient, error) {
	o, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	// By default the client pays no heed to the deadlines of contexts, and a Redis that hangs would
	// hold its callers for seconds.
	switch client := o.MakeRedisClient().(type) {
	case *redis.Client:
		client.Options().ContextTimeoutEnabled = true
		return client, nil
	case *redis.ClusterClient:
		client.Options().ContextTimeoutEnabled = true
		return client, nil
	}
	return nil, fmt.Errorf("%w: the task queue made a client of another kind", ErrURL)
}

func (a *address) tls() *tls.Config {
	if !a.secure {
		return nil
	}
	// The server's name is the host that is dialled; each of several has its own.
	return &tls.Config{MinVersion: tls.VersionTLS12}
}
