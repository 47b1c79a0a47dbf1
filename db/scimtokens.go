package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// ScimToken lets a company's directory provision its people. It acts as who has made it.
type ScimToken struct {
	ID         int64  `db:"id"`
	CustomerID int64  `db:"customer_id"`
	Name       string `db:"name" audit:"name"`
	// CreatedBy is who has made it, for the company ActsIn, with Features and, as Owner tells, as an owner.
	CreatedBy int64          `db:"created_by" audit:"createdBy"`
	ActsIn    int64          `db:"acts_in"`
	Features  pq.StringArray `db:"features" audit:"features"`
	Owner     bool           `db:"is_owner"`
	// ExpiresAt is when it ends; nil for never.
	ExpiresAt *time.Time `db:"expires_at" audit:"expiresAt"`
	CreatedAt time.Time  `db:"created_at"`
	// LastUsedAt is when it was last used, LastChangedAt when something was last changed by it; nil where that was never.
	LastUsedAt    *time.Time `db:"last_used_at"`
	LastChangedAt *time.Time `db:"last_changed_at"`

	siblings
}

// ScimAtWork is a token that a directory has come with, and what of its company bounds it.
type ScimAtWork struct {
	ScimToken
	Lineage access.Lineage `db:"lineage"`
	Moves   int            `db:"moves"`
	Limits  pq.StringArray `db:"rates"`
	// Suspended: the company is suspended or deleted, or one above it is.
	Suspended bool `db:"suspended"`
}

// Rates are the limits on what is done in a minute that the companies of the lineage have.
func (t *ScimAtWork) Rates() []access.Rate { return parseRates(t.Limits) }

// GlobalID is the node id of the token.
func (t *ScimToken) GlobalID() globalid.ID { return globalid.ID{Type: "ScimToken", Int: t.ID} }

var scimTokenColumns = columns[ScimToken]("t")

var (
	qScimToken    = prepare(`SELECT ` + scimTokenColumns + ` FROM scim_tokens t JOIN customers c ON c.id = t.customer_id WHERE t.id = $3 AND ` + withinScope)
	qScimTokensOf = prepare(`SELECT ` + scimTokenColumns + ` FROM scim_tokens t WHERE t.customer_id = ANY($1) ORDER BY t.customer_id, t.id`)
	// The company has to be below the one that the token acts in, yet.
	qScimTokenByHash = prepare(`
		SELECT ` + scimTokenColumns + `, c.lineage, c.moves, ` + inactive("c.lineage") + ` AS suspended, ` + rates + `
		FROM scim_tokens t` + joinByID("customers", "c", "t.customer_id") + `
		WHERE t.hash = $1 AND t.acts_in = ANY (c.lineage) AND COALESCE(t.expires_at > now(), true)`)
	qScimTokenCount  = prepare(`SELECT count(*) FROM scim_tokens WHERE customer_id = $1`)
	qInsertScimToken = prepare(`
		INSERT INTO scim_tokens AS t (customer_id, name, hash, created_by, acts_in, features, is_owner, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ` + scimTokenColumns)
	qDropScimToken    = prepare(`DELETE FROM scim_tokens WHERE id = $1`)
	qDropScimTokensIn = prepare(`DELETE FROM scim_tokens t WHERE created_by = $1 AND ($2::bigint = 0 OR acts_in = $2) RETURNING ` + scimTokenColumns)
	qUseScimToken     = prepare(`
		UPDATE scim_tokens SET last_used_at = now(), last_changed_at = CASE WHEN $2::boolean THEN now() ELSE last_changed_at END
		WHERE id = $1 AND ($2::boolean OR COALESCE(last_used_at < now() - interval '1 minute', true))`)
)

var (
	customerScimTokens = edgeBy((*Customer).key, scimTokensOf)
	scimTokenCustomer  = edgeBy(func(t *ScimToken) int64 { return t.CustomerID }, customersByID)
	scimTokenCreator   = edgeBy(func(t *ScimToken) int64 { return t.CreatedBy }, usersByID)
)

func scimTokensOf(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*ScimToken, error) {
	var rows []*ScimToken
	err := s.list(ctx, &rows, qScimTokensOf, ids)
	return byKey(join(rows), func(t *ScimToken) int64 { return t.CustomerID }), err
}

// ScimTokens are the company's tokens, by id.
func (c *Customer) ScimTokens(ctx context.Context, s *Store) ([]*ScimToken, error) {
	return follow(ctx, s, c, customerScimTokens, none{})
}

// Customer is the edge from a token to its company.
func (t *ScimToken) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, t, scimTokenCustomer, scope)
}

// Creator is the edge from a token to who has made it; nil for who is not within reach.
func (t *ScimToken) Creator(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, t, scimTokenCreator, scope)
}

// ScimToken reads one token of a company within the scope.
func (s *Store) ScimToken(ctx context.Context, scope access.Scope, id int64) (*ScimToken, error) {
	t := &ScimToken{}
	err := s.get(ctx, t, qScimToken, scope.From(), scope.To(), id)
	return t, err
}

// ScimTokenByHash finds a token by its secret's hash; ErrNoRows where there is none that works.
func (s *Store) ScimTokenByHash(ctx context.Context, hash [32]byte) (*ScimAtWork, error) {
	t := &ScimAtWork{}
	err := s.get(ctx, t, qScimTokenByHash, hash[:])
	return t, err
}

// ScimTokenCount counts a company's tokens.
func (s *Store) ScimTokenCount(ctx context.Context, customerID int64) (n int, err error) {
	err = s.get(ctx, &n, qScimTokenCount, customerID)
	return n, err
}

// InsertScimToken makes a token, by its secret's hash.
func (s *Store) InsertScimToken(ctx context.Context, as ScimToken, hash [32]byte) (*ScimToken, error) {
	t := &ScimToken{}
	err := s.get(ctx, t, qInsertScimToken, as.CustomerID, as.Name, hash[:], as.CreatedBy, as.ActsIn, as.Features, as.Owner, as.ExpiresAt)
	return t, err
}

// DropScimToken removes a token.
func (s *Store) DropScimToken(ctx context.Context, id int64) error {
	return s.must(ctx, qDropScimToken, id)
}

// DropScimTokensIn removes the tokens that a user has made for a company, or, with 0, for any, and gives them.
func (s *Store) DropScimTokensIn(ctx context.Context, userID, customerID int64) (rows []*ScimToken, err error) {
	err = s.list(ctx, &rows, qDropScimTokensIn, userID, customerID)
	return rows, err
}

// UseScimToken writes down that a token was used, at most once a minute, and whenever something was changed by it.
func (s *Store) UseScimToken(ctx context.Context, id int64, changed bool) error {
	_, err := s.exec(ctx, qUseScimToken, id, changed)
	return err
}
