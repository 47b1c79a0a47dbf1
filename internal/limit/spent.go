package limit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Others, with a Redis of their own, may count for the same limits. Each tells the others now and then what it has
// counted of the minute at hand, by the keys of the counts, and has what it was told beside its own.

// elsewhere is behind the key of a count in that of what others have counted.
const elsewhere = ":elsewhere"

// worthTelling is the part of a budget, as one of so many, from which on others are told what was counted: less than
// that changes no limit by more than one in a hundred.
const worthTelling = 100

// mostSpent bounds the counts that a process tells of.
const mostSpent = 10_000

// spent are the keys of a minute's counts that others are told of.
type spent struct {
	mu     sync.Mutex
	minute time.Time
	keys   map[string]struct{}
}

// note remembers the budgets of which a part worth telling is gone.
func (s *spent) note(keys []string, budgets []Budget, left []int64, minute time.Time) {
	for i, b := range budgets {
		if gone := int64(b.Limit) - left[i]; gone*worthTelling < int64(b.Limit) {
			continue
		}
		s.mu.Lock()
		if minute.After(s.minute) {
			s.minute, s.keys = minute, map[string]struct{}{}
		}
		if len(s.keys) < mostSpent {
			s.keys[keys[i]] = struct{}{}
		}
		s.mu.Unlock()
	}
}

// of are the keys of a minute.
func (s *spent) of(minute time.Time) (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.minute.Equal(minute) {
		return nil
	}
	for key := range s.keys {
		keys = append(keys, key)
	}
	return keys
}

// Share has the limiter tell what it counts from now on, and count what it is told.
func (l *Limiter) Share() { l.spent.CompareAndSwap(nil, &spent{}) }

// Spent is what was counted in the current minute, by the keys of its counts: of budgets of which this process has seen
// a hundredth or more gone. The error says that Redis could not be asked.
func (l *Limiter) Spent(ctx context.Context) (keys []string, counts []int64, err error) {
	s := l.spent.Load()
	if s == nil || l.redis == nil {
		return nil, nil, nil
	}
	if keys = s.of(time.Now().Truncate(window)); len(keys) == 0 {
		return nil, nil, nil
	}
	counts, err = l.counts(ctx, keys)
	return keys, counts, err
}

// counts reads counts by their keys; what was not counted is 0.
func (l *Limiter) counts(ctx context.Context, keys []string) ([]int64, error) {
	answers := make([]*redis.StringCmd, len(keys))
	_, err := l.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			answers[i] = p.Get(ctx, key)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	counts := make([]int64, len(keys))
	for i, a := range answers {
		if counts[i], err = a.Int64(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
	return counts, nil
}

// SpentElsewhere takes what others have counted, by the keys of their counts.
func (l *Limiter) SpentElsewhere(ctx context.Context, keys []string, counts []int64) error {
	if l.redis == nil || len(keys) == 0 {
		return nil
	}
	_, err := l.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			if strings.HasPrefix(key, prefix) {
				p.Set(ctx, key+elsewhere, counts[i], 2*window)
			}
		}
		return nil
	})
	return err
}
