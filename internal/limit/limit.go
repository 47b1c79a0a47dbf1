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

// Budget is how much one minute holds for a name.
type Budget struct {
	Name  string
	Limit int
}

// Decision is what a limiter says of one call.
type Decision struct {
	Allowed bool
	// Remaining is what is left of the current minute: of the budget that is over, or of the one with
	// the least.
	Remaining int
	// Over is the place of the budget that is over, where the call was refused.
	Over int
	// RetryAfter is the time until the next minute, where the call was refused.
	RetryAfter time.Duration
}

// take adds the cost to the minute's count of each budget unless that would pass one of them. It answers
// the place of that one, from 1 on, and what it has left; or 0 and the least that is left.
var take = redis.NewScript(`
local cost, least = tonumber(ARGV[1]), math.huge
for i, key in ipairs(KEYS) do
	local left = tonumber(ARGV[i + 2]) - tonumber(redis.call('GET', key) or '0')
	if cost > left then return {i, left} end
	least = math.min(least, left - cost)
end
for _, key in ipairs(KEYS) do
	if redis.call('INCRBY', key, cost) == cost then redis.call('PEXPIRE', key, ARGV[2]) end
end
return {0, least}`)

// Allow counts a call of the given cost, at least 1, against budgets for the current minute, in one round
// trip; a refused call counts nothing. tenant is whose they are: its counts lie on one Redis. The error
// says that Redis could not be asked (ErrAway) or that ctx ended; the call is allowed then.
func (l *Limiter) Allow(ctx context.Context, tenant string, cost int, budgets ...Budget) (Decision, error) {
	now := time.Now()
	minute := now.Truncate(window)
	least := budgets[0].Limit
	names, args := make([]string, len(budgets)), []any{cost, (2 * window).Milliseconds()}
	for i, b := range budgets {
		names[i] = "canopy:limit:{" + tenant + "}:" + b.Name + ":" + strconv.FormatInt(minute.Unix(), 10)
		args, least = append(args, b.Limit), min(least, b.Limit)
	}
	open := Decision{Allowed: true, Remaining: least}
	if l.redis == nil {
		return open, nil
	}
	answer, err := ask(ctx, &l.breaker, func(ctx context.Context) ([]int64, error) {
		return take.Run(ctx, l.redis, names, args...).Int64Slice()
	})
	switch {
	case err != nil:
		return open, err
	case answer[0] > 0:
		return Decision{Over: int(answer[0]) - 1, Remaining: max(0, int(answer[1])), RetryAfter: minute.Add(window).Sub(now)}, nil
	}
	return Decision{Allowed: true, Remaining: int(answer[1])}, nil
}
