package resolvers

import (
	"context"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// User gives a user within reach.
func (q Query) User(ctx context.Context, id globalid.ID) (*db.User, error) {
	c, err := q.may(ctx, rule.User)
	if err != nil {
		return nil, err
	}
	return q.user(ctx, c, id, "id")
}

func (r *Resolver) user(ctx context.Context, c *caller, id globalid.ID, field string) (*db.User, error) {
	return userIn(ctx, r.Store, c, id, field)
}

// userIn reads a user within reach. Inside a transaction s is that transaction: a second connection,
// asked for while one is held, can leave none for anybody.
func userIn(ctx context.Context, s *db.Store, c *caller, id globalid.ID, field string) (*db.User, error) {
	n, err := id.Of("User", field)
	if err != nil {
		return nil, err
	}
	row, err := s.User(ctx, c.Scope(), n)
	return row, c.unreached(err, "user", n)
}

// ListUsers gives each user of a company within reach by id, with its permissions within reach.
// after is the cursor of an earlier call; limit 0 gives all.
func (q Query) ListUsers(ctx context.Context, id *globalid.ID, after paging.Cursor, limit int, each func(*db.UserLine) error) error {
	c, err := q.may(ctx, rule.CustomerUsers)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, id, "cid")
	if err != nil {
		return err
	}
	return q.Store.StreamUsers(ctx, c.Scope(), customer.ID, lastID(after), limit, each)
}

// FindUsers gives each user of a company within reach, or of its subtree, that fits a filter.
func (q Query) FindUsers(ctx context.Context, id *globalid.ID, subtree bool, filter *UserFilter, l Listing, each func(*db.User, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.Users)
	if err != nil {
		return err
	}
	scope, also, err := q.part(ctx, c, id, subtree, "customerId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Users, filter: filter, also: also}, l,
		within(scope, q.Store.FindUsers), each)
}

func lastID(after paging.Cursor) int64 {
	if after.IsZero() {
		return 0
	}
	return after.Ints()[0]
}

// CreateUserInput is a new user of a company.
type CreateUserInput struct {
	CustomerID *globalid.ID
	Email      string
	FirstName  *string
	LastName   *string
	Name       *string
}

// CreateUserPayload is what CreateUser made.
type CreateUserPayload struct{ User *db.User }

// CreateUser adds a user to a company and invites it. The user of a known address is added as if it were new, and hears
// of it only while it has no password.
func (m Mutation) CreateUser(ctx context.Context, in CreateUserInput) (*CreateUserPayload, error) {
	c, err := m.may(ctx, rule.CreateUser)
	if err != nil {
		return nil, err
	}
	var v check
	v.email(in.Email)
	who := v.invitee(in.Email, in.FirstName, in.LastName, in.Name)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	user, err := m.addUser(ctx, c, customer, who)
	return &CreateUserPayload{user}, err
}

// addUser makes a user a member of a company, and gives it as the caller knows it.
func (m Mutation) addUser(ctx context.Context, c *caller, customer *db.Customer, who db.Given) (user *db.User, err error) {
	err = m.change(ctx, c, func(_ *db.Store, ch *changes) error {
		if user, err = m.invite(ctx, ch, customer, who); err != nil {
			return err
		}
		return ch.audit(customer.ID, audit.UserCreated, user, told(who))
	})
	if err != nil {
		return nil, err
	}
	return user, nil
}

// invitee checks the names of a new user; a full name is split where they are left out, or empty.
func (v *check) invitee(email string, firstName, lastName, name *string) db.Given {
	v.person("firstName", firstName)
	v.person("lastName", lastName)
	v.person("name", name)
	who := db.Given{Email: email, FirstName: filled(firstName, ""), LastName: filled(lastName, "")}
	if who.FirstName == "" && who.LastName == "" && name != nil {
		first, rest, _ := strings.Cut(strings.TrimSpace(*name), " ")
		who.FirstName, who.LastName = first, strings.TrimSpace(rest)
	}
	return who
}

// told is what the log has of a new user: what the company itself has given. What is known of the address
// elsewhere is not its business.
func told(who db.Given) audit.Changes {
	return audit.None().With("email", who.Email).With("firstName", who.FirstName).With("lastName", who.LastName)
}

// invite makes a user a member of a company, and gives it as the caller knows it. A user who is in the company already is
// refused.
func (r *Resolver) invite(ctx context.Context, ch *changes, customer *db.Customer, who db.Given) (*db.User, error) {
	user, added, err := r.admitUser(ctx, ch, customer, who)
	if err == nil && !added {
		err = problem.Invalid(problem.Fault{Location: "email", Message: "belongs to a user of this company already"}).With("user_exists")
	}
	return user, err
}

// admitUser finds the user of an address, making it if it is unknown, and makes it a member of a company; added tells
// whether it was none. Whoever is added and has no password is invited by the company.
func (r *Resolver) admitUser(ctx context.Context, ch *changes, customer *db.Customer, who db.Given) (user *db.User, added bool, err error) {
	person, err := ch.tx.EnsureUser(ctx, who)
	if err != nil {
		return nil, false, err
	}
	if added, err = ch.tx.AddMember(ctx, customer.ID, person.ID, who, ch.actor()); err != nil {
		return nil, false, err
	}
	if added && !person.HasPassword {
		m := &db.Member{UserID: person.ID, CustomerID: customer.ID, CustomerName: customer.Name, Given: who}
		if err := r.welcome(ctx, ch, person, m); err != nil {
			return nil, false, err
		}
	}
	user, err = ch.tx.User(ctx, ch.caller.Scope(), person.ID)
	return user, added, ch.caller.unreached(err, "user", person.ID)
}

// welcome invites a new member who may still be invited today, as may whoever was made just now.
func (r *Resolver) welcome(ctx context.Context, ch *changes, person *db.Person, m *db.Member) error {
	if !person.Made {
		if may, err := mayInvite(ctx, ch.tx, person.ID); err != nil || !may {
			return err
		}
	}
	_, err := r.sendInvitation(ctx, ch, m)
	return err
}

// ResendInvitationInput names a user to invite again, or an invitation.
type ResendInvitationInput struct{ UserID, ID *globalid.ID }

// ResendInvitationPayload is who was invited again, and the invitation, where it was named.
type ResendInvitationPayload struct {
	User       *db.User
	Invitation *db.Invitation
}

// ResendInvitation sends an invitation again to a user who has no password yet: that of the caller's company, or else of
// the one within reach that the user has belonged to longest. Earlier links of that company's end.
func (m Mutation) ResendInvitation(ctx context.Context, in ResendInvitationInput) (*ResendInvitationPayload, error) {
	c, err := m.may(ctx, rule.ResendInvitation)
	if err != nil {
		return nil, err
	}
	user, customerID, err := m.toInvite(ctx, c, in)
	if err != nil {
		return nil, err
	}
	out := &ResendInvitationPayload{User: user}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		held, err := tx.LockUser(ctx, user.ID)
		if err != nil {
			return c.unreached(err, "user", user.ID)
		}
		if held.HasPassword {
			return problem.Bad("the user has completed the account setup already")
		}
		member, err := tx.MemberToInvite(ctx, c.Scope(), user.ID, customerID)
		if err != nil {
			return c.unreached(err, "user", user.ID)
		}
		// Whoever has been sent too many is sent no more, and the links live on.
		if may, err := mayInvite(ctx, tx, user.ID); err != nil || !may {
			return err
		}
		if _, err := m.sendInvitation(ctx, ch, member); err != nil {
			return err
		}
		if err := tx.RenewInvitation(ctx, user.ID, member.CustomerID, invitationLife); err != nil {
			return err
		}
		return ch.audit(member.CustomerID, audit.UserInvited, user, audit.None().Secret("invitation", true, true))
	})
	if err == nil && in.ID != nil {
		out.Invitation, err = m.Store.Invitation(ctx, c.Scope(), in.ID.Int)
	}
	return out, err
}

// toInvite finds who is to be invited again, and by which company: that of an open invitation, or else the caller's own, if
// the user belongs to it.
func (m Mutation) toInvite(ctx context.Context, c *caller, in ResendInvitationInput) (user *db.User, customerID int64, err error) {
	var v check
	switch {
	case in.UserID == nil && in.ID == nil:
		v.fault("userId", "is required, or the id of an invitation in its place")
	case in.UserID != nil && in.ID != nil:
		v.fault("id", "goes in place of userId, not beside it")
	}
	if err := v.err(); err != nil {
		return nil, 0, err
	}
	if in.UserID != nil {
		user, err = m.user(ctx, c, *in.UserID, "userId")
		return user, c.CustomerID, err
	}
	id, err := in.ID.Of("Invitation", "id")
	if err != nil {
		return nil, 0, err
	}
	i, err := m.Store.Invitation(ctx, c.Scope(), id)
	if err != nil {
		return nil, 0, c.unreached(err, "invitation", id)
	}
	if !i.Open() {
		return nil, 0, problem.Bad("the invitation is no longer open: it is %s", strings.ToLower(i.Status))
	}
	user, err = m.user(ctx, c, globalid.ID{Int: i.UserID}, "id")
	return user, i.CustomerID, err
}

// UserEdges resolves the edges of a user.
type UserEdges struct{ *Resolver }

// LastAccess is the user's last use of a permission within reach.
func (e UserEdges) LastAccess(ctx context.Context, obj *db.User) (*time.Time, error) {
	return obj.LastAccess(ctx, e.Store, reach(ctx))
}

// Permissions is a page of the user's permissions within reach.
func (e UserEdges) Permissions(ctx context.Context, obj *db.User, filter *PermissionFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*PermissionConnection, error) {
	c, err := e.may(ctx, rule.UserPermissions)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Permissions, filter: filter, order: orderBy, args: page(first, after, last, before)},
		func(ctx context.Context, a db.Ask) ([]*db.Permission, error) {
			return obj.Permissions(ctx, e.Store, c.Scope(), a)
		},
		func(ctx context.Context, a db.Ask) (int, error) {
			return obj.PermissionCount(ctx, e.Store, c.Scope(), a)
		})
}

// Customers is a page of the companies within reach that the user belongs to.
func (e UserEdges) Customers(ctx context.Context, obj *db.User, filter *CustomerFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*CustomerConnection, error) {
	c, err := e.may(ctx, rule.UserCustomers)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Customers, filter: filter, order: orderBy, args: page(first, after, last, before)},
		func(ctx context.Context, a db.Ask) ([]*db.Customer, error) {
			return obj.Customers(ctx, e.Store, c.Scope(), a)
		},
		func(ctx context.Context, a db.Ask) (int, error) { return obj.CustomerCount(ctx, e.Store, c.Scope(), a) })
}
