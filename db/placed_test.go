package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// TestCompaniesAreReadTogether: of many who read companies at the same time each gets the one that they asked for, if it is within their scope, as a
// row of their own, with its place; and what was written before they asked is there.
func TestCompaniesAreReadTogether(t *testing.T) {
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	const readers, times = 16, 60
	var mu sync.Mutex
	seen := map[*db.Customer]bool{}
	var wg sync.WaitGroup
	for n := range readers {
		own := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &root.ID, Name: "New", RegionID: root.RegionID}))
		wg.Go(func() {
			for i := range times {
				name := fmt.Sprintf("Company %d, %d", n, i)
				if _, err := pool.ExecContext(t.Context(), `UPDATE customers SET name = $2 WHERE id = $1`, own.ID, name); err != nil {
					t.Error(err)
					return
				}
				c, err := s.PlacedCustomer(t.Context(), root.Lineage.Subtree(), own.ID)
				if err != nil || c.ID != own.ID || c.Name != name {
					t.Errorf("%s is read as %+v: %v", name, c, err)
					return
				}
				region, err1 := c.Region(t.Context(), s)
				above, err2 := c.Ancestors(t.Context(), s)
				if err := errors.Join(err1, err2); err != nil || region.ID != root.RegionID || len(above) != 1 || above[0].ID != root.ID {
					t.Errorf("%s is in %v below %v: %v", name, region, above, err)
				}
				same, err := s.PlacedCustomer(t.Context(), root.Lineage.Subtree(), root.ID)
				if err != nil || same.ID != root.ID {
					t.Errorf("the root is %v: %v", same, err)
					return
				}
				mu.Lock()
				if seen[same] || seen[c] {
					t.Error("two have the same row")
				}
				seen[same], seen[c] = true, true
				mu.Unlock()
				for _, scope := range []access.Scope{child.Lineage.Subtree(), {}} {
					if c, err := s.PlacedCustomer(t.Context(), scope, own.ID); !errors.Is(err, db.ErrNoRows) {
						t.Errorf("beyond the scope: %v, %v", c, err)
					}
				}
			}
		})
	}
	wg.Wait()
}
