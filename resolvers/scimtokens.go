package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// maxScimTokens is how many a company may have.
const maxScimTokens = 20

// ScimTokens are the company's tokens for directories, by id.
func (e CustomerEdges) ScimTokens(ctx context.Context, obj *db.Customer) ([]*db.ScimToken, error) {
	if _, err := e.may(ctx, rule.CustomerScimTokens); err != nil {
		return nil, err
	}
	return obj.ScimTokens(ctx, e.Store)
}

// GetScimToken gives one token of a company within reach.
func (q Query) GetScimToken(ctx context.Context, id globalid.ID) (*db.ScimToken, error) {
	c, err := q.may(ctx, rule.CustomerScimTokens)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.ScimToken(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "SCIM token", id.Int)
}

func (q Query) scimTokenNode(ctx context.Context, id globalid.ID) (*db.ScimToken, error) {
	return q.GetScimToken(ctx, id)
}

// ListScimTokens gives each token of a company within reach, by id. after is the cursor of an earlier call; limit 0 gives all.
func (q Query) ListScimTokens(ctx context.Context, id *globalid.ID, after paging.Cursor, limit int, each func(*db.ScimToken) error) error {
	c, err := q.may(ctx, rule.CustomerScimTokens)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, id, "customerId")
	if err != nil {
		return err
	}
	rows, err := customer.ScimTokens(ctx, q.Store)
	for _, t := range rows {
		if t.ID <= lastID(after) {
			continue
		}
		if err := each(t); err != nil {
			return err
		}
		if limit--; limit == 0 {
			break
		}
	}
	return err
}

// CreateScimTokenInput is a new token of a company.
type CreateScimTokenInput struct {
	CustomerID *globalid.ID
	Name       *string
	ExpiresAt  *time.Time
}

// CreateScimTokenPayload is what CreateScimToken made; the token is shown this once.
type CreateScimTokenPayload struct {
	ScimToken *db.ScimToken
	Token     string
}

// CreateScimToken lets a company's directory provision its people, as the caller may.
func (m Mutation) CreateScimToken(ctx context.Context, in CreateScimTokenInput) (*CreateScimTokenPayload, error) {
	c, err := m.may(ctx, rule.CreateScimToken)
	if err != nil {
		return nil, err
	}
	var v check
	v.optional("name", in.Name)
	v.future("expiresAt", in.ExpiresAt)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	out := &CreateScimTokenPayload{Token: secret.NewScimToken()}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		c, err := m.holdPeople(ctx, tx, c, rule.CreateScimToken)
		if err != nil {
			return err
		}
		row := db.ScimToken{
			CustomerID: customer.ID, Name: filled(in.Name, "SCIM"), CreatedBy: c.UserID, ActsIn: c.CustomerID, Features: c.Features.Names(), Owner: c.Owner, ExpiresAt: in.ExpiresAt,
		}
		if _, err := tx.CustomerForUpdate(ctx, c.Scope(), customer.ID); err != nil {
			return c.unreached(err, "company", customer.ID)
		}
		n, err := tx.ScimTokenCount(ctx, customer.ID)
		if err == nil && n >= maxScimTokens {
			err = problem.Bad("a company has at most %d SCIM tokens", maxScimTokens).With("too_many_tokens")
		}
		if err == nil {
			err = mayMakeScimToken(ctx, tx, c, &row)
		}
		if err != nil {
			return err
		}
		out.ScimToken, err = tx.InsertScimToken(ctx, row, secret.HashSecret(out.Token))
		if err != nil {
			return err
		}
		return ch.audit(customer.ID, audit.ScimTokenCreated, out.ScimToken, audit.Created(out.ScimToken).Secret("token", false, true))
	})
	return out, err
}

// mayMakeScimToken: a token lives no longer than an API key may there, and one that is made with a key's token is bound as a key would be.
func mayMakeScimToken(ctx context.Context, tx *db.Store, c *caller, t *db.ScimToken) error {
	as := db.APIKey{CustomerID: t.CustomerID, UserID: t.CreatedBy, ExpiresAt: t.ExpiresAt, Features: t.Features}
	if err := mayMakeWithKey(ctx, tx, c, &as); err != nil {
		return err
	}
	if as.AllowedAddresses != nil {
		return problem.Denied("the API key that asks works from some networks only, and a SCIM token would from all").With(beyondOwnRights)
	}
	return mayLive(ctx, tx, &as)
}

// DeleteScimTokenInput names a token to end.
type DeleteScimTokenInput struct{ ID globalid.ID }

// DeleteScimTokenPayload tells what DeleteScimToken ended.
type DeleteScimTokenPayload struct{ DeletedID globalid.ID }

// DeleteScimToken ends a token at once.
func (m Mutation) DeleteScimToken(ctx context.Context, in DeleteScimTokenInput) (*DeleteScimTokenPayload, error) {
	c, err := m.may(ctx, rule.DeleteScimToken)
	if err != nil {
		return nil, err
	}
	n, err := in.ID.Of("ScimToken", "id")
	if err != nil {
		return nil, err
	}
	out := &DeleteScimTokenPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		c, err := m.holdPeople(ctx, tx, c, rule.DeleteScimToken)
		if err != nil {
			return err
		}
		row, err := tx.ScimToken(ctx, c.Scope(), n)
		if err != nil {
			return c.unreached(err, "SCIM token", n)
		}
		if row.CreatedBy != c.UserID && !c.Owner {
			return problem.Denied("only an owner may end a SCIM token that somebody else has made")
		}
		out.DeletedID = row.GlobalID()
		if err := tx.DropScimToken(ctx, row.ID); err != nil {
			return c.unreached(err, "SCIM token", n)
		}
		return ch.audit(row.CustomerID, audit.ScimTokenDeleted, row, audit.Removed(row).Secret("token", true, false))
	})
}

// ScimTokenEdges resolves what a token leads to.
type ScimTokenEdges struct{ *Resolver }

// Customer is whose people it provisions.
func (e ScimTokenEdges) Customer(ctx context.Context, obj *db.ScimToken) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}

// CreatedBy is who has made it, and as whom it acts; nil for who is not within reach.
func (e ScimTokenEdges) CreatedBy(ctx context.Context, obj *db.ScimToken) (*db.User, error) {
	return obj.Creator(ctx, e.Store, reach(ctx))
}

// Features are the most that it may.
func (ScimTokenEdges) Features(_ context.Context, obj *db.ScimToken) ([]string, error) {
	return access.ParseFeatures(obj.Features).Names(), nil
}
