package resolvers

import (
	"context"
	"errors"
	"strconv"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/secret"
	"canopy/internal/sso"
)

// SignOut is EndSession, and tells where the person signs out at the identity provider that the session comes from; "" where that is
// nowhere. Whoever has the token may call it.
func (r *Resolver) SignOut(ctx context.Context, refresh string) (string, error) {
	_, s, _, err := r.sessionOf(ctx, refresh)
	if errors.Is(err, errSession) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	to := ""
	if s.Alive && s.ProviderID != 0 {
		if to, err = r.signOutAt(ctx, &s.Session); err != nil {
			r.Log.WarnContext(ctx, "it is not known where to sign out", "provider", s.ProviderID, "error", err)
		}
	}
	return to, r.EndSession(ctx, refresh)
}

// signOutAt gives the page of the provider that a session comes from where its person signs out there.
func (r *Resolver) signOutAt(ctx context.Context, s *db.Session) (string, error) {
	x, err := r.Store.ProviderSession(ctx, s.ID)
	if err != nil {
		return "", err
	}
	p, err := r.Store.ProviderAtWork(ctx, x.ProviderID)
	if err != nil {
		return "", err
	}
	at, err := r.registration(p)
	if err != nil {
		return "", err
	}
	token, err := db.SealedIDTokens.Open(r.Box, s.ID, x.IDToken)
	if err != nil {
		return "", err
	}
	return r.Providers.SignOut(ctx, at, string(token), r.PublicURL.JoinPath("console", "sign-in").String())
}

// SignedOutElsewhere ends the sessions of somebody who has signed out at an identity provider, by the token that the provider sends.
// Anyone may call it; the token's signature says who it comes from.
func (r *Resolver) SignedOutElsewhere(ctx context.Context, providerID int64, token string) error {
	try, err := r.tryNetwork(ctx, trySignOut)
	if err != nil {
		return err
	}
	p, err := r.Store.ProviderAtWork(ctx, providerID)
	if errors.Is(err, db.ErrNoRows) {
		try.failed(ctx)
		return problem.Missing("there is no such identity provider").With(ssoUnknown)
	}
	if err != nil {
		return err
	}
	// The providers of many companies may send from one network: tokens of one that are not good keep no other's from being heard.
	if try, err = r.tryNetwork(ctx, trySignOut+strconv.FormatInt(p.ID, 10)+" "); err != nil {
		return err
	}
	at, err := r.registration(p)
	if err != nil {
		return err
	}
	out, err := r.Providers.SignedOut(ctx, at, token)
	if err != nil {
		try.failed(ctx)
		return signOnFailure(err)
	}
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		// A token that comes twice, as after an answer that was lost, ends nothing that was begun since.
		fresh, err := tx.UseState(ctx, secret.HashSecret("logout "+p.Issuer+" "+out.ID), time.Now().Add(2*sso.TokenAge))
		if err != nil || !fresh {
			return err
		}
		return ch.endProvided(ctx, &p.IdentityProvider, out.Subject, out.SID, r.from(ctx, audit.None().With("reason", "signed out at the identity provider")))
	})
}
