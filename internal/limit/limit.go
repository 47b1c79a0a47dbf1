// Package limit bounds what callers may do: by requests and minute, counted in Redis, and by failed
// logins. Without Redis the first stands open, within milliseconds and without a wait for each
// call; the second goes on in its own process.
package limit

import (
	"context"
	"errors"
	"slices"
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

// New makes a limiter, whose calls wait for Redis for as long as patience says; with a nil client every limit is open.
func New(client redis.UniversalClient, patience time.Duration) *Limiter {
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
	// Left is what is left of each budget.
	Left []int
	// Reset is the time until the next minute.
	Reset time.Duration
	// Over is the place of the budget that is over, where the call was refused.
	Over int
	// RetryAfter is the time until the next minute, where the call was refused.
	RetryAfter time.Duration
}

// take adds the cost to the minute's count of each budget unless that would pass one of them. It answers the place of
// that one, from 1 on, or 0, and then what each has left.
var take = redis.NewScript(`
local cost, left, over = tonumber(ARGV[1]), {0}, 0
for i, key in ipairs(KEYS) do
	left[i + 1] = tonumber(ARGV[i + 2]) - tonumber(redis.call('GET', key) or '0')
	if over == 0 and cost > left[i + 1] then over = i end
end
if over > 0 then
	left[1] = over
	return left
end
for i, key in ipairs(KEYS) do
	if redis.call('INCRBY', key, cost) == cost then redis.call('PEXPIRE', key, ARGV[2]) end
	left[i + 1] = left[i + 1] - cost
end
return left`)

// Allow counts a call of the given cost, at least 1, against budgets for the current minute, in one round
// trip; a refused call counts nothing. branch is whose they are: its counts lie on one Redis. The error
// says that Redis could not be asked (ErrAway) or that ctx ended; the call is allowed then.
func (l *Limiter) Allow(ctx context.Context, branch string, cost int, budgets ...Budget) (Decision, error) {
	now := time.Now()
	minute := now.Truncate(window)
	names, args, all := make([]string, len(budgets)), []any{cost, (2 * window).Milliseconds()}, make([]int, len(budgets))
	for i, b := range budgets {
		names[i], all[i] = key(branch, b.Name, minute), b.Limit
		args = append(args, b.Limit)
	}
	open := Decision{Allowed: true, Remaining: slices.Min(all), Left: all, Reset: minute.Add(window).Sub(now)}
	if l.redis == nil {
		return open, nil
	}
	answer, err := ask(ctx, &l.breaker, func(ctx context.Context) ([]int64, error) {
		return take.Run(ctx, l.redis, names, args...).Int64Slice()
	})
	if err != nil {
		return open, err
	}
	d := Decision{Left: make([]int, len(budgets)), Reset: open.Reset}
	for i := range d.Left {
		d.Left[i] = max(0, int(answer[i+1]))
	}
	if over := int(answer[0]); over > 0 {
		d.Over, d.Remaining, d.RetryAfter = over-1, d.Left[over-1], d.Reset
		return d, nil
	}
	d.Allowed, d.Remaining = true, slices.Min(d.Left)
	return d, nil
}

// key names the count of a minute. Those of one branch lie on one Redis.
func key(branch, name string, minute time.Time) string {
	return "canopy:limit:{" + branch + "}:" + name + ":" + strconv.FormatInt(minute.Unix(), 10)
}

// Count is what was counted for a budget in the current minute; 0 where Redis can't be asked.
func (l *Limiter) Count(ctx context.Context, branch, name string) int64 {
	if l.redis == nil {
		return 0
	}
	n, err := ask(ctx, &l.breaker, func(ctx context.Context) (int64, error) {
		n, err := l.redis.Get(ctx, key(branch, name, time.Now().Truncate(window))).Int64()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return n, err
	})
	if err != nil {
		return 0
	}
	return n
}
