package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/audit"
)

// What people do before they have a token is told in one company's log, and only to a company that the person has
// accepted: it says where the person is.

// from adds where a request comes from.
func (r *Resolver) from(ctx context.Context, what audit.Changes) audit.Changes {
	return what.With("address", r.ClientAddress(ctx)).With("userAgent", r.UserAgent(ctx))
}

// auditAtHome tells of a person in the log of the company that its logins lead to; of one that has accepted none it
// tells nobody.
func (ch *changes) auditAtHome(ctx context.Context, userID int64, action audit.Action, what audit.Changes) error {
	options, err := ch.tx.CustomerOptions(ctx, userID)
	if err != nil || len(options) == 0 || !options[0].Accepted {
		return err
	}
	return ch.audit(options[0].CustomerID, action, &db.User{ID: userID}, what)
}

// logFailure tells of a failed login of a person, 0 for nobody. The throttle bounds how many there are. It takes as long where there is no
// such person, and the answer is the same where it can't be written.
func (r *Resolver) logFailure(ctx context.Context, userID int64, what audit.Changes) {
	answered := time.After(evenAnswer)
	defer func() { <-answered }()
	if userID == 0 {
		return
	}
	err := r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		if held, err := tx.HoldPeople(ctx, userID); err != nil || len(held) == 0 { // nothing is told of who was erased meanwhile
			return err
		}
		return ch.auditAtHome(ctx, userID, audit.UserSignInFailed, r.from(ctx, what))
	})
	if err != nil {
		r.Log.WarnContext(ctx, "a failed login was not written down", "user", userID, "error", err)
	}
}
