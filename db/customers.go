package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Customer is a company of the tree.
type Customer struct {
	ID                int64          `db:"id"`
	ParentID          *int64         `db:"parent_id" audit:"parent"`
	Lineage           access.Lineage `db:"lineage"`
	Level             int            `db:"level"`
	Name              string         `db:"name" audit:"name"`
	RegionID          int64          `db:"region_id" audit:"region"`
	CanAddCustomers   bool           `db:"can_add_customers" audit:"canAddCustomers"`
	DescendantsCanAdd bool           `db:"descendants_can_add" audit:"descendantsCanAdd"`
	CreatedAt         time.Time      `db:"created_at"`
	Version           int            `db:"row_version"`
	// MaxKeyDays is how many days new API keys may live, here and below; nil: no bound of its own.
	MaxKeyDays *int `db:"max_key_days" audit:"maxKeyDays"`
	// Status is the company's own; EffectiveStatus counts those above it.
	Status string `db:"status"`
	// EraseAt is from when on a deleted company is erased; nil for others.
	EraseAt *time.Time `db:"erase_at"`

	siblings
}

// GlobalID is the node id of the company.
func (c *Customer) GlobalID() globalid.ID { return globalid.ID{Type: "Customer", Int: c.ID} }

func (c *Customer) key() int64 { return c.ID }

// CustomerRef is what everyone below sees of a company: enough to say where they are.
type CustomerRef struct {
	ID       int64          `db:"id"`
	Name     string         `db:"name"`
	RegionID int64          `db:"region_id"`
	Level    int            `db:"level"`
	Lineage  access.Lineage `db:"lineage"`
	Status   string         `db:"status"`

	siblings
}

// GlobalID is the node id of the company.
func (r *CustomerRef) GlobalID() globalid.ID { return globalid.ID{Type: "Customer", Int: r.ID} }

func (r *CustomerRef) key() int64 { return r.ID }

var customerColumns = columns[Customer]("c")

// inScope bounds company c by the scope in the first two arguments, as a range of the index on lineage: for statements that ask
// for a range, and no others.
const inScope = `c.lineage >= $1::bigint[] AND c.lineage < $2::bigint[]`

// withinScope bounds as inScope does what a key has found. PostgreSQL expects a range of unknown bounds to hold one company in
// two hundred. As a range this would look like a shorter way than the key, and the look-up of one row would read the whole
// scope.
var withinScope = unindexed(inScope)

// wholeScope asks once whether the scope is that of the root, which it looks for by its id.
var wholeScope = `EXISTS (SELECT FROM customers c WHERE c.id = ($1::bigint[])[1] AND ` + unindexed(`c.parent_id IS NULL`) + ` AND ` + withinScope + `)`

var (
	qCustomersByID     = prepare(`SELECT ` + customerColumns + eachByID("customers", "c") + `WHERE ` + withinScope)
	qRoot              = prepare(`SELECT ` + customerColumns + ` FROM customers c WHERE c.parent_id IS NULL ORDER BY c.lineage LIMIT 1`)
	qCustomerForUpdate = prepare(`
		SELECT ` + customerColumns + ` FROM customers c WHERE c.id = $3 AND ` + withinScope + ` FOR NO KEY UPDATE`)
	qHoldParent = prepare(`
		SELECT c.id FROM customers c WHERE c.id = $3 AND ` + withinScope + ` FOR KEY SHARE`)
	qCustomerRefs = prepare(`
		SELECT ` + columns[CustomerRef]("c") + ` FROM customers c WHERE c.id = ANY($1)`)
	// Lists of a subtree in preorder: the index on lineage is read from the cursor on.
	qSubtree = prepare(`
		SELECT ` + customerColumns + ` FROM customers c
		WHERE ` + inScope + ` AND c.lineage > $3::bigint[] AND ` + unindexed(notDeleted(belowScope)) + ` ORDER BY c.lineage LIMIT $4`)
	qAncestorsAllow = prepare(`
		SELECT c.id, NOT EXISTS (SELECT 1 FROM customers a
			WHERE a.id = ANY(c.lineage[1:c.level]) AND NOT a.descendants_can_add) AS value
		FROM customers c WHERE c.id = ANY($1)`)
	qInsertCustomer = prepare(`
		INSERT INTO customers AS c (parent_id, name, region_id, can_add_customers, descendants_can_add)
		VALUES ($1, $2, $3, $4, $5) RETURNING ` + customerColumns)
	qUpdateCustomer = prepare(`
		UPDATE customers c SET name = $4, can_add_customers = $5, descendants_can_add = $6, max_key_days = $7
		WHERE c.id = $3 AND ` + withinScope + ` RETURNING ` + customerColumns)
)

var (
	customersByID = rowsBy(qCustomersByID, scoped, (*Customer).key)
	refsByID      = rowsBy(qCustomerRefs, onlyIDs, (*CustomerRef).key)

	customerRegion          = edgeBy(func(c *Customer) int64 { return c.RegionID }, regionsByID)
	customerAncestors       = edgeBy(func(c *Customer) *Customer { return c }, ancestors)
	customerChildren        = edgeBy((*Customer).key, pagesOf[Customer](children))
	customerChildCount      = edgeBy((*Customer).key, countsOf(children))
	customerDescendants     = edgeBy((*Customer).key, pagesOf[Customer](descendants))
	customerDescendantCount = edgeBy((*Customer).key, countsOf(descendants))
	customerSubtree         = edgeBy((*Customer).key, pagesOf[Customer](subtree))
	customerSubtreeCount    = edgeBy((*Customer).key, countsOf(subtree))
	customerAncestorsAllow  = edgeBy((*Customer).key, valueOf[bool](qAncestorsAllow, onlyIDs))
	refCustomer             = edgeBy((*CustomerRef).key, customersByID)
)

// Customer reads one company within the scope.
func (s *Store) Customer(ctx context.Context, scope access.Scope, id int64) (*Customer, error) {
	return one(ctx, s, customersByID, scope, id)
}

// Root reads the root company; ErrNoRows before the platform's first start.
func (s *Store) Root(ctx context.Context) (*Customer, error) {
	c := &Customer{}
	err := s.get(ctx, c, qRoot)
	return c, err
}

// CustomerForUpdate reads one company and holds its row until the transaction ends: others change it afterwards, while what is made below it does not
// wait, and is not waited for.
func (s *Store) CustomerForUpdate(ctx context.Context, scope access.Scope, id int64) (*Customer, error) {
	c := &Customer{}
	err := s.get(ctx, c, qCustomerForUpdate, scope.From(), scope.To(), id)
	return c, err
}

// HoldParent keeps a company from being erased until the transaction ends: one is made below it.
func (s *Store) HoldParent(ctx context.Context, scope access.Scope, id int64) error {
	var held int64
	return s.get(ctx, &held, qHoldParent, scope.From(), scope.To(), id)
}

// StreamSubtree gives the companies of a scope in preorder, from after the cursor lineage on, at
// most limit of them (0: all).
func (s *Store) StreamSubtree(ctx context.Context, scope access.Scope, after []int64, limit int, each func(*Customer) error) error {
	subtree := rowsOf(qSubtree, func(after []int64, limit int) []any {
		return []any{scope.From(), scope.To(), pq.Int64Array(atLeastEmpty(after)), limit}
	}, func(c *Customer) []int64 { return c.Lineage })
	subtree.scope = scope
	return subtree.each(ctx, s, after, limit, each)
}

// NamesOn gives the names of companies in the order of their ids; "" for one that is not there.
func (s *Store) NamesOn(ctx context.Context, ids []int64) ([]string, error) {
	refs, err := refsByID(ctx, s, none{}, ids)
	names := make([]string, len(ids))
	for i, id := range ids {
		if ref := refs[id]; ref != nil {
			names[i] = ref.Name
		}
	}
	return names, err
}

// Region is the edge from a company to its region.
func (c *Customer) Region(ctx context.Context, s *Store) (*Region, error) {
	return follow(ctx, s, c, customerRegion, none{})
}

// Ancestors is the edge to the companies above, root first.
func (c *Customer) Ancestors(ctx context.Context, s *Store) ([]*CustomerRef, error) {
	return follow(ctx, s, c, customerAncestors, none{})
}

// ancestors loads the companies above, root first.
func ancestors(ctx context.Context, s *Store, _ none, cs []*Customer) (map[*Customer][]*CustomerRef, error) {
	refs, err := refsAbove(ctx, s, cs)
	if err != nil {
		return nil, err
	}
	found := make(map[*Customer][]*CustomerRef, len(cs))
	for _, c := range cs {
		found[c] = make([]*CustomerRef, 0, c.Level)
		for _, id := range c.Lineage[:c.Level] {
			found[c] = append(found[c], refs[id])
		}
	}
	return found, nil
}

func refsAbove(ctx context.Context, s *Store, cs []*Customer) (map[int64]*CustomerRef, error) {
	seen := map[int64]bool{}
	ids := []int64{}
	for _, c := range cs {
		for _, id := range c.Lineage[:c.Level] {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return refsByID(ctx, s, none{}, ids)
}

// Customer is the edge from a reference to the company itself; nil beyond the scope.
func (r *CustomerRef) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, r, refCustomer, scope)
}

// Children is a page of the companies right below.
func (c *Customer) Children(ctx context.Context, s *Store, a Ask) ([]*Customer, error) {
	return follow(ctx, s, c, customerChildren, scopedAsk{ask: a})
}

// ChildCount counts the companies right below.
func (c *Customer) ChildCount(ctx context.Context, s *Store, a Ask) (int, error) {
	return follow(ctx, s, c, customerChildCount, scopedAsk{ask: a})
}

// Descendants is a page of the companies anywhere below; self adds the company itself.
func (c *Customer) Descendants(ctx context.Context, s *Store, self bool, a Ask) ([]*Customer, error) {
	if self {
		return follow(ctx, s, c, customerSubtree, scopedAsk{ask: a})
	}
	return follow(ctx, s, c, customerDescendants, scopedAsk{ask: a})
}

// DescendantCount counts the companies anywhere below; self adds the company itself.
func (c *Customer) DescendantCount(ctx context.Context, s *Store, self bool, a Ask) (int, error) {
	if self {
		return follow(ctx, s, c, customerSubtreeCount, scopedAsk{ask: a})
	}
	return follow(ctx, s, c, customerDescendantCount, scopedAsk{ask: a})
}

// AncestorsAllow tells whether every company above has descendantsCanAdd.
func (c *Customer) AncestorsAllow(ctx context.Context, s *Store) (bool, error) {
	return follow(ctx, s, c, customerAncestorsAllow, none{})
}

// MaxLevel is how deep the tree may be; the root is at 0.
const MaxLevel = 63

// OneRoot is the unique index that lets the tree have one root.
const OneRoot = "customers_one_root"

// InsertCustomer makes a company; the schema derives its lineage. A nil parent makes the root.
func (s *Store) InsertCustomer(ctx context.Context, c Customer) (*Customer, error) {
	row := &Customer{}
	err := s.get(ctx, row, qInsertCustomer, c.ParentID, c.Name, c.RegionID, c.CanAddCustomers, c.DescendantsCanAdd)
	return row, err
}

// UpdateCustomer writes a company's name and flags.
func (s *Store) UpdateCustomer(ctx context.Context, scope access.Scope, c *Customer) (*Customer, error) {
	row := &Customer{}
	err := s.get(ctx, row, qUpdateCustomer, scope.From(), scope.To(), c.ID, c.Name, c.CanAddCustomers, c.DescendantsCanAdd, c.MaxKeyDays)
	return row, err
}
