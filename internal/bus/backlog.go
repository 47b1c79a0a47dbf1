package bus

import "sync"

// backlog is what waits in all queues of a bus, by their owners.
type backlog struct {
	mu     sync.Mutex
	most   int
	total  int
	owners map[int64]*owned
}

// owned are the queues of an owner in which something waits.
type owned struct {
	total  int
	queues map[*Queue]struct{}
}

// more counts a message that was put into a queue; where it is one too many, the longest queue of the owner for whom most wait ends.
func (b *backlog) more(q *Queue) {
	o := b.owners[q.owner]
	if o == nil {
		o = &owned{queues: map[*Queue]struct{}{}}
		b.owners[q.owner] = o
	}
	o.queues[q] = struct{}{}
	o.total++
	if b.total++; b.total > b.most {
		b.longest().drop(ErrBehind)
	}
}

// less counts messages that are no longer in a queue.
func (b *backlog) less(q *Queue, n int) {
	o := b.owners[q.owner]
	if o == nil {
		return
	}
	b.total -= n
	o.total -= n
	if len(q.list) == 0 {
		delete(o.queues, q)
	}
	if o.total == 0 {
		delete(b.owners, q.owner)
	}
}

// longest is the queue of who is furthest behind, among those of the owner for whom most wait.
func (b *backlog) longest() (longest *Queue) {
	most := &owned{}
	for _, o := range b.owners {
		if o.total > most.total {
			most = o
		}
	}
	for q := range most.queues {
		if longest == nil || len(q.list) > len(longest.list) {
			longest = q
		}
	}
	return longest
}
