package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/globalid"
)

// MaxPasskeys is how many passkeys a user has at most.
const MaxPasskeys = 20

// Passkey is what a user signs in with in place of the password, or beside it.
type Passkey struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id" audit:"user"`
	Name   string `db:"name" audit:"name"`
	// Synced: it can be on several devices; BackedUp: it is.
	Synced     bool       `db:"synced" audit:"synced"`
	BackedUp   bool       `db:"backed_up"`
	CreatedAt  time.Time  `db:"created_at"`
	LastUsedAt *time.Time `db:"last_used_at"`
	Version    int        `db:"row_version"`
}

// GlobalID is the node id of the passkey.
func (p *Passkey) GlobalID() globalid.ID { return globalid.ID{Type: "Passkey", Int: p.ID} }

// PasskeyCredential is a passkey with what its answers are judged by.
type PasskeyCredential struct {
	Passkey
	CredentialID []byte         `db:"credential_id"`
	PublicKey    []byte         `db:"public_key"`
	SignCount    int64          `db:"sign_count"`
	Transports   pq.StringArray `db:"transports"`
}

// PasskeysOnce is the constraint that keeps one credential from being two passkeys.
const PasskeysOnce = "passkeys_once"

var passkeyColumns = columns[Passkey]("p")

var (
	qPasskey          = prepare(`SELECT ` + passkeyColumns + ` FROM passkeys p WHERE p.id = $1`)
	qPasskeyForUpdate = prepare(`SELECT ` + passkeyColumns + ` FROM passkeys p WHERE p.id = $1 FOR UPDATE`)
	qPasskeysOf       = prepare(`
		SELECT ` + passkeyColumns + ` FROM (SELECT * FROM passkeys WHERE user_id = $1 AND id > $2 OFFSET 0) p ORDER BY p.id LIMIT $3`)
	qPasskeyIDs          = prepare(`SELECT ARRAY(SELECT p.credential_id FROM passkeys p WHERE p.user_id = $1 ORDER BY p.id)`)
	qPasskeyByCredential = prepare(`
		SELECT ` + passkeyColumns + `, p.credential_id, p.public_key, p.sign_count, p.transports FROM passkeys p WHERE p.credential_id = $1`)
	qInsertPasskey = prepare(`
		INSERT INTO passkeys AS p (user_id, name, credential_id, public_key, sign_count, transports, synced, backed_up)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ` + passkeyColumns)
	// Of two uses at once the counter lets one through, unless the authenticator keeps none.
	qUsePasskey = prepare(`
		UPDATE passkeys SET sign_count = $2, backed_up = $3, last_used_at = now()
		WHERE id = $1 AND (sign_count < $2 OR sign_count = 0 AND $2::bigint = 0)`)
	qRenamePasskey  = prepare(`UPDATE passkeys p SET name = $2 WHERE p.id = $1 RETURNING ` + passkeyColumns)
	qDeletePasskey  = prepare(`DELETE FROM passkeys WHERE id = $1`)
	qDropPasskeysOf = prepare(`DELETE FROM passkeys WHERE user_id = $1`)
)

// Passkey reads a passkey. It takes no scope: its user is who may know of it.
func (s *Store) Passkey(ctx context.Context, id int64) (*Passkey, error) {
	x := &Passkey{}
	err := s.get(ctx, x, qPasskey, id)
	return x, err
}

// PasskeyForUpdate reads a passkey and holds its row until the transaction ends. The user is to be held first.
func (s *Store) PasskeyForUpdate(ctx context.Context, id int64) (*Passkey, error) {
	x := &Passkey{}
	err := s.get(ctx, x, qPasskeyForUpdate, id)
	return x, err
}

// PasskeysOf lists the passkeys of a user by id, from behind an id on, at most limit of them; 0 is all.
func (s *Store) PasskeysOf(ctx context.Context, userID, after int64, limit int) (rows []*Passkey, err error) {
	if limit == 0 {
		limit = MaxPasskeys
	}
	err = s.list(ctx, &rows, qPasskeysOf, userID, after, limit)
	return rows, err
}

// PasskeyIDs are the authenticators' names of a user's passkeys.
func (s *Store) PasskeyIDs(ctx context.Context, userID int64) (ids [][]byte, err error) {
	err = s.get(ctx, (*pq.ByteaArray)(&ids), qPasskeyIDs, userID)
	return ids, err
}

// PasskeyByCredential finds a passkey by its authenticator's name of it; ErrNoRows where there is none.
func (s *Store) PasskeyByCredential(ctx context.Context, id []byte) (*PasskeyCredential, error) {
	x := &PasskeyCredential{}
	err := s.get(ctx, x, qPasskeyByCredential, id)
	return x, err
}

// InsertPasskey makes a passkey. The user is to be held first.
func (s *Store) InsertPasskey(ctx context.Context, as PasskeyCredential) (*Passkey, error) {
	x := &Passkey{}
	if as.Transports == nil {
		as.Transports = pq.StringArray{}
	}
	err := s.get(ctx, x, qInsertPasskey, as.UserID, as.Name, as.CredentialID, as.PublicKey, as.SignCount, as.Transports, as.Synced, as.BackedUp)
	return x, err
}

// UsePasskey writes down that a passkey was used; false where it is gone, or its counter has gone on since.
func (s *Store) UsePasskey(ctx context.Context, id, signCount int64, backedUp bool) (bool, error) {
	n, err := s.exec(ctx, qUsePasskey, id, signCount, backedUp)
	return n == 1, err
}

// RenamePasskey writes a passkey's name.
func (s *Store) RenamePasskey(ctx context.Context, id int64, name string) (*Passkey, error) {
	x := &Passkey{}
	err := s.get(ctx, x, qRenamePasskey, id, name)
	return x, err
}

// DeletePasskey removes a passkey.
func (s *Store) DeletePasskey(ctx context.Context, id int64) error {
	return s.must(ctx, qDeletePasskey, id)
}

// DropPasskeysOf removes all passkeys of a user, and tells how many there were.
func (s *Store) DropPasskeysOf(ctx context.Context, userID int64) (int64, error) {
	return s.exec(ctx, qDropPasskeysOf, userID)
}
