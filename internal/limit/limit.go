// Package limit counts in Redis, a minute at a time, what callers may do only so often. Without
// Redis its limits are open, within milliseconds and without a wait for each call.
package limit

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	window = time.Minute
	// patience is how long one look-up may take; after a failed one Redis is left alone for rest.
	patience = 50 * time.Millisecond
	rest     = time.Second
)

// Limiter counts by key and minute.
type Limiter struct {
	redis     redis.UniversalClient
	restUntil atomic.Int64
}

// New makes a limiter; with a nil client every limit is open.
func New(client redis.UniversalClient) *Limiter { return &Limiter{redis: client} }

// Decision is what a limiter says of one call.
type Decision struct {
	Allowed bool
	// Remaining is what is left of the current minute.
	Remaining int
	// RetryAfter is the time until the next minute, where the call was refused.
	RetryAfter time.Duration
}

// take adds the cost to the minute's count unless that would pass the limit.
var take = redis.NewScript(`
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return -used - 1 end
local now = redis.call('INCRBY', KEYS[1], ARGV[1])
if now == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return now`)

// Allow counts a call of the given cost against a key's limit for the current minute. The error
// says that Redis could not be asked; the call is allowed then.
func (l *Limiter) Allow(ctx context.Context, key string, cost, limit int) (Decision, error) {
	open := Decision{Allowed: true, Remaining: limit}
	now := time.Now()
	if l.redis == nil || now.UnixNano() < l.restUntil.Load() {
		return open, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	minute := now.Truncate(window)
	name := "canopy:limit:" + key + ":" + strconv.FormatInt(minute.Unix(), 10)
	used, err := take.Run(ctx, l.redis, []string{name}, cost, limit, (2 * window).Milliseconds()).Int()
	if err != nil {
		l.restUntil.Store(now.Add(rest).UnixNano())
		return open, err
	}
	if used < 0 {
		return Decision{Remaining: max(0, limit+used+1), RetryAfter: minute.Add(window).Sub(now)}, nil
	}
	return Decision{Allowed: true, Remaining: limit - used}, nil
}
