package db

import (
	"testing"

	"github.com/lib/pq"

	"canopy/internal/access"
)

// TestRightsAreRead: every set of rights is read as pq.StringArray reads it, whatever else stands beside them.
func TestRightsAreRead(t *testing.T) {
	for set := range access.AllFeatures + 1 {
		if set > 1<<10 && set%37 != 0 && set != access.AllFeatures {
			continue
		}
		text, err := pq.StringArray(append(set.Names(), "what.ever", `od"d,`)).Value()
		if err != nil {
			t.Fatal(err)
		}
		var r rights
		if err := r.Scan(text); err != nil || access.Features(r) != set {
			t.Fatalf("%v became %v: %v", text, access.Features(r).Names(), err)
		}
	}
	var r rights
	for in, ok := range map[any]bool{"{}": true, "{company.read}": true, nil: false, 7: false} {
		if err := r.Scan(in); (err == nil) != ok {
			t.Errorf("%v: %v", in, err)
		}
	}
	if err := r.Scan([]byte("{user.read,company.read}")); err != nil || access.Features(r) != access.UserRead|access.CompanyRead {
		t.Errorf("%v, %v", r, err)
	}
}
