package resolvers

import (
	"context"
	"slices"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
)

const (
	// maxScimGroups is how many groups are listed, maxScimMembers how many members at once, of one group or of several.
	maxScimGroups  = 20_000
	maxScimMembers = 10_000
	// maxScimChanges is how many people a request can put into a group and take out of it.
	maxScimChanges = 1000
)

// Groups are the roles on the company's accounts.
func (d *Directory) Groups(ctx context.Context) ([]*db.ScimGroup, error) {
	if _, err := d.may(ctx, rule.Permissions); err != nil {
		return nil, err
	}
	rows, err := d.Store.ScimGroups(ctx, d.token.CustomerID, maxScimGroups+1)
	if err == nil && len(rows) > maxScimGroups {
		err = problem.Bad("the company has more than %d groups: they can be asked for by id alone", maxScimGroups).With("tooMany")
	}
	return rows, err
}

// Group is a role on one of the company's accounts.
func (d *Directory) Group(ctx context.Context, accountID, roleID int64) (*db.ScimGroup, error) {
	if _, err := d.may(ctx, rule.Permissions); err != nil {
		return nil, err
	}
	return d.Store.ScimGroup(ctx, d.token.CustomerID, accountID, roleID)
}

// Members are those who have the roles of groups.
func (d *Directory) Members(ctx context.Context, groups ...*db.ScimGroup) ([]*db.ScimMember, error) {
	if _, err := d.may(ctx, rule.Permissions); err != nil {
		return nil, err
	}
	accounts, roles := make([]int64, len(groups)), make([]int64, len(groups))
	for i, g := range groups {
		accounts[i], roles[i] = g.AccountID, g.RoleID
	}
	rows, err := d.Store.ScimMembers(ctx, accounts, roles, maxScimMembers+1)
	if err == nil && len(rows) > maxScimMembers {
		err = problem.Bad("there are more than %d members: leave them out by excludedAttributes=members", maxScimMembers).With("tooMany")
	}
	return rows, err
}

// Memberships are what some users have on the company's accounts.
func (d *Directory) Memberships(ctx context.Context, users []int64) ([]*db.ScimMember, error) {
	if _, err := d.may(ctx, rule.Permissions); err != nil {
		return nil, err
	}
	return d.Store.ScimMemberships(ctx, d.token.CustomerID, users)
}

// GroupChange says who comes to a group and who leaves it: with Only everybody who does not come.
type GroupChange struct {
	Only      bool
	Add, Drop []int64
}

// ChangeGroup gives the role of a group to who comes, in place of the one on the account, and takes it from who leaves, all of them or none.
func (d *Directory) ChangeGroup(ctx context.Context, g *db.ScimGroup, to GroupChange) error {
	c, err := d.may(ctx, rule.CreatePermission)
	if err != nil {
		return err
	}
	slices.Sort(to.Add)
	to.Add = slices.Compact(to.Add)
	if len(to.Add) > maxScimMembers || len(to.Drop) > maxScimMembers {
		return problem.Bad("a request names at most %d members", maxScimMembers).With("tooMany")
	}
	return d.change(ctx, c, func(tx *db.Store, ch *changes) error {
		account, err := tx.AccountForUpdate(ctx, c.Scope(), g.AccountID)
		if err != nil {
			return c.unreached(err, "account", g.AccountID)
		}
		m := &moves{Directory: d, ch: ch, group: g, account: account}
		if err := m.find(ctx, to); err != nil {
			return err
		}
		return m.do(ctx)
	})
}

// moves are what changes about the members of a group, on an account that is held.
type moves struct {
	*Directory
	ch      *changes
	group   *db.ScimGroup
	account *db.Account
	// leave and change are permissions that there are, and new is who gets one, by id.
	leave, change []*db.Permission
	new           []int64
}

// find finds out what changes, and whether it is not too much.
func (m *moves) find(ctx context.Context, to GroupChange) (err error) {
	if to.Only {
		m.leave, err = m.ch.tx.ScimOthers(ctx, m.account.ID, m.group.RoleID, to.Add, maxScimChanges+1)
	} else if len(to.Drop) > 0 {
		m.leave, err = m.ch.tx.ScimPermissions(ctx, m.account.ID, to.Drop)
		m.leave = slices.DeleteFunc(m.leave, func(p *db.Permission) bool { return p.RoleID != m.group.RoleID })
	}
	if err == nil && len(to.Add) > 0 {
		err = m.findComing(ctx, to.Add)
	}
	if err != nil {
		return err
	}
	n := len(m.leave) + len(m.change) + len(m.new)
	if n > maxScimChanges {
		return problem.Bad("a request changes at most %d members", maxScimChanges).With("tooMany")
	}
	if n > 1 { // each counts as a request
		_, err = m.Rates.Spend(ctx, m.ch.caller.Principal, quota.RequestsPerMinute, n-1, m.RequestsPerMinute)
	}
	return err
}

func (m *moves) findComing(ctx context.Context, ids []int64) error {
	users, err := m.ch.tx.ScimUsersAmong(ctx, m.token.CustomerID, ids)
	if err != nil {
		return err
	}
	have, err := m.ch.tx.ScimPermissions(ctx, m.account.ID, ids)
	if err != nil {
		return err
	}
	has := make(map[int64]*db.Permission, len(have))
	for _, p := range have {
		has[p.UserID] = p
	}
	for _, id := range ids {
		switch p := has[id]; {
		case users[id] == nil:
			return strange(id)
		case p == nil:
			m.new = append(m.new, id)
		case p.RoleID != m.group.RoleID:
			m.change = append(m.change, p)
		}
	}
	return nil
}

func (m *moves) do(ctx context.Context) error {
	for _, p := range m.leave {
		if err := m.takeOut(ctx, p); err != nil {
			return err
		}
	}
	if len(m.change)+len(m.new) == 0 {
		return nil
	}
	role, err := mayGiveRole(ctx, m.ch.tx, m.ch.caller, m.account, m.group.RoleID)
	if err != nil {
		return err
	}
	for _, p := range m.change {
		if err := m.putOver(ctx, p, role); err != nil {
			return err
		}
	}
	return m.putAllIn(ctx)
}

// putAllIn gives a permission to those who have none. They are held before it is looked who of them is active, so that nobody who is
// deactivated at the same time keeps what is given here.
func (m *moves) putAllIn(ctx context.Context) error {
	if _, err := m.ch.tx.HoldPeople(ctx, m.new...); err != nil {
		return err
	}
	now, err := m.ch.tx.ScimUsersAmong(ctx, m.token.CustomerID, m.new)
	if err != nil {
		return err
	}
	for _, id := range m.new {
		if now[id] == nil {
			return strange(id)
		}
		if err := m.putIn(ctx, now[id]); err != nil {
			return err
		}
	}
	return nil
}

func strange(id int64) error {
	return problem.Bad("members: there is no user %d in the company", id).With("invalidValue")
}

// takeOut removes a permission; the member stays one of the company's.
func (m *moves) takeOut(ctx context.Context, p *db.Permission) error {
	if err := m.mayLose(ctx, p); err != nil {
		return err
	}
	m.ch.callers = append(m.ch.callers, p.UserID)
	if err := m.ch.tx.DropPermissions(ctx, p.UserID, []int64{p.ID}); err != nil {
		return err
	}
	return m.ch.audit(p.CustomerID, audit.PermissionDeleted, p, audit.Removed(p))
}

func (m *moves) mayLose(ctx context.Context, p *db.Permission) error {
	if err := m.ch.caller.mayDealWithOwners(p.RoleOwner); err != nil {
		return err
	}
	return mayLoseOwner(ctx, m.ch.tx, m.ch.caller, p)
}

// putOver gives a permission another role.
func (m *moves) putOver(ctx context.Context, p *db.Permission, role *db.Role) error {
	judge := m.mayLose
	if role.IsOwner { // an owner of before stays one
		judge = func(context.Context, *db.Permission) error { return m.ch.caller.mayDealWithOwners(p.RoleOwner) }
	}
	if err := judge(ctx, p); err != nil {
		return err
	}
	m.ch.callers = append(m.ch.callers, p.UserID)
	if err := m.ch.tx.SetPermissionRole(ctx, p.ID, role.ID); err != nil {
		return err
	}
	now, err := m.ch.tx.Permission(ctx, m.ch.caller.Scope(), p.ID)
	if err != nil {
		return err
	}
	return m.ch.audit(p.CustomerID, audit.PermissionUpdated, p, audit.Between(p, now))
}

// putIn gives a member a permission, which waits while the member is not active.
func (m *moves) putIn(ctx context.Context, u *db.ScimUser) error {
	user, err := userIn(ctx, m.ch.tx, m.ch.caller, globalid.ID{Int: u.ID}, "members")
	if err != nil {
		return err
	}
	id, err := m.ch.tx.InsertPermission(ctx, m.account, user, m.group.RoleID, !u.Active, m.ch.actor())
	if err != nil {
		return m.ch.caller.unreached(err, "user", u.ID)
	}
	if !u.Active {
		if err := m.ch.tx.DisabledByScim(ctx, m.token.CustomerID, u.ID, id); err != nil {
			return err
		}
	}
	made, err := m.ch.tx.Permission(ctx, m.ch.caller.Scope(), id)
	if err != nil {
		return err
	}
	return m.ch.audit(m.account.CustomerID, audit.PermissionCreated, made, audit.Created(made))
}
