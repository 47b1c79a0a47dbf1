package share

import (
	"context"
	"slices"
	"sync"
)

// mostInBatch is how much is done at once, at most.
const mostInBatch = 64

// Batches has done at once what several ask for while the same is under way. Nobody waits for others to come: who finds nothing under way for
// a key goes ahead alone, and those who come meanwhile are the next batch. It is safe for concurrent use; the zero value is ready.
type Batches[K comparable, T any] struct {
	mu sync.Mutex
	// underway has an entry for each key that something is done for: those who wait for the next batch.
	underway map[K][]*member[T]
}

// member is one of a batch. done is told how it ended, and never waits to be heard.
type member[T any] struct {
	ctx  context.Context
	item T
	done chan error
}

// Work is how the items of a batch are done: all of them, or none where it fails. Refused tells of an error that nothing was done, for the
// fault of perhaps one item alone: then each is done by itself. Of any other error all hear.
type Work[T any] struct {
	Do      func(context.Context, []T) error
	Refused func(error) bool
}

// Do has an item done. Whoever is alone does it in their own context; what is done for several goes on, whoever of them gives up.
func (b *Batches[K, T]) Do(ctx context.Context, key K, item T, work Work[T]) error {
	b.mu.Lock()
	waiting, busy := b.underway[key]
	if !busy {
		if b.underway == nil {
			b.underway = map[K][]*member[T]{}
		}
		b.underway[key] = nil
		b.mu.Unlock()
		defer b.over(key, work)
		return work.Do(ctx, []T{item})
	}
	m := &member[T]{ctx, item, make(chan error, 1)}
	b.underway[key] = append(waiting, m)
	b.mu.Unlock()
	select {
	case err := <-m.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// over ends a batch, and begins the next one with those who have come meanwhile and still wait.
func (b *Batches[K, T]) over(key K, work Work[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := slices.DeleteFunc(b.underway[key], func(m *member[T]) bool { return m.ctx.Err() != nil })
	if len(waiting) == 0 {
		delete(b.underway, key)
		return
	}
	n := min(len(waiting), mostInBatch)
	b.underway[key] = slices.Clone(waiting[n:])
	go func() {
		defer b.over(key, work)
		work.all(waiting[:n])
	}()
}

// all does what the members of a batch asked for, and tells each how it ended.
func (w Work[T]) all(batch []*member[T]) {
	if len(batch) > 1 {
		items := make([]T, len(batch))
		for i, m := range batch {
			items[i] = m.item
		}
		if err := w.guarded(context.WithoutCancel(batch[0].ctx), items); err == nil || !w.Refused(err) {
			for _, m := range batch {
				m.done <- err
			}
			return
		}
	}
	for _, m := range batch {
		m.done <- w.guarded(m.ctx, []T{m.item})
	}
}

// guarded has a panic fail the batch, and not the process.
func (w Work[T]) guarded(ctx context.Context, items []T) error {
	return Guard(func() error { return w.Do(ctx, items) })
}
