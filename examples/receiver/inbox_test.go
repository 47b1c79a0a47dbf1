package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// TestInboxOutlivesItsProcess keeps events, works on some of them, and goes on with another inbox on the
// same folder.
func TestInboxOutlivesItsProcess(t *testing.T) {
	dir := t.TempDir()
	open := func() *inbox {
		b, err := openInbox(dir)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	keep := func(b *inbox, id string, want bool) {
		t.Helper()
		if fresh, err := b.keep(id, []byte(`{"id":"`+id+`"}`)); err != nil || fresh != want {
			t.Errorf("%s: %v, want %v: %v", id, fresh, want, err)
		}
	}
	first := open()
	keep(first, "evt_1", true)
	keep(first, "evt_1", false)
	keep(first, "../evt_2", true)
	if got := worked(t, first); !slices.Equal(got, []string{"../evt_2", "evt_1"}) {
		t.Errorf("worked on %q", got)
	}
	keep(first, "evt_1", false)
	keep(first, "evt_3", true)
	second := open()
	keep(second, "evt_3", false)
	if got := worked(t, second); !slices.Equal(got, []string{"evt_3"}) {
		t.Errorf("after a restart it works on %q", got)
	}
}

// worked gives what an inbox works on until nothing is left to do.
func worked(t *testing.T, b *inbox) (ids []string) {
	synctest.Test(t, func(t *testing.T) {
		fresh := b.fresh
		b.fresh = make(chan struct{}) // of the bubble: synctest knows when all wait for it
		defer func() { b.fresh = fresh }()
		go b.work(t.Context(), func(ctx context.Context, e event) error {
			ids = append(ids, e.ID)
			return ctx.Err()
		})
		synctest.Wait()
	})
	slices.Sort(ids)
	return ids
}

// TestWorkThatFails is tried again, and keeps nothing else waiting.
func TestWorkThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := openInbox(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"a", "b"} {
			if _, err := b.keep(id, []byte(`{"id":"`+id+`"}`)); err != nil {
				t.Fatal(err)
			}
		}
		tries, done := 0, make(chan string, 2)
		go b.work(t.Context(), func(_ context.Context, e event) error {
			if e.ID == "a" {
				if tries++; tries < 3 {
					return errors.New("not yet")
				}
			}
			done <- e.ID
			return nil
		})
		if got := [2]string{<-done, <-done}; got != [2]string{"b", "a"} || tries != 3 {
			t.Errorf("%v after %d tries", got, tries)
		}
		synctest.Wait() // until what was done is out of the folder
	})
}
