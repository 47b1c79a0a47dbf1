package db

import (
	"context"
	"time"
)

// EmailChange is a change of a person's address that waits to be confirmed or stopped.
type EmailChange struct {
	UserID int64 `db:"user_id"`
	// Email is the new address.
	Email string `db:"email"`
	// Stops tells the token of the old address from that of the new one.
	Stops bool `db:"stops"`
}

// UsersEmail is the constraint that an address is one user's.
const UsersEmail = "users_email"

var (
	qInsertEmailChange = prepare(`
		INSERT INTO email_changes (user_id, email, confirm_hash, stop_hash, expires_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, confirm_hash = excluded.confirm_hash, stop_hash = excluded.stop_hash,
			expires_at = excluded.expires_at, created_at = now()`)
	qEmailChange = prepare(`
		SELECT user_id, email, false AS stops FROM email_changes WHERE confirm_hash = $1 AND expires_at > now()
		UNION ALL SELECT user_id, email, true FROM email_changes WHERE stop_hash = $1 AND expires_at > now()`)
	qDropEmailChange   = prepare(`DELETE FROM email_changes WHERE user_id = $1`)
	qSetEmail          = prepare(`UPDATE users SET email = $2 WHERE id = $1 AND erased_at IS NULL`)
	qEmailTaken        = prepare(`SELECT EXISTS (SELECT FROM users WHERE lower(email) = lower($1) AND id <> $2)`)
	qSweepEmailChanges = prepare(`DELETE FROM email_changes WHERE expires_at < now()`)
)

// InsertEmailChange begins a change of a user's address, in place of an earlier one, with the hashes of the tokens that
// confirm and stop it.
func (s *Store) InsertEmailChange(ctx context.Context, c EmailChange, confirm, stop [32]byte, expires time.Time) error {
	_, err := s.exec(ctx, qInsertEmailChange, c.UserID, c.Email, confirm[:], stop[:], expires)
	return err
}

// EmailChange reads the change that a token is for, by the token's hash; ErrNoRows when there is none, or no longer.
func (s *Store) EmailChange(ctx context.Context, hash [32]byte) (c EmailChange, err error) {
	err = s.get(ctx, &c, qEmailChange, hash[:])
	return c, err
}

// DropEmailChange ends the change of a user's address.
func (s *Store) DropEmailChange(ctx context.Context, userID int64) error {
	return s.must(ctx, qDropEmailChange, userID)
}

// SetEmail writes a user's address and ends the links that were sent to the one before. UsersEmail is violated where it is
// another user's.
func (s *Store) SetEmail(ctx context.Context, userID int64, email string) error {
	if err := s.must(ctx, qSetEmail, userID, email); err != nil {
		return err
	}
	_, err := s.exec(ctx, qEndLinks, userID)
	return err
}

// EmailTaken tells whether an address is that of another user.
func (s *Store) EmailTaken(ctx context.Context, email string, userID int64) (taken bool, err error) {
	err = s.get(ctx, &taken, qEmailTaken, email, userID)
	return taken, err
}

// SweepEmailChanges forgets changes of addresses that were not confirmed in time.
func (s *Store) SweepEmailChanges(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepEmailChanges)
	return err
}
