package resolvers

import (
	"context"
	"errors"
	"slices"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
	"canopy/internal/sso"
)

// The states of a claim to a domain.
const (
	claimPending = "PENDING"
	claimProven  = "PROVEN"
	claimGranted = "GRANTED"
)

// DomainClaimEdges resolves what follows from a claim.
type DomainClaimEdges struct{ *Resolver }

// Status tells whether a claim holds.
func (DomainClaimEdges) Status(_ context.Context, obj *db.DomainClaim) (string, error) {
	return statusOf(obj), nil
}

// RecordName is the name of the record that proves a claim.
func (DomainClaimEdges) RecordName(_ context.Context, obj *db.DomainClaim) (string, error) {
	name, _ := sso.Record(obj.Domain, obj.Token)
	return name, nil
}

// RecordValue is what that record has to say.
func (DomainClaimEdges) RecordValue(_ context.Context, obj *db.DomainClaim) (string, error) {
	_, value := sso.Record(obj.Domain, obj.Token)
	return value, nil
}

func statusOf(d *db.DomainClaim) string {
	switch {
	case d.ProvenAt != nil:
		return claimProven
	case d.Holds:
		return claimGranted
	}
	return claimPending
}

// claim has a company claim domains, and drops its claims to those that no provider of it has any more. What the caller may give away is
// the company's at once.
func (ch *changes) claim(ctx context.Context, customer *db.Customer, domains []string) error {
	tokens, grants := make([]string, len(domains)), make([]int64, len(domains))
	for i, domain := range domains {
		tokens[i] = secret.NewLinkToken()
		gives, err := ch.gives(ctx, customer, domain)
		if err != nil {
			return err
		}
		if gives {
			grants[i] = ch.caller.CustomerID
		}
	}
	if err := ch.tx.MakeClaims(ctx, customer.ID, domains, tokens, grants); err != nil {
		return err
	}
	return ch.tx.DropClaims(ctx, customer.ID)
}

// gives tells whether the caller may give a domain to a company: from the root company every one, from another above it what that has
// proven itself.
func (ch *changes) gives(ctx context.Context, customer *db.Customer, domain string) (bool, error) {
	if ch.caller.IsRoot() {
		return true, nil
	}
	if ch.caller.CustomerID == customer.ID {
		return false, nil
	}
	return ch.tx.HasProven(ctx, ch.caller.CustomerID, domain)
}

// VerifyIdentityDomainInput names a domain of an identity provider.
type VerifyIdentityDomainInput struct {
	ID     globalid.ID
	Domain string
}

// VerifyIdentityDomainPayload is the provider, with what was found.
type VerifyIdentityDomainPayload struct{ IdentityProvider *db.IdentityProvider }

// VerifyIdentityDomain asks the DNS of a domain whether the company may have it.
func (m Mutation) VerifyIdentityDomain(ctx context.Context, in VerifyIdentityDomainInput) (*VerifyIdentityDomainPayload, error) {
	c, err := m.may(ctx, rule.VerifyIdentityDomain)
	if err != nil {
		return nil, err
	}
	n, err := in.ID.Of("IdentityProvider", "id")
	if err != nil {
		return nil, err
	}
	row, err := m.Store.IdentityProvider(ctx, c.Scope(), n)
	if err != nil {
		return nil, c.unreached(err, "identity provider", n)
	}
	if err := c.mayAdmit(ctx, m.Store); err != nil {
		return nil, err
	}
	domain, ok := sso.Domain(in.Domain)
	if !ok || !slices.Contains(row.Domains, domain) {
		return nil, problem.Invalid(problem.Fault{Location: "domain", Message: "is not a domain of the provider"})
	}
	tokens, err := m.DNS.Proofs(ctx, domain)
	if err != nil {
		return nil, problem.Away("the DNS of "+domain, err)
	}
	err = m.change(ctx, c, func(_ *db.Store, ch *changes) error { return ch.prove(ctx, row, domain, tokens) })
	return &VerifyIdentityDomainPayload{row}, err
}

// prove writes down what a domain's DNS says of a company's claim. Whoever had proven the domain before and can't any more loses it; two at
// a time can't have it.
func (ch *changes) prove(ctx context.Context, p *db.IdentityProvider, domain string, tokens []string) error {
	claim, err := ch.tx.DomainClaim(ctx, p.CustomerID, domain)
	if err != nil {
		return missing(err, "claim to", domain)
	}
	before := statusOf(claim)
	if proven := slices.Contains(tokens, claim.Token); proven {
		if err := ch.outdo(ctx, p, domain, tokens); err != nil {
			return err
		}
		err = ch.tx.ProveClaim(ctx, claim.ID)
		if db.Violates(err, db.DomainsProven) { // at the same moment
			err = errTaken
		}
	} else {
		err = ch.tx.LookedAtClaim(ctx, claim.ID, true)
	}
	if err != nil {
		return err
	}
	if claim, err = ch.tx.DomainClaim(ctx, p.CustomerID, domain); err != nil {
		return err
	}
	return ch.audit(p.CustomerID, audit.IdentityProviderDomainChecked, p, audit.None().With("domain", domain).Value("status", before, statusOf(claim)).With("found", slices.Contains(tokens, claim.Token)))
}

var errTaken = problem.Invalid(problem.Fault{Location: "domain", Message: "is another company's, whose record the DNS still has: that has to go first"}).With("domain_taken")

// outdo ends the claim of another company that has proven the domain, and can't any more.
func (ch *changes) outdo(ctx context.Context, p *db.IdentityProvider, domain string, tokens []string) error {
	rival, err := ch.tx.RivalClaim(ctx, p.CustomerID, domain)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if slices.Contains(tokens, rival.Token) {
		return errTaken
	}
	if err := ch.tx.LoseClaim(ctx, rival.ID); err != nil {
		return err
	}
	return ch.audit(rival.CustomerID, audit.CustomerDomainLost, &db.Customer{ID: rival.CustomerID}, audit.None().With("domain", domain))
}
