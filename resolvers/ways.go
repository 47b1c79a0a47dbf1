package resolvers

import (
	"slices"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/problem"
)

// way is how a person has proven who it is: at an identity provider, or else by what the platform itself knows of it, of which the log tells
// the passkey.
type way struct{ providerID, passkeyID int64 }

// byPassword is the way of all who have not come from a provider.
var byPassword = way{}

// told adds the way to what is told of a sign-in.
func (w way) told(what audit.Changes) audit.Changes {
	if w.providerID != 0 {
		what = what.With("provider", w.providerID)
	}
	if w.passkeyID != 0 {
		what = what.With("passkey", w.passkeyID)
	}
	return what
}

// The reasons for which a company is closed to who has proven itself.
const (
	ssoRequired  = "sso_required"
	ssoElsewhere = "sso_elsewhere"
)

// closed tells why a company can't be signed in to by a way; nil where it can. A provider vouches for people in the companies that it
// serves alone. Where one is required, owners keep their passwords and passkeys, so that a provider that is away locks nobody out for good.
func (w way) closed(o *db.CustomerOption) *problem.Error {
	switch {
	case w.providerID != 0 && !slices.Contains(o.Providers, w.providerID):
		return problem.Denied("the identity provider does not serve the company %d: sign in to it another way", o.CustomerID).With(ssoElsewhere)
	case w.providerID == 0 && o.Required != 0 && !o.IsOwner:
		return problem.Denied("the company %d asks its people to sign in at its identity provider %q: GET /auth/sso?provider=%d", o.CustomerID, o.RequiredName, o.Required).With(ssoRequired)
	}
	return nil
}
