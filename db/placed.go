package db

import (
	"context"

	"github.com/lib/pq"

	"canopy/internal/access"
)

// placed is a company with its place: its region, and the companies above it from the root down.
type placed struct {
	Customer
	Region       Region         `db:"region"`
	AboveNames   pq.StringArray `db:"above_names"`
	AboveRegions pq.Int64Array  `db:"above_regions"`
	AboveStatus  pq.StringArray `db:"above_status"`
}

var qPlacedCustomer = prepare(`
	SELECT ` + customerColumns + `, ` + nested[Region]("r", "region") + `, above.names AS above_names, above.regions AS above_regions, above.status AS above_status
	FROM customers c JOIN regions r ON r.id = c.region_id CROSS JOIN LATERAL (
		SELECT array_agg(a.name ORDER BY a.level) AS names, array_agg(a.region_id ORDER BY a.level) AS regions, array_agg(a.status ORDER BY a.level) AS status
		FROM customers a WHERE a.id = ANY (c.lineage[1:c.level])) above
	WHERE c.id = $3 AND ` + withinScope)

// PlacedCustomer reads one company within the scope, as Customer does. Its region and the companies above it are read
// at the same time.
func (s *Store) PlacedCustomer(ctx context.Context, scope access.Scope, id int64) (*Customer, error) {
	p := &placed{}
	if err := s.get(ctx, p, qPlacedCustomer, scope.From(), scope.To(), id); err != nil {
		return nil, err
	}
	c := join([]*Customer{&p.Customer})[0]
	customerRegion.have(c, none{}, map[int64]*Region{c.RegionID: &p.Region})
	customerAncestors.have(c, none{}, map[*Customer][]*CustomerRef{c: p.above()})
	return c, nil
}

func (p *placed) above() []*CustomerRef {
	refs := make([]*CustomerRef, p.Level)
	for i := range refs {
		refs[i] = &CustomerRef{ID: p.Lineage[i], Name: p.AboveNames[i], RegionID: p.AboveRegions[i], Level: i, Lineage: p.Lineage[:i+1], Status: p.AboveStatus[i]}
	}
	return join(refs)
}
