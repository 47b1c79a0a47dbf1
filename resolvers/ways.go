package resolvers

import (
	"context"
	"slices"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/rule"
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

// vouched refuses what a person does to itself in companies that the provider of its session does not serve: so a company's own provider
// can harm nobody elsewhere. All others have proven themselves to the platform.
func (c *caller) vouched(ctx context.Context, s *db.Store, customers ...int64) error {
	if c.ProviderID == 0 {
		return nil
	}
	all, err := s.ProviderServes(ctx, c.ProviderID, customers...)
	if err == nil && !all {
		err = problem.Denied("your session comes from an identity provider that does not serve all companies that this concerns: sign in another way").With(ssoElsewhere)
	}
	return err
}

// vouchedWhole refuses what concerns all companies that a person belongs to where the provider of its session does not serve them all.
func (c *caller) vouchedWhole(ctx context.Context, s *db.Store) error {
	if c.ProviderID == 0 {
		return nil
	}
	companies, err := s.CompaniesOf(ctx, c.UserID)
	if err != nil {
		return err
	}
	return c.vouched(ctx, s, companies...)
}

// ssoBounded is the reason of a refusal to go from a session that is bounded to one that is not.
const ssoBounded = "sso_bounded"

// ownWay allows what makes, changes or takes away a way in which the caller signs in.
func (r *Resolver) ownWay(ctx context.Context, need *rule.Rule) (*caller, error) {
	c, err := r.person(ctx, need)
	if err != nil {
		return nil, err
	}
	return c, c.whole(ctx, r.Store)
}

// whole refuses what a session does to the ways in which its person signs in, where its provider withholds rights from it that the person has in
// whichever company: by a password, a passkey or another address come all of them, to whoever writes the provider's answers.
func (c *caller) whole(ctx context.Context, s *db.Store) error {
	if c.Withheld == 0 {
		return nil
	}
	rights, err := s.RightsOf(ctx, c.UserID, c.Lineage[0])
	if err != nil {
		return err
	}
	if beyond := rights & c.Withheld; beyond != 0 {
		return problem.Denied("your session comes from an identity provider that was set up by somebody without the right %s, which you have: "+
			"it can't change how you sign in. Sign in by a password or a passkey of your own (POST /auth/reset sends a link that sets a password), "+
			"or ask an owner who has it, of the company or of one above, to vouch for the provider", beyond.Names()[0]).With(ssoBounded)
	}
	return nil
}

// owns tells whether a session is the caller's own. One who has come from a provider knows of what comes from it alone.
func (c *caller) owns(s *db.Session) bool {
	return c.Login() && s.UserID == c.UserID && (c.ProviderID == 0 || s.ProviderID == c.ProviderID)
}
