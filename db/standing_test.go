package db_test

import (
	"errors"
	"testing"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// TestStandsWhereItStoodAllTheTime: a company that is back at its place was elsewhere meanwhile, for whoever was looked up before, and so was what is below it.
func TestStandsWhereItStoodAllTheTime(t *testing.T) {
	t.Parallel()
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	root, _, _ := tree(t, s)
	child := func(parent int64, name string) *db.Customer {
		return devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &parent, Name: name, RegionID: root.RegionID}))
	}
	moved, other := child(root.ID, "Moved"), child(root.ID, "Other")
	below := child(moved.ID, "Below")
	user := devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), db.Given{Email: "u@x.example"}))
	callerOf := func(c *db.Customer) *access.Principal {
		return &devtest.Must[*db.Caller](t)(s.LoginCaller(t.Context(), db.LoginToken{UserID: user.ID, CustomerID: c.ID})).Principal
	}
	stands := func(of *access.Principal, scope access.Scope) bool {
		err := s.Stands(access.WithPrincipal(t.Context(), of), scope)
		if err != nil && !errors.Is(err, db.ErrAway) {
			t.Fatal(err)
		}
		return err == nil
	}
	callers := []*access.Principal{callerOf(moved), callerOf(below)}
	for _, parent := range []int64{other.ID, root.ID} {
		devtest.Check(t, s.Tx(t.Context(), func(tx *db.Store) error { return tx.MoveCustomer(t.Context(), moved.ID, parent) }))
		for _, c := range callers {
			if stands(c, c.Scope()) {
				t.Errorf("the company %d stands where it was below %d meanwhile", c.CustomerID, other.ID)
			}
		}
		if parent == other.ID && !stands(callers[0], callerOf(moved).Scope()) {
			t.Error("who was looked up again at the new place is told of the move")
		}
	}
	for _, c := range []*access.Principal{callerOf(moved), callerOf(below), callerOf(other)} {
		if !stands(c, c.Scope()) {
			t.Errorf("the company %d does not stand where it is", c.CustomerID)
		}
	}
}
