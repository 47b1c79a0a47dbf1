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
	// By tells which of the change's tokens it was found by.
	By ChangeToken `db:"by"`
}

// ChangeToken is one of the tokens of a change of an address.
type ChangeToken string

// The new address is sent one that confirms the change, the old one two: one that agrees to it, and one that stops it.
const (
	ConfirmsChange ChangeToken = "confirm"
	AgreesToChange ChangeToken = "agree"
	StopsChange    ChangeToken = "stop"
)

// ChangeHashes are the hashes of a change's tokens.
type ChangeHashes struct{ Confirm, Agree, Stop [32]byte }

// UsersEmail is the constraint that an address is one user's.
const UsersEmail = "users_email"

var (
	qInsertEmailChange = prepare(`
		INSERT INTO email_changes (user_id, email, confirm_hash, agree_hash, stop_hash, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, confirm_hash = excluded.confirm_hash, agree_hash = excluded.agree_hash,
			stop_hash = excluded.stop_hash, expires_at = excluded.expires_at, created_at = now(), confirmed_at = NULL, agreed_at = NULL`)
	qEmailChange = prepare(`
		SELECT user_id, email, 'confirm' AS by FROM email_changes WHERE confirm_hash = $1 AND expires_at > now()
		UNION ALL SELECT user_id, email, 'agree' FROM email_changes WHERE agree_hash = $1 AND expires_at > now()
		UNION ALL SELECT user_id, email, 'stop' FROM email_changes WHERE stop_hash = $1 AND expires_at > now()`)
	qMarkEmailChange = prepare(`
		UPDATE email_changes SET confirmed_at = CASE WHEN $2 = 'confirm' THEN COALESCE(confirmed_at, now()) ELSE confirmed_at END,
			agreed_at = CASE WHEN $2 = 'agree' THEN COALESCE(agreed_at, now()) ELSE agreed_at END
		WHERE user_id = $1 RETURNING confirmed_at IS NOT NULL AND (agreed_at IS NOT NULL OR agree_hash IS NULL)`)
	qDropEmailChange   = prepare(`DELETE FROM email_changes WHERE user_id = $1`)
	qSetEmail          = prepare(`UPDATE users SET email = $2 WHERE id = $1 AND erased_at IS NULL`)
	qEmailTaken        = prepare(`SELECT EXISTS (SELECT FROM users WHERE lower(email) = lower($1) AND id <> $2)`)
	qSweepEmailChanges = prepare(`DELETE FROM email_changes WHERE expires_at < now()`)
)

// InsertEmailChange begins a change of a user's address, in place of an earlier one, with the hashes of the tokens that
// confirm and stop it.
func (s *Store) InsertEmailChange(ctx context.Context, c EmailChange, h ChangeHashes, expires time.Time) error {
	_, err := s.exec(ctx, qInsertEmailChange, c.UserID, c.Email, h.Confirm[:], h.Agree[:], h.Stop[:], expires)
	return err
}

// MarkEmailChange keeps that one of the addresses wants the change of a user's address, and tells whether both do.
func (s *Store) MarkEmailChange(ctx context.Context, userID int64, by ChangeToken) (both bool, err error) {
	err = s.get(ctx, &both, qMarkEmailChange, userID, string(by))
	return both, err
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
