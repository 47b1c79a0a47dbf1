// Package limit bounds what callers may do: by requests and minute, counted in Redis, and by failed
// logins. Without Redis the first stands open, within milliseconds and without a wait for each
// call; the second goes on in its own process.
package limit

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const window = time.Minute

// Limiter counts by key and minute. Its clock is the process's: the minutes of processes whose
// clocks differ begin at different times.
type Limiter struct {
	redis   redis.UniversalClient
	breaker breaker
}

// New makes a limiter; with a nil client every limit is open.
func New(client redis.UniversalClient) *Limiter {
	return &Limiter{redis: client, breaker: breaker{patience: patience}}
}

// Decision is what a limiter says of one call.
type Decision struct {
	Allowed bool
	// Remaining is what is left of the current minute.
	Remaining int
	// RetryAfter is the time until the next minute, where the call was refused.
	RetryAfter time.Duration
}

// take adds the cost to the minute's count unless that would pass the limit. It answers the new
// count, or, refusing, minus one minus the old one.
var take = redis.NewScript(`
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return -used - 1 end
local now = redis.call('INCRBY', KEYS[1], ARGV[1])
if now == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return now`)

// Allow counts a call of the given cost, at least 1, against a key's limit for the current minute,
// in one round trip; a refused call counts nothing. The error says that Redis could not be asked
// (ErrAway) or that ctx ended; the call is allowed then.
func (l *Limiter) Allow(ctx context.Context, key string, cost, limit int) (Decision, error) {
	open := Decision{Allowed: true, Remaining: limit}
	if l.redis == nil {
		return open, nil
	}
	now := time.Now()
	minute := now.Truncate(window)
	name := "canopy:limit:" + key + ":" + strconv.FormatInt(minute.Unix(), 10)
	used, err := ask(ctx, &l.breaker, func(ctx context.Context) (int, error) {
		return take.Run(ctx, l.redis, []string{name}, cost, limit, (2 * window).Milliseconds()).Int()
	})
	if err != nil {
		return open, err
	}
	if used < 0 {
		return Decision{Remaining: max(0, limit+used+1), RetryAfter: minute.Add(window).Sub(now)}, nil
	}
	return Decision{Allowed: true, Remaining: limit - used}, nil
}
