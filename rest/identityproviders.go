package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// IdentityProvider is where people of a company sign in. Its client secret is never shown.
type IdentityProvider struct {
	ID                   int64         `json:"id" doc:"The provider of GET /auth/sso"`
	CustomerID           int64         `json:"customerId" doc:"Whose it is: the company that is asked about, or one above it"`
	Name                 string        `json:"name" doc:"What people know it by"`
	Issuer               string        `json:"issuer" example:"https://login.example.com"`
	ClientID             string        `json:"clientId" doc:"What it knows the platform by"`
	Domains              []string      `json:"domains" doc:"The domains of the addresses that it speaks for, as far as the company's claims to them hold"`
	Claims               []DomainClaim `json:"claims" doc:"The company's claims to them, for who reaches the company"`
	DefaultRoleID        *int64        `json:"defaultRoleId,omitempty" doc:"The role that new people get, for who reaches the company; without it somebody has to give them one"`
	Required             bool          `json:"required" doc:"Whether people have to sign in at a provider; owners may use their passwords nevertheless"`
	Enabled              bool          `json:"enabled" doc:"Whether people can sign in at it"`
	Features             *[]string     `json:"features" nullable:"true" doc:"The rights that sessions from it have at most, of those of their users: what who has said where people sign in could give; null for all of them"`
	RedirectURI          string        `json:"redirectUri" doc:"Where it has to send people back to"`
	BackchannelLogoutURI string        `json:"backchannelLogoutUri" doc:"Where it can tell that somebody has signed out there"`
	CreatedAt            time.Time     `json:"createdAt"`
	UpdatedAt            time.Time     `json:"updatedAt"`
}

// DomainClaim is a company's claim to a domain of e-mail addresses.
type DomainClaim struct {
	Domain       string     `json:"domain" example:"example.com"`
	Status       string     `json:"status" enum:"pending,proven,granted" doc:"Whether it holds: not yet, as the DNS has the record, or as a company above has given it"`
	RecordName   string     `json:"recordName" doc:"Name of the TXT record that proves it"`
	RecordValue  string     `json:"recordValue" doc:"Value of that record"`
	ProvenAt     *time.Time `json:"provenAt,omitempty"`
	CheckedAt    *time.Time `json:"checkedAt,omitempty" doc:"When the DNS was last asked"`
	MissingSince *time.Time `json:"missingSince,omitempty" doc:"Since when the record of a proven claim is missing; after three days it holds no longer"`
}

// IdentityProviderPath names an identity provider in the path.
type IdentityProviderPath struct {
	ID int64 `path:"id" doc:"The identity provider's id"`
}

func (p *IdentityProviderPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type listProvidersInput struct {
	CustomerList
	Inherited bool `query:"inherited" default:"true" doc:"Whether inherited ones are listed, too, where none of the company's own is enabled"`
}

type createProviderInput struct {
	Body struct {
		CustomerID    *int64   `json:"customerId,omitempty" doc:"The company; by default the caller's own"`
		Name          string   `json:"name" doc:"What people know it by"`
		Issuer        string   `json:"issuer" example:"https://login.example.com" doc:"An https address without a query"`
		ClientID      string   `json:"clientId" doc:"What it knows the platform by"`
		ClientSecret  string   `json:"clientSecret" doc:"It is never shown"`
		Domains       []string `json:"domains,omitempty" doc:"The domains of the addresses that it speaks for, at most 50"`
		DefaultRoleID *int64   `json:"defaultRoleId,omitempty" doc:"The role that new people get, of the system's or the company's own and no owner's; by default they wait for somebody to give them one"`
		Required      *bool    `json:"required,omitempty" doc:"Whether people have to sign in at a provider; by default not"`
		Enabled       *bool    `json:"enabled,omitempty" doc:"Whether people can sign in at it; by default they can"`
	} `nameHint:"CreateIdentityProviderRequest"`
}

type updateProviderInput struct {
	IdentityProviderPath
	Body struct {
		Name          *string         `json:"name,omitempty" doc:"What people know it by"`
		Issuer        *string         `json:"issuer,omitempty" doc:"With another one, whoever has signed in there is as new"`
		ClientID      *string         `json:"clientId,omitempty" doc:"What it knows the platform by"`
		ClientSecret  *string         `json:"clientSecret,omitempty" doc:"It is never shown"`
		Domains       *[]string       `json:"domains,omitempty" doc:"The domains of the addresses that it speaks for, at most 50"`
		DefaultRoleID nullable[int64] `json:"defaultRoleId,omitempty" doc:"The role that new people get; null has them wait for somebody to give them one"`
		Required      *bool           `json:"required,omitempty" doc:"Whether people have to sign in at a provider"`
		Enabled       *bool           `json:"enabled,omitempty" doc:"Whether people can sign in at it"`
	} `nameHint:"UpdateIdentityProviderRequest"`
}

type verifyDomainInput struct {
	IdentityProviderPath
	Body struct {
		Domain string `json:"domain" example:"example.com" doc:"One of the provider's"`
	} `nameHint:"VerifyIdentityDomainRequest"`
}

func (a *api) registerIdentityProviders() {
	const path = "/v1/identity-providers"
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listIdentityProviders", rule: rule.CustomerIdentityProviders, path: path, tag: tagIdentity, errors: notFound,
		summary: "List the identity providers of a company", description: "By id. A company that has none of its own that is enabled inherits those of the nearest company above it that has.",
	}, 1, func(ctx context.Context, in *listProvidersInput, q query, each emit[IdentityProvider]) error {
		return a.queries().ListIdentityProviders(ctx, in.customer(), in.Inherited, q.after, q.limit, func(p *db.IdentityProvider) error {
			shape, err := a.provider(ctx, p)
			if err != nil {
				return err
			}
			return each(shape, paging.IDs(p.ID))
		})
	})
	add(a, operation{
		id: "createIdentityProvider", rule: rule.CreateIdentityProvider, method: http.MethodPost, path: path, tag: tagIdentity, status: http.StatusCreated, errors: notFound,
		summary: "Set an identity provider up", description: "For an owner. Domains that it lists are claimed: given by a company above that may give them, they are the company's at once, and otherwise once their DNS says so.",
	}, func(ctx context.Context, in *createProviderInput) (*tagged[IdentityProvider], error) {
		b := in.Body
		out, err := a.mutations().CreateIdentityProvider(ctx, resolvers.CreateIdentityProviderInput{
			CustomerID: optionalID(b.CustomerID), Name: b.Name, Issuer: b.Issuer, ClientID: b.ClientID, ClientSecret: b.ClientSecret, Domains: b.Domains,
			DefaultRoleID: optionalID(b.DefaultRoleID), Required: b.Required, Enabled: b.Enabled,
		})
		if err != nil {
			return nil, err
		}
		return a.taggedProvider(ctx, out.IdentityProvider)
	})
	add(a, operation{
		id: "getIdentityProvider", conditions: byNoneMatch, rule: rule.CustomerIdentityProviders, method: http.MethodGet, path: path + "/{id}", tag: tagIdentity, errors: notFound,
		summary: "Get an identity provider", description: "An identity provider of a company within reach.",
	}, func(ctx context.Context, in *IdentityProviderPath) (*tagged[IdentityProvider], error) {
		p, err := a.queries().GetIdentityProvider(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return a.taggedProvider(ctx, p)
	})
	add(a, operation{
		id: "updateIdentityProvider", conditions: byMatch, rule: rule.UpdateIdentityProvider, method: http.MethodPut, path: path + "/{id}", tag: tagIdentity, status: http.StatusOK, errors: notFound,
		summary: "Change an identity provider", description: "Changes what is given, for an owner. Sessions that come from a provider which no longer serves their company end, and with another issuer all of them.",
	}, a.updateProvider)
	add(a, operation{
		id: "deleteIdentityProvider", conditions: byMatch, rule: rule.DeleteIdentityProvider, method: http.MethodDelete, path: path + "/{id}", tag: tagIdentity, errors: notFound,
		summary: "Remove an identity provider", description: "For an owner. The identities that people have there are forgotten, and sessions that come from it end.",
	}, func(ctx context.Context, in *IdentityProviderPath) (*struct{}, error) {
		_, err := a.mutations().DeleteIdentityProvider(ctx, resolvers.DeleteIdentityProviderInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
	add(a, operation{
		id: "verifyIdentityDomain", rule: rule.VerifyIdentityDomain, method: http.MethodPost, path: path + "/{id}/verify", tag: tagIdentity, errors: notFound,
		summary: "Verify a domain", description: "Asks the DNS of a domain for the record that proves the company's claim, for an owner. The claim tells what was found.",
	}, func(ctx context.Context, in *verifyDomainInput) (*tagged[IdentityProvider], error) {
		out, err := a.mutations().VerifyIdentityDomain(ctx, resolvers.VerifyIdentityDomainInput{ID: in.id(), Domain: in.Body.Domain})
		if err != nil {
			return nil, err
		}
		return a.taggedProvider(ctx, out.IdentityProvider)
	})
}

func (a *api) updateProvider(ctx context.Context, in *updateProviderInput) (*tagged[IdentityProvider], error) {
	b := in.Body
	change := resolvers.UpdateIdentityProviderInput{
		ID: in.id(), Name: b.Name, Issuer: b.Issuer, ClientID: b.ClientID, ClientSecret: b.ClientSecret, Required: b.Required, Enabled: b.Enabled,
		DefaultRoleID: resolvers.MapNullable(b.DefaultRoleID.Nullable, func(id int64) globalid.ID { return globalid.ID{Int: id} }), IfVersion: ifMatch(ctx),
	}
	if b.Domains != nil {
		change.Domains = append([]string{}, *b.Domains...)
	}
	out, err := a.mutations().UpdateIdentityProvider(ctx, change)
	if err != nil {
		return nil, err
	}
	return a.taggedProvider(ctx, out.IdentityProvider)
}

func (a *api) taggedProvider(ctx context.Context, p *db.IdentityProvider) (*tagged[IdentityProvider], error) {
	shape, err := a.provider(ctx, p)
	if err != nil {
		return nil, err
	}
	return tag(ctx, p.Version, shape)
}

func (a *api) provider(ctx context.Context, p *db.IdentityProvider) (IdentityProvider, error) {
	edges := resolvers.IdentityProviderEdges{Resolver: a.r}
	out := IdentityProvider{
		ID: p.ID, CustomerID: p.CustomerID, Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, Domains: p.Domains, Claims: []DomainClaim{},
		Required: p.Required, Enabled: p.Enabled, Features: listOrNull(p.Features), CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
	out.RedirectURI, _ = edges.RedirectURI(ctx, p)
	out.BackchannelLogoutURI, _ = edges.BackchannelLogoutURI(ctx, p)
	role, err := edges.DefaultRole(ctx, p)
	if err != nil {
		return out, err
	}
	if role != nil {
		out.DefaultRoleID = &role.ID
	}
	claims, err := edges.Claims(ctx, p)
	for _, d := range claims {
		out.Claims = append(out.Claims, claimOf(ctx, d))
	}
	return out, err
}

func claimOf(ctx context.Context, d *db.DomainClaim) DomainClaim {
	edges := resolvers.DomainClaimEdges{}
	status, _ := edges.Status(ctx, d)
	name, _ := edges.RecordName(ctx, d)
	value, _ := edges.RecordValue(ctx, d)
	return DomainClaim{
		Domain: d.Domain, Status: strings.ToLower(status), RecordName: name, RecordValue: value,
		ProvenAt: utc(d.ProvenAt), CheckedAt: utc(d.CheckedAt), MissingSince: utc(d.MissingSince),
	}
}
