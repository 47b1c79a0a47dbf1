package db

import (
	"context"
	"time"

	"canopy/internal/globalid"
)

// How long a session lives: so long without being used, and so long at all.
const (
	SessionIdle = 14 * 24 * time.Hour
	SessionLife = 90 * 24 * time.Hour
)

// MaxSessions is how many live sessions a user has at most.
const MaxSessions = 100

// Session is a person's login that renews itself.
type Session struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
	// CustomerID is the company that it was last in.
	CustomerID int64 `db:"customer_id"`
	// ProviderID is the identity provider that it comes from, which may be gone; 0 for none.
	ProviderID int64     `db:"provider_id"`
	UserAgent  string    `db:"user_agent"`
	Address    string    `db:"address"`
	CreatedAt  time.Time `db:"created_at"`
	LastUsedAt time.Time `db:"last_used_at"`
	// ExpiresAt is when it ends at the latest; EndedAt when it was ended, if it was.
	ExpiresAt time.Time  `db:"expires_at"`
	EndedAt   *time.Time `db:"ended_at" audit:"endedAt"`
}

// GlobalID is the node id of the session.
func (s *Session) GlobalID() globalid.ID { return globalid.ID{Type: "Session", Int: s.ID} }

// HeldSession is a session whose row is held, with what its tokens are judged by.
type HeldSession struct {
	Session
	// Key is sealed.
	Key        []byte `db:"key"`
	Generation int64  `db:"generation"`
	Alive      bool   `db:"alive"`
	// Late: the token that was asked for was replaced a moment ago.
	Late bool `db:"late"`
	// BranchID is the branch of the company that the session is in; Session alone gives it.
	BranchID int64 `db:"branch_id"`
}

// What is said of session s: that it is alive, and that its token of the number $2 was replaced within the last ten
// seconds, by one of the last 32 replacements.
const (
	sessionAlive = `(s.ended_at IS NULL AND s.expires_at > now() AND s.last_used_at > now() - interval '14 days')`
	sessionLate  = `COALESCE(s.replaced_at[cardinality(s.replaced_at) + 1 - (s.generation - $2::bigint)::integer] > now() - interval '10 seconds', false)`
)

// sessionFrom is that session s comes from a provider, or with 0 that it may come from anywhere.
func sessionFrom(provider string) string {
	return `(` + provider + `::bigint = 0 OR s.provider_id = ` + provider + `)`
}

var sessionColumns = columns[Session]("s")

var (
	qSession = prepare(`
		SELECT ` + sessionColumns + `, s.key, s.generation, ` + sessionAlive + ` AS alive, false AS late, branch_of(s.customer_id) AS branch_id
		FROM sessions s WHERE s.id = $1`)
	qSessionForUpdate = prepare(`
		SELECT ` + sessionColumns + `, s.key, s.generation, ` + sessionAlive + ` AS alive, ` + sessionLate + ` AS late
		FROM sessions s WHERE s.id = $1 FOR UPDATE`)
	qSessionsOf = prepare(`
		SELECT ` + sessionColumns + ` FROM (SELECT * FROM sessions WHERE user_id = $1 AND id > $2 OFFSET 0) s
		WHERE ` + sessionAlive + ` AND ` + sessionFrom("$4") + ` ORDER BY s.id LIMIT $3`)
	qInsertSession = prepare(`
		INSERT INTO sessions AS s (user_id, customer_id, key, user_agent, address, expires_at, provider_id)
		VALUES ($1, $2, '', $3, $4, now() + $5 * interval '1 second', $6) RETURNING ` + sessionColumns)
	qSetSessionKey = prepare(`UPDATE sessions SET key = $2 WHERE id = $1`)
	// The user's oldest sessions make room.
	qEndOldSessions = prepare(`
		UPDATE sessions SET ended_at = now() WHERE id = ANY (ARRAY(
			SELECT s.id FROM (SELECT * FROM sessions WHERE user_id = $1 OFFSET 0) s WHERE ` + sessionAlive + ` ORDER BY s.last_used_at DESC, s.id DESC OFFSET $2))`)
	qUseSession = prepare(`
		UPDATE sessions SET customer_id = $2, user_agent = $3, address = $4, last_used_at = now(), generation = generation + $5,
			replaced_at = CASE $5::integer WHEN 0 THEN replaced_at ELSE (replaced_at || now())[GREATEST(1, cardinality(replaced_at) - 30):] END
		WHERE id = $1`)
	qEndSession  = prepare(`UPDATE sessions s SET ended_at = now() WHERE s.id = $1 RETURNING ` + sessionColumns)
	qEndSessions = prepare(`
		UPDATE sessions s SET ended_at = now() WHERE s.user_id = $1 AND ` + unindexed(sessionAlive) + ` AND s.id <> $2
		AND ($3::bigint = 0 OR s.customer_id = $3) AND ` + sessionFrom("$4") + ` RETURNING ` + sessionColumns)
	qForgetSessions = prepare(`
		DELETE FROM sessions WHERE id = ANY (ARRAY(SELECT id FROM sessions WHERE last_used_at < now() - interval '15 days' ORDER BY last_used_at LIMIT $1))`)
)

// Session reads a session as it is at the moment; ErrNoRows when there is none of the id. It takes no scope: its token,
// or its user, is who may know of it.
func (s *Store) Session(ctx context.Context, id int64) (*HeldSession, error) {
	x := &HeldSession{}
	err := s.get(ctx, x, qSession, id)
	return x, err
}

// SessionForUpdate reads a session, with what there is to say of its token of a number, and holds the row until the
// transaction ends. The user is to be held first.
func (s *Store) SessionForUpdate(ctx context.Context, id, generation int64) (*HeldSession, error) {
	x := &HeldSession{}
	err := s.get(ctx, x, qSessionForUpdate, id, generation)
	return x, err
}

// SessionsOf lists the live sessions of a user by id, or those that come from a provider, 0 for any, from behind an id on, at most limit of
// them; 0 is all.
func (s *Store) SessionsOf(ctx context.Context, userID, providerID, after int64, limit int) (rows []*Session, err error) {
	if limit == 0 {
		limit = MaxSessions
	}
	err = s.list(ctx, &rows, qSessionsOf, userID, after, limit, providerID)
	return rows, err
}

// InsertSession begins a session, whose key is still to be set: that is sealed to its id. Of too many of the user's, the
// one that was not used for longest ends. The user is to be held first.
func (s *Store) InsertSession(ctx context.Context, as Session) (*Session, error) {
	if _, err := s.exec(ctx, qEndOldSessions, as.UserID, MaxSessions-1); err != nil {
		return nil, err
	}
	x := &Session{}
	err := s.get(ctx, x, qInsertSession, as.UserID, as.CustomerID, as.UserAgent, as.Address, SessionLife.Seconds(), as.ProviderID)
	return x, err
}

// SetSessionKey writes the sealed key of a session's tokens.
func (s *Store) SetSessionKey(ctx context.Context, id int64, sealed []byte) error {
	return s.must(ctx, qSetSessionKey, id, sealed)
}

// UseSession writes down that a session was used: from where, for which company, and whether its token was replaced.
func (s *Store) UseSession(ctx context.Context, as Session, replaced bool) error {
	step := 0
	if replaced {
		step = 1
	}
	return s.must(ctx, qUseSession, as.ID, as.CustomerID, as.UserAgent, as.Address, step)
}

// EndSession ends a session, and gives it.
func (s *Store) EndSession(ctx context.Context, id int64) (*Session, error) {
	x := &Session{}
	err := s.get(ctx, x, qEndSession, id)
	return x, err
}

// EndSessions ends a user's live sessions, or those that come from a provider, 0 for any, but one, 0 for none, and gives those that it has ended.
func (s *Store) EndSessions(ctx context.Context, userID, providerID, but int64) (rows []*Session, err error) {
	err = s.list(ctx, &rows, qEndSessions, userID, but, 0, providerID)
	return rows, err
}

// EndSessionsIn ends those live sessions of a user that are in a company; 0 ends all.
func (s *Store) EndSessionsIn(ctx context.Context, userID, customerID int64) error {
	_, err := s.exec(ctx, qEndSessions, userID, 0, customerID, 0)
	return err
}

// ForgetSessions deletes sessions that have long ended, at most limit of them, and tells how many.
func (s *Store) ForgetSessions(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qForgetSessions, limit)
}
