// Package bus tells processes of changes as they happen, over Redis publish/subscribe. It is for
// waking and for live views only: a message may be lost, and nothing rests on it.
package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	channel        = "canopy:bus"
	publishTimeout = 100 * time.Millisecond
	// outgoing is how many messages wait for Redis before new ones are dropped.
	outgoing = 1024
	// mostAtOnce is how many messages Redis is given at once, at most.
	mostAtOnce = 100
	// buffered is how many messages wait for a slow subscriber before its oldest are dropped.
	buffered = 256
	// queued is how many wait for a slow follower, for whom there are no more then.
	queued = 4096
	// queuedInAll is how many wait for all followers: some 24 bytes each, as what they say is shared.
	queuedInAll = 2 << 20
)

// Bus connects the topics of all processes that share a Redis. Without Redis it still connects
// those of its own process.
type Bus struct {
	redis  redis.UniversalClient
	log    *slog.Logger
	origin string
	// patience is how long Redis may take for a message.
	patience time.Duration
	queue    chan string
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu     sync.Mutex
	topics map[string]map[subscriber]struct{}

	behind backlog
}

// subscriber hears of topics. The bus holds mu while it offers a message, or the end.
type subscriber interface {
	offer(payload []byte)
	end()
}

// New starts a bus; Close stops it. A nil client leaves it to its own process.
func New(client redis.UniversalClient, log *slog.Logger) *Bus {
	return patient(client, log, publishTimeout)
}

// patient starts a bus that gives Redis so much time for a message.
func patient(client redis.UniversalClient, log *slog.Logger, patience time.Duration) *Bus {
	ctx, cancel := context.WithCancel(context.Background())
	b := &Bus{
		redis: client, log: log, origin: rand.Text(), patience: patience, queue: make(chan string, outgoing), cancel: cancel,
		topics: map[string]map[subscriber]struct{}{},
		behind: backlog{most: queuedInAll, owners: map[int64]*owned{}},
	}
	if client != nil {
		b.done.Go(func() { b.send(ctx) })
		b.done.Go(func() { b.receive(ctx) })
	}
	return b
}

// Close ends the bus and every subscription. What was published before is still sent, unless Redis takes longer
// than 100 ms for it. The client stays open: it is the caller's.
func (b *Bus) Close() {
	b.cancel()
	b.done.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := map[subscriber]bool{}
	for _, subscribers := range b.topics {
		for s := range subscribers {
			if !ended[s] {
				s.end()
			}
			ended[s] = true
		}
	}
	b.topics = nil
}

// Publish gives a message to the subscribers of a topic: those of this process at once, those of
// others in the background. It never waits. A topic is one line; the payload is not to be changed
// afterwards.
func (b *Bus) Publish(_ context.Context, topic string, payload []byte) {
	b.deliver(topic, payload)
	if b.redis == nil {
		return
	}
	select {
	case b.queue <- b.origin + "\n" + topic + "\n" + string(payload):
	default: // Redis is slow or away; the message is one of those that get lost.
	}
}

// PublishHere gives a message to the subscribers of this process alone.
func (b *Bus) PublishHere(topic string, payload []byte) { b.deliver(topic, payload) }

// Listened tells whether a topic has subscribers in this process.
func (b *Bus) Listened(topic string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.topics[topic]) > 0
}

// send publishes what waits, in its order: all that came while others were on their way goes at once. What waits when ctx ends is still
// sent, if Redis takes it soon enough.
func (b *Bus) send(ctx context.Context) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	context.AfterFunc(ctx, func() { time.AfterFunc(b.patience, cancel) })
	for {
		messages := b.next(ctx)
		if len(messages) == 0 {
			return
		}
		select {
		case <-b.sendAll(late, messages):
		case <-late.Done():
			return
		}
	}
}

// next gives the messages that have waited longest, and waits for one until ctx ends.
func (b *Bus) next(ctx context.Context) (messages []string) {
	for len(messages) < mostAtOnce {
		select {
		case m := <-b.queue:
			messages = append(messages, m)
			continue
		default:
		}
		if len(messages) > 0 {
			return messages
		}
		select {
		case <-ctx.Done():
			return nil
		case m := <-b.queue:
			messages = append(messages, m)
		}
	}
	return messages
}

// sendAll publishes messages; the channel is closed when that is over. A client may hold on to a
// socket beyond its context's end, which must not hold up Close.
func (b *Bus) sendAll(ctx context.Context, messages []string) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		ctx, cancel := context.WithTimeout(ctx, b.patience)
		defer cancel()
		_, err := b.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, m := range messages {
				p.Publish(ctx, channel, m)
			}
			return nil
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			b.log.DebugContext(ctx, "live messages were lost", "error", err)
		}
	}()
	return over
}

// receive hands on what other processes publish. The client connects again by itself.
func (b *Bus) receive(ctx context.Context) {
	sub := b.redis.Subscribe(ctx, channel)
	defer func() { _ = sub.Close() }()
	messages := sub.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				return
			}
			origin, rest, _ := strings.Cut(m.Payload, "\n")
			if topic, payload, ok := strings.Cut(rest, "\n"); ok && origin != b.origin {
				b.deliver(topic, []byte(payload))
			}
		}
	}
}

func (b *Bus) deliver(topic string, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.topics[topic] {
		s.offer(payload)
	}
}

// newest is the buffer of a subscriber whom new messages matter to more than old ones.
type newest chan []byte

func (c newest) end() { close(c) }

// offer puts a message into the buffer, in place of the oldest one if it is full. Nobody else puts one in.
func (c newest) offer(payload []byte) {
	select {
	case c <- payload:
		return
	default:
	}
	select {
	case <-c:
	default: // The subscriber has made room by itself.
	}
	c <- payload
}

// Subscribe gives the messages of topics until ctx ends or the bus is closed; then the channel is
// closed. A subscriber that falls behind by more than 256 messages loses the oldest ones. The
// messages are shared with the topics' other subscribers: they are for reading only.
func (b *Bus) Subscribe(ctx context.Context, topics ...string) <-chan []byte {
	c := make(newest, buffered)
	b.join(ctx, c, topics)
	return c
}

// join has a subscriber hear of topics, until ctx ends or the bus is closed.
func (b *Bus) join(ctx context.Context, s subscriber, topics []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.topics == nil {
		s.end()
		return
	}
	for _, topic := range topics {
		if b.topics[topic] == nil {
			b.topics[topic] = map[subscriber]struct{}{}
		}
		b.topics[topic][s] = struct{}{}
	}
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.topics == nil {
			return // closed with the bus
		}
		s.end()
		for _, topic := range topics {
			delete(b.topics[topic], s)
			if len(b.topics[topic]) == 0 {
				delete(b.topics, topic)
			}
		}
	})
}
