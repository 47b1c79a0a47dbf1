package db

import (
	"context"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Secret names a value that a company's agents may use. The value is read by runs alone.
type Secret struct {
	ID         int64     `db:"id"`
	CustomerID int64     `db:"customer_id" audit:"customer"`
	Name       string    `db:"name" audit:"name"`
	CreatedAt  time.Time `db:"created_at"`
	Version    int       `db:"row_version"`
	UpdatedAt  time.Time `db:"updated_at"`

	siblings
}

// GlobalID is the node id of the secret.
func (s *Secret) GlobalID() globalid.ID { return globalid.ID{Type: "Secret", Int: s.ID} }

// SealedSecret is a secret with its value.
type SealedSecret struct {
	ID    int64  `db:"id"`
	Name  string `db:"name"`
	Value []byte `db:"value"`
}

var secretColumns = columns[Secret]("s")

var (
	qSecret          = prepare(`SELECT ` + secretColumns + ` FROM secrets s JOIN customers c ON c.id = s.customer_id WHERE s.id = $3 AND ` + withinScope)
	qSecretForUpdate = prepare(`
		SELECT ` + secretColumns + ` FROM secrets s JOIN customers c ON c.id = s.customer_id WHERE s.id = $3 AND ` + withinScope + ` FOR UPDATE OF s`)
	qSecretsOf     = prepare(`SELECT ` + secretColumns + ` FROM secrets s WHERE s.customer_id = ANY($1) ORDER BY s.customer_id, s.id`)
	qStreamSecrets = prepare(`
		SELECT ` + secretColumns + ` FROM (SELECT * FROM secrets WHERE customer_id = $1 AND id > $2 OFFSET 0) s ORDER BY s.id LIMIT $3`)
	qSecretCount = prepare(`SELECT count(*) FROM secrets WHERE customer_id = $1`)
	qAddSecret   = prepare(`
		INSERT INTO secrets AS s (customer_id, name, value) VALUES ($1, $2, '') RETURNING ` + secretColumns)
	qUpdateSecret = prepare(`
		UPDATE secrets s SET name = $2, value = COALESCE($3, value), updated_at = now() WHERE id = $1 RETURNING ` + secretColumns)
	qDeleteSecret  = prepare(`DELETE FROM secrets WHERE id = $1`)
	qSealedSecrets = prepare(`SELECT id, name, value FROM secrets WHERE customer_id = $1 AND name = ANY($2)`)
)

var (
	customerSecrets = edgeBy((*Customer).key, secretsOf)
	secretCustomer  = edgeBy(func(s *Secret) int64 { return s.CustomerID }, customersByID)
)

func secretsOf(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*Secret, error) {
	var rows []*Secret
	err := s.list(ctx, &rows, qSecretsOf, ids)
	return byKey(join(rows), func(x *Secret) int64 { return x.CustomerID }), err
}

// SecretsName is the constraint that keeps the names of a company's secrets apart.
const SecretsName = "secrets_name"

// Secret reads one secret of a company within the scope, without its value.
func (s *Store) Secret(ctx context.Context, scope access.Scope, id int64) (*Secret, error) {
	x := &Secret{}
	err := s.get(ctx, x, qSecret, scope.From(), scope.To(), id)
	return x, err
}

// SecretForUpdate reads one secret and holds its row until the transaction ends.
func (s *Store) SecretForUpdate(ctx context.Context, scope access.Scope, id int64) (*Secret, error) {
	x := &Secret{}
	err := s.get(ctx, x, qSecretForUpdate, scope.From(), scope.To(), id)
	return x, err
}

// Secrets are the company's secrets, by id.
func (c *Customer) Secrets(ctx context.Context, s *Store) ([]*Secret, error) {
	return follow(ctx, s, c, customerSecrets, none{})
}

// StreamSecrets gives a company's secrets by id, from after the id on, at most limit of them (0: all).
func (s *Store) StreamSecrets(ctx context.Context, customerID, after int64, limit int, each func(*Secret) error) error {
	secrets := rowsOf(qStreamSecrets, func(after int64, limit int) []any { return []any{customerID, after, limit} }, func(x *Secret) int64 { return x.ID })
	return secrets.each(ctx, s, after, limit, each)
}

// SecretCount counts a company's secrets.
func (s *Store) SecretCount(ctx context.Context, customerID int64) (n int, err error) {
	err = s.get(ctx, &n, qSecretCount, customerID)
	return n, err
}

// Customer is the edge from a secret to its company.
func (s *Secret) Customer(ctx context.Context, store *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, store, s, secretCustomer, scope)
}

// InsertSecret makes a secret, without a value yet: that is sealed to its id.
func (s *Store) InsertSecret(ctx context.Context, customerID int64, name string) (*Secret, error) {
	x := &Secret{}
	err := s.get(ctx, x, qAddSecret, customerID, name)
	return x, err
}

// UpdateSecret writes a secret's name and, unless it is nil, its sealed value.
func (s *Store) UpdateSecret(ctx context.Context, id int64, name string, sealed []byte) (*Secret, error) {
	x := &Secret{}
	var value any
	if sealed != nil {
		value = sealed
	}
	err := s.get(ctx, x, qUpdateSecret, id, name, value)
	return x, err
}

// DeleteSecret removes a secret.
func (s *Store) DeleteSecret(ctx context.Context, id int64) error {
	return s.must(ctx, qDeleteSecret, id)
}

// SealedSecrets reads those of the names that a company has, with their values.
func (s *Store) SealedSecrets(ctx context.Context, customerID int64, names []string) (rows []*SealedSecret, err error) {
	err = s.list(ctx, &rows, qSealedSecrets, customerID, names)
	return rows, err
}
