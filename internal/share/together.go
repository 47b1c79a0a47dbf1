package share

import (
	"context"
	"sync"
)

// Together has those who ask the same question while it is under way ask it once more, together: no answer is of a
// question that was begun before it was asked. It is safe for concurrent use; the zero value is ready.
type Together[K comparable, V any] struct {
	mu sync.Mutex
	// underway has an entry for each question that is being asked: those who wait for the next time, if there are any.
	underway map[K]*round[V]
}

// round is one time that a question is asked for several.
type round[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// Ask gives what ask gives, which may be shared with others: it is not to be changed. Whoever asks alone does so in their
// own context; what is asked for several goes on, whoever of them gives up.
func (t *Together[K, V]) Ask(ctx context.Context, question K, ask func(context.Context) (V, error)) (V, error) {
	t.mu.Lock()
	next, busy := t.underway[question]
	if !busy {
		if t.underway == nil {
			t.underway = map[K]*round[V]{}
		}
		t.underway[question] = nil
		t.mu.Unlock()
		defer t.over(context.WithoutCancel(ctx), question, ask)
		return ask(ctx)
	}
	if next == nil {
		next = &round[V]{done: make(chan struct{})}
		t.underway[question] = next
	}
	t.mu.Unlock()
	select {
	case <-next.done:
		return next.value, next.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

// over ends a time that a question was asked, and has it asked for those who came meanwhile.
func (t *Together[K, V]) over(ctx context.Context, question K, ask func(context.Context) (V, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.underway[question]
	if next == nil {
		delete(t.underway, question)
		return
	}
	t.underway[question] = nil
	go func() {
		defer t.over(ctx, question, ask)
		defer close(next.done)
		next.value, next.err = Guarded(func() (V, error) { return ask(ctx) })
	}()
}
