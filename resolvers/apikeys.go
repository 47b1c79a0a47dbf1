package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// The time that the old secret of a rotated key lives on.
const (
	defaultGrace = 24 * time.Hour
	maxGrace     = 30 * 24 * time.Hour
)

// GetAPIKey gives one key within reach.
func (q Query) GetAPIKey(ctx context.Context, id globalid.ID) (*db.APIKey, error) {
	c, err := q.may(ctx, rule.CustomerAPIKeys)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.APIKey(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "API key", id.Int)
}

// ListAPIKeys gives each key of a company within reach that fits a filter, by id unless asked for otherwise.
func (q Query) ListAPIKeys(ctx context.Context, id *globalid.ID, filter *APIKeyFilter, l Listing, each func(*db.APIKey, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.CustomerAPIKeys)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, id, "customerId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.APIKeys, filter: filter}, l, within(customer.ID, q.Store.FindAPIKeys), each)
}

// CreateAPIKeyInput is a new API key.
type CreateAPIKeyInput struct {
	CustomerID *globalid.ID
	UserID     *globalid.ID
	Name       *string
	ExpiresAt  *time.Time
	// Features bound the key's rights, AllowedAddresses the networks that it works from; nil is no bound.
	Features         []string
	AllowedAddresses []string
}

// CreateAPIKeyPayload is what CreateAPIKey made; the secret is shown this once.
type CreateAPIKeyPayload struct {
	APIKey       *db.APIKey
	ClientID     string
	ClientSecret string
}

// CreateAPIKey makes an API key: for the caller itself, or, by an owner, for another user.
func (m Mutation) CreateAPIKey(ctx context.Context, in CreateAPIKeyInput) (*CreateAPIKeyPayload, error) {
	c, err := m.may(ctx, rule.CreateAPIKey)
	if err != nil {
		return nil, err
	}
	var v check
	v.optional("name", in.Name)
	v.future("expiresAt", in.ExpiresAt)
	key := db.APIKey{
		Name: or(in.Name, ""), ExpiresAt: in.ExpiresAt, Features: v.keyFeatures(in.Features),
		AllowedAddresses: v.networks("allowedAddresses", in.AllowedAddresses),
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	key.CustomerID, key.UserID = customer.ID, c.UserID
	if in.UserID != nil {
		user, err := m.user(ctx, c, *in.UserID, "userId")
		if err != nil {
			return nil, err
		}
		key.UserID = user.ID
	}
	if err := c.mayDealWithKeysOf(key.UserID); err != nil {
		return nil, err
	}
	out := &CreateAPIKeyPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		c, err := m.holdPeople(ctx, tx, c, rule.CreateAPIKey, key.UserID)
		if err != nil {
			return err
		}
		if err := mayActAs(ctx, tx, c, &key); err != nil {
			return err
		}
		if err := mayMakeKey(ctx, tx, c, &key); err != nil {
			return err
		}
		out.APIKey, out.ClientSecret, err = NewAPIKey(ctx, tx, key, ch.actor())
		if err != nil {
			return err
		}
		out.ClientID = out.APIKey.ClientID
		return ch.audit(key.CustomerID, audit.APIKeyCreated, out.APIKey, audit.Created(out.APIKey).Secret(secretField, false, true))
	})
	return out, err
}

// NewAPIKey makes a key with a first secret, which it gives back; createdBy 0 stands for the
// platform itself.
func NewAPIKey(ctx context.Context, tx *db.Store, k db.APIKey, createdBy int64) (*db.APIKey, string, error) {
	plain := secret.NewAPISecret()
	k.ClientID = secret.NewClientID()
	row, err := tx.InsertAPIKey(ctx, k, secret.HashSecret(plain), createdBy)
	return row, plain, err
}

// RotateAPIKeySecretInput is a key to give a new secret.
type RotateAPIKeySecretInput struct {
	ID           globalid.ID
	GraceSeconds *int
}

// RotateAPIKeySecretPayload is what RotateAPIKeySecret made; the secret is shown this once.
type RotateAPIKeySecretPayload struct {
	APIKey       *db.APIKey
	ClientID     string
	ClientSecret string
	GraceEndsAt  time.Time
}

// RotateAPIKeySecret gives a key a new secret; the old one lives on for the grace time.
func (m Mutation) RotateAPIKeySecret(ctx context.Context, in RotateAPIKeySecretInput) (*RotateAPIKeySecretPayload, error) {
	out := &RotateAPIKeySecretPayload{}
	err := m.changeKey(ctx, rule.RotateAPIKeySecret, in.ID, audit.APIKeyRotated, func(tx *db.Store, c *caller, k *db.APIKey) (audit.Changes, error) {
		var v check
		grace := v.grace("graceSeconds", in.GraceSeconds)
		if err := v.err(); err != nil {
			return audit.Changes{}, err
		}
		if k.RevokedAt != nil {
			return audit.Changes{}, problem.Bad("the key was revoked")
		}
		if err := mayTakeOverKey(ctx, tx, c, k); err != nil {
			return audit.Changes{}, err
		}
		var err error
		out.APIKey, out.ClientID, out.GraceEndsAt = k, k.ClientID, time.Now().UTC().Add(grace).Truncate(time.Millisecond)
		out.ClientSecret, err = RotateAPIKey(ctx, tx, k.ID, out.GraceEndsAt)
		return rotated(out.GraceEndsAt), err
	})
	return out, err
}

// secretField is what the log calls the secret of a key.
const secretField = "clientSecret"

// rotated is what the log has of a key's new secret.
func rotated(graceEnds time.Time) audit.Changes {
	return audit.None().Secret(secretField, true, true).With("graceEndsAt", graceEnds)
}

// grace reads how long an old secret lives on, in seconds.
func (v *check) grace(field string, seconds *int) time.Duration {
	if seconds == nil {
		return defaultGrace
	}
	if *seconds < 0 || *seconds > int(maxGrace/time.Second) {
		v.fault(field, "must be between 0 and %d", int(maxGrace/time.Second))
	}
	return time.Duration(*seconds) * time.Second
}

// RotateAPIKey gives a key a new secret, which it gives back; the old one lives until graceEnds.
func RotateAPIKey(ctx context.Context, tx *db.Store, keyID int64, graceEnds time.Time) (string, error) {
	plain := secret.NewAPISecret()
	return plain, tx.RotateSecret(ctx, keyID, secret.HashSecret(plain), graceEnds)
}

// RevokeAPIKeyInput is a key to end.
type RevokeAPIKeyInput struct {
	ID        globalid.ID
	IfVersion *int
}

// RevokeAPIKeyPayload is what RevokeAPIKey ended.
type RevokeAPIKeyPayload struct{ APIKey *db.APIKey }

// RevokeAPIKey ends a key at once and for good.
func (m Mutation) RevokeAPIKey(ctx context.Context, in RevokeAPIKeyInput) (*RevokeAPIKeyPayload, error) {
	out := &RevokeAPIKeyPayload{}
	err := m.changeKey(ctx, rule.RevokeAPIKey, in.ID, audit.APIKeyRevoked, func(tx *db.Store, _ *caller, k *db.APIKey) (_ audit.Changes, err error) {
		if err := unchanged(k.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		out.APIKey, err = tx.RevokeAPIKey(ctx, k.ID)
		return audit.Between(k, out.APIKey), err
	})
	return out, err
}

// changeKey changes one key within reach: the caller's own, or, by an owner, another user's.
func (m Mutation) changeKey(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action, do func(tx *db.Store, c *caller, k *db.APIKey) (audit.Changes, error)) error {
	c, err := m.may(ctx, need)
	if err != nil {
		return err
	}
	n, err := id.Of("ApiKey", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		c, err := m.holdPeople(ctx, tx, c, need)
		if err != nil {
			return err
		}
		k, err := tx.APIKeyForUpdate(ctx, c.Scope(), n)
		if err != nil {
			return c.unreached(err, "API key", n)
		}
		if err := c.mayDealWithKeysOf(k.UserID); err != nil {
			return err
		}
		what, err := do(tx, c, k)
		if err != nil {
			return err
		}
		ch.callers = append(ch.callers, k.UserID)
		return ch.audit(k.CustomerID, action, k, what)
	})
}

// APIKeyEdges resolves the edges of an API key.
type APIKeyEdges struct{ *Resolver }

// User is who the key acts for; nil beyond the caller's reach.
func (e APIKeyEdges) User(ctx context.Context, obj *db.APIKey) (*db.User, error) {
	return obj.User(ctx, e.Store, reach(ctx))
}

// Customer is where the key acts.
func (e APIKeyEdges) Customer(ctx context.Context, obj *db.APIKey) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}

// Features are the rights that the key has at most; nil: all those of its user.
func (e APIKeyEdges) Features(_ context.Context, obj *db.APIKey) ([]string, error) {
	return obj.Features, nil
}

// AllowedAddresses are the networks that the key works from; nil: any.
func (e APIKeyEdges) AllowedAddresses(_ context.Context, obj *db.APIKey) ([]string, error) {
	return obj.AllowedAddresses, nil
}
