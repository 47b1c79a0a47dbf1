package resolvers

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/paging"
	"canopy/internal/problem"
)

// The operations of the operator's shell. Whoever can read the database's address and the sealing
// key may call them; they act on the whole tree, and leave audit events without an actor.

// operator is the root company with the scope of the whole tree.
func (r *Resolver) operator(ctx context.Context) (access.Scope, *db.Customer, error) {
	root, err := r.Store.Root(ctx)
	if errors.Is(err, db.ErrNoRows) {
		return access.Scope{}, nil, problem.Bad("there is no root company yet: canopy bootstrap makes it")
	}
	if err != nil {
		return access.Scope{}, nil, err
	}
	return root.Lineage.Subtree(), root, nil
}

func (r *Resolver) operatorCustomer(ctx context.Context, id int64) (*db.Customer, error) {
	scope, root, err := r.operator(ctx)
	if err != nil || id == 0 {
		return root, err
	}
	customer, err := r.Store.Customer(ctx, scope, id)
	return customer, missing(err, "company", id)
}

// OperatorCreateKey makes an API key for a member of a company, the root company for id 0.
func (r *Resolver) OperatorCreateKey(ctx context.Context, customerID int64, email, name string) (key *db.APIKey, plain string, err error) {
	customer, err := r.operatorCustomer(ctx, customerID)
	if err != nil {
		return nil, "", err
	}
	own, err := r.Store.Credentials(ctx, email)
	if err != nil {
		return nil, "", missing(err, "user with the address", email)
	}
	err = r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		member, err := tx.IsMember(ctx, customer.ID, own.UserID)
		if err != nil {
			return err
		}
		if !member {
			return problem.Bad("%s is not a user of the company %q", email, customer.Name)
		}
		if key, plain, err = NewAPIKey(ctx, tx, db.APIKey{CustomerID: customer.ID, UserID: own.UserID, Name: name}, 0); err != nil {
			return err
		}
		return ch.audit(customer.ID, audit.APIKeyCreated, key, audit.Created(key).Secret(secretField, false, true))
	})
	return key, plain, err
}

// OperatorListKeys lists a company's API keys, the root company's for id 0.
func (r *Resolver) OperatorListKeys(ctx context.Context, customerID int64) (keys []*db.APIKey, err error) {
	customer, err := r.operatorCustomer(ctx, customerID)
	if err != nil {
		return nil, err
	}
	err = db.Each(ctx, r.Store, db.APIKeys.Walk(db.Where{}, "", paging.Cursor{}, false), 0, within(customer.ID, r.Store.FindAPIKeys), func(k *db.APIKey, _ paging.Cursor) error {
		keys = append(keys, k)
		return nil
	})
	return keys, err
}

// OperatorRotateKey gives a key a new secret, which it gives back; the old one lives until graceEnds.
func (r *Resolver) OperatorRotateKey(ctx context.Context, clientID string, graceEnds time.Time) (plain string, err error) {
	err = r.operatorKey(ctx, clientID, audit.APIKeyRotated, func(tx *db.Store, k *db.APIKey) (audit.Changes, error) {
		plain, err = RotateAPIKey(ctx, tx, k.ID, graceEnds)
		return rotated(graceEnds), err
	})
	return plain, err
}

// OperatorRevokeKey ends a key at once and for good.
func (r *Resolver) OperatorRevokeKey(ctx context.Context, clientID string) error {
	return r.operatorKey(ctx, clientID, audit.APIKeyRevoked, func(tx *db.Store, k *db.APIKey) (audit.Changes, error) {
		now, err := tx.RevokeAPIKey(ctx, k.ID)
		return audit.Between(k, now), err
	})
}

func (r *Resolver) operatorKey(ctx context.Context, clientID string, action audit.Action, do func(*db.Store, *db.APIKey) (audit.Changes, error)) error {
	scope, _, err := r.operator(ctx)
	if err != nil {
		return err
	}
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		k, err := tx.APIKeyByClientID(ctx, scope, clientID)
		if err != nil {
			return missing(err, "API key", clientID)
		}
		what, err := do(tx, k)
		if err != nil {
			return err
		}
		return ch.audit(k.CustomerID, action, k, what)
	})
}

// OperatorResetTOTP turns off the two-factor of a person who can no longer log in, and removes the person's passkeys: each is asked for beside
// the password, and whoever has lost one may have lost it to somebody.
func (r *Resolver) OperatorResetTOTP(ctx context.Context, email string) error {
	_, root, err := r.operator(ctx)
	if err != nil {
		return err
	}
	own, err := r.Store.Credentials(ctx, email)
	if err != nil {
		return missing(err, "user with the address", email)
	}
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		dropped, err := tx.DropPasskeysOf(ctx, own.UserID)
		if err != nil {
			return err
		}
		if err := turnOff(ctx, tx, own.UserID); err != nil {
			return err
		}
		now, err := tx.OwnCredentials(ctx, own.UserID)
		if err != nil {
			return err
		}
		what := audit.Between(own, now)
		if own.OTPSecret != nil {
			what = what.Secret("otpSecret", true, false)
		}
		if dropped > 0 {
			what = what.Value("passkeys", dropped, 0)
		}
		return ch.audit(root.ID, audit.UserTotpReset, &db.User{ID: own.UserID}, what)
	})
}

// OperatorAuditEvents gives the audit events of a company and of all below it, the whole tree's for id 0: from
// a moment on and before another, oldest first.
func (r *Resolver) OperatorAuditEvents(ctx context.Context, customerID int64, since, until time.Time, each func(*db.AuditEvent) error) error {
	customer, err := r.operatorCustomer(ctx, customerID)
	if err != nil {
		return err
	}
	return r.Store.EachAuditEvent(ctx, customer.Lineage.Subtree(), since, until, each)
}
