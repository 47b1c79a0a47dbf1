package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// APIKey lets a program act for a user in a company.
type APIKey struct {
	ID         int64      `db:"id"`
	ClientID   string     `db:"client_id" audit:"clientId"`
	CustomerID int64      `db:"customer_id"`
	UserID     int64      `db:"user_id" audit:"user"`
	Name       string     `db:"name" audit:"name"`
	ExpiresAt  *time.Time `db:"expires_at" audit:"expiresAt"`
	RevokedAt  *time.Time `db:"revoked_at" audit:"revokedAt"`
	LastUsedAt *time.Time `db:"last_used_at"`
	CreatedAt  time.Time  `db:"created_at"`
	Version    int        `db:"row_version"`
	// Features are the rights that the key has at most; nil: all those of its user.
	Features pq.StringArray `db:"features" audit:"features"`
	// AllowedAddresses are the networks that it works from, as CIDRs; nil: any.
	AllowedAddresses pq.StringArray `db:"allowed_addresses" audit:"allowedAddresses"`

	siblings
}

// Rights are those of the key where its user has rights.
func (k *APIKey) Rights(users access.Features) access.Features { return boundBy(k.Features, users) }

// boundBy gives the rights of a key's user that the key has; nil features bound nothing.
func boundBy(features pq.StringArray, users access.Features) access.Features {
	if features == nil {
		return users
	}
	return users & access.ParseFeatures(features)
}

// GlobalID is the node id of the key.
func (k *APIKey) GlobalID() globalid.ID { return globalid.ID{Type: "ApiKey", Int: k.ID} }

var apiKeyColumns = columns[APIKey]("k")

var (
	qAPIKey = prepare(`
		SELECT ` + apiKeyColumns + ` FROM api_keys k JOIN customers c ON c.id = k.customer_id WHERE k.id = $3 AND ` + withinScope)
	qAPIKeyByClient = prepare(`
		SELECT ` + apiKeyColumns + ` FROM api_keys k JOIN customers c ON c.id = k.customer_id WHERE k.client_id = $3 AND ` + withinScope)
	qAPIKeyOf        = prepare(`SELECT ` + apiKeyColumns + ` FROM api_keys k WHERE k.id = $1`)
	qAPIKeyForUpdate = prepare(`
		SELECT ` + apiKeyColumns + ` FROM api_keys k JOIN customers c ON c.id = k.customer_id
		WHERE k.id = $3 AND ` + withinScope + ` FOR UPDATE OF k`)
	qInsertAPIKey = prepare(`
		INSERT INTO api_keys AS k (client_id, customer_id, user_id, name, expires_at, created_by, features, allowed_addresses)
		VALUES ($1, $2, $3, $4, $5, NULLIF($6::bigint, 0), $7, $8) RETURNING ` + apiKeyColumns)
	qMaxKeyDays = prepare(`
		SELECT COALESCE(min(a.max_key_days), 0) FROM customers c CROSS JOIN unnest(c.lineage) above(id)` + joinByID("customers", "a", "above.id") + `WHERE c.id = $1`)
	qInsertSecret  = prepare(`INSERT INTO api_key_secrets (api_key_id, hash) VALUES ($1, $2)`)
	qRetireSecrets = prepare(`
		UPDATE api_key_secrets SET expires_at = LEAST(COALESCE(expires_at, 'infinity'), $2) WHERE api_key_id = $1`)
	qDropSecrets = prepare(`DELETE FROM api_key_secrets WHERE api_key_id = $1 AND expires_at <= now()`)
	// Of the secrets in their grace time only the newest lives on, so that at most two are live.
	qKeepNewestSecret = prepare(`
		DELETE FROM api_key_secrets s WHERE s.api_key_id = $1
		AND s.id <> (SELECT max(n.id) FROM (SELECT id FROM api_key_secrets WHERE api_key_id = $1 OFFSET 0) n)`)
	qRevokeAPIKey = prepare(`
		UPDATE api_keys k SET revoked_at = COALESCE(k.revoked_at, now()) WHERE k.id = $1 RETURNING ` + apiKeyColumns)
)

var (
	customerAPIKeys     = edgeBy((*Customer).key, pagesOf[APIKey](keysOfCustomer))
	customerAPIKeyCount = edgeBy((*Customer).key, countsOf(keysOfCustomer))
	apiKeyUser          = edgeBy(func(k *APIKey) int64 { return k.UserID }, usersByID)
	apiKeyCustomer      = edgeBy(func(k *APIKey) int64 { return k.CustomerID }, customersByID)
)

// APIKey reads one key of a company within the scope.
func (s *Store) APIKey(ctx context.Context, scope access.Scope, id int64) (*APIKey, error) {
	k := &APIKey{}
	err := s.get(ctx, k, qAPIKey, scope.From(), scope.To(), id)
	return k, err
}

// APIKeyByClientID reads the key of a client id.
func (s *Store) APIKeyByClientID(ctx context.Context, scope access.Scope, clientID string) (*APIKey, error) {
	k := &APIKey{}
	err := s.get(ctx, k, qAPIKeyByClient, scope.From(), scope.To(), clientID)
	return k, err
}

// APIKeyOf reads the key that a caller itself has come with.
func (s *Store) APIKeyOf(ctx context.Context, id int64) (*APIKey, error) {
	k := &APIKey{}
	err := s.get(ctx, k, qAPIKeyOf, id)
	return k, err
}

// APIKeyForUpdate reads one key and holds its row until the transaction ends.
func (s *Store) APIKeyForUpdate(ctx context.Context, scope access.Scope, id int64) (*APIKey, error) {
	k := &APIKey{}
	err := s.get(ctx, k, qAPIKeyForUpdate, scope.From(), scope.To(), id)
	return k, err
}

// APIKeys is a page of a company's keys.
func (c *Customer) APIKeys(ctx context.Context, s *Store, ask Ask) ([]*APIKey, error) {
	return follow(ctx, s, c, customerAPIKeys, scopedAsk{ask: ask})
}

// APIKeyCount counts a company's keys.
func (c *Customer) APIKeyCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, c, customerAPIKeyCount, scopedAsk{ask: ask})
}

// User is the edge from a key to the user that it acts for; nil beyond the scope.
func (k *APIKey) User(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, k, apiKeyUser, scope)
}

// Customer is the edge from a key to its company.
func (k *APIKey) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, k, apiKeyCustomer, scope)
}

// InsertAPIKey makes a key with one live secret, given by its hash. createdBy 0 stands for the
// platform itself.
func (s *Store) InsertAPIKey(ctx context.Context, k APIKey, secretHash [32]byte, createdBy int64) (*APIKey, error) {
	row := &APIKey{}
	if err := s.get(ctx, row, qInsertAPIKey, k.ClientID, k.CustomerID, k.UserID, k.Name, k.ExpiresAt, createdBy, k.Features, k.AllowedAddresses); err != nil {
		return nil, err
	}
	_, err := s.exec(ctx, qInsertSecret, row.ID, secretHash[:])
	return row, err
}

// MaxKeyDays is how many days a new key of a company may live, by its own word and by those above it; 0 is
// no bound.
func (s *Store) MaxKeyDays(ctx context.Context, customerID int64) (days int, err error) {
	err = s.get(ctx, &days, qMaxKeyDays, customerID)
	return days, err
}

// RotateSecret gives a key a new secret; the newest of the others lives on until graceEnds.
func (s *Store) RotateSecret(ctx context.Context, keyID int64, secretHash [32]byte, graceEnds time.Time) error {
	for _, step := range []struct {
		q    query
		args []any
	}{
		{qDropSecrets, []any{keyID}},
		{qKeepNewestSecret, []any{keyID}},
		{qRetireSecrets, []any{keyID, graceEnds}},
		{qInsertSecret, []any{keyID, secretHash[:]}},
	} {
		if _, err := s.exec(ctx, step.q, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// RevokeAPIKey ends a key for good.
func (s *Store) RevokeAPIKey(ctx context.Context, id int64) (*APIKey, error) {
	k := &APIKey{}
	err := s.get(ctx, k, qRevokeAPIKey, id)
	return k, err
}
