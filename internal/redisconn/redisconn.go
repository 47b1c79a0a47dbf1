// Package redisconn reads REDIS_URL, once, for both the task queue and everything else.
package redisconn

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// Parse reads a URL: redis://, rediss://, redis-cluster://[:password@]host:port,host:port or
// redis-sentinel://[:password@]host:port,host:port[/db]?master=name.
func Parse(raw string) (asynq.RedisConnOpt, error) {
	scheme, _, _ := strings.Cut(raw, "://")
	switch scheme {
	case "redis", "rediss":
		opt, err := asynq.ParseRedisURI(raw)
		if err != nil {
			return nil, fmt.Errorf("REDIS_URL: %w", err)
		}
		return opt, nil
	case "redis-cluster":
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			return nil, errors.New("REDIS_URL must look like redis-cluster://:password@host:6379,host:6379")
		}
		password, _ := u.User.Password()
		return asynq.RedisClusterClientOpt{Addrs: strings.Split(u.Host, ","), Username: u.User.Username(), Password: password}, nil
	case "redis-sentinel":
		opt, err := asynq.ParseRedisURI(raw)
		if err != nil {
			return nil, fmt.Errorf("REDIS_URL must look like redis-sentinel://host:26379,host:26379?master=name: %w", err)
		}
		return opt, nil
	}
	return nil, fmt.Errorf("REDIS_URL: %q is none of redis, rediss, redis-cluster, redis-sentinel", scheme)
}

// Client connects for everything but the queue. Its commands give up soon: whatever is asked of
// it must do without, or be asked again.
func Client(raw string) (redis.UniversalClient, error) {
	opt, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	client, ok := opt.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, errors.New("REDIS_URL: no such client")
	}
	return client, nil
}
