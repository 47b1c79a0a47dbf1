// Package limit bounds what callers may do: by requests and minute, counted in Redis, and by failed
// logins. Without Redis the first stands open, within milliseconds and without a wait for each
// call; the second goes on in its own process.
package limit

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const window = time.Minute

// Limiter counts by key and minute. Its clock is the process's: the minutes of processes whose
// clocks differ begin at different times.
type Limiter struct {
	redis   redis.UniversalClient
	breaker breaker
	// spent is nil where nobody else counts.
	spent atomic.Pointer[spent]
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

// take adds the cost to the minute's count of each budget unless that would pass one of them, with what others have
// counted where the keys of that follow. It answers the place of that one, from 1 on, or 0, and then what each has left.
var take = redis.NewScript(`
local cost, left, over, n = tonumber(ARGV[1]), {0}, 0, #ARGV - 2
for i = 1, n do
	left[i + 1] = tonumber(ARGV[i + 2]) - tonumber(redis.call('GET', KEYS[i]) or '0')
	if KEYS[n + i] then left[i + 1] = left[i + 1] - tonumber(redis.call('GET', KEYS[n + i]) or '0') end
	if over == 0 and cost > left[i + 1] then over = i end
end
if over > 0 then
	left[1] = over
	return left
end
for i = 1, n do
	if redis.call('INCRBY', KEYS[i], cost) == cost then redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
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
	spent, keys := l.spent.Load(), names
	if spent != nil {
		for _, name := range names {
			keys = append(keys, name+elsewhere)
		}
	}
	answer, err := ask(ctx, &l.breaker, func(ctx context.Context) ([]int64, error) {
		return take.Run(ctx, l.redis, keys, args...).Int64Slice()
	})
	if err != nil {
		return open, err
	}
	if spent != nil {
		spent.note(names, budgets, answer[1:], minute)
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

const prefix = "canopy:limit:"

// key names the count of a minute. Those of one branch lie on one Redis.
func key(branch, name string, minute time.Time) string {
	return prefix + "{" + branch + "}:" + name + ":" + strconv.FormatInt(minute.Unix(), 10)
}

// Count is what was counted for a budget in the current minute, also by others; 0 where Redis can't be asked.
func (l *Limiter) Count(ctx context.Context, branch, name string) (n int64) {
	if l.redis == nil {
		return 0
	}
	name = key(branch, name, time.Now().Truncate(window))
	counts, err := ask(ctx, &l.breaker, func(ctx context.Context) ([]int64, error) { return l.counts(ctx, []string{name, name + elsewhere}) })
	if err != nil {
		return 0
	}
	return counts[0] + counts[1]
}
