package db

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// DomainClaim is a company's claim to a domain of e-mail addresses.
type DomainClaim struct {
	ID         int64  `db:"id"`
	CustomerID int64  `db:"customer_id"`
	Domain     string `db:"domain"`
	// Token is what the domain's DNS has to say.
	Token        string     `db:"token"`
	ProvenAt     *time.Time `db:"proven_at"`
	GrantedBy    *int64     `db:"granted_by"`
	CheckedAt    *time.Time `db:"checked_at"`
	MissingSince *time.Time `db:"missing_since"`
	// Holds tells whether the company may have people signed in by addresses of the domain.
	Holds bool `db:"holds,joined"`
}

// claimed tells whether claim d of the company of an id holds. What a company above has given away holds as long as that is above, and the
// domain its own to give; the root's is every domain.
func claimed(customer string) string {
	return `(d.proven_at IS NOT NULL OR d.granted_by IS NOT NULL AND EXISTS (
		SELECT FROM customers c JOIN customers g ON g.id = d.granted_by WHERE c.id = ` + customer + ` AND g.id = ANY (c.lineage)
		AND (g.parent_id IS NULL OR EXISTS (SELECT FROM domain_claims o WHERE o.customer_id = g.id AND o.domain = d.domain AND o.proven_at IS NOT NULL))))`
}

// claimHolds tells whether the company of an id has a claim to a domain that holds.
func claimHolds(customer, domain string) string {
	return `EXISTS (SELECT FROM domain_claims d WHERE d.customer_id = ` + customer + ` AND d.domain = ` + domain + ` AND ` + claimed(customer) + `)`
}

var claimColumns = columns[DomainClaim]("d") + `, ` + claimed("d.customer_id") + ` AS holds`

var (
	qClaimsOf = prepare(`SELECT ` + claimColumns + ` FROM domain_claims d WHERE d.customer_id = ANY($1) ORDER BY d.customer_id, d.domain`)
	qClaim    = prepare(`SELECT ` + claimColumns + ` FROM domain_claims d WHERE d.customer_id = $1 AND d.domain = $2`)
	// Whoever has proven the domain now, other than the company $1.
	qRivalClaim = prepare(`SELECT ` + claimColumns + ` FROM domain_claims d WHERE d.domain = $2 AND d.proven_at IS NOT NULL AND d.customer_id <> $1 FOR UPDATE OF d`)
	qHasClaim   = prepare(`SELECT ` + claimHolds("$1", "$2"))
	qHasProven  = prepare(`SELECT EXISTS (SELECT FROM domain_claims d WHERE d.customer_id = $1 AND d.domain = $2 AND d.proven_at IS NOT NULL)`)
	qMakeClaims = prepare(`
		INSERT INTO domain_claims (customer_id, domain, token, granted_by) SELECT $1, m.domain, m.token, NULLIF(m.granted_by, 0)
		FROM unnest($2::text[], $3::text[], $4::bigint[]) m(domain, token, granted_by)
		ON CONFLICT (customer_id, domain) DO UPDATE SET granted_by = COALESCE(excluded.granted_by, domain_claims.granted_by)`)
	// Claims to domains that no provider of the company has any more.
	qDropClaims = prepare(`
		DELETE FROM domain_claims d WHERE d.customer_id = $1
		AND NOT EXISTS (SELECT FROM identity_providers p WHERE p.customer_id = $1 AND p.domains @> ARRAY[d.domain])`)
	qProveClaim = prepare(`
		UPDATE domain_claims SET proven_at = COALESCE(proven_at, now()), checked_at = now(), missing_since = NULL WHERE id = $1`)
	qLookedAtClaim = prepare(`
		UPDATE domain_claims SET checked_at = now(), missing_since = CASE WHEN $2::boolean THEN CASE WHEN proven_at IS NOT NULL THEN COALESCE(missing_since, now()) END
			ELSE missing_since END
		WHERE id = $1`)
	qLoseClaim = prepare(`UPDATE domain_claims SET proven_at = NULL, checked_at = now(), missing_since = NULL WHERE id = $1`)
	qDueClaims = prepare(`
		SELECT ` + claimColumns + ` FROM (SELECT * FROM domain_claims WHERE proven_at IS NOT NULL AND checked_at < now() - $1 * interval '1 second'
			ORDER BY checked_at NULLS FIRST, id LIMIT $2) d ORDER BY d.checked_at, d.id`)
)

// DomainsProven is the constraint that one company at a time has proven a domain.
const DomainsProven = "domain_claims_proven"

func claimsOf(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*DomainClaim, error) {
	var rows []*DomainClaim
	err := s.list(ctx, &rows, qClaimsOf, ids)
	return byKey(rows, func(d *DomainClaim) int64 { return d.CustomerID }), err
}

// Claims are those of the provider's company, by domain: to the domains of all its providers.
func (p *IdentityProvider) Claims(ctx context.Context, s *Store) ([]*DomainClaim, error) {
	return follow(ctx, s, p, providerClaims, none{})
}

// DomainClaim reads a company's claim to a domain.
func (s *Store) DomainClaim(ctx context.Context, customerID int64, domain string) (*DomainClaim, error) {
	d := &DomainClaim{}
	err := s.get(ctx, d, qClaim, customerID, domain)
	return d, err
}

// RivalClaim gives the claim of another company that has proven the domain, and holds it; ErrNoRows where none has.
func (s *Store) RivalClaim(ctx context.Context, customerID int64, domain string) (*DomainClaim, error) {
	d := &DomainClaim{}
	err := s.get(ctx, d, qRivalClaim, customerID, domain)
	return d, err
}

// HasClaim tells whether a company has a claim to a domain that holds.
func (s *Store) HasClaim(ctx context.Context, customerID int64, domain string) (has bool, err error) {
	err = s.get(ctx, &has, qHasClaim, customerID, domain)
	return has, err
}

// HasProven tells whether a company has proven a domain itself.
func (s *Store) HasProven(ctx context.Context, customerID int64, domain string) (has bool, err error) {
	err = s.get(ctx, &has, qHasProven, customerID, domain)
	return has, err
}

// MakeClaims makes those claims of a company that it does not have, with a token for each, and writes down who has granted them, where
// that is not 0.
func (s *Store) MakeClaims(ctx context.Context, customerID int64, domains, tokens []string, grantedBy []int64) error {
	_, err := s.exec(ctx, qMakeClaims, customerID, pq.StringArray(domains), pq.StringArray(tokens), grantedBy)
	return err
}

// DropClaims removes a company's claims to domains that none of its providers has.
func (s *Store) DropClaims(ctx context.Context, customerID int64) error {
	_, err := s.exec(ctx, qDropClaims, customerID)
	return err
}

// ProveClaim writes down that the domain's DNS has the claim's token. DomainsProven is violated where another company has proven it.
func (s *Store) ProveClaim(ctx context.Context, id int64) error { return s.must(ctx, qProveClaim, id) }

// LookedAtClaim writes down that the DNS was asked: the token is missing, or it could not be told.
func (s *Store) LookedAtClaim(ctx context.Context, id int64, missing bool) error {
	return s.must(ctx, qLookedAtClaim, id, missing)
}

// LoseClaim ends the proof of a claim.
func (s *Store) LoseClaim(ctx context.Context, id int64) error { return s.must(ctx, qLoseClaim, id) }

// DueClaims are proven claims that were not looked at for so long, at most limit of them.
func (s *Store) DueClaims(ctx context.Context, age time.Duration, limit int) (rows []*DomainClaim, err error) {
	err = s.list(ctx, &rows, qDueClaims, age.Seconds(), limit)
	return rows, err
}
