package resolvers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"canopy/internal/access"
	"canopy/internal/bus"
	"canopy/internal/problem"
	"canopy/internal/share"
	"canopy/outbox"
)

// recheckEvery is how often a quiet subscription asks whether its caller may still listen.
const recheckEvery = 10 * time.Second

// UntilRecheck is how long it is until a caller is looked at the next time. All that a caller has open is looked after at the same moment, so that the looks are
// shared, and the moments of callers are spread.
func UntilRecheck(now time.Time, userID int64) time.Duration {
	const spread = 0x9E3779B97F4A7C15 // 2^64 by the golden ratio: neighbours are far from each other
	moment := uint64(userID) * spread % uint64(recheckEvery)
	return recheckEvery - time.Duration((uint64(now.UnixNano())-moment)%uint64(recheckEvery))
}

// Listener is one open subscription, between the resolver that feeds it and the door that sends what
// it is fed: who listens, as last looked up, what could not be read, and why it ended.
type Listener struct {
	mu     sync.Mutex
	caller *access.Principal
	faults []error
	end    error
	state  bool
}

type listenerKey struct{}

// Listen gives a subscription the context to run in, and its listener.
func Listen(ctx context.Context) (context.Context, *Listener) {
	l := &Listener{caller: access.PrincipalOf(ctx)}
	return context.WithValue(ctx, listenerKey{}, l), l
}

// ListenerOf gives the listener of a subscription's context.
func ListenerOf(ctx context.Context) *Listener {
	l, _ := ctx.Value(listenerKey{}).(*Listener)
	return l
}

// End is why the subscription ended: nil when there is nothing more to tell, or nobody listens.
func (l *Listener) End() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Fault is why there is nil in place of an event.
func (l *Listener) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.faults[0]
	l.faults = l.faults[1:]
	return err
}

// Caller is who listens, with the rights of the last event's moment.
func (l *Listener) Caller() *access.Principal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.caller
}

// OfState tells a subscription to the state of one object, where an event that says the same as the
// one before says nothing.
func (l *Listener) OfState() bool { return l.state }

func (l *Listener) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// feed is what a subscription sends.
type feed[T any] struct {
	topic string // "" where there is none
	// load reads what a message names, with the caller's rights of that moment. Without a message, at
	// the beginning, every 10 seconds and when it is told that the caller may have lost something, it says whether the caller may listen at all, and gives what
	// is to be sent even so.
	load func(ctx context.Context, message []byte) ([]*T, error)
	// own gives what comes without a message, until the context ends; nil where there is nothing such.
	own func(context.Context) <-chan *T
	// over tells the last state of the one object that is followed; nil where there are several.
	over func(*T) bool
}

// follow turns the messages of a topic into what a subscription sends. Each of them, and each look in
// between, is for the caller as the database has it then: when the token expires or stops working, or
// the right or what is listened to is gone, or the company is suspended, the subscription ends and says why. What the caller can't
// see is passed over; what can't be read for another reason is told in its place.
func follow[T any](ctx context.Context, r *Resolver, f feed[T]) (<-chan *T, error) {
	var topics []string
	if f.topic != "" {
		topics = append(topics, f.topic)
	}
	var branch int64
	if p := access.PrincipalOf(ctx); p != nil {
		topics = append(topics, outbox.CallerTopic(p.UserID))
		branch = p.Lineage.Branch()
	}
	// Before the first look, so that nothing is missed in between. Of a state the last message tells all; of events each one tells of another.
	heard := hearing{tree: r.Bus.Subscribe(ctx, outbox.TreeTopic)}
	if f.over != nil {
		heard.states = r.Bus.Subscribe(ctx, topics...)
	} else {
		heard.events = r.Bus.Follow(ctx, branch, topics...)
	}
	first, err := f.load(ctx, nil)
	if err != nil {
		return nil, err
	}
	listener := ListenerOf(ctx)
	listener.state = f.over != nil
	out := make(chan *T)
	go func() {
		defer close(out)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		err := share.Guard(func() error {
			return (&sender[T]{r: r, listener: listener, feed: f, out: out}).run(ctx, heard, first)
		})
		listener.set(func() { listener.end = err })
	}()
	return out, nil
}

// hearing is what a subscription hears: the messages that it follows, of a state or of events, and which parts of the tree have changed.
type hearing struct {
	states, tree <-chan []byte
	events       *bus.Queue
}

// errBehind ends a subscription whose client takes events more slowly than they come: what it would miss is not passed over in silence.
var errBehind = (&problem.Error{
	Code: problem.Unavailable, Detail: "events come faster than they are taken: subscribe again, and look at what has changed meanwhile", RetryAfter: time.Second,
}).With("reader_behind")

// sender feeds one subscription.
type sender[T any] struct {
	r        *Resolver
	listener *Listener
	feed     feed[T]
	out      chan<- *T
}

// run sends until there is a reason to end.
func (s *sender[T]) run(ctx context.Context, heard hearing, first []*T) error {
	p := access.PrincipalOf(ctx)
	expiry := time.NewTimer(time.Until(p.Expires))
	defer expiry.Stop()
	recheck := time.NewTimer(UntilRecheck(time.Now(), p.UserID))
	defer recheck.Stop()
	var own <-chan *T
	if s.feed.own != nil {
		own = s.feed.own(ctx)
	}
	for on := s.send(ctx, first); on; {
		var message []byte
		var end error
		open := true
		select {
		case <-ctx.Done():
		case <-expiry.C:
			return Expired()
		case <-recheck.C:
			recheck.Reset(UntilRecheck(time.Now(), p.UserID))
		case obj := <-own:
			on = s.send(ctx, []*T{obj})
			continue
		case message, open = <-heard.states:
		case <-heard.events.Ready():
			message, end = heard.events.Take()
		case message, open = <-heard.tree:
			if open && !s.concerns(message) {
				continue
			}
			message = nil
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(end, bus.ErrBehind):
			return errBehind
		case !open || end != nil:
			return problem.Away("the live feed", nil)
		case len(message) == 0:
			message = nil // the caller may have lost something
		}
		var err error
		if on, err = s.look(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

// concerns tells whether the caller acts for a company, or for one below it.
func (s *sender[T]) concerns(company []byte) bool {
	id, err := strconv.ParseInt(string(company), 10, 64)
	p := s.listener.Caller()
	return err == nil && p != nil && slices.Contains(p.Lineage, id)
}

// look sends what a message names to the caller as of now. The error is why the subscription ends.
func (s *sender[T]) look(ctx context.Context, message []byte) (on bool, err error) {
	fresh, err := s.r.renew(ctx)
	var list []*T
	if err == nil {
		list, err = s.feed.load(fresh, message)
	}
	// From here on the principal is the door's alone.
	s.listener.set(func() { s.listener.caller = access.PrincipalOf(fresh) })
	switch {
	case ctx.Err() != nil:
		return false, nil
	case err == nil:
		return s.send(ctx, list), nil
	case ends(err, message):
		return false, err
	case message == nil:
		s.r.Log.WarnContext(ctx, "a subscription was not looked after", "topic", s.feed.topic, "error", err)
	case problem.From(err).Code != problem.NotFound:
		s.listener.set(func() { s.listener.faults = append(s.listener.faults, err) })
		return s.send(ctx, []*T{nil}), nil
	}
	return true, nil
}

// send hands the objects to the door; false when there are no more to come.
func (s *sender[T]) send(ctx context.Context, list []*T) bool {
	for _, obj := range list {
		select {
		case s.out <- obj:
		case <-ctx.Done():
			return false
		}
		if s.feed.over != nil && obj != nil && s.feed.over(obj) {
			return false
		}
	}
	return true
}

// ends tells an error after which there is nothing to listen to from a fault that may pass. One object
// of several that is not there any more is none.
func ends(err error, message []byte) bool {
	switch problem.From(err).Code {
	case problem.Unauthenticated, problem.Forbidden:
		return true
	case problem.NotFound:
		return message == nil
	}
	return false
}
