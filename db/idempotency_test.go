package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestKeysAreClaimedOnce: of many who claim a key one has it; who has lost it can neither mark a change nor keep an answer.
func TestKeysAreClaimedOnce(t *testing.T) {
	s, pool := openBoth(t)
	root, _, _ := tree(t, s)
	user := devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), db.Given{Email: "u@x.example", FirstName: "U", LastName: "X"}))
	key := db.IdempotencyKey{ID: "user:1 a", Caller: "user:1", BranchID: root.ID, CustomerID: root.ID, UserID: user.ID, Request: []byte("sealed")}
	made := make([]bool, 20)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			k, err := s.ClaimKey(t.Context(), key, db.ClaimLease)
			if err != nil && !errors.Is(err, db.ErrNoRows) {
				t.Error(err)
			}
			made[i] = k.Made
		})
	}
	all.Wait()
	if n := strings.Count(fmt.Sprint(made), "true"); n != 1 {
		t.Fatalf("%d have claimed the key", n)
	}
	if _, err := s.ReclaimKey(t.Context(), key.ID, 1, key.Request, db.ClaimLease); !errors.Is(err, db.ErrNoRows) {
		t.Fatalf("a claim is taken from who holds it: %v", err)
	}
	pool.MustExec(`UPDATE idempotency_keys SET leased_until = now() - interval '1 second'`)
	if n, err := s.ReclaimKey(t.Context(), key.ID, 1, key.Request, db.ClaimLease); err != nil || n != 2 {
		t.Fatalf("a claim that was left behind: %d %v", n, err)
	}
	if err := s.MarkChanged(t.Context(), key.ID, 1); !errors.Is(err, db.ErrNoRows) {
		t.Errorf("who has lost the claim makes a change: %v", err)
	}
	devtest.Check(t, s.KeepAnswer(t.Context(), key.ID, 1, []byte("late")))
	devtest.Check(t, s.MarkChanged(t.Context(), key.ID, 2))
	pool.MustExec(`UPDATE idempotency_keys SET leased_until = now() - interval '1 second'`)
	if _, err := s.ReclaimKey(t.Context(), key.ID, 2, key.Request, db.ClaimLease); !errors.Is(err, db.ErrNoRows) {
		t.Errorf("what is done is claimed again: %v", err)
	}
	devtest.Check(t, s.ReleaseClaim(t.Context(), key.ID, 2))
	if k, err := s.IdempotencyKey(t.Context(), key.ID); err != nil || !k.Changed || k.Leased || k.Answer != nil {
		t.Errorf("%+v %v", k, err)
	}
}

// TestKeptIsCounted: what is kept is counted as it stands in the table, and nothing is left of it.
func TestKeptIsCounted(t *testing.T) {
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	user := devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), db.Given{Email: "u@x.example", FirstName: "U", LastName: "X"}))
	agree := func() {
		t.Helper()
		var differ int
		devtest.Check(t, pool.GetContext(t.Context(), &differ, `SELECT count(*) FROM (
			SELECT owner, sum(bytes) FROM idempotency_bytes GROUP BY 1 HAVING sum(bytes) <> 0
			EXCEPT SELECT o.owner, sum(k.bytes) FROM idempotency_keys k CROSS JOIN LATERAL (VALUES (k.caller), ('branch:' || k.branch_id)) o(owner) GROUP BY 1) x`))
		if differ > 0 {
			t.Errorf("%d counts differ", differ)
		}
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			k := db.IdempotencyKey{
				ID: fmt.Sprintf("user:%d k%d", i%3, i), Caller: fmt.Sprintf("user:%d", i%3), BranchID: child.ID,
				CustomerID: root.ID, UserID: user.ID, Request: []byte("sealed"),
			}
			devtest.Must[*db.IdempotencyKey](t)(s.ClaimKey(t.Context(), k, db.ClaimLease))
			if i%4 == 0 {
				devtest.Check(t, s.ReleaseClaim(t.Context(), k.ID, 1))
			} else {
				devtest.Check(t, s.KeepAnswer(t.Context(), k.ID, 1, make([]byte, 100*i)))
			}
		})
	}
	all.Wait()
	agree()
	pool.MustExec(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'`)
	if n, err := s.ForgetKept(t.Context(), 20); n != 20 || err != nil {
		t.Errorf("%d were forgotten: %v", n, err)
	}
	agree()
	if n, err := s.ForgetKept(t.Context(), 20); n != 10 || err != nil {
		t.Errorf("%d were forgotten: %v", n, err)
	}
	var left int
	devtest.Check(t, pool.GetContext(t.Context(), &left, `SELECT count(*) FROM idempotency_bytes`))
	if left > 0 {
		t.Errorf("%d counts are left", left)
	}
}
