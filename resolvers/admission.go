package resolvers

import (
	"context"
	"errors"
	"sync"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/rule"
	"canopy/internal/token"
)

// knownFor is how old what is known of a caller may be where something begins: its request may have come long before, behind a body that
// was slow, or behind other fields of its operation.
const knownFor = 2 * time.Second

// overtime is how long after its token has expired a request that came before may still begin something.
const overtime = time.Minute

// admission is what is known of the caller of a request, and since when.
type admission struct {
	claims *token.Claims

	mu     sync.Mutex
	caller *access.Principal
	err    error
	since  time.Time
}

type admissionKey struct{}

// admitted puts the caller of a token into the context, as it was looked up at this moment.
func admitted(ctx context.Context, claims *token.Claims, p *access.Principal) context.Context {
	return context.WithValue(access.WithPrincipal(ctx, p), admissionKey{}, &admission{claims: claims, caller: p, since: time.Now()})
}

// present gives the caller of a request, looked up again where that was a while ago: what the caller has lost meanwhile is gone. It is nil
// where there is none. Beside the error of a token that has expired the caller is given, too.
func (r *Resolver) present(ctx context.Context) (*access.Principal, error) {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok {
		return access.PrincipalOf(ctx), nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.since) >= knownFor {
		a.caller, a.err = r.principal(ctx, a.claims)
		a.since = time.Now()
	}
	if a.err == nil && time.Since(a.claims.ExpiresAt) > overtime {
		return a.caller, Expired()
	}
	return a.caller, a.err
}

// MayStill tells whether a rule still lets the caller of a request do what may take longer than a token lives.
func (r *Resolver) MayStill(ctx context.Context, need *rule.Rule) error {
	p, err := r.present(ctx)
	if err == nil || errors.Is(err, token.ErrExpired) {
		_, err = grantFor(p, need)
	}
	return err
}

// renew looks the caller of a long-lived request up again.
func (r *Resolver) renew(ctx context.Context) (context.Context, error) {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok || !time.Now().Before(a.claims.ExpiresAt) {
		return ctx, Expired()
	}
	p, err := r.principal(ctx, a.claims)
	if err != nil {
		return ctx, err
	}
	return admitted(ctx, a.claims, p), nil
}

// holdPeople holds the caller and other people until the transaction ends, before anything else of it: whatever takes rights from them waits, or has come before. Then
// the caller is as it is looked up once more. So nobody makes a key or a token behind the back of what ends all that there are, such as a change of the password.
func (r *Resolver) holdPeople(ctx context.Context, tx *db.Store, c *caller, need *rule.Rule, others ...int64) (*caller, error) {
	if _, err := tx.HoldPeople(ctx, append(others, c.UserID)...); err != nil {
		return nil, err
	}
	a, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok {
		return c, nil
	}
	first, _ := access.ParseApp(a.claims.Audience[0])
	now, err := callerOf(ctx, tx, a.claims, first)
	if err := r.holds(ctx, a.claims, now, err); err != nil {
		return nil, err
	}
	now.Serves, now.Expires = c.Serves, c.Expires
	g, err := grantFor(&now.Principal, need)
	return &caller{&now.Principal, g}, err
}
