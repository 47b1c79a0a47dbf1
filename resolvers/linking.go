package resolvers

import (
	"context"
	"errors"
	"slices"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/problem"
	"canopy/internal/sso"
)

// Who a provider's subject is, is found out once, by the address, and only where the provider's company has the address's domain. From
// then on the subject counts, and the address no longer: whoever gets it later is somebody else.

// vouches tells whether a provider speaks for an address: one of a domain that is the provider's, and that its company has a claim to.
func vouches(ctx context.Context, s *db.Store, p *db.ProviderAtWork, email string) (bool, error) {
	domain, ok := sso.DomainOf(email)
	if !ok || !slices.Contains(p.Domains, domain) {
		return false, nil
	}
	return s.HasClaim(ctx, p.CustomerID, domain)
}

// identify gives the user that a provider's subject is, whose row is held, and binds the two the first time.
func (r *Resolver) identify(ctx context.Context, ch *changes, p *db.ProviderAtWork, who *sso.Person) (int64, error) {
	known, err := ch.tx.IdentityBySubject(ctx, p.ID, who.Subject)
	if errors.Is(err, db.ErrNoRows) {
		return r.link(ctx, ch, p, who)
	}
	if err != nil {
		return 0, err
	}
	if err := ch.hold(ctx, known.UserID); err != nil {
		return 0, err
	}
	return known.UserID, ch.tx.UseIdentity(ctx, known.ID)
}

// hold holds the row of somebody who signs in. Who is erased at that moment is somebody new at the next try.
func (ch *changes) hold(ctx context.Context, userID int64) error {
	ch.person = userID
	_, err := ch.tx.LockUser(ctx, userID)
	if errors.Is(err, db.ErrNoRows) {
		return problem.Denied("the person was erased while signing in: begin anew").With(ssoState)
	}
	return err
}

// link binds the user of an address to a provider's subject, making the user where there is none.
func (r *Resolver) link(ctx context.Context, ch *changes, p *db.ProviderAtWork, who *sso.Person) (int64, error) {
	may, err := vouches(ctx, ch.tx, p, who.Email)
	if err == nil && !may {
		err = problem.Denied("the identity provider does not speak for addresses of that domain: the company has to prove that it has the domain").With(ssoDomain)
	}
	if err == nil && p.Suspended {
		err = errSuspended
	}
	if err != nil {
		return 0, err
	}
	as, err := newcomer(who)
	if err != nil {
		return 0, err
	}
	account, err := ch.defaultAccount(ctx, p) // before the person, as whoever gives permissions does
	if err != nil {
		return 0, err
	}
	person, err := ch.tx.EnsureUser(ctx, as)
	if err != nil {
		return 0, err
	}
	if err := ch.hold(ctx, person.ID); err != nil {
		return 0, err
	}
	// Two first sign-ins at once are one.
	if known, err := ch.tx.IdentityBySubject(ctx, p.ID, who.Subject); err == nil && known.UserID == person.ID {
		return person.ID, nil
	}
	// Whoever is known at a provider already is not found by an address a second time.
	if bound, err := ch.tx.HasIdentity(ctx, person.ID); err != nil || bound {
		if err == nil {
			err = problem.Denied("the address belongs to a user who signs in as somebody else: an owner of the company can unlink that").With(ssoMismatch)
		}
		return 0, err
	}
	row, err := ch.tx.InsertIdentity(ctx, db.UserIdentity{UserID: person.ID, ProviderID: p.ID, Subject: who.Subject, Email: who.Email})
	if err != nil {
		return 0, err
	}
	if err := r.admit(ctx, ch, p, person, as, account); err != nil {
		return 0, err
	}
	return person.ID, ch.audit(p.CustomerID, audit.UserIdentityLinked, &db.User{ID: person.ID}, r.from(ctx, audit.Created(row)))
}

// newcomer is a person as a company gets to know it by a provider. Names that would be refused elsewhere are left out.
func newcomer(who *sso.Person) (db.Given, error) {
	var v check
	v.email(who.Email)
	if err := v.err(); err != nil {
		return db.Given{}, problem.Denied("the identity provider gives an address that is none").With(ssoInvalid)
	}
	name := func(s string) *string {
		var v check
		if v.person("name", &s); v.err() != nil {
			s = ""
		}
		return &s
	}
	return v.invitee(who.Email, name(who.GivenName), name(who.FamilyName), name(who.Name)), nil
}

// unlessSuspended leaves it to the sign-in to say that the company is suspended.
func unlessSuspended(err error) error {
	if problem.From(err) != nil && problem.From(err).Reason == errSuspended.Reason {
		return nil
	}
	return err
}

// defaultAccount gives the account on which new people of a provider get their role, and holds it; nil where there is none, or where the role has rights,
// as it may have got since, that sessions from the provider do not have.
func (ch *changes) defaultAccount(ctx context.Context, p *db.ProviderAtWork) (*db.Account, error) {
	if p.DefaultRoleID == nil {
		return nil, nil
	}
	account, err := ch.tx.AccountForRole(ctx, p.CustomerID, *p.DefaultRoleID)
	if err == nil && p.Rights() != access.AllFeatures {
		var role *db.Role
		if role, err = ch.tx.RoleToGive(ctx, *p.DefaultRoleID); err == nil && access.ParseFeatures(role.Features)&^p.Rights() != 0 {
			return nil, nil
		}
	}
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return account, err
}

// admit makes whoever has no access to any company that the provider serves a member of the provider's own, with the role that new people
// get there, if there is one. Without it somebody has to give them one.
func (r *Resolver) admit(ctx context.Context, ch *changes, p *db.ProviderAtWork, person *db.Person, as db.Given, account *db.Account) error {
	_, err := r.entry(ctx, ch.tx, person.ID, nil, way{providerID: p.ID})
	if p := problem.From(err); err == nil || p.Code != problem.Forbidden || p.Reason == errSuspended.Reason {
		return unlessSuspended(err)
	}
	added, err := ch.tx.AddMember(ctx, p.CustomerID, person.ID, as, 0)
	if err != nil {
		return err
	}
	if err := ch.tx.Redeem(ctx, p.CustomerID, person.ID); err != nil { // who never had a password takes the name that the provider gives
		return err
	}
	user, err := ch.tx.User(ctx, p.Lineage.Subtree(), person.ID)
	if err != nil {
		return err
	}
	if added {
		if err := ch.audit(p.CustomerID, audit.UserCreated, user, told(as)); err != nil {
			return err
		}
	}
	if account == nil || !added {
		return nil
	}
	id, err := ch.tx.InsertPermission(ctx, account, user, *p.DefaultRoleID, false, 0)
	if err != nil {
		return err
	}
	given, err := ch.tx.Permission(ctx, p.Lineage.Subtree(), id)
	if err != nil {
		return err
	}
	return ch.audit(p.CustomerID, audit.PermissionCreated, given, audit.Created(given))
}
