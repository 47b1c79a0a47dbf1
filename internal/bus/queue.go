package bus

import (
	"context"
	"errors"
)

var (
	// ErrBehind ends a queue whose follower takes messages more slowly than they come.
	ErrBehind = errors.New("the follower is too far behind")
	// ErrClosed ends a queue whose context or bus has ended.
	ErrClosed = errors.New("there are no more messages")
)

// Queue is what a follower has not taken yet. Nothing is left out before its end.
type Queue struct {
	ready chan struct{}
	// of counts the messages with those of the other queues, and guards what follows.
	of    *backlog
	owner int64
	list  [][]byte
	err   error
}

// Follow gives the messages of topics, all of them and in their order, until ctx ends or the bus is closed. A follower that falls behind by more than 4,096
// messages gets these, and then ErrBehind. Where more than 2,097,152 wait for all followers of the process, it is ErrBehind at once for who is furthest behind, among those of the owner for whom
// most wait: the others' are as they were. Messages are shared as those of Subscribe.
func (b *Bus) Follow(ctx context.Context, owner int64, topics ...string) *Queue {
	q := &Queue{ready: make(chan struct{}, 1), of: &b.behind, owner: owner}
	b.join(ctx, q, topics)
	context.AfterFunc(ctx, q.leave)
	return q
}

// Ready tells, once for each Take, that there is a message or the end. For no queue it never does.
func (q *Queue) Ready() <-chan struct{} {
	if q == nil {
		return nil
	}
	return q.ready
}

// Take takes the oldest message, or why there are no more. Ready has to have told first.
func (q *Queue) Take() ([]byte, error) {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	defer q.tell()
	if len(q.list) == 0 {
		return nil, q.err
	}
	message := q.list[0]
	q.list[0] = nil
	if q.list = q.list[1:]; len(q.list) == 0 {
		q.list = nil
	}
	q.of.less(q, 1)
	return message, nil
}

// tell has Ready tell where there is something to take.
func (q *Queue) tell() {
	if len(q.list) == 0 && q.err == nil {
		return
	}
	select {
	case q.ready <- struct{}{}:
	default: // it is told already
	}
}

func (q *Queue) offer(payload []byte) {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	switch {
	case q.err != nil:
	case len(q.list) == queued:
		q.err = ErrBehind
	default:
		q.list = append(q.list, payload)
		q.of.more(q)
	}
	q.tell()
}

func (q *Queue) end() {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	if q.err == nil {
		q.err = ErrClosed
	}
	q.tell()
}

// leave lets go of what nobody takes any more.
func (q *Queue) leave() {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	q.drop(ErrClosed)
}

// drop ends a queue without what is in it.
func (q *Queue) drop(why error) {
	n := len(q.list)
	q.list, q.err = nil, why
	q.of.less(q, n)
	q.tell()
}
