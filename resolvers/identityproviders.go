package resolvers

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
	"canopy/internal/sso"
)

const (
	// maxProviders is how many identity providers a company may have; maxDomains how many domains each.
	maxProviders = 20
	maxDomains   = 50
)

// mayAdmit: whoever says how people sign in can sign in as any of them, so it takes an owner, and no API key that is bound to less than its
// owner has, by its rights, its end or its networks. How much the owner may bounds what can be had by the provider: admits.
func (c *caller) mayAdmit(ctx context.Context, s *db.Store) error {
	if !c.Owner {
		return problem.Denied("only an owner may change how people sign in to a company")
	}
	if c.KeyID == 0 {
		return nil
	}
	own, err := s.APIKeyOf(ctx, c.KeyID)
	if err == nil && (own.ExpiresAt != nil || own.AllowedAddresses != nil || own.Rights(access.AllFeatures) != access.AllFeatures) {
		err = problem.Denied("an API key that has fewer rights than its owner, ends, or works from some networks only can't change how people sign in").With(beyondOwnRights)
	}
	return err
}

// admits has a provider give no more than who says where people sign in could give them: sessions from it have no right that the caller lacks
// in tenant management. Who gives a secret of the same registration takes nothing away, and vouches for it.
func (c *caller) admits(before, next *db.IdentityProvider, secret bool) {
	rights := c.Grants[access.Tenant].Features
	switch same := sameRegistration(before, next); {
	case same && !secret:
		return
	case same:
		rights |= before.Rights()
	}
	if next.Features = rights.Names(); rights == access.AllFeatures {
		next.Features = nil // which has those that there are not yet, too
	}
}

// GetIdentityProvider gives one identity provider of a company within reach.
func (q Query) GetIdentityProvider(ctx context.Context, id globalid.ID) (*db.IdentityProvider, error) {
	c, err := q.may(ctx, rule.CustomerIdentityProviders)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.IdentityProvider(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "identity provider", id.Int)
}

func (q Query) identityProviderNode(ctx context.Context, id globalid.ID) (*db.IdentityProvider, error) {
	return q.GetIdentityProvider(ctx, id)
}

// ListIdentityProviders gives each identity provider of a company within reach, by id, or, inherited, those that serve it. after is the
// cursor of an earlier call; limit 0 gives all.
func (q Query) ListIdentityProviders(ctx context.Context, id *globalid.ID, inherited bool, after paging.Cursor, limit int, each func(*db.IdentityProvider) error) error {
	c, err := q.may(ctx, rule.CustomerIdentityProviders)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, id, "customerId")
	if err != nil {
		return err
	}
	rows, err := customer.IdentityProviders(ctx, q.Store, inherited)
	for _, p := range rows {
		if p.ID <= lastID(after) {
			continue
		}
		if err := each(p); err != nil {
			return err
		}
		if limit--; limit == 0 {
			break
		}
	}
	return err
}

// IdentityProviders are the company's own and, where none of these is enabled and unless they are not asked for, those that it inherits, by id.
func (e CustomerEdges) IdentityProviders(ctx context.Context, obj *db.Customer, inherited *bool) ([]*db.IdentityProvider, error) {
	if _, err := e.may(ctx, rule.CustomerIdentityProviders); err != nil {
		return nil, err
	}
	return obj.IdentityProviders(ctx, e.Store, or(inherited, true))
}

// CreateIdentityProviderInput is a new identity provider of a company.
type CreateIdentityProviderInput struct {
	CustomerID    *globalid.ID
	Name          string
	Issuer        string
	ClientID      string
	ClientSecret  string
	Domains       []string
	DefaultRoleID *globalid.ID
	Required      *bool
	Enabled       *bool
}

// CreateIdentityProviderPayload is what CreateIdentityProvider made.
type CreateIdentityProviderPayload struct{ IdentityProvider *db.IdentityProvider }

// CreateIdentityProvider sets an identity provider of a company up. Where it is enabled, sessions from the one that the company has inherited until now end.
func (m Mutation) CreateIdentityProvider(ctx context.Context, in CreateIdentityProviderInput) (*CreateIdentityProviderPayload, error) {
	c, err := m.may(ctx, rule.CreateIdentityProvider)
	if err != nil {
		return nil, err
	}
	row := db.IdentityProvider{
		Name: in.Name, Issuer: in.Issuer, ClientID: in.ClientID, Domains: in.Domains, Required: or(in.Required, false), Enabled: or(in.Enabled, true),
	}
	if row.DefaultRoleID, err = roleID(in.DefaultRoleID); err != nil {
		return nil, err
	}
	var v check
	v.provider(&row)
	v.clientSecret(in.ClientSecret)
	m.judge(ctx, &v, "issuer", in.Issuer)
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	if err := c.mayAdmit(ctx, m.Store); err != nil {
		return nil, err
	}
	row.CustomerID = customer.ID
	c.admits(&db.IdentityProvider{}, &row, true)
	out := &CreateIdentityProviderPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// The company's row is held, so that its providers are counted once at a time.
		if _, err := tx.CustomerForUpdate(ctx, c.Scope(), customer.ID); err != nil {
			return c.unreached(err, "company", customer.ID)
		}
		n, err := tx.ProviderCount(ctx, customer.ID)
		if err == nil && n >= maxProviders {
			err = problem.Bad("a company has at most %d identity providers", maxProviders).With("too_many_providers")
		}
		if err == nil {
			err = mayDefault(ctx, tx, c, &row)
		}
		if err != nil {
			return err
		}
		if out.IdentityProvider, err = tx.InsertProvider(ctx, row); err != nil {
			return err
		}
		if err := tx.SetProviderSecret(ctx, out.IdentityProvider.ID, sealProvider(m.Box, out.IdentityProvider.ID, in.ClientSecret)); err != nil {
			return err
		}
		if err := ch.claim(ctx, customer, row.Domains); err != nil {
			return err
		}
		if err := ch.endUnserved(ctx, customer); err != nil {
			return err
		}
		return ch.audit(customer.ID, audit.IdentityProviderCreated, out.IdentityProvider, audit.Created(out.IdentityProvider).Secret("clientSecret", false, true))
	})
	return out, err
}

func sealProvider(box *secret.Box, id int64, plain string) []byte {
	return db.SealedProviderSecrets.Seal(box, id, []byte(plain))
}

// roleID reads the id of a role that need not be given.
func roleID(id *globalid.ID) (*int64, error) {
	if id == nil {
		return nil, nil
	}
	n, err := id.Of("Role", "defaultRoleId")
	return &n, err
}

// provider checks what is said of an identity provider, and brings its domains into the form in which they are kept.
func (v *check) provider(p *db.IdentityProvider) {
	v.name("name", p.Name)
	v.name("clientId", p.ClientID)
	v.line("issuer", p.Issuer, maxURL)
	if u, err := url.Parse(p.Issuer); err == nil && (u.RawQuery != "" || u.ForceQuery || u.Fragment != "") {
		v.fault("issuer", "must have no query and no fragment")
	}
	if len(p.Domains) > maxDomains {
		v.fault("domains", "are more than %d", maxDomains)
		return
	}
	domains := make([]string, 0, len(p.Domains))
	for _, given := range p.Domains {
		domain, ok := sso.Domain(given)
		if !ok {
			v.fault("domains", "must be names of domains, such as example.com")
			return
		}
		domains = append(domains, domain)
	}
	slices.Sort(domains)
	p.Domains = slices.Compact(domains)
}

// clientSecret checks a secret of a registration. No fault quotes it.
func (v *check) clientSecret(s string) {
	if s == "" {
		v.fault("clientSecret", "must not be empty")
	}
	v.line("clientSecret", s, maxText)
}

// mayDefault tells whether the role that new people of a provider get may be given by the caller, and by the provider: one of the system's or the
// company's own, no owner's, and within the rights of both.
func mayDefault(ctx context.Context, tx *db.Store, c *caller, p *db.IdentityProvider) error {
	if p.DefaultRoleID == nil {
		return nil
	}
	role, err := tx.RoleToGive(ctx, *p.DefaultRoleID)
	var v check
	switch {
	case err != nil && !errors.Is(err, db.ErrNoRows):
		return err
	case err != nil, role.CustomerID != nil && *role.CustomerID != p.CustomerID:
		v.fault("defaultRoleId", "is neither a system-wide role nor one of the company")
	case role.IsOwner:
		v.fault("defaultRoleId", "must not be an owner's: an owner gives that to each person")
	}
	if err := v.err(); err != nil {
		return err
	}
	rights := access.ParseFeatures(role.Features)
	if err := c.mayGive(rights); err != nil {
		return err
	}
	if beyond := rights &^ p.Rights(); beyond != 0 {
		v.fault("defaultRoleId", "has the right %s, which sessions from the provider do not have (features): vouch for it by giving clientSecret, too", beyond.Names()[0])
	}
	return v.err()
}

// mayLead tells whether the caller may lead a provider elsewhere, or to further domains, with the role that it gives new people: whoever they are
// from then on is the caller's doing.
func mayLead(ctx context.Context, tx *db.Store, c *caller, p *db.IdentityProvider) error {
	err := mayDefault(ctx, tx, c, p)
	if denied := problem.From(err); err != nil && denied.Reason == beyondOwnRights {
		err = problem.Denied("%s. The default role of the provider has it, and all who are new there get that: set defaultRoleId to another role, or to null, in the same update", denied.Detail).With(beyondOwnRights)
	}
	return err
}

// widens tells whether a provider is another one, or speaks for further domains: new people come by it who could not before.
func widens(before, next *db.IdentityProvider) bool {
	return !sameRegistration(before, next) || slices.ContainsFunc(next.Domains, func(d string) bool { return !slices.Contains(before.Domains, d) })
}

// sameRegistration tells whether a provider is asked where it was before, and as whom.
func sameRegistration(before, next *db.IdentityProvider) bool {
	return before.Issuer == next.Issuer && before.ClientID == next.ClientID
}

// endUnserved ends the sessions of a company and those below it that come from providers which don't serve them any more.
func (ch *changes) endUnserved(ctx context.Context, customer *db.Customer) error {
	ch.companies = append(ch.companies, customer.ID)
	return ch.tx.EndUnserved(ctx, customer.Lineage.Subtree())
}

// UpdateIdentityProviderInput is a change of an identity provider; nil keeps a field.
type UpdateIdentityProviderInput struct {
	ID            globalid.ID
	Name          *string
	Issuer        *string
	ClientID      *string
	ClientSecret  *string
	Domains       []string
	DefaultRoleID Nullable[globalid.ID]
	Required      *bool
	Enabled       *bool
	IfVersion     *int
}

// UpdateIdentityProviderInputFields sets the fields of the input where null says something.
type UpdateIdentityProviderInputFields struct{ *Resolver }

// DefaultRoleID sets or unsets the role.
func (UpdateIdentityProviderInputFields) DefaultRoleID(_ context.Context, in *UpdateIdentityProviderInput, id *globalid.ID) error {
	in.DefaultRoleID = NullableOf(id)
	return nil
}

// UpdateIdentityProviderPayload is what UpdateIdentityProvider changed.
type UpdateIdentityProviderPayload struct{ IdentityProvider *db.IdentityProvider }

// UpdateIdentityProvider changes an identity provider. Sessions end that come from one which does not serve their company any more;
// another issuer is another provider, of which nobody is known.
func (m Mutation) UpdateIdentityProvider(ctx context.Context, in UpdateIdentityProviderInput) (*UpdateIdentityProviderPayload, error) {
	c, err := m.may(ctx, rule.UpdateIdentityProvider)
	if err != nil {
		return nil, err
	}
	out := &UpdateIdentityProviderPayload{}
	var v check
	if in.Issuer != nil {
		m.judge(ctx, &v, "issuer", *in.Issuer)
	}
	err = m.changeProvider(ctx, c, in.ID, audit.IdentityProviderUpdated, func(ch *changes, row *db.IdentityProvider, customer *db.Customer) (what audit.Changes, err error) {
		next := *row
		next.Name, next.Issuer, next.ClientID = or(in.Name, row.Name), or(in.Issuer, row.Issuer), or(in.ClientID, row.ClientID)
		next.Required, next.Enabled = or(in.Required, row.Required), or(in.Enabled, row.Enabled)
		if in.Domains != nil {
			next.Domains = in.Domains
		}
		v.provider(&next)
		var sealed []byte
		if in.ClientSecret != nil {
			v.clientSecret(*in.ClientSecret)
			sealed = sealProvider(m.Box, row.ID, *in.ClientSecret)
		}
		if err := v.err(); err != nil {
			return what, err
		}
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return what, err
		}
		ch.caller.admits(row, &next, sealed != nil)
		if in.DefaultRoleID.given {
			if next.DefaultRoleID, err = roleID(in.DefaultRoleID.to); err == nil {
				err = mayDefault(ctx, ch.tx, ch.caller, &next)
			}
		} else if widens(row, &next) {
			err = mayLead(ctx, ch.tx, ch.caller, &next)
		}
		if err != nil {
			return what, err
		}
		if out.IdentityProvider, err = ch.updateProvider(ctx, customer, row, next, sealed, in.Domains != nil); err != nil {
			return what, err
		}
		what = audit.Between(row, out.IdentityProvider)
		if sealed != nil {
			what = what.Secret("clientSecret", true, true)
		}
		return what, nil
	})
	return out, err
}

// updateProvider writes a provider, and what follows from it.
func (ch *changes) updateProvider(ctx context.Context, customer *db.Customer, row *db.IdentityProvider, next db.IdentityProvider, sealed []byte, claims bool) (*db.IdentityProvider, error) {
	now, err := ch.tx.UpdateProvider(ctx, next, sealed)
	if err == nil && claims {
		err = ch.claim(ctx, customer, now.Domains)
	}
	if err == nil && now.Issuer != row.Issuer {
		err = ch.forgetSubjects(ctx, row.ID)
	}
	if err != nil {
		return nil, err
	}
	return now, ch.endUnserved(ctx, customer)
}

// forgetSubjects ends what a provider has vouched for: the identities of its subjects, and all sessions that come from it.
func (ch *changes) forgetSubjects(ctx context.Context, providerID int64) error {
	if err := ch.tx.DropIdentities(ctx, providerID); err != nil {
		return err
	}
	return ch.tx.EndSessionsFrom(ctx, providerID)
}

// DeleteIdentityProviderInput names an identity provider to remove.
type DeleteIdentityProviderInput struct {
	ID        globalid.ID
	IfVersion *int
}

// DeleteIdentityProviderPayload tells what DeleteIdentityProvider removed.
type DeleteIdentityProviderPayload struct{ DeletedID globalid.ID }

// DeleteIdentityProvider removes an identity provider, with the identities that people have there; sessions that come from it end.
func (m Mutation) DeleteIdentityProvider(ctx context.Context, in DeleteIdentityProviderInput) (*DeleteIdentityProviderPayload, error) {
	c, err := m.may(ctx, rule.DeleteIdentityProvider)
	if err != nil {
		return nil, err
	}
	out := &DeleteIdentityProviderPayload{}
	err = m.changeProvider(ctx, c, in.ID, audit.IdentityProviderDeleted, func(ch *changes, row *db.IdentityProvider, customer *db.Customer) (audit.Changes, error) {
		what := audit.Removed(row).Secret("clientSecret", true, false)
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return what, err
		}
		out.DeletedID = row.GlobalID()
		if err := ch.forgetSubjects(ctx, row.ID); err != nil {
			return what, err
		}
		if err := ch.tx.DeleteProvider(ctx, row.ID); err != nil {
			return what, err
		}
		if err := ch.tx.DropClaims(ctx, row.CustomerID); err != nil {
			return what, err
		}
		return what, ch.endUnserved(ctx, customer)
	})
	return out, err
}

// changeProvider changes one identity provider of a company within reach, for an owner. The company's row is held, as by whoever makes
// another.
func (m Mutation) changeProvider(ctx context.Context, c *caller, id globalid.ID, action audit.Action, do func(*changes, *db.IdentityProvider, *db.Customer) (audit.Changes, error)) error {
	n, err := id.Of("IdentityProvider", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.IdentityProvider(ctx, c.Scope(), n)
		if err != nil {
			return c.unreached(err, "identity provider", n)
		}
		if err := c.mayAdmit(ctx, tx); err != nil {
			return err
		}
		customer, err := tx.CustomerForUpdate(ctx, c.Scope(), row.CustomerID)
		if err != nil {
			return c.unreached(err, "identity provider", n)
		}
		if row, err = tx.IdentityProviderForUpdate(ctx, c.Scope(), n); err != nil {
			return c.unreached(err, "identity provider", n)
		}
		what, err := do(ch, row, customer)
		if err != nil {
			return err
		}
		return ch.audit(row.CustomerID, action, row, what)
	})
}

// IdentityProviderEdges resolves what an identity provider leads to.
type IdentityProviderEdges struct{ *Resolver }

// Customer is whose provider it is.
func (e IdentityProviderEdges) Customer(ctx context.Context, obj *db.IdentityProvider) (*db.CustomerRef, error) {
	return obj.Customer(ctx, e.Store)
}

// Domains are those of the addresses that the provider speaks for.
func (IdentityProviderEdges) Domains(_ context.Context, obj *db.IdentityProvider) ([]string, error) {
	return obj.Domains, nil
}

// Features are the rights that sessions from the provider have at most; nil: all of them.
func (IdentityProviderEdges) Features(_ context.Context, obj *db.IdentityProvider) ([]string, error) {
	return obj.Features, nil
}

// within tells whether the provider's company is within reach, or above it.
func (e IdentityProviderEdges) within(ctx context.Context, obj *db.IdentityProvider) (bool, error) {
	ref, err := obj.Customer(ctx, e.Store)
	if err != nil || ref == nil {
		return false, err
	}
	row, err := ref.Customer(ctx, e.Store, reach(ctx))
	return row != nil, err
}

// DefaultRole is the role that new people get, for who reaches the company.
func (e IdentityProviderEdges) DefaultRole(ctx context.Context, obj *db.IdentityProvider) (*db.Role, error) {
	if within, err := e.within(ctx, obj); err != nil || !within {
		return nil, err
	}
	return obj.DefaultRole(ctx, e.Store)
}

// Claims are the company's claims to the provider's domains, for who reaches the company.
func (e IdentityProviderEdges) Claims(ctx context.Context, obj *db.IdentityProvider) ([]*db.DomainClaim, error) {
	list := []*db.DomainClaim{}
	if within, err := e.within(ctx, obj); err != nil || !within {
		return list, err
	}
	rows, err := obj.Claims(ctx, e.Store)
	for _, d := range rows {
		if slices.Contains(obj.Domains, d.Domain) {
			list = append(list, d)
		}
	}
	return list, err
}

// RedirectURI is where the provider has to send people back to.
func (e IdentityProviderEdges) RedirectURI(context.Context, *db.IdentityProvider) (string, error) {
	return e.PublicURL.JoinPath(sso.CallbackPath).String(), nil
}

// BackchannelLogoutURI is where the provider tells that somebody has signed out.
func (e IdentityProviderEdges) BackchannelLogoutURI(_ context.Context, obj *db.IdentityProvider) (string, error) {
	return e.PublicURL.JoinPath(sso.LogoutPath, strconv.FormatInt(obj.ID, 10)).String(), nil
}
