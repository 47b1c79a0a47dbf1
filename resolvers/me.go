package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/rule"
)

// Me is who a token stands for.
type Me struct {
	CustomerID     int64
	UserIdentityID int64
	Email          string
	Customer       *db.Customer
	User           *db.User
	Grants         []*Grant
}

// Grant is what a token may do in one application.
type Grant struct {
	Application string
	AccountID   int64
	RoleName    string
	IsOwner     bool
	Features    []string
}

// Me gives the caller.
func (q Query) Me(ctx context.Context) (*Me, error) {
	c, err := q.may(ctx, rule.Me)
	if err != nil {
		return nil, err
	}
	me := &Me{CustomerID: c.CustomerID, UserIdentityID: c.UserID}
	for _, app := range access.Apps() {
		if g := c.Grants[app]; g != nil && c.Serves[app] {
			me.Grants = append(me.Grants, &Grant{
				Application: app.String(),
				AccountID:   g.AccountID,
				RoleName:    g.RoleName,
				IsOwner:     g.Owner,
				Features:    g.Features.Names(),
			})
		}
	}
	me.Customer, me.User, err = q.self(ctx, c)
	if err == nil {
		me.Email = me.User.Email
	}
	return me, err
}

// selfAsked tells callers apart whose company and user are the same to them; self is what is read of them.
type (
	selfAsked struct {
		scope              access.Scope
		customerID, userID int64
	}
	self struct {
		customer *db.Customer
		user     *db.User
	}
)

// self reads the caller's company and user, together with whoever asks for the same meanwhile: somebody may have hundreds of subscriptions open that all look at once.
// The rows are each asker's own, as is what is read of their edges.
func (q Query) self(ctx context.Context, c *caller) (*db.Customer, *db.User, error) {
	ask := func(ctx context.Context) (s self, err error) {
		if s.customer, err = q.Store.Customer(ctx, c.Scope(), c.CustomerID); err != nil {
			return s, c.unreached(err, "company", c.CustomerID)
		}
		s.user, err = q.Store.User(ctx, c.Scope(), c.UserID)
		return s, c.unreached(err, "user", c.UserID)
	}
	var read self
	var err error
	if q.Together == nil {
		read, err = ask(ctx)
	} else {
		read, err = q.Together.selves.Ask(db.Alone(ctx), selfAsked{c.Scope(), c.CustomerID, c.UserID}, ask)
	}
	if err != nil {
		return nil, nil, err
	}
	customer, user := *read.customer, *read.user
	db.Together([]*db.Customer{&customer})
	db.Together([]*db.User{&user})
	return &customer, &user, nil
}

// MeUpdated tells of the caller as it is now, and each time that it has become another. It ends with the token.
func (s Subscription) MeUpdated(ctx context.Context) (<-chan *Me, error) {
	if _, err := s.may(ctx, rule.MeUpdated); err != nil {
		return nil, err
	}
	return follow(ctx, s.Resolver, feed[Me]{
		load: func(ctx context.Context, _ []byte) ([]*Me, error) {
			me, err := Query(s).Me(ctx)
			return []*Me{me}, err
		},
		over: func(*Me) bool { return false },
	})
}

// Identity gives the caller of the tenant application, as REST asks for it.
func (q Query) Identity(ctx context.Context) (*Me, error) {
	if _, err := q.may(ctx, rule.Identity); err != nil {
		return nil, err
	}
	return q.Me(ctx)
}
