package resolvers

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"canopy/internal/access"
	"canopy/internal/bus"
	"canopy/internal/problem"
	"canopy/internal/token"
)

// The look-up of a caller takes a database: what is loaded here is asked for by one who has none, so
// that everything but the first look ends with the token, and no look comes by itself during a test. The rest is tried from outside.

// newListener gives what a subscription takes, for a caller whose token has the given life.
func newListener(t *testing.T, life time.Duration) (context.Context, *Listener, *Resolver) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	r := &Resolver{Bus: bus.New(nil, log), Log: log}
	t.Cleanup(r.Bus.Close)
	p := &access.Principal{Expires: time.Now().Add(life)}
	for UntilRecheck(time.Now(), p.UserID) < recheckEvery/2 {
		p.UserID++
	}
	ctx, l := Listen(access.WithPrincipal(t.Context(), p))
	return ctx, l, r
}

// drain gives what is sent until the end.
func drain[T any](out <-chan *T) (all []T) {
	for obj := range out {
		all = append(all, *obj)
	}
	return all
}

func numbers(n ...int) (list []*int) {
	for i := range n {
		list = append(list, &n[i])
	}
	return list
}

func TestFollow(t *testing.T) {
	first := func(context.Context, []byte) ([]*int, error) { return numbers(1, 2, 3), nil }
	t.Run("refuses at once", func(t *testing.T) {
		ctx, _, r := newListener(t, time.Hour)
		denied := problem.Denied("not this one")
		out, err := follow(ctx, r, feed[int]{topic: "t", load: func(context.Context, []byte) ([]*int, error) { return nil, denied }})
		if out != nil || !errors.Is(err, denied) {
			t.Errorf("%v", err)
		}
	})
	t.Run("ends with the last state", func(t *testing.T) {
		ctx, l, r := newListener(t, time.Hour)
		out, err := follow(ctx, r, feed[int]{topic: "t", load: first, over: func(n *int) bool { return *n == 2 }})
		if err != nil {
			t.Fatal(err)
		}
		if got := drain(out); !slices.Equal(got, []int{1, 2}) || l.End() != nil || !l.OfState() {
			t.Errorf("%v, then %v", got, l.End())
		}
	})
	t.Run("ends with the token", func(t *testing.T) {
		ctx, l, r := newListener(t, 50*time.Millisecond)
		out, err := follow(ctx, r, feed[int]{topic: "t", load: first})
		if err != nil {
			t.Fatal(err)
		}
		if got := drain(out); len(got) != 3 || !errors.Is(l.End(), token.ErrExpired) || problem.From(l.End()).Code != problem.Unauthenticated {
			t.Errorf("%v, then %v", got, l.End())
		}
	})
	t.Run("ends with the bus", func(t *testing.T) {
		ctx, l, r := newListener(t, time.Hour)
		out, err := follow(ctx, r, feed[int]{topic: "t", load: first})
		if err != nil {
			t.Fatal(err)
		}
		r.Bus.Close()
		if drain(out); problem.From(l.End()).Code != problem.Unavailable {
			t.Errorf("it ended with %v", l.End())
		}
	})
	t.Run("ends behind what it has not missed", func(t *testing.T) {
		ctx, l, r := newListener(t, time.Hour)
		heard := hearing{events: r.Bus.Follow(ctx, 0, "t")}
		for range 5000 {
			r.Bus.Publish(ctx, "t", []byte("5"))
		}
		for range 4096 {
			<-heard.events.Ready()
			if _, err := heard.events.Take(); err != nil {
				t.Fatal(err)
			}
		}
		err := (&sender[int]{r: r, listener: l}).run(ctx, heard, nil)
		if p := problem.From(err); p.Code != problem.Unavailable || p.Reason != "reader_behind" {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("ends silently when nobody listens", func(t *testing.T) {
		ctx, l, r := newListener(t, time.Hour)
		ctx, leave := context.WithCancel(ctx)
		out, err := follow(ctx, r, feed[int]{topic: "t", load: first})
		if err != nil {
			t.Fatal(err)
		}
		<-out
		leave()
		if drain(out); l.End() != nil {
			t.Errorf("it ended with %v", l.End())
		}
	})
}

func TestEnds(t *testing.T) {
	named := []byte(strconv.Itoa(5))
	for _, c := range []struct {
		err     error
		message []byte
		want    bool
	}{
		{problem.Unauthorized("x"), named, true},
		{problem.Denied("x"), named, true},
		{problem.Denied("x"), nil, true},
		{problem.Missing("one of several"), named, false},
		{problem.Missing("what is listened to"), nil, true},
		{problem.Away("x", nil), named, false},
		{errors.New("x"), nil, false},
	} {
		if got := ends(c.err, c.message); got != c.want {
			t.Errorf("%v with %q: %t", c.err, c.message, got)
		}
	}
}

// TestRechecksMeet: whenever somebody's subscriptions were opened, they are looked after at the same moments, and those of others at others.
func TestRechecksMeet(t *testing.T) {
	now := time.Now()
	moments := map[int64]bool{}
	for user := range int64(100) {
		next := now.Add(UntilRecheck(now, user))
		moments[int64(next.Sub(now)/(100*time.Millisecond))] = true
		for at := now; at.Before(next); at = at.Add(37 * time.Millisecond) {
			if wait := UntilRecheck(at, user); wait <= 0 || wait > recheckEvery || !at.Add(wait).Equal(next) {
				t.Fatalf("user %d, %v before the moment: %v", user, next.Sub(at), wait)
			}
		}
		if wait := UntilRecheck(next, user); wait != recheckEvery {
			t.Errorf("from one moment to the next it is %v", wait)
		}
	}
	if len(moments) < 50 {
		t.Errorf("100 callers have %d moments", len(moments))
	}
}
