package resolvers

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/webhook"
)

// The rules of who may what that need rows, beside those that the schema declares. Whatever they
// judge is read in the transaction that acts on it.

// unreached turns the store's "no such row in scope" into what the caller may know: below the
// root, 403 whether it exists or not; at the root, 404.
func (c *caller) unreached(err error, what string, id int64) error {
	if errors.Is(err, db.ErrNoRows) && !c.IsRoot() {
		return known(problem.Denied("the %s %d is not within reach", what, id), err)
	}
	return missing(err, what, id)
}

// mayDealWithOwners: only an owner may grant, change or remove an owner role.
func (c *caller) mayDealWithOwners(isOwner bool) error {
	if isOwner && !c.Owner {
		return problem.Denied("only an owner may grant, change or remove an owner role")
	}
	return nil
}

// mayDealWithKeysOf: another user's API keys are the business of owners.
func (c *caller) mayDealWithKeysOf(userID int64) error {
	if userID != c.UserID && !c.Owner {
		return problem.Denied("only an owner may create, rotate or revoke another user's API key")
	}
	return nil
}

// beyondOwnRights is the reason of a refusal to give what one does not have.
const beyondOwnRights = "beyond_own_rights"

// mayGive: nobody gives what they don't have. What one has are the rights of one's own role in tenant
// management, for whatever application the gift is. Every operation that gives something takes
// tokens for tenant management, so that the grant there is at hand.
func (c *caller) mayGive(rights access.Features) error {
	g := c.Grants[access.Tenant]
	if g == nil {
		g = &access.Grant{}
	}
	beyond := rights &^ g.Features
	if withheld := beyond & g.KeptBack; withheld != 0 {
		return problem.Denied("the right %s can't be given: your session comes from an identity provider that was set up by somebody without it", withheld.Names()[0]).With(beyondOwnRights)
	}
	if beyond != 0 {
		return problem.Denied("the right %s can't be given: your own role %q in tenant management does not have it", beyond.Names()[0], g.RoleName).With(beyondOwnRights)
	}
	return nil
}

// mayGiveRole tells whether a role may be given on an account, and gives it: one of the account's
// application, system-wide or of the account's company, within the caller's own rights, and an
// owner's only by an owner.
func mayGiveRole(ctx context.Context, tx *db.Store, c *caller, account *db.Account, roleID int64) (*db.Role, error) {
	role, err := tx.RoleToGive(ctx, roleID)
	var v check
	switch {
	case err != nil && !errors.Is(err, db.ErrNoRows):
		return nil, err
	case err != nil, role.CustomerID != nil && *role.CustomerID != account.CustomerID:
		// One sentence for both, or it would tell which roles other companies have.
		v.fault("roleId", "is neither a system-wide role nor one of the account's company")
	case role.ApplicationID != account.ApplicationID:
		v.fault("roleId", "is a role of another application than the account's")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if err := c.mayDealWithOwners(role.IsOwner); err != nil {
		return nil, err
	}
	return role, c.mayGive(access.ParseFeatures(role.Features))
}

// mayInTenant tells whether the caller has a right in tenant management, for what its token for whatever application serves.
func (c *caller) mayInTenant(right access.Features) error {
	_, err := grantFor(c.Principal, &rule.Rule{Apps: []access.App{access.Tenant}, Right: right})
	return err
}

// mayRestore: a permission that is enabled again gives its role again.
func mayRestore(ctx context.Context, tx *db.Store, c *caller, p *db.Permission) error {
	role, err := tx.RoleToGive(ctx, p.RoleID)
	if err != nil {
		return err
	}
	return c.mayGive(access.ParseFeatures(role.Features))
}

// mayOpen: an account that is opened again gives the roles of all its enabled permissions again.
func mayOpen(ctx context.Context, tx *db.Store, c *caller, account *db.Account) error {
	rights, err := tx.RightsOn(ctx, account.ID)
	if err != nil {
		return err
	}
	return c.mayGive(rights)
}

// mayBringBelow: a company that moves is given to all who have a role at its new place, or on the way from there to where the
// place before was: within the caller's own rights, and to an owner only by an owner.
func mayBringBelow(ctx context.Context, tx *db.Store, c *caller, row, parent *db.Customer) error {
	above := slices.DeleteFunc(slices.Clone(parent.Lineage), func(id int64) bool { return slices.Contains(row.Lineage, id) })
	rights, owner, err := tx.RightsAt(ctx, above)
	if err != nil {
		return err
	}
	if err := c.mayGive(rights); err != nil {
		return err
	}
	return c.mayDealWithOwners(owner)
}

// maySubscribeAudit tells whether the caller may have events of the audit log delivered: who may read the log in
// tenant management. A token for another application does not say so; its own rights bound it all the same.
func maySubscribeAudit(ctx context.Context, tx *db.Store, c *caller) error {
	rights := c.Features
	if g := c.Grants[access.Tenant]; g != nil {
		rights = g.Features
	} else {
		have, err := tx.TenantRights(ctx, c.UserID, c.CustomerID)
		if err != nil {
			return err
		}
		rights &= have
	}
	if !rights.Has(access.AuditRead) {
		return problem.Denied("events of the audit log can be subscribed by who has the right audit.read in tenant management").With(beyondOwnRights)
	}
	return nil
}

// mayRedirect tells whether the caller may change, remove or bring back a destination, or have its secret: where an audit event goes, of those on
// their way too, is as much its subscriber's business as that it goes, and goes on, and so is by what it is known to be true.
func mayRedirect(ctx context.Context, tx *db.Store, c *caller, before, after *db.Destination) error {
	audited := slices.ContainsFunc(before.Events, webhook.IsAudit) || slices.ContainsFunc(after.Events, webhook.IsAudit)
	if !audited && before.URL == after.URL {
		return nil
	}
	denied := maySubscribeAudit(ctx, tx, c)
	if denied == nil || audited {
		return denied
	}
	if pending, err := tx.AuditPending(ctx, before.ID); err != nil || !pending {
		return err
	}
	return denied
}

// mayLoseOwner keeps a company from locking itself out: the last enabled owner permission of its
// own account stays, unless a company above takes it away.
func mayLoseOwner(ctx context.Context, tx *db.Store, c *caller, p *db.Permission) error {
	if p.CustomerID != c.CustomerID {
		return nil
	}
	return mayBeWithout(ctx, tx, p)
}

// mayBeWithout tells whether a permission is not the last enabled one of an owner on its account, which is to be held.
func mayBeWithout(ctx context.Context, tx *db.Store, p *db.Permission) error {
	if !p.RoleOwner || p.Disabled {
		return nil
	}
	others, err := tx.HasOtherOwner(ctx, p.AccountID, p.ID)
	if err == nil && !others {
		err = problem.Bad("this is the last enabled owner permission on the account %d of the company %d", p.AccountID, p.CustomerID).With("last_owner")
	}
	return err
}

// errTooDeep: the tree ends somewhere.
var errTooDeep = problem.Invalid(problem.Fault{Location: "parentId", Message: "is too deep in the tree: no company may be below level " + strconv.Itoa(db.MaxLevel)})

// mayAddBelow gives the company that a new one is to be added to: one within reach, and the caller's
// own company may add others at all. Both stay where they are until it is added.
func mayAddBelow(ctx context.Context, tx *db.Store, c *caller, parentID *globalid.ID) (*db.Customer, error) {
	id, err := customerID(c, parentID, "parentId")
	if err != nil {
		return nil, err
	}
	if err := tx.HoldPlaces(ctx, c.CustomerID, id); err != nil {
		return nil, err
	}
	own, err := tx.Customer(ctx, c.Scope(), c.CustomerID)
	if err != nil {
		return nil, c.unreached(err, "company", c.CustomerID)
	}
	may, err := effectiveCanAdd(ctx, tx, own)
	if err == nil && !may {
		err = problem.Denied("the company %q may not add companies: canAddCustomers is off, or an ancestor has turned descendantsCanAdd off", own.Name)
	}
	if err != nil {
		return nil, err
	}
	parent, err := customerIn(ctx, tx, c, parentID, "parentId")
	if err != nil {
		return nil, err
	}
	if err := tx.HoldParent(ctx, c.Scope(), parent.ID); err != nil {
		return nil, c.unreached(err, "company", parent.ID)
	}
	return parent, mustNotBeDeleted(ctx, tx, parent, "parentId")
}

// mustNotBeDeleted: nothing is put into a company that is deleted, or that lies below one, as it would be erased with it.
func mustNotBeDeleted(ctx context.Context, tx *db.Store, row *db.Customer, field string) error {
	status, err := row.EffectiveStatus(ctx, tx)
	if err == nil && status == db.CustomerDeleted {
		err = problem.Invalid(problem.Fault{Location: field, Message: "is a deleted company, or lies below one"})
	}
	return err
}

// effectiveCanAdd: root is never restricted; below, a company's own flag holds only while every
// ancestor lets its descendants add.
func effectiveCanAdd(ctx context.Context, s *db.Store, row *db.Customer) (bool, error) {
	switch {
	case row.ParentID == nil:
		return true, nil
	case !row.CanAddCustomers:
		return false, nil
	}
	return row.AncestorsAllow(ctx, s)
}

var errFlagForbidden = problem.Denied("a company above has descendantsCanAdd off: canAddCustomers and descendantsCanAdd can't be turned on here")

// mayBeginWith: a new company has no flag that one above forbids.
func mayBeginWith(ctx context.Context, tx *db.Store, parent, flags *db.Customer) error {
	if !flags.CanAddCustomers && !flags.DescendantsCanAdd {
		return nil
	}
	allowed, err := parent.AncestorsAllow(ctx, tx)
	if err == nil && (!allowed || !parent.DescendantsCanAdd) {
		err = errFlagForbidden
	}
	return err
}

// mayTurnOn: a flag is turned on only from above (root: by itself), and only where no ancestor
// forbids it.
func mayTurnOn(ctx context.Context, tx *db.Store, c *caller, row, next *db.Customer) error {
	turnsOn := next.CanAddCustomers && !row.CanAddCustomers || next.DescendantsCanAdd && !row.DescendantsCanAdd
	if !turnsOn || row.ParentID == nil {
		return nil
	}
	if row.ID == c.CustomerID {
		return problem.Denied("a company's canAddCustomers and descendantsCanAdd are turned on only by a company above it")
	}
	allowed, err := row.AncestorsAllow(ctx, tx)
	if err == nil && !allowed {
		err = errFlagForbidden
	}
	return err
}
