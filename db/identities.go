package db

import (
	"context"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// UserIdentity is who a subject of an identity provider is.
type UserIdentity struct {
	ID         int64  `db:"id"`
	UserID     int64  `db:"user_id"`
	ProviderID int64  `db:"provider_id" audit:"provider"`
	Subject    string `db:"subject"`
	// Email is the address by which the user was found.
	Email      string    `db:"email" audit:"email"`
	CreatedAt  time.Time `db:"created_at"`
	LastUsedAt time.Time `db:"last_used_at"`

	siblings
}

// GlobalID is the node id of the identity.
func (i *UserIdentity) GlobalID() globalid.ID { return globalid.ID{Type: "UserIdentity", Int: i.ID} }

var identityColumns = columns[UserIdentity]("i")

var identityInScope = joinByID("identity_providers", "p", "i.provider_id") + joinByID("customers", "c", "p.customer_id")

var (
	qIdentity          = prepare(`SELECT ` + identityColumns + ` FROM user_identities i` + identityInScope + `WHERE i.id = $3 AND ` + withinScope)
	qIdentityForUpdate = prepare(`SELECT ` + identityColumns + ` FROM user_identities i` + identityInScope + `WHERE i.id = $3 AND ` + withinScope + ` FOR UPDATE OF i`)
	qIdentitiesOf      = prepare(`
		SELECT ` + identityColumns + ` FROM (SELECT * FROM user_identities WHERE user_id = ANY($3) OFFSET 0) i` + identityInScope + `WHERE ` + withinScope + ` ORDER BY i.user_id, i.id`)
	qIdentityBySubject = prepare(`SELECT ` + identityColumns + ` FROM user_identities i WHERE i.provider_id = $1 AND i.subject = $2`)
	qHasIdentity       = prepare(`SELECT EXISTS (SELECT FROM user_identities i WHERE i.user_id = $1)`)
	qInsertIdentity    = prepare(`
		INSERT INTO user_identities AS i (user_id, provider_id, subject, email) VALUES ($1, $2, $3, $4) RETURNING ` + identityColumns)
	qUseIdentity            = prepare(`UPDATE user_identities SET last_used_at = now() WHERE id = $1`)
	qDropIdentity           = prepare(`DELETE FROM user_identities WHERE id = $1`)
	qDropIdentitiesOf       = prepare(`DELETE FROM user_identities WHERE user_id = $1`)
	qDropProviderIdentities = prepare(`DELETE FROM user_identities WHERE provider_id = $1`)
)

var (
	userIdentities   = edgeBy((*User).key, identitiesOf)
	identityProvider = edgeBy(func(i *UserIdentity) int64 { return i.ProviderID }, providersByID)
	identityUser     = edgeBy(func(i *UserIdentity) int64 { return i.UserID }, usersByID)

	providersByID  = rowsBy(qProvidersByID, scoped, func(p *IdentityProvider) int64 { return p.ID })
	qProvidersByID = prepare(`SELECT ` + providerColumns + eachByID("identity_providers", "p") + joinByID("customers", "c", "p.customer_id") + `WHERE ` + withinScope)
)

func identitiesOf(ctx context.Context, s *Store, scope access.Scope, ids []int64) (map[int64][]*UserIdentity, error) {
	var rows []*UserIdentity
	err := s.list(ctx, &rows, qIdentitiesOf, scope.From(), scope.To(), ids)
	return byKey(join(rows), func(i *UserIdentity) int64 { return i.UserID }), err
}

// Identities are those that a user has at providers of companies within the scope, by id.
func (u *User) Identities(ctx context.Context, s *Store, scope access.Scope) ([]*UserIdentity, error) {
	return follow(ctx, s, u, userIdentities, scope)
}

// Provider is the edge from an identity to its provider.
func (i *UserIdentity) Provider(ctx context.Context, s *Store, scope access.Scope) (*IdentityProvider, error) {
	return follow(ctx, s, i, identityProvider, scope)
}

// User is the edge from an identity to its user; nil for who is not in reach any more.
func (i *UserIdentity) User(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, i, identityUser, scope)
}

// UserIdentity reads one identity at a provider of a company within the scope.
func (s *Store) UserIdentity(ctx context.Context, scope access.Scope, id int64) (*UserIdentity, error) {
	i := &UserIdentity{}
	err := s.get(ctx, i, qIdentity, scope.From(), scope.To(), id)
	return i, err
}

// UserIdentityForUpdate reads one identity and holds its row until the transaction ends.
func (s *Store) UserIdentityForUpdate(ctx context.Context, scope access.Scope, id int64) (*UserIdentity, error) {
	i := &UserIdentity{}
	err := s.get(ctx, i, qIdentityForUpdate, scope.From(), scope.To(), id)
	return i, err
}

// IdentityBySubject finds who a subject of a provider is; ErrNoRows where that is not known.
func (s *Store) IdentityBySubject(ctx context.Context, providerID int64, subject string) (*UserIdentity, error) {
	i := &UserIdentity{}
	err := s.get(ctx, i, qIdentityBySubject, providerID, subject)
	return i, err
}

// HasIdentity tells whether a user is bound to a subject of any provider.
func (s *Store) HasIdentity(ctx context.Context, userID int64) (has bool, err error) {
	err = s.get(ctx, &has, qHasIdentity, userID)
	return has, err
}

// InsertIdentity binds a user to a subject of a provider.
func (s *Store) InsertIdentity(ctx context.Context, as UserIdentity) (*UserIdentity, error) {
	i := &UserIdentity{}
	err := s.get(ctx, i, qInsertIdentity, as.UserID, as.ProviderID, as.Subject, as.Email)
	return i, err
}

// UseIdentity writes down that an identity was signed in with.
func (s *Store) UseIdentity(ctx context.Context, id int64) error {
	return s.must(ctx, qUseIdentity, id)
}

// DropIdentity forgets who a subject is.
func (s *Store) DropIdentity(ctx context.Context, id int64) error {
	return s.must(ctx, qDropIdentity, id)
}

// DropIdentities forgets who the subjects of a provider are.
func (s *Store) DropIdentities(ctx context.Context, providerID int64) error {
	_, err := s.exec(ctx, qDropProviderIdentities, providerID)
	return err
}
