// Package roster tells which workers run. Each writes itself down in Redis every few seconds, for as long as it runs: a list for people,
// on which nothing rests.
package roster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	name = "canopy:workers"
	// every is how often a worker writes itself down, and gone is when one that does not any more is left out.
	every = 5 * time.Second
	gone  = 4 * every
	// patience is how long Redis may take.
	patience = time.Second
)

// ErrAway says that Redis could not be asked.
var ErrAway = errors.New("redis is away")

// Worker is a process that does background work.
type Worker struct {
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	// Queues are those that it takes tasks from.
	Queues    []string  `json:"queues"`
	StartedAt time.Time `json:"startedAt"`
	SeenAt    time.Time `json:"seenAt"`
}

// Roster is the list that processes with one Redis share.
type Roster struct{ redis redis.UniversalClient }

// New gives the roster of a Redis. A nil client is a Redis that is always away.
func New(client redis.UniversalClient) *Roster { return &Roster{client} }

// Keep writes this process down as a worker until ctx ends; then it strikes it off. While Redis is away it goes on trying.
func (r *Roster) Keep(ctx context.Context, version string, queues []string) {
	if r.redis == nil {
		return
	}
	host, _ := os.Hostname() // a worker without one is told by its number
	w := Worker{Host: host, PID: os.Getpid(), Version: version, Queues: queues, StartedAt: time.Now().UTC()}
	id := rand.Text()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		w.SeenAt = time.Now().UTC()
		r.write(ctx, id, w)
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.strike(context.WithoutCancel(ctx), id)
			return
		}
	}
}

// write writes a worker down. The whole list goes with the last who writes.
func (r *Roster) write(ctx context.Context, id string, w Worker) {
	line, err := json.Marshal(w)
	if err != nil {
		return // there is nothing in it that can't be written
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, _ = r.redis.Pipelined(ctx, func(p redis.Pipeliner) error { // the next one may get through
		p.HSet(ctx, name, id, line)
		p.Expire(ctx, name, gone)
		return nil
	})
}

func (r *Roster) strike(ctx context.Context, ids ...string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = r.redis.HDel(ctx, name, ids...).Err() // who stays on the list is left out soon
}

// Workers lists those that run, the oldest first; ErrAway where Redis could not be asked. Those that ended without a word are
// listed for 20 seconds more.
func (r *Roster) Workers(ctx context.Context) ([]*Worker, error) {
	if r.redis == nil {
		return nil, ErrAway
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lines, err := r.redis.HGetAll(asking, name).Result()
	if err != nil {
		return nil, errors.Join(ErrAway, err)
	}
	list, lost := []*Worker{}, []string{}
	for id, line := range lines {
		w := &Worker{}
		if json.Unmarshal([]byte(line), w) != nil || time.Since(w.SeenAt) > gone {
			lost = append(lost, id)
			continue
		}
		list = append(list, w)
	}
	if len(lost) > 0 {
		r.strike(ctx, lost...)
	}
	slices.SortFunc(list, func(a, b *Worker) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
	})
	return list, nil
}
