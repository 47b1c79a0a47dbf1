package db

import (
	"context"
	"time"

	"canopy/internal/access"
)

// ProviderSession is what is kept of the sign-in at a provider that a session comes from.
type ProviderSession struct {
	SessionID  int64  `db:"session_id"`
	ProviderID int64  `db:"provider_id"`
	Subject    string `db:"subject"`
	// SID is the provider's name of its own session; "" where it tells none.
	SID string `db:"sid"`
	// IDToken is sealed.
	IDToken    []byte    `db:"id_token"`
	SignedInAt time.Time `db:"signed_in_at"`
}

var (
	qInsertProviderSession = prepare(`
		INSERT INTO provider_sessions (session_id, provider_id, subject, sid, id_token, signed_in_at) VALUES ($1, $2, $3, $4, $5, $6)`)
	qProviderSession = prepare(`SELECT ` + columns[ProviderSession]("x") + ` FROM provider_sessions x WHERE x.session_id = $1`)
	// Sessions from providers that don't serve the session's company, of a part of the tree.
	qEndUnserved = prepare(`
		UPDATE sessions s SET ended_at = now() FROM customers c
		WHERE s.provider_id <> 0 AND s.ended_at IS NULL AND c.id = s.customer_id AND c.lineage >= $1 AND c.lineage < $2
		AND NOT s.provider_id = ANY (` + serving("c.lineage") + `)`)
	qEndProvided = prepare(`
		UPDATE sessions s SET ended_at = now() FROM provider_sessions x
		WHERE x.provider_id = $1 AND x.subject = $2 AND ($3::text = '' OR x.sid = $3) AND s.id = x.session_id AND s.ended_at IS NULL
		RETURNING ` + sessionColumns)
	qEndProvidedOne = prepare(`
		UPDATE sessions s SET ended_at = now() FROM provider_sessions x
		WHERE x.provider_id = $1 AND x.sid = $2 AND s.id = x.session_id AND s.ended_at IS NULL
		RETURNING ` + sessionColumns)
	qEndSessionsFrom = prepare(`
		UPDATE sessions s SET ended_at = now() FROM provider_sessions x WHERE x.provider_id = $1 AND s.id = x.session_id AND s.ended_at IS NULL`)
	qUseState     = prepare(`INSERT INTO used_states (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`)
	qStateIsUsed  = prepare(`SELECT EXISTS (SELECT FROM used_states WHERE hash = $1)`)
	qForgetStates = prepare(`DELETE FROM used_states WHERE hash = ANY (ARRAY(SELECT hash FROM used_states WHERE expires_at < now() ORDER BY expires_at LIMIT $1))`)
)

// InsertProviderSession writes down the sign-in that a session comes from.
func (s *Store) InsertProviderSession(ctx context.Context, as ProviderSession) error {
	return s.must(ctx, qInsertProviderSession, as.SessionID, as.ProviderID, as.Subject, as.SID, as.IDToken, as.SignedInAt)
}

// ProviderSession reads the sign-in that a session comes from; ErrNoRows where it comes from no provider.
func (s *Store) ProviderSession(ctx context.Context, sessionID int64) (*ProviderSession, error) {
	x := &ProviderSession{}
	err := s.get(ctx, x, qProviderSession, sessionID)
	return x, err
}

// EndUnserved ends the sessions in a part of the tree that come from a provider which no longer serves their company.
func (s *Store) EndUnserved(ctx context.Context, scope access.Scope) error {
	_, err := s.exec(ctx, qEndUnserved, scope.From(), scope.To())
	return err
}

// EndProvided ends the live sessions that come from a subject's sign-ins at a provider, or from the one that the provider calls sid, and
// gives them. Without a subject it is the one that is called sid, whose ever it is.
func (s *Store) EndProvided(ctx context.Context, providerID int64, subject, sid string) (rows []*Session, err error) {
	if subject == "" {
		err = s.list(ctx, &rows, qEndProvidedOne, providerID, sid)
		return rows, err
	}
	err = s.list(ctx, &rows, qEndProvided, providerID, subject, sid)
	return rows, err
}

// EndSessionsFrom ends all live sessions that come from a provider.
func (s *Store) EndSessionsFrom(ctx context.Context, providerID int64) error {
	_, err := s.exec(ctx, qEndSessionsFrom, providerID)
	return err
}

// UseState uses up what may be used once; false when it was before. It is remembered until it expires.
func (s *Store) UseState(ctx context.Context, hash [32]byte, expires time.Time) (bool, error) {
	n, err := s.exec(ctx, qUseState, hash[:], expires)
	return n == 1, err
}

// StateIsUsed tells whether something that may be used once was.
func (s *Store) StateIsUsed(ctx context.Context, hash [32]byte) (used bool, err error) {
	err = s.get(ctx, &used, qStateIsUsed, hash[:])
	return used, err
}

// ForgetStates forgets what has expired, at most limit of them, and tells how many.
func (s *Store) ForgetStates(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qForgetStates, limit)
}
