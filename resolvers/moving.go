package resolvers

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// MoveCustomerInput names a company and the one to put it below.
type MoveCustomerInput struct{ ID, ParentID globalid.ID }

// MoveCustomerPayload is what MoveCustomer moved.
type MoveCustomerPayload struct{ Customer *db.Customer }

// MoveCustomer puts a company, with everything below it, below another: for who acts for a company that is above it, and above
// or at both places, and gives nobody there what it does not have.
func (m Mutation) MoveCustomer(ctx context.Context, in MoveCustomerInput) (*MoveCustomerPayload, error) {
	c, err := m.may(ctx, rule.MoveCustomer)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Customer", "id")
	if err != nil {
		return nil, err
	}
	parentID, err := in.ParentID.Of("Customer", "parentId")
	if err != nil {
		return nil, err
	}
	out := &MoveCustomerPayload{}
	return out, givingWay(ctx, func() error {
		return m.change(ctx, c, func(tx *db.Store, ch *changes) (err error) {
			out.Customer, err = ch.move(ctx, id, parentID)
			return err
		})
	})
}

// givingWay runs a transaction that gives way to all others, again and again until nobody is in its way; db.ErrBusy where somebody
// always is.
func givingWay(ctx context.Context, do func() error) error {
	const tries = 30
	for try := 1; ; try++ {
		err := do()
		if try == tries || !errors.Is(err, db.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(rand.Int64N(int64(min(try, 10) * 20 * int(time.Millisecond))))):
		}
	}
}

// move moves a company. Nobody else goes by its place or by the new one meanwhile, so what is judged here is as it stays.
func (ch *changes) move(ctx context.Context, id, parentID int64) (*db.Customer, error) {
	tx, c := ch.tx, ch.caller
	if err := tx.HoldAlone(ctx, id, parentID); err != nil {
		return nil, err
	}
	row, err := tx.CustomerForUpdate(ctx, c.Scope(), id)
	if err != nil {
		return nil, c.unreached(err, "company", id)
	}
	parent, err := tx.Customer(ctx, c.Scope(), parentID)
	if err != nil {
		return nil, c.unreached(err, "company", parentID)
	}
	if err := mayMove(ctx, tx, c, row, parent); err != nil || parent.ID == *row.ParentID {
		return row, err
	}
	if err := tx.MoveCustomer(ctx, id, parentID); err != nil {
		return nil, err
	}
	moved, err := tx.PlacedCustomer(ctx, c.Scope(), id)
	if err != nil {
		return nil, err
	}
	if err := ch.endUnserved(ctx, moved); err != nil { // by the identity providers of the old place
		return nil, err
	}
	ch.lostReach(id, row.Lineage[:row.Level], parent.Lineage)
	ch.work, ch.due = true, true // as what waits for a company that is suspended, or for none any more
	// Those above the old place can't see the company any more: they hear of it in the log of the one that it was below.
	what := audit.Between(row, moved)
	for _, log := range []int64{id, *row.ParentID} {
		if err := ch.audit(log, audit.CustomerMoved, moved, what); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// mayMove tells whether a company may be put below another.
func mayMove(ctx context.Context, tx *db.Store, c *caller, row, parent *db.Customer) error {
	var v check
	switch {
	case row.ParentID == nil:
		v.fault("id", "is the root company, which does not move")
		return v.err()
	case row.ID == c.CustomerID:
		return problem.Denied("a company is moved only by a company above it")
	case slices.Contains(parent.Lineage, row.ID):
		v.fault("parentId", "is the company itself, or below it")
		return v.err()
	}
	if err := mustNotBeDeleted(ctx, tx, row, "id"); err != nil {
		return err
	}
	if err := mustNotBeDeleted(ctx, tx, parent, "parentId"); err != nil {
		return err
	}
	deepest, err := tx.DeepestBelow(ctx, row.ID)
	switch {
	case err != nil:
		return err
	case parent.Level+1+deepest-row.Level > db.MaxLevel:
		return errTooDeep
	}
	return mayBringBelow(ctx, tx, c, row, parent)
}

// lostReach has looked at again what those have open who act for a company that has moved, for one below it, or for one that
// it was below and is no longer.
func (ch *changes) lostReach(id int64, was, above []int64) {
	ch.companies = append(ch.companies, id)
	for _, a := range was {
		if !slices.Contains(above, a) {
			ch.companies = append(ch.companies, a) // which is to look at those below it, too
			return
		}
	}
}

// SaysWhere tells of a refusal, by its code, whether it may say where something was looked for, and not what there is; of one whose scope was looked at it is known that it
// does not.
func SaysWhere(code problem.Code, refusal error) bool {
	return (code == problem.Forbidden || code == problem.NotFound || code == problem.Internal) && !errors.Is(refusal, db.ErrNotThere)
}

// Moved is what is told in place of such a refusal where the caller's own company was moved since the request began, which is worth another try; nil where it was not.
func (r *Resolver) Moved(ctx context.Context) error {
	if p := access.PrincipalOf(ctx); p != nil {
		return r.Store.Stands(ctx, p.Scope())
	}
	return nil
}
