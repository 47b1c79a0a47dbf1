package resolvers

import (
	"context"
	"strings"
	"unicode/utf8"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/diagram"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/outbox"
)

const (
	// maxSecret is the longest value of a secret, in bytes.
	maxSecret = 8 << 10
	// maxSecrets is how many a company may have.
	maxSecrets = 200
)

// GetSecret gives one secret of a company within reach, without its value.
func (q Query) GetSecret(ctx context.Context, id globalid.ID) (*db.Secret, error) {
	c, err := q.may(ctx, rule.CustomerSecrets)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Secret(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "secret", id.Int)
}

func (q Query) secretNode(ctx context.Context, id globalid.ID) (*db.Secret, error) {
	return q.GetSecret(ctx, id)
}

// ListSecrets gives each secret of a company within reach by id. after is the cursor of an earlier call;
// limit 0 gives all.
func (q Query) ListSecrets(ctx context.Context, id *globalid.ID, after paging.Cursor, limit int, each func(*db.Secret) error) error {
	c, err := q.may(ctx, rule.CustomerSecrets)
	if err != nil {
		return err
	}
	customer, err := q.holder(ctx, c, id, "customerId")
	if err != nil {
		return err
	}
	return q.Store.StreamSecrets(ctx, customer.ID, lastID(after), limit, each)
}

// ListDeletedSecrets gives the secrets of a company within reach that can be brought back, the one that was deleted last first.
func (q Query) ListDeletedSecrets(ctx context.Context, id *globalid.ID) ([]*db.Deleted, error) {
	c, err := q.may(ctx, rule.CustomerDeletedSecrets)
	if err != nil {
		return nil, err
	}
	customer, err := q.holder(ctx, c, id, "customerId")
	if err != nil {
		return nil, err
	}
	return customer.DeletedSecrets(ctx, q.Store)
}

// CreateSecretInput is a new secret of a company.
type CreateSecretInput struct {
	CustomerID *globalid.ID
	Name       string
	Value      string
}

// CreateSecretPayload is what CreateSecret made.
type CreateSecretPayload struct{ Secret *db.Secret }

// CreateSecret keeps a value for the company's agents, sealed. Nobody is shown it again.
func (m Mutation) CreateSecret(ctx context.Context, in CreateSecretInput) (*CreateSecretPayload, error) {
	c, err := m.may(ctx, rule.CreateSecret)
	if err != nil {
		return nil, err
	}
	var v check
	v.secretName("name", in.Name)
	v.secretValue("value", in.Value)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.holder(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	out := &CreateSecretPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if err := m.roomForSecret(ctx, tx, c, customer.ID); err != nil {
			return err
		}
		row, err := tx.InsertSecret(ctx, customer.ID, in.Name)
		if err != nil {
			return secretNameTaken(err)
		}
		if out.Secret, err = tx.UpdateSecret(ctx, row.ID, row.Name, outbox.SealSecret(m.Box, row.ID, in.Value)); err != nil {
			return err
		}
		return ch.audit(customer.ID, audit.SecretCreated, out.Secret, audit.Created(out.Secret).Secret("value", false, true))
	})
	return out, err
}

// roomForSecret refuses one more secret of a company that has as many as it may. The company's row is held, so that they are counted once
// at a time.
func (m Mutation) roomForSecret(ctx context.Context, tx *db.Store, c *caller, customerID int64) error {
	if _, err := tx.CustomerForUpdate(ctx, c.Scope(), customerID); err != nil {
		return c.unreached(err, "company", customerID)
	}
	n, err := tx.SecretCount(ctx, customerID)
	if err != nil {
		return err
	}
	if n >= maxSecrets {
		return problem.Bad("a company has at most %d secrets", maxSecrets).With("too_many_secrets")
	}
	return nil
}

// secretName checks the name by which diagrams read a secret.
func (v *check) secretName(field, name string) {
	if !diagram.SecretName.MatchString(name) {
		v.fault(field, "must be letters, digits and underscores, at least one and at most 64")
	}
}

// secretValue checks a value. No fault quotes it.
func (v *check) secretValue(field, value string) {
	switch {
	case value == "":
		v.fault(field, "must not be empty")
	case len(value) > maxSecret:
		v.fault(field, "is longer than %d bytes", maxSecret)
	case !utf8.ValidString(value):
		v.fault(field, "is not valid UTF-8")
	case strings.ContainsRune(value, 0):
		v.fault(field, "must not contain NUL bytes")
	}
}

func secretNameTaken(err error) error {
	if db.Violates(err, db.SecretsName) {
		return problem.Invalid(problem.Fault{Location: "name", Message: "is the name of another secret of this company"})
	}
	return err
}

// UpdateSecretInput is a change of a secret; nil keeps a field.
type UpdateSecretInput struct {
	ID        globalid.ID
	Name      *string
	Value     *string
	IfVersion *int
}

// UpdateSecretPayload is what UpdateSecret changed.
type UpdateSecretPayload struct{ Secret *db.Secret }

// UpdateSecret changes a secret. Runs under way use the new value from their next step on.
func (m Mutation) UpdateSecret(ctx context.Context, in UpdateSecretInput) (*UpdateSecretPayload, error) {
	out := &UpdateSecretPayload{}
	err := m.changeSecret(ctx, rule.UpdateSecret, in.ID, audit.SecretUpdated, func(tx *db.Store, c *caller, row *db.Secret) (what audit.Changes, err error) {
		var v check
		if in.Name != nil {
			v.secretName("name", *in.Name)
		}
		var sealed []byte
		if in.Value != nil {
			v.secretValue("value", *in.Value)
			sealed = outbox.SealSecret(m.Box, row.ID, *in.Value)
		}
		if err := v.err(); err != nil {
			return what, err
		}
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return what, err
		}
		name := or(in.Name, row.Name)
		if out.Secret = row; sealed == nil && name == row.Name { // whether a value is the same is not looked at
			return what, nil
		}
		if out.Secret, err = tx.UpdateSecret(ctx, row.ID, name, sealed); err != nil {
			return what, secretNameTaken(err)
		}
		what = audit.Between(row, out.Secret)
		if sealed != nil {
			what = what.Secret("value", true, true)
		}
		return what, nil
	})
	return out, err
}

// DeleteSecretInput names a secret to remove; with Restorable it can be brought back for a time.
type DeleteSecretInput struct {
	ID         globalid.ID
	IfVersion  *int
	Restorable *bool
}

// DeleteSecretPayload tells what DeleteSecret removed.
type DeleteSecretPayload struct{ DeletedID globalid.ID }

// DeleteSecret removes a secret, a restorable one 30 days later for good. A step that uses it fails from then on, and its name is free.
func (m Mutation) DeleteSecret(ctx context.Context, in DeleteSecretInput) (*DeleteSecretPayload, error) {
	out := &DeleteSecretPayload{}
	err := m.changeSecret(ctx, rule.DeleteSecret, in.ID, audit.SecretDeleted, func(tx *db.Store, c *caller, row *db.Secret) (audit.Changes, error) {
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		out.DeletedID = row.GlobalID()
		what := audit.Removed(row).Secret("value", true, false)
		if or(in.Restorable, false) {
			return what, m.hideSecret(ctx, tx, c, row)
		}
		return what, tx.DeleteSecret(ctx, row.ID)
	})
	return out, err
}

// hideSecret keeps a secret for RestoreSecret. The company's row is held, as roomForSecret does.
func (m Mutation) hideSecret(ctx context.Context, tx *db.Store, c *caller, row *db.Secret) error {
	if _, err := tx.CustomerForUpdate(ctx, c.Scope(), row.CustomerID); err != nil {
		return c.unreached(err, "company", row.CustomerID)
	}
	n, err := tx.RemovedSecretCount(ctx, row.CustomerID)
	if err != nil {
		return err
	}
	if n >= db.MaxDeleted {
		return problem.Bad("a company keeps at most %d deleted secrets; delete this one for good", db.MaxDeleted).With("too_many_secrets")
	}
	return tx.HideSecret(ctx, row.ID)
}

// RestoreSecretInput is a removed secret to bring back, under its name or another one.
type RestoreSecretInput struct {
	ID   globalid.ID
	Name *string
}

// RestoreSecretPayload is what RestoreSecret brought back.
type RestoreSecretPayload struct{ Secret *db.Secret }

// RestoreSecret brings a secret back, with its value, that was removed as restorable within the last 30 days. A name that was given
// again meanwhile stays with whom it was given to: the secret then needs another one.
func (m Mutation) RestoreSecret(ctx context.Context, in RestoreSecretInput) (*RestoreSecretPayload, error) {
	c, err := m.may(ctx, rule.RestoreSecret)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Secret", "id")
	if err != nil {
		return nil, err
	}
	var v check
	if in.Name != nil {
		v.secretName("name", *in.Name)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &RestoreSecretPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.RemovedSecretForUpdate(ctx, c.Scope(), id)
		if err != nil {
			return c.unreached(err, "deleted secret", id)
		}
		if err := m.roomForSecret(ctx, tx, c, row.CustomerID); err != nil {
			return err
		}
		value, err := outbox.OpenSecret(m.Box, row.ID, row.Value)
		if err != nil {
			return err
		}
		if out.Secret, err = tx.RestoreSecret(ctx, row.ID, or(in.Name, row.Name), outbox.SealSecret(m.Box, row.ID, value)); err != nil {
			return secretNameTaken(err)
		}
		return ch.audit(row.CustomerID, audit.SecretRestored, out.Secret, audit.Created(out.Secret).Secret("value", false, true))
	})
}

// changeSecret changes one secret of a company within reach.
func (m Mutation) changeSecret(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action, do func(*db.Store, *caller, *db.Secret) (audit.Changes, error)) error {
	c, err := m.may(ctx, need)
	if err != nil {
		return err
	}
	n, err := id.Of("Secret", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.SecretForUpdate(ctx, c.Scope(), n)
		if err != nil {
			return c.unreached(err, "secret", n)
		}
		what, err := do(tx, c, row)
		if err != nil || what.Empty() {
			return err
		}
		return ch.audit(row.CustomerID, action, row, what)
	})
}

// SecretEdges resolves the edge of a secret.
type SecretEdges struct{ *Resolver }

// Customer is whose agents may use the secret.
func (e SecretEdges) Customer(ctx context.Context, obj *db.Secret) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}

// Secrets are the company's secrets, by id.
func (e CustomerEdges) Secrets(ctx context.Context, obj *db.Customer) ([]*db.Secret, error) {
	if _, err := e.may(ctx, rule.CustomerSecrets); err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return orEmpty(obj.Secrets(ctx, e.Store))
}

// DeletedSecrets are the company's secrets that can be brought back.
func (e CustomerEdges) DeletedSecrets(ctx context.Context, obj *db.Customer) ([]*db.Deleted, error) {
	if _, err := e.may(ctx, rule.CustomerDeletedSecrets); err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return orEmpty(obj.DeletedSecrets(ctx, e.Store))
}
