package hop

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"canopy/internal/problem"
)

// TestPulse: whoever waits for a cell that answers nothing hears so soon, and who comes then at once, until it answers again. One that
// answers, if others, is waited for.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan bool, 1)
		p := &pulse{waiting: map[*waiting]struct{}{}, alive: func(ctx context.Context) bool {
			select {
			case is := <-answers:
				return is
			case <-ctx.Done():
				return false
			}
		}}
		slow, over, err := p.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 10 { // it takes long, and the cell says that it is there
			answers <- true
			time.Sleep(doubtAfter)
			synctest.Wait()
		}
		if slow.Err() != nil {
			t.Fatal("a slow answer is not waited for")
		}
		for range 10 { // and here the answers to others say so
			_, other, _ := p.begin(t.Context())
			other(true)
			time.Sleep(doubtAfter / 2)
		}
		if slow.Err() != nil {
			t.Fatal("a slow answer beside others is not waited for")
		}
		for len(answers) > 0 {
			<-answers
		}
		begun := time.Now()
		<-slow.Done()
		over(false)
		if took := time.Since(begun); !errors.Is(context.Cause(slow), errSilent) || took > 2*doubtAfter+probeTimeout {
			t.Errorf("%v after %s", context.Cause(slow), took)
		}
		begun = time.Now()
		if _, _, err := p.begin(t.Context()); !errors.Is(err, errSilent) || time.Since(begun) > 0 {
			t.Errorf("the next one: %v after %s", err, time.Since(begun))
		}
		time.Sleep(probeEvery)
		answers <- true
		if _, _, err := p.begin(t.Context()); !errors.Is(err, errSilent) {
			t.Errorf("before it has answered: %v", err)
		}
		synctest.Wait()
		_, over, err = p.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		over(true)
	})
}

// TestOldSilence: that a cell was silent long ago keeps nobody from it who comes first since then, and nobody waits for it longer than it takes to find that it still is.
func TestOldSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := false
		p := &pulse{waiting: map[*waiting]struct{}{}, alive: func(context.Context) bool {
			time.Sleep(probeTimeout)
			return there
		}}
		found := func() (took time.Duration, cause error) {
			begun := time.Now()
			asked, over, err := p.begin(t.Context())
			if err != nil {
				return 0, err
			}
			defer func() { over(false) }()
			select {
			case <-asked.Done():
			case <-time.After(doubtAfter + 2*probeTimeout):
			}
			return time.Since(begun), context.Cause(asked)
		}
		if _, err := found(); !errors.Is(err, errSilent) {
			t.Fatalf("%v", err)
		}
		time.Sleep(silentFor)
		if took, err := found(); !errors.Is(err, errSilent) || took != probeTimeout {
			t.Errorf("the first one: %v after %s", err, took)
		}
		if took, err := found(); !errors.Is(err, errSilent) || took != 0 {
			t.Errorf("the second one: %v after %s", err, took)
		}
		time.Sleep(silentFor)
		there = true
		if _, err := found(); err != nil {
			t.Errorf("it is there again, and the first one hears: %v", err)
		}
		time.Sleep(probeTimeout) // it was asked whether it still is
	})
}

// TestFrozenCells: a cell whose machine takes connections and nothing more is away for what is sent to it whole, and for what it does not take.
func TestFrozenCells(t *testing.T) {
	t.Parallel()
	frozen, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = frozen.Close() }()
	home := cells(t, "", "http://127.0.0.1:1", key)
	to := problem.Place{Region: "eu1", Address: "http://" + frozen.Addr().String()}
	ended := make(chan error)
	for _, size := range []int{10, 30 << 20} {
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/context/upload/1", strings.NewReader(strings.Repeat("x", size)))
			if err == nil {
				_, err = home.Ask(r, to, 1)
			}
			ended <- err
		}()
	}
	for range 2 {
		if p := problem.From(<-ended); p.Code != problem.Unavailable || p.Region != "eu1" {
			t.Errorf("%v", p)
		}
	}
	if _, failed := pass(t, home, to); failed == nil || failed.Region != "eu1" {
		t.Errorf("%v", failed)
	}
}
