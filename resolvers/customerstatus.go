package resolvers

import (
	"context"
	"errors"
	"strings"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// errSuspended is what whoever acts for a company hears that is suspended or deleted, or that lies below one.
var errSuspended = problem.Denied("the company is suspended or deleted").With("customer_suspended")

// wrongStatus is the reason of a refusal to do with a company what its status does not allow.
const wrongStatus = "wrong_status"

// complete takes a status as either door writes it.
func (f *CustomerFilter) complete(v *check, at string) {
	if f.Status == nil {
		return
	}
	status := strings.ToUpper(*f.Status)
	f.Status = &status
	v.oneOf(at+"status", f.Status, []string{db.CustomerActive, db.CustomerSuspended, db.CustomerDeleted})
}

// EffectiveStatus is the status that holds for the company.
func (e CustomerEdges) EffectiveStatus(ctx context.Context, obj *db.Customer) (string, error) {
	if _, err := e.may(ctx, rule.CustomerEffectiveStatus); err != nil {
		return "", err
	}
	return obj.EffectiveStatus(ctx, e.Store)
}

// SuspendCustomerInput names a company to suspend.
type SuspendCustomerInput struct{ ID globalid.ID }

// SuspendCustomerPayload is what SuspendCustomer changed.
type SuspendCustomerPayload struct{ Customer *db.Customer }

// SuspendCustomer suspends a company with everything below it: nobody acts for it any more, and its work waits.
func (m Mutation) SuspendCustomer(ctx context.Context, in SuspendCustomerInput) (*SuspendCustomerPayload, error) {
	c, err := m.may(ctx, rule.SuspendCustomer)
	if err != nil {
		return nil, err
	}
	customer, err := m.changeStatus(ctx, c, in.ID, audit.CustomerSuspended, func(tx *db.Store, row *db.Customer) error {
		if row.Status != db.CustomerActive {
			return statusRefused(row, "only an active company can be suspended")
		}
		return tx.SuspendCustomer(ctx, c.Scope(), row.ID, true)
	})
	return &SuspendCustomerPayload{customer}, err
}

// ResumeCustomerInput names a suspended company.
type ResumeCustomerInput struct{ ID globalid.ID }

// ResumeCustomerPayload is what ResumeCustomer changed.
type ResumeCustomerPayload struct{ Customer *db.Customer }

// ResumeCustomer ends a company's suspension.
func (m Mutation) ResumeCustomer(ctx context.Context, in ResumeCustomerInput) (*ResumeCustomerPayload, error) {
	c, err := m.may(ctx, rule.ResumeCustomer)
	if err != nil {
		return nil, err
	}
	customer, err := m.changeStatus(ctx, c, in.ID, audit.CustomerResumed, func(tx *db.Store, row *db.Customer) error {
		if row.Status != db.CustomerSuspended {
			return statusRefused(row, "only a suspended company can be resumed")
		}
		return tx.SuspendCustomer(ctx, c.Scope(), row.ID, false)
	})
	return &ResumeCustomerPayload{customer}, err
}

// DeleteCustomerInput names a company to delete.
type DeleteCustomerInput struct{ ID globalid.ID }

// DeleteCustomerPayload is what DeleteCustomer deleted.
type DeleteCustomerPayload struct {
	DeletedID globalid.ID
	Customer  *db.Customer
}

// DeleteCustomer deletes a company with everything below it: it is as suspended, left out of lists, and erased after a while.
func (m Mutation) DeleteCustomer(ctx context.Context, in DeleteCustomerInput) (*DeleteCustomerPayload, error) {
	c, err := m.may(ctx, rule.DeleteCustomer)
	if err != nil {
		return nil, err
	}
	customer, err := m.changeStatus(ctx, c, in.ID, audit.CustomerDeleted, func(tx *db.Store, row *db.Customer) error {
		if row.Status == db.CustomerDeleted {
			return statusRefused(row, "it can be restored until its time is over")
		}
		return tx.DeleteCustomer(ctx, c.Scope(), row.ID, m.EraseAfter)
	})
	if err != nil {
		return nil, err
	}
	return &DeleteCustomerPayload{customer.GlobalID(), customer}, nil
}

// RestoreCustomerInput names a deleted company.
type RestoreCustomerInput struct{ ID globalid.ID }

// RestoreCustomerPayload is what RestoreCustomer changed.
type RestoreCustomerPayload struct{ Customer *db.Customer }

// RestoreCustomer takes the deletion of a company back, as long as its time is not over.
func (m Mutation) RestoreCustomer(ctx context.Context, in RestoreCustomerInput) (*RestoreCustomerPayload, error) {
	c, err := m.may(ctx, rule.RestoreCustomer)
	if err != nil {
		return nil, err
	}
	customer, err := m.changeStatus(ctx, c, in.ID, audit.CustomerRestored, func(tx *db.Store, row *db.Customer) error {
		if row.Status != db.CustomerDeleted {
			return statusRefused(row, "only a deleted company can be restored")
		}
		err := tx.RestoreCustomer(ctx, c.Scope(), row.ID)
		if errors.Is(err, db.ErrNoRows) {
			err = statusRefused(row, "its time is over, and it is being erased")
		}
		return err
	})
	return &RestoreCustomerPayload{customer}, err
}

// changeStatus changes the status of a company below the caller's own, whose row is held meanwhile, and gives it with its
// place. What is open there and below is looked at again, and so is what waits.
func (m Mutation) changeStatus(ctx context.Context, c *caller, ref globalid.ID, action audit.Action, do func(*db.Store, *db.Customer) error) (now *db.Customer, err error) {
	id, err := ref.Of("Customer", "id")
	if err != nil {
		return nil, err
	}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.CustomerForUpdate(ctx, c.Scope(), id)
		if err != nil {
			return c.unreached(err, "company", id)
		}
		if row.ID == c.CustomerID {
			return problem.Denied("a company is suspended, resumed, deleted and restored only by a company above it, and the root by nobody")
		}
		if err := do(tx, row); err != nil {
			return err
		}
		if now, err = tx.PlacedCustomer(ctx, c.Scope(), id); err != nil {
			return err
		}
		ch.companies, ch.work, ch.due = append(ch.companies, id), true, true
		log := id
		if row.Status == db.CustomerDeleted || now.Status == db.CustomerDeleted {
			log = *row.ParentID // the company's own log goes with it
		}
		return ch.audit(log, action, row, audit.None().Value("status", row.Status, now.Status).Value("eraseAt", row.EraseAt, now.EraseAt))
	})
	return now, err
}

// statusRefused is a 400 with the status that is in the way.
func statusRefused(row *db.Customer, what string) error {
	return problem.Bad("the company %d is %s: %s", row.ID, strings.ToLower(row.Status), what).With(wrongStatus)
}
