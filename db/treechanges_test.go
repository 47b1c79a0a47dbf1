package db_test

import (
	"context"
	"fmt"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestTreeChangesAreNotMissed: what was written before something that has been read, and is committed after that, is read the next time.
func TestTreeChangesAreNotMissed(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	// What was given before is left out: it may be given again while anything older is under way on the server, in whichever database.
	seen := map[int64]bool{1: true}
	read := func(since string) (string, string) {
		var companies []int64
		next, err := s.TreeChanges(ctx, since, func(c db.TreeChange) {
			if !seen[c.CustomerID] {
				companies = append(companies, c.CustomerID)
			}
			seen[c.CustomerID] = true
		})
		devtest.Check(t, err)
		return fmt.Sprint(companies), next
	}
	log := func(s *db.Store, id int64) { devtest.Check(t, s.LogTreeChanges(ctx, []int64{id, id})) }
	log(s, 1)
	if told, _ := read(""); told != "[]" {
		t.Errorf("what was before is told: %s", told)
	}
	_, begun := read("")
	wrote, commit, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- s.Tx(context.WithoutCancel(ctx), func(tx *db.Store) error {
			err := tx.LogTreeChanges(ctx, []int64{2})
			close(wrote)
			<-commit
			return err
		})
	}()
	<-wrote
	log(s, 3)
	told, next := read(begun)
	if told != "[3]" {
		t.Errorf("while one is under way %s is told", told)
	}
	// More than are read at once, with higher ids than the one under way.
	many := make([]int64, 10_001)
	for i := range many {
		many[i] = int64(100 + i)
		seen[many[i]] = true
	}
	devtest.Check(t, s.LogTreeChanges(ctx, many))
	close(commit)
	devtest.Check(t, <-done)
	if told, next = read(next); told != "[2]" {
		t.Errorf("after it %s is told", told)
	}
	if told, _ = read(next); told != "[]" {
		t.Errorf("when all is over %s is told", told)
	}
	if n := devtest.Must[int64](t)(s.ForgetTreeChanges(ctx, 10)); n != 0 {
		t.Errorf("%d young ones are forgotten", n)
	}
}
