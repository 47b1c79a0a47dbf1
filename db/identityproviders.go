package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// IdentityProvider is where people of a company, and of those below it that have none of their own, sign in by OpenID Connect.
type IdentityProvider struct {
	ID            int64          `db:"id"`
	CustomerID    int64          `db:"customer_id" audit:"customer"`
	Name          string         `db:"name" audit:"name"`
	Issuer        string         `db:"issuer" audit:"issuer"`
	ClientID      string         `db:"client_id" audit:"clientId"`
	Domains       pq.StringArray `db:"domains" audit:"domains"`
	DefaultRoleID *int64         `db:"default_role_id" audit:"defaultRole"`
	Required      bool           `db:"required" audit:"required"`
	Enabled       bool           `db:"enabled" audit:"enabled"`
	// Features are the rights that sessions from it have at most; nil: all of them.
	Features  pq.StringArray `db:"features" audit:"features"`
	CreatedAt time.Time      `db:"created_at"`
	UpdatedAt time.Time      `db:"updated_at"`
	Version   int            `db:"row_version"`

	siblings
}

// GlobalID is the node id of the provider.
func (p *IdentityProvider) GlobalID() globalid.ID {
	return globalid.ID{Type: "IdentityProvider", Int: p.ID}
}

// Rights are those that sessions from the provider have at most.
func (p *IdentityProvider) Rights() access.Features { return boundBy(p.Features, access.AllFeatures) }

// ProviderAtWork is a provider as sign-ins use it, with its sealed secret.
type ProviderAtWork struct {
	IdentityProvider
	ClientSecret []byte         `db:"client_secret"`
	Lineage      access.Lineage `db:"lineage"`
	// Suspended: the company is suspended or deleted, or one above it is.
	Suspended bool `db:"suspended"`
}

var providerColumns = columns[IdentityProvider]("p")

// providersFrom selects the company whose providers serve one of a lineage: the nearest that has any which are enabled. One that is being set
// up, and is not tried yet, takes nobody's sign-in away.
func providersFrom(lineage string) string {
	return `(SELECT a.id FROM unnest(` + lineage + `) WITH ORDINALITY a(id, level)
		WHERE EXISTS (SELECT FROM identity_providers q WHERE q.customer_id = a.id AND q.enabled) ORDER BY a.level DESC LIMIT 1)`
}

// serving selects the providers at which people may sign in to a company of a lineage.
func serving(lineage string) string {
	return `ARRAY(SELECT p.id FROM identity_providers p WHERE p.customer_id = ` + providersFrom(lineage) + ` AND p.enabled ORDER BY p.id)`
}

var (
	qProvider          = prepare(`SELECT ` + providerColumns + ` FROM identity_providers p JOIN customers c ON c.id = p.customer_id WHERE p.id = $3 AND ` + withinScope)
	qProviderForUpdate = prepare(`
		SELECT ` + providerColumns + ` FROM identity_providers p JOIN customers c ON c.id = p.customer_id WHERE p.id = $3 AND ` + withinScope + ` FOR UPDATE OF p`)
	qProvidersOf = prepare(`
		SELECT k.id AS for_id, ` + providerColumns + ` FROM unnest($1::bigint[]) k(id) JOIN identity_providers p ON p.customer_id = k.id ORDER BY k.id, p.id`)
	qProvidersFor = prepare(`
		SELECT k.id AS for_id, ` + providerColumns + ` FROM unnest($1::bigint[]) k(id)` + joinByID("customers", "c", "k.id") + `
		CROSS JOIN LATERAL (SELECT * FROM identity_providers WHERE customer_id IN (k.id, ` + providersFrom("c.lineage") + `) OFFSET 0) p ORDER BY k.id, p.id`)
	qProviderServes = prepare(`
		SELECT NOT EXISTS (SELECT FROM unnest($2::bigint[]) k(id)` + leftByID("customers", "c", "k.id") + `
		WHERE $1::bigint <> ALL (` + serving("c.lineage") + `))`)
	qProviderCount  = prepare(`SELECT count(*) FROM identity_providers WHERE customer_id = $1`)
	qInsertProvider = prepare(`
		INSERT INTO identity_providers AS p (customer_id, name, issuer, client_id, client_secret, domains, default_role_id, required, enabled, features)
		VALUES ($1, $2, $3, $4, '', $5, $6, $7, $8, $9) RETURNING ` + providerColumns)
	qUpdateProvider = prepare(`
		UPDATE identity_providers p SET name = $2, issuer = $3, client_id = $4, domains = $5, default_role_id = $6, required = $7, enabled = $8,
			features = $9, client_secret = COALESCE($10, client_secret), updated_at = now()
		WHERE p.id = $1 RETURNING ` + providerColumns)
	qSetProviderSecret = prepare(`UPDATE identity_providers SET client_secret = $2 WHERE id = $1`)
	qDeleteProvider    = prepare(`DELETE FROM identity_providers WHERE id = $1`)
	qProviderAtWork    = prepare(`
		SELECT ` + providerColumns + `, p.client_secret, c.lineage, ` + inactive("c.lineage") + ` AS suspended
		FROM identity_providers p` + joinByID("customers", "c", "p.customer_id") + ` WHERE p.id = $1`)
	qHoldRegistration = prepare(`SELECT FROM identity_providers WHERE id = $1 AND issuer = $2 AND client_id = $3 FOR SHARE`)
	// Of several that have the domain, the one that was made first.
	qProviderOfDomain = prepare(`
		SELECT p.id FROM (SELECT * FROM domain_claims WHERE domain = $1 OFFSET 0) d
		CROSS JOIN LATERAL (SELECT * FROM identity_providers WHERE customer_id = d.customer_id OFFSET 0) p
		WHERE p.domains @> ARRAY[$1::text] AND p.enabled AND ` + claimed("d.customer_id") + ` ORDER BY p.id LIMIT 1`)
)

type providerFor struct {
	ForID int64 `db:"for_id"`
	IdentityProvider
}

// customerProviders leads to the providers of companies; with true also to those that serve them and are another company's.
var (
	customerProviders = edgeBy((*Customer).key, providersOf)
	providerCustomer  = edgeBy(func(p *IdentityProvider) int64 { return p.CustomerID }, refsByID)
	providerRole      = edgeBy(func(p *IdentityProvider) int64 { return orZero(p.DefaultRoleID) }, rolesByID)
	providerClaims    = edgeBy(func(p *IdentityProvider) int64 { return p.CustomerID }, claimsOf)
)

func providersOf(ctx context.Context, s *Store, inherited bool, ids []int64) (map[int64][]*IdentityProvider, error) {
	q := qProvidersOf
	if inherited {
		q = qProvidersFor
	}
	var rows []*providerFor
	if err := s.list(ctx, &rows, q, ids); err != nil {
		return nil, err
	}
	found, all := map[int64][]*IdentityProvider{}, make([]*IdentityProvider, len(rows))
	for i, r := range rows {
		all[i] = &r.IdentityProvider
		found[r.ForID] = append(found[r.ForID], all[i])
	}
	join(all)
	return found, nil
}

// IdentityProvider reads one provider of a company within the scope, without its secret.
func (s *Store) IdentityProvider(ctx context.Context, scope access.Scope, id int64) (*IdentityProvider, error) {
	p := &IdentityProvider{}
	err := s.get(ctx, p, qProvider, scope.From(), scope.To(), id)
	return p, err
}

// IdentityProviderForUpdate reads one provider and holds its row until the transaction ends.
func (s *Store) IdentityProviderForUpdate(ctx context.Context, scope access.Scope, id int64) (*IdentityProvider, error) {
	p := &IdentityProvider{}
	err := s.get(ctx, p, qProviderForUpdate, scope.From(), scope.To(), id)
	return p, err
}

// IdentityProviders are the company's own providers and, inherited, those of another company that serve it, by id.
func (c *Customer) IdentityProviders(ctx context.Context, s *Store, inherited bool) ([]*IdentityProvider, error) {
	return follow(ctx, s, c, customerProviders, inherited)
}

// Customer is the edge from a provider to its company, which those below that it serves may know by name.
func (p *IdentityProvider) Customer(ctx context.Context, s *Store) (*CustomerRef, error) {
	return follow(ctx, s, p, providerCustomer, none{})
}

// DefaultRole is the edge from a provider to the role that new people get; nil where they get none.
func (p *IdentityProvider) DefaultRole(ctx context.Context, s *Store) (*Role, error) {
	return follow(ctx, s, p, providerRole, none{})
}

// ProviderCount counts a company's providers.
func (s *Store) ProviderCount(ctx context.Context, customerID int64) (n int, err error) {
	err = s.get(ctx, &n, qProviderCount, customerID)
	return n, err
}

// InsertProvider makes a provider, without its secret yet: that is sealed to its id.
func (s *Store) InsertProvider(ctx context.Context, as IdentityProvider) (*IdentityProvider, error) {
	p := &IdentityProvider{}
	err := s.get(ctx, p, qInsertProvider, as.CustomerID, as.Name, as.Issuer, as.ClientID, as.Domains, as.DefaultRoleID, as.Required, as.Enabled, as.Features)
	return p, err
}

// SetProviderSecret writes the sealed secret of a new provider.
func (s *Store) SetProviderSecret(ctx context.Context, id int64, sealed []byte) error {
	return s.must(ctx, qSetProviderSecret, id, sealed)
}

// UpdateProvider writes a provider, and its sealed secret unless that is nil.
func (s *Store) UpdateProvider(ctx context.Context, as IdentityProvider, sealed []byte) (*IdentityProvider, error) {
	p := &IdentityProvider{}
	var value any
	if sealed != nil {
		value = sealed
	}
	err := s.get(ctx, p, qUpdateProvider, as.ID, as.Name, as.Issuer, as.ClientID, as.Domains, as.DefaultRoleID, as.Required, as.Enabled, as.Features, value)
	return p, err
}

// DeleteProvider removes a provider, with what is known of its subjects. Sessions that come from it are to be ended.
func (s *Store) DeleteProvider(ctx context.Context, id int64) error {
	return s.must(ctx, qDeleteProvider, id)
}

// ProviderAtWork reads a provider for a sign-in: whoever comes to the door may name any.
func (s *Store) ProviderAtWork(ctx context.Context, id int64) (*ProviderAtWork, error) {
	p := &ProviderAtWork{}
	err := s.get(ctx, p, qProviderAtWork, id)
	return p, err
}

// HoldRegistration holds a provider that is asked where it was when it was read, and as whom, so that it is led nowhere else until the transaction ends; ErrNoRows
// where it has been.
func (s *Store) HoldRegistration(ctx context.Context, p *ProviderAtWork) error {
	return s.must(ctx, qHoldRegistration, p.ID, p.Issuer, p.ClientID)
}

// ProviderServes tells whether people may sign in at a provider to each of some companies.
func (s *Store) ProviderServes(ctx context.Context, id int64, customers ...int64) (all bool, err error) {
	err = s.get(ctx, &all, qProviderServes, id, pq.Int64Array(customers))
	return all, err
}

// ProviderOfDomain gives the enabled provider that speaks for addresses of a domain; ErrNoRows where there is none.
func (s *Store) ProviderOfDomain(ctx context.Context, domain string) (id int64, err error) {
	err = s.get(ctx, &id, qProviderOfDomain, domain)
	return id, err
}
