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
	if me.Customer, err = q.Store.Customer(ctx, c.Scope(), c.CustomerID); err != nil {
		return nil, c.unreached(err, "company", c.CustomerID)
	}
	if me.User, err = q.Store.User(ctx, c.Scope(), c.UserID); err != nil {
		return nil, c.unreached(err, "user", c.UserID)
	}
	me.Email = me.User.Email
	return me, nil
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
