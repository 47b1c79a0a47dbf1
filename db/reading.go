package db

import (
	"context"
	"sync"
	"time"
)

// How long a request waits for a replica to catch up before the primary answers it, and how long work does that reads for seconds.
const (
	shortPatience = 20 * time.Millisecond
	longPatience  = time.Second
)

type readingKey struct{}

// reading is what a request that writes nothing has read from a replica so far. It is safe for concurrent use.
type reading struct {
	mu       sync.Mutex
	patience time.Duration
	// began tells that the two below are known: the replica, nil for the primary, and what it has to have replayed.
	began bool
	from  *replica
	at    int64
}

// Reading says that what is done in a context writes nothing. Where the store has replicas, one of them then answers lists, counts and
// edges, as long as it has replayed all that was committed when the first of them was asked for: nobody sees less than the primary would show.
func Reading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, &reading{patience: shortPatience})
}

// ReadingMuch is Reading for exports and the loading of indexes, which are worth a wait.
func ReadingMuch(ctx context.Context) context.Context {
	return context.WithValue(Alone(ctx), readingKey{}, &reading{patience: longPatience})
}

// Alone has the primary answer, with no bound of Within: for what is done for several who ask together, as what one of them has seen is too old
// for another, and what one of them may not have another may.
func Alone(ctx context.Context) context.Context {
	if roomIn(ctx) != nil {
		ctx = context.WithValue(ctx, roomKey{}, nil)
	}
	if _, is := ctx.Value(readingKey{}).(*reading); !is {
		return ctx
	}
	return context.WithValue(ctx, readingKey{}, nil)
}

// source is the replica that answers a statement, and what it has to have replayed; nil for the primary.
func (s *Store) source(ctx context.Context) (r *reading, from *replica, at int64) {
	if s.replicas == nil || s.tx != nil {
		return nil, nil, 0
	}
	r, is := ctx.Value(readingKey{}).(*reading)
	if !is {
		return nil, nil, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.began {
		r.began = true
		if r.from = s.replicas.next(); r.from != nil {
			now, told := s.replicas.committed(ctx)
			if r.at = now.At; !told || r.from.follows.Load() != now.Server {
				r.from = nil
			}
		}
	}
	return r, r.from, r.at
}

// leave has the primary answer what is left of a request.
func (r *reading) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = nil
}
