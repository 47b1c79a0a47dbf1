package graph

import (
	"testing"

	"canopy/e2e/platform"
)

// TestCountsAreCapped: a list is counted up to 10,000, and says so where there is more; with and without the row that is
// left out of it.
func TestCountsAreCapped(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Hydro")
	grow := func(from, to int) {
		s.SQL(`INSERT INTO customers (parent_id, name, region_id) SELECT $1, 'C' || n, 1 FROM generate_series($2::int, $3) n`, alpine, from, to)
		s.SQL(`INSERT INTO audit_events (customer_id, action, object_type, object_id) SELECT $1, 'document.uploaded', 'Customer', n FROM generate_series($2::int, $3) n`, alpine, from, to)
	}
	const query = `query($id: ID!) { customer(id: $id) {
		children(first: 1) { totalCount totalCountCapped } descendants(first: 1) { totalCount totalCountCapped }
		self: descendants(self: true, first: 1) { totalCount totalCountCapped } }
		auditEvents(first: 1, filter: {action: "document.uploaded"}) { totalCount totalCountCapped }
		or: auditEvents(first: 1, filter: {or: [{action: "document.uploaded"}, {action: "document.deleted"}]}) { totalCount totalCountCapped } }`
	counts := func(capped bool) {
		t.Helper()
		data := s.MustGQL(root, query, map[string]any{"id": alpine})
		for _, path := range []string{"customer.children", "customer.descendants", "customer.self", "auditEvents", "or"} {
			is := capped || path == "customer.self"
			if got := platform.Member(t, data, path); !platform.SameJSON(got, map[string]any{"totalCount": 10_000, "totalCountCapped": is}) {
				t.Errorf("%s: %v, capped is %v", path, got, is)
			}
		}
	}
	grow(1, 10_000)
	counts(false)
	grow(10_001, 10_001)
	counts(true)
	if got := platform.Member(t, s.MustGQL(root, `query($id: ID!) { customer(id: $id) { users { totalCount totalCountCapped } } }`, map[string]any{"id": alpine}), "customer.users.totalCountCapped"); got != false {
		t.Error("a short list is capped")
	}
}
