package resolvers

import (
	"context"
	"errors"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/limit"
	"canopy/internal/problem"
	"canopy/internal/secret"
)

// What is tried for a person, and counted by itself.
const (
	tryLogin   = ""
	tryCode    = "code "
	tryReset   = "reset "
	trySignOn  = "sso "
	trySignOut = "sso out "
	tryPasskey = "passkey "
)

// tried is one try for a person, from one network.
type tried struct {
	// own is nil where nobody has the address.
	own     *db.Credentials
	network string
	counts  []count
	// passkey is the second factor, where it was one.
	passkey *usedPasskey
}

// person is who is tried for; 0 where there is nobody.
func (t *tried) person() int64 {
	if t.own == nil {
		return 0
	}
	return t.own.UserID
}

// way is how the person of a right try has proven who it is.
func (t *tried) way() way {
	if t.passkey == nil {
		return byPassword
	}
	return way{passkeyID: t.passkey.row.ID}
}

// count is one of those that a failure is counted by.
type count struct {
	throttle *limit.Throttle
	key      string
}

// tryNetwork counts tries by network alone, where it is not known whose they are.
func (r *Resolver) tryNetwork(ctx context.Context, kind string) (*tried, error) {
	a := &tried{network: limit.AddressGroup(r.ClientAddress(ctx))}
	a.counts = []count{{r.Addresses, kind + "address:" + a.network}}
	if wait := r.Addresses.Wait(ctx, a.counts[0].key); wait > 0 {
		return nil, &problem.Error{Code: problem.RateLimited, Detail: "too many failed sign-ins: wait before the next", RetryAfter: wait}
	}
	return a, nil
}

// try begins a try for the person of an address, unless earlier failures forbid it. A network that the person
// has logged in from has failures of its own alone. All others share those of the account, and those of the
// network for whichever account, so that neither many networks nor many accounts are many tries: they can keep
// each other waiting, and never who has logged in before.
func (r *Resolver) try(ctx context.Context, kind, email string) (*tried, error) {
	a := &tried{network: limit.AddressGroup(r.ClientAddress(ctx))}
	switch own, err := r.Store.CredentialsFrom(ctx, email, a.network); {
	case err == nil:
		a.own, email = own, own.Email
	case !errors.Is(err, db.ErrNoRows):
		return nil, err
	}
	account := kind + "account:" + strings.ToLower(email)
	a.counts = []count{{r.Throttle, account + "|" + a.network}}
	if a.own == nil || a.own.SeenAt == nil {
		crowd := r.Crowds
		if kind == tryReset { // each one of which is a mail
			crowd = r.Throttle
		}
		a.counts = append(a.counts, count{crowd, account}, count{r.Addresses, kind + "address:" + a.network})
	}
	var wait time.Duration
	for _, c := range a.counts {
		wait = max(wait, c.throttle.Wait(ctx, c.key))
	}
	if wait > 0 {
		return nil, &problem.Error{Code: problem.RateLimited, Detail: "too many failed attempts: wait before the next", RetryAfter: wait}
	}
	return a, nil
}

// asker is who the try's hash is made for. Whoever comes from where the person has logged in before is not kept waiting by
// a crowd of strangers; of those, one branch's people are one.
func (t *tried) asker() secret.Asker {
	if t.own != nil && t.own.SeenAt != nil {
		return secret.Known(t.own.BranchID)
	}
	return secret.Stranger(t.network)
}

// failed slows the next try down.
func (t *tried) failed(ctx context.Context) {
	for _, c := range t.counts {
		c.throttle.Fail(ctx, c.key)
	}
}

// succeeded forgives the person's own failures from the network; what others have failed in is not forgiven.
func (t *tried) succeeded(ctx context.Context) { t.counts[0].throttle.Succeed(ctx, t.counts[0].key) }
