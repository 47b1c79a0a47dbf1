package resolvers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// Directory is a company's directory at work: it does, by the operations of everybody, what the one may who has made its token.
type Directory struct {
	Mutation
	token *db.ScimToken
}

const maxScimMembers = 10_000

// AdmitDirectory puts the caller behind a SCIM token into the context. Errors are 401, 403 where nobody acts behind it any more, and 429.
func (r *Resolver) AdmitDirectory(ctx context.Context, authorization string) (context.Context, *Directory, error) {
	scheme, token, _ := strings.Cut(authorization, " ")
	unknown := problem.Unauthorized("a SCIM token is needed: Authorization: Bearer <token>")
	if !strings.EqualFold(scheme, "Bearer") || !secret.IsScimToken(token) {
		return ctx, nil, unknown
	}
	t, err := r.Store.ScimTokenByHash(ctx, secret.HashSecret(token))
	if errors.Is(err, db.ErrNoRows) {
		err = unknown
	}
	if err != nil {
		return ctx, nil, err
	}
	c, err := r.Store.LoginCaller(ctx, db.LoginToken{UserID: t.CreatedBy, CustomerID: t.ActsIn, IssuedAt: time.Now()})
	if err != nil {
		return ctx, nil, err
	}
	own := c.Grants[access.Tenant]
	switch {
	case c.Suspended:
		return ctx, nil, errSuspended
	case own == nil:
		return ctx, nil, problem.Denied("who has made the token has no access to tenant management any more")
	}
	p := c.Principal
	grant := *own
	grant.Features &= access.ParseFeatures(t.Features)
	grant.Owner = grant.Owner && t.Owner
	p.Grants, p.Serves, p.ClientID = [len(p.Grants)]*access.Grant{}, [len(p.Serves)]bool{}, "scim:"+strconv.FormatInt(t.ID, 10)
	p.Grants[access.Tenant], p.Serves[access.Tenant] = &grant, true
	if _, err := r.Rates.Spend(ctx, &p, quota.RequestsPerMinute, 1, r.RequestsPerMinute); err != nil {
		return ctx, nil, err
	}
	return access.WithPrincipal(ctx, &p), &Directory{Mutation{r}, t}, nil
}

// Used writes down that the directory has asked for something, or changed it.
func (d *Directory) Used(ctx context.Context, changed bool) {
	if err := d.Store.UseScimToken(ctx, d.token.ID, changed); err != nil {
		d.Log.WarnContext(ctx, "the use of a SCIM token was not written down", "token", d.token.ID, "error", err)
	}
}

func (d *Directory) company() *globalid.ID { return &globalid.ID{Int: d.token.CustomerID} }

// DirectoryUser is what a directory says of a person.
type DirectoryUser struct {
	Email, FirstName, LastName string
	ExternalID                 *string
	Active                     bool
}

// User gives a member of the company.
func (d *Directory) User(ctx context.Context, id int64) (*db.ScimUser, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return nil, err
	}
	u, err := d.Store.ScimUser(ctx, d.token.CustomerID, id)
	return u, missing(err, "user", id)
}

// Users gives members of the company by id, behind the first few, and how many there are at all.
func (d *Directory) Users(ctx context.Context, skip, limit int) ([]*db.ScimUser, int, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return nil, 0, err
	}
	n, err := d.Store.ScimUserCount(ctx, d.token.CustomerID)
	if err != nil || limit == 0 {
		return nil, n, err
	}
	rows, err := d.Store.ScimUsers(ctx, d.token.CustomerID, skip, limit)
	return rows, n, err
}

// Find gives the member of an address, or of what the directory calls it; none where there is none.
func (d *Directory) Find(ctx context.Context, email, external string) ([]*db.ScimUser, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return nil, err
	}
	var u *db.ScimUser
	var err error
	if email != "" {
		u, err = d.Store.ScimUserByEmail(ctx, d.token.CustomerID, email)
	} else {
		u, err = d.Store.ScimUserByExternal(ctx, d.token.CustomerID, external)
	}
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return []*db.ScimUser{u}, err
}

// CreateUser adds a person to the company.
func (d *Directory) CreateUser(ctx context.Context, as DirectoryUser) (*db.ScimUser, error) {
	if as.ExternalID != nil {
		if found, err := d.Find(ctx, "", *as.ExternalID); err != nil || len(found) > 0 {
			return nil, takenExternal(err)
		}
	}
	made, err := d.Mutation.CreateUser(ctx, CreateUserInput{CustomerID: d.company(), Email: as.Email, FirstName: &as.FirstName, LastName: &as.LastName})
	if err != nil {
		return nil, err
	}
	return d.settle(ctx, made.User.ID, as)
}

func takenExternal(err error) error {
	if err == nil {
		err = problem.Conflicting("user_exists", "the externalId belongs to another user of this company")
	}
	return err
}

// ReplaceUser makes a person as the directory says. The address is the person's own to change, and so are the names of who has accepted
// another company, too.
func (d *Directory) ReplaceUser(ctx context.Context, id int64, as DirectoryUser) (*db.ScimUser, error) {
	now, err := d.User(ctx, id)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(as.Email, now.Email) {
		return nil, problem.Bad("userName: an address is changed by the person itself").With("mutability")
	}
	if as.FirstName != now.FirstName || as.LastName != now.LastName {
		_, err := d.UpdateUser(ctx, UpdateUserInput{ID: globalid.ID{Int: id}, FirstName: &as.FirstName, LastName: &as.LastName})
		if err != nil && problem.From(err).Code != problem.Forbidden {
			return nil, err
		}
	}
	return d.settle(ctx, id, as)
}

// settle writes what a directory says of a member, and takes the permissions away from one who is not active, or gives those back.
func (d *Directory) settle(ctx context.Context, id int64, as DirectoryUser) (*db.ScimUser, error) {
	c, err := d.may(ctx, rule.CreateUser)
	if err != nil {
		return nil, err
	}
	u, err := d.User(ctx, id)
	if err != nil {
		return nil, err
	}
	next := *u
	next.ExternalID, next.Active = as.ExternalID, as.Active
	if u.Active != as.Active {
		if next.Disabled, err = d.switchPermissions(ctx, u, as.Active); err != nil {
			return nil, err
		}
	}
	err = d.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if err := tx.SetScimUser(ctx, d.token.CustomerID, &next); err != nil {
			if db.Violates(err, db.ScimUsersExternal) {
				err = takenExternal(nil)
			}
			return err
		}
		what := audit.None().Value("externalId", u.ExternalID, next.ExternalID).Value("active", u.Active, next.Active)
		if !what.Empty() {
			if err := ch.audit(d.token.CustomerID, audit.UserProvisioned, &db.User{ID: id}, what); err != nil {
				return err
			}
		}
		if next.Active {
			return nil
		}
		return ch.endSessionsIn(ctx, id, d.token.CustomerID)
	})
	if err != nil {
		return nil, err
	}
	return d.User(ctx, id)
}

// switchPermissions disables the permissions of a member in the company, or enables those again that were disabled so.
func (d *Directory) switchPermissions(ctx context.Context, u *db.ScimUser, on bool) (disabled []int64, err error) {
	permissions, err := d.Store.PermissionsIn(ctx, u.ID, d.token.CustomerID)
	if err != nil {
		return nil, err
	}
	for _, p := range permissions {
		if on != p.Disabled || on && !slices.Contains(u.Disabled, p.ID) {
			continue
		}
		if _, err := d.SetPermissionDisabled(ctx, SetPermissionDisabledInput{ID: p.GlobalID(), Disabled: !on}); err != nil {
			return nil, err
		}
		if !on {
			disabled = append(disabled, p.ID)
		}
	}
	return disabled, nil
}

// DeleteUser takes a person out of the company.
func (d *Directory) DeleteUser(ctx context.Context, id int64) error {
	if _, err := d.User(ctx, id); err != nil {
		return err
	}
	_, err := d.RemoveUser(ctx, RemoveUserInput{CustomerID: d.company(), UserID: globalid.ID{Int: id}})
	return err
}

// Groups are the roles on the company's accounts.
func (d *Directory) Groups(ctx context.Context) ([]*db.ScimGroup, error) {
	if _, err := d.may(ctx, rule.Permissions); err != nil {
		return nil, err
	}
	return d.Store.ScimGroups(ctx, d.token.CustomerID)
}

// Members are those who have the role of a group.
func (d *Directory) Members(ctx context.Context, g *db.ScimGroup) ([]*db.ScimMember, error) {
	if _, err := d.may(ctx, rule.Permissions); err != nil {
		return nil, err
	}
	rows, err := d.Store.ScimMembers(ctx, d.token.CustomerID, g, maxScimMembers+1)
	if err == nil && len(rows) > maxScimMembers {
		err = problem.Bad("the group has more than %d members", maxScimMembers).With("tooMany")
	}
	return rows, err
}

// Join gives a member of the company the role of a group, in place of the one that it has on the account.
func (d *Directory) Join(ctx context.Context, g *db.ScimGroup, userID int64) error {
	if _, err := d.User(ctx, userID); err != nil {
		if problem.From(err).Code == problem.NotFound {
			err = problem.Bad("members: there is no user %d in the company", userID).With("invalidValue")
		}
		return err
	}
	has, err := d.Store.ScimPermission(ctx, g.AccountID, userID)
	role := globalid.ID{Int: g.RoleID}
	switch {
	case errors.Is(err, db.ErrNoRows):
		_, err = d.CreatePermission(ctx, CreatePermissionInput{AccountID: globalid.ID{Int: g.AccountID}, RoleID: role, UserID: &globalid.ID{Int: userID}})
	case err == nil && has.RoleID != g.RoleID:
		_, err = d.UpdatePermission(ctx, UpdatePermissionInput{ID: globalid.ID{Int: has.PermissionID}, RoleID: role})
	}
	return err
}

// Leave takes the role of a group away from a member.
func (d *Directory) Leave(ctx context.Context, m *db.ScimMember) error {
	_, err := d.DeletePermission(ctx, DeletePermissionInput{ID: globalid.ID{Int: m.PermissionID}})
	return err
}
