package resolvers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
)

// maxExternalID is how long the name may be by which a directory knows somebody.
const maxExternalID = 255

// DirectoryUser is what a directory says of a person.
type DirectoryUser struct {
	Email, FirstName, LastName string
	ExternalID                 *string
	// Active: nil leaves it as it is.
	Active *bool
}

func (v *check) directoryUser(as DirectoryUser) db.Given {
	v.address("userName", as.Email)
	v.person("name.givenName", &as.FirstName)
	v.person("name.familyName", &as.LastName)
	v.line("externalId", or(as.ExternalID, ""), maxExternalID)
	return db.Given{Email: as.Email, FirstName: as.FirstName, LastName: as.LastName}
}

// User gives a member of the company.
func (d *Directory) User(ctx context.Context, id int64) (*db.ScimUser, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return nil, err
	}
	u, err := d.Store.ScimUser(ctx, d.token.CustomerID, id)
	return u, missing(err, "user", id)
}

// UserCount is how many members the company has.
func (d *Directory) UserCount(ctx context.Context) (int, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return 0, err
	}
	return d.Store.ScimUserCount(ctx, d.token.CustomerID)
}

// Users gives members of the company by id: of those behind after the ones behind the first few. Whoever goes on behind some, to look through
// all of them, has asked for as many requests more.
func (d *Directory) Users(ctx context.Context, after int64, skip, limit int) ([]*db.ScimUser, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return nil, err
	}
	if after > 0 {
		if _, err := d.Rates.Spend(ctx, access.PrincipalOf(ctx), quota.RequestsPerMinute, 1, d.RequestsPerMinute); err != nil {
			return nil, err
		}
	}
	return d.Store.ScimUsers(ctx, d.token.CustomerID, after, skip, limit)
}

// Find gives the members of an address, as the company sees it, or the one of what the directory calls it; none where there is none.
func (d *Directory) Find(ctx context.Context, email, external string) ([]*db.ScimUser, error) {
	if _, err := d.may(ctx, rule.Users); err != nil {
		return nil, err
	}
	switch {
	case strings.ContainsRune(email+external, 0): // which no text of the database has
		return nil, nil
	case email != "":
		return d.Store.ScimUsersByEmail(ctx, d.token.CustomerID, email)
	}
	u, err := d.Store.ScimUserByExternal(ctx, d.token.CustomerID, external)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return []*db.ScimUser{u}, err
}

// CreateUser adds a person to the company, as Mutation.CreateUser does.
func (d *Directory) CreateUser(ctx context.Context, as DirectoryUser) (*db.ScimUser, error) {
	c, err := d.may(ctx, rule.CreateUser)
	if err != nil {
		return nil, err
	}
	var v check
	who := v.directoryUser(as)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := d.customer(ctx, c, d.company(), "customerId")
	if err != nil {
		return nil, err
	}
	var made *db.ScimUser
	err = d.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// The address that the company sees of a member is that member's here, whoever has it by now.
		taken, err := tx.ScimUsersByEmail(ctx, customer.ID, who.Email)
		if err == nil && len(taken) > 0 {
			err = problem.Conflicting("user_exists", "userName: belongs to a user of this company already")
		}
		if err != nil {
			return err
		}
		user, err := d.invite(ctx, ch, customer, who)
		if err != nil {
			return err
		}
		if err := ch.audit(customer.ID, audit.UserCreated, user, told(who)); err != nil {
			return err
		}
		made, err = d.settle(ctx, ch, user.ID, as)
		return err
	})
	return made, err
}

// EditUser makes a person as edit says, which is given the person as it stands: what others change at the same time comes before it or
// behind it, and none of both is lost. The address is the person's own to change.
func (d *Directory) EditUser(ctx context.Context, id int64, edit func(now *db.ScimUser) (DirectoryUser, error)) (*db.ScimUser, error) {
	c, err := d.may(ctx, rule.CreateUser)
	if err != nil {
		return nil, err
	}
	var made *db.ScimUser
	err = d.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// The accounts before the person, as whoever changes permissions does.
		if err := tx.HoldAccountsOf(ctx, id, d.token.CustomerID); err != nil {
			return err
		}
		held, err := tx.LockUser(ctx, id)
		if err != nil {
			return missing(err, "user", id)
		}
		now, err := tx.ScimUser(ctx, d.token.CustomerID, id)
		if err != nil {
			return missing(err, "user", id)
		}
		as, err := edit(now)
		if err != nil {
			return err
		}
		if as, err = d.mayBecome(ctx, now, as); err != nil {
			return err
		}
		if err := d.rename(ctx, ch, held, now, as); err != nil {
			return err
		}
		made, err = d.settle(ctx, ch, id, as)
		return err
	})
	return made, err
}

// mayBecome checks what a directory says of a member, and gives it as it is written down.
func (d *Directory) mayBecome(ctx context.Context, now *db.ScimUser, as DirectoryUser) (DirectoryUser, error) {
	if or(as.Active, now.Active) != now.Active {
		if _, err := d.may(ctx, rule.SetPermissionDisabled); err != nil {
			return as, err
		}
	}
	var v check
	said := v.directoryUser(as)
	as.FirstName, as.LastName = said.FirstName, said.LastName
	if err := v.err(); err != nil {
		return as, err
	}
	if !strings.EqualFold(as.Email, now.Email) {
		return as, problem.Bad("userName: an address is changed by the person itself").With("mutability")
	}
	return as, nil
}

// rename writes what the company calls a member, whose row is held. Whoever has accepted another company keeps the name, and so does
// who has a password and has not accepted this one.
func (d *Directory) rename(ctx context.Context, ch *changes, held *db.Person, now *db.ScimUser, as DirectoryUser) error {
	if as.FirstName == now.FirstName && as.LastName == now.LastName {
		return nil
	}
	elsewhere, err := ch.tx.HasAcceptedElsewhere(ctx, held.ID, d.token.CustomerID)
	if err != nil || elsewhere && now.Accepted {
		return err
	}
	if err := ch.tx.RenameMemberOf(ctx, d.token.CustomerID, held.ID, as.FirstName, as.LastName); err != nil {
		return err
	}
	if !elsewhere && (now.Accepted || !held.HasPassword) {
		if _, err := ch.tx.RenameUser(ctx, held.ID, as.FirstName, as.LastName); err != nil {
			return err
		}
	}
	return ch.audit(d.token.CustomerID, audit.UserUpdated, &db.User{ID: held.ID},
		audit.None().Value("firstName", now.FirstName, as.FirstName).Value("lastName", now.LastName, as.LastName))
}

// settle writes what a directory says of a member beside the names, and takes the permissions away from one who is not active any more,
// or gives those back.
func (d *Directory) settle(ctx context.Context, ch *changes, id int64, as DirectoryUser) (*db.ScimUser, error) {
	now, err := ch.tx.ScimUser(ctx, d.token.CustomerID, id)
	if err != nil {
		return nil, missing(err, "user", id)
	}
	next := *now
	next.ExternalID, next.Active = as.ExternalID, or(as.Active, now.Active)
	off := as.Active != nil && !next.Active // also where it was so: somebody else may have given permissions since
	if off || now.Active != next.Active {
		if next.Disabled, err = d.switchPermissions(ctx, ch, now, next.Active); err != nil {
			return nil, err
		}
	}
	if off {
		if err := ch.endSessionsIn(ctx, id, d.token.CustomerID); err != nil {
			return nil, err
		}
	}
	what := audit.None().Value("externalId", now.ExternalID, next.ExternalID).Value("active", now.Active, next.Active)
	if what.Empty() && len(next.Disabled) == len(now.Disabled) {
		return now, nil
	}
	if err := ch.tx.SetScimUser(ctx, d.token.CustomerID, &next); err != nil {
		if db.Violates(err, db.ScimUsersExternal) {
			err = problem.Conflicting("user_exists", "externalId: belongs to another user of this company")
		}
		return nil, err
	}
	if !what.Empty() {
		if err := ch.audit(d.token.CustomerID, audit.UserProvisioned, &db.User{ID: id}, what); err != nil {
			return nil, err
		}
	}
	return ch.tx.ScimUser(ctx, d.token.CustomerID, id)
}

// switchPermissions disables the permissions of a member in the company, whose accounts are held, and gives all that are disabled so; or it
// enables those again.
func (d *Directory) switchPermissions(ctx context.Context, ch *changes, u *db.ScimUser, on bool) (disabled []int64, err error) {
	permissions, err := ch.tx.PermissionsIn(ctx, u.ID, d.token.CustomerID)
	if err != nil {
		return nil, err
	}
	ch.callers = append(ch.callers, u.ID)
	if !on {
		disabled = slices.Clone(u.Disabled)
	}
	for _, p := range permissions {
		if on != p.Disabled || on && !slices.Contains(u.Disabled, p.ID) {
			continue
		}
		if _, err := d.may(ctx, rule.SetPermissionDisabled); err != nil {
			return nil, err
		}
		if err := ch.caller.mayDealWithOwners(p.RoleOwner); err != nil {
			return nil, err
		}
		if err := flip(ctx, ch.tx, ch.caller, p); err != nil {
			return nil, err
		}
		next := *p
		next.Disabled = !on
		if err := ch.audit(p.CustomerID, audit.PermissionToggled, p, audit.Between(p, &next)); err != nil {
			return nil, err
		}
		if !on && !slices.Contains(disabled, p.ID) {
			disabled = append(disabled, p.ID)
		}
	}
	return disabled, nil
}

// DeleteUser takes a person out of the company.
func (d *Directory) DeleteUser(ctx context.Context, id int64) error {
	if _, err := d.may(ctx, rule.RemoveUser); err != nil {
		return err
	}
	if _, err := d.Store.ScimUser(ctx, d.token.CustomerID, id); err != nil {
		return missing(err, "user", id)
	}
	_, err := d.RemoveUser(ctx, RemoveUserInput{CustomerID: d.company(), UserID: globalid.ID{Int: id}})
	return err
}
