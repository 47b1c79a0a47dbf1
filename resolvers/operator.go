package resolvers

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/access"
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

func (r *Resolver) operatorCompany(ctx context.Context, id int64) (*db.Customer, error) {
	scope, root, err := r.operator(ctx)
	if err != nil || id == 0 {
		return root, err
	}
	company, err := r.Store.Customer(ctx, scope, id)
	return company, missing(err, "company", id)
}

// OperatorCreateKey makes an API key for a member of a company, the root company for id 0.
func (r *Resolver) OperatorCreateKey(ctx context.Context, companyID int64, email, name string) (key *db.APIKey, plain string, err error) {
	company, err := r.operatorCompany(ctx, companyID)
	if err != nil {
		return nil, "", err
	}
	own, err := r.Store.Credentials(ctx, email)
	if err != nil {
		return nil, "", missing(err, "user with the address", email)
	}
	err = r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		member, err := tx.IsMember(ctx, company.ID, own.UserID)
		if err != nil {
			return err
		}
		if !member {
			return problem.Bad("%s is not a user of the company %q", email, company.Name)
		}
		if key, plain, err = NewAPIKey(ctx, tx, db.APIKey{CustomerID: company.ID, UserID: own.UserID, Name: name}, 0); err != nil {
			return err
		}
		return ch.audit(ctx, company.ID, "apiKey.created", key, details{"user": own.UserID, "name": name})
	})
	return key, plain, err
}

// OperatorListKeys lists a company's API keys, the root company's for id 0.
func (r *Resolver) OperatorListKeys(ctx context.Context, companyID int64) ([]*db.APIKey, error) {
	company, err := r.operatorCompany(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return r.Store.AllAPIKeys(ctx, company.ID)
}

// OperatorRotateKey gives a key a new secret, which it gives back; the old one lives until graceEnds.
func (r *Resolver) OperatorRotateKey(ctx context.Context, clientID string, graceEnds time.Time) (plain string, err error) {
	err = r.operatorKey(ctx, clientID, "apiKey.rotated", func(tx *db.Store, k *db.APIKey) error {
		plain, err = RotateAPIKey(ctx, tx, k.ID, graceEnds)
		return err
	})
	return plain, err
}

// OperatorRevokeKey ends a key at once and for good.
func (r *Resolver) OperatorRevokeKey(ctx context.Context, clientID string) error {
	return r.operatorKey(ctx, clientID, "apiKey.revoked", func(tx *db.Store, k *db.APIKey) error {
		_, err := tx.RevokeAPIKey(ctx, k.ID)
		return err
	})
}

func (r *Resolver) operatorKey(ctx context.Context, clientID, action string, do func(*db.Store, *db.APIKey) error) error {
	scope, _, err := r.operator(ctx)
	if err != nil {
		return err
	}
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		k, err := tx.APIKeyByClientID(ctx, scope, clientID)
		if err != nil {
			return missing(err, "API key", clientID)
		}
		if err := do(tx, k); err != nil {
			return err
		}
		return ch.audit(ctx, k.CustomerID, action, k, nil)
	})
}
