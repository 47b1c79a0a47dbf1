package db

import (
	"context"
	"slices"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/share"
)

// placed is a company with its region and, where they were asked for, the companies above it from the root down.
type placed struct {
	Customer
	Region       Region         `db:"region"`
	AboveNames   pq.StringArray `db:"above_names"`
	AboveRegions pq.Int64Array  `db:"above_regions"`
	AboveStatus  pq.StringArray `db:"above_status"`
}

var qCustomersAndRegions = prepare(`
	SELECT ` + customerColumns + `, ` + nested[Region]("r", "region") +
	eachByID("customers", "c") + joinByID("regions", "r", "c.region_id") + `WHERE ` + withinScope)

// Those above are sorted once, and not for each of their columns: by what no index has in order, which else is read from end to end by a plan that was
// made when there were few companies.
var qPlacedCustomers = prepare(`
	SELECT ` + customerColumns + `, ` + nested[Region]("r", "region") + `, above.names AS above_names, above.regions AS above_regions, above.status AS above_status` +
	eachByID("customers", "c") + joinByID("regions", "r", "c.region_id") + `CROSS JOIN LATERAL (
		SELECT array_agg(a.name) AS names, array_agg(a.region_id) AS regions, array_agg(a.status) AS status
		FROM (SELECT name, region_id, status FROM customers WHERE id = ANY (c.lineage[1:c.level]) ORDER BY level + 0) a) above
	WHERE ` + withinScope)

// placing is one company that is asked for; found is nil where there is none within the scope.
type placing struct {
	id    int64
	found *placed
}

// placings are companies that are read by one statement.
type placings struct {
	scope access.Scope
	// above: with those above them.
	above bool
}

type unplacedKey struct{}

// Unplaced says that nothing is asked, in a context, of where companies stand: PlacedCustomer then leaves out those above, which are half of what it
// reads. Whoever asks for them all the same has them read at that time.
func Unplaced(ctx context.Context) context.Context {
	return context.WithValue(ctx, unplacedKey{}, true)
}

// PlacedCustomer reads one company within the scope, as Customer does. Its region and the companies above it are read
// at the same time. Those that callers of one scope ask for while others are read for it are read by the next statement, so that
// no answer is of a statement that was begun before it was asked for.
func (s *Store) PlacedCustomer(ctx context.Context, scope access.Scope, id int64) (*Customer, error) {
	p, in := &placing{id: id}, placings{scope: scope, above: ctx.Value(unplacedKey{}) == nil}
	do := func(ctx context.Context, list []*placing) error { return s.place(ctx, in, list) }
	var err error
	if s.tx != nil {
		err = do(ctx, []*placing{p})
	} else {
		err = s.placings.Do(Alone(ctx), in, p, share.Work[*placing]{Do: do, Refused: Refused})
	}
	switch {
	case err != nil:
		return nil, err
	case p.found == nil:
		return nil, ErrNoRows
	}
	c := join([]*Customer{&p.found.Customer})[0]
	customerRegion.have(c, none{}, map[int64]*Region{c.RegionID: &p.found.Region})
	if in.above {
		customerAncestors.have(c, none{}, map[*Customer][]*CustomerRef{c: p.found.above()})
	}
	return c, nil
}

// place reads companies, each for itself: what one caller does with a row is nothing to others.
func (s *Store) place(ctx context.Context, in placings, list []*placing) error {
	q := qCustomersAndRegions
	if in.above {
		q = qPlacedCustomers
	}
	var rows []*placed
	if err := s.list(ctx, &rows, q, in.scope.From(), in.scope.To(), distinct(list, func(p *placing) int64 { return p.id })); err != nil {
		return err
	}
	for _, p := range list {
		p.found = nil
		if at := slices.IndexFunc(rows, func(r *placed) bool { return r.ID == p.id }); at >= 0 {
			own := *rows[at]
			p.found = &own
		}
	}
	return nil
}

func (p *placed) above() []*CustomerRef {
	refs := make([]*CustomerRef, p.Level)
	for i := range refs {
		refs[i] = &CustomerRef{ID: p.Lineage[i], Name: p.AboveNames[i], RegionID: p.AboveRegions[i], Level: i, Lineage: p.Lineage[:i+1], Status: p.AboveStatus[i]}
	}
	return join(refs)
}
