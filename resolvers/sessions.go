package resolvers

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

// A session is a person's login that renews itself. Each refresh token works once: the one that it is answered with
// takes its place. One that comes back later is in two hands, and nobody can tell which is the right one: the session ends.

// SessionPayload is an access token, and the refresh token that the next one is asked for with.
type SessionPayload struct {
	*LoginPayload
	RefreshToken string
	// IdleEnd is when the session ends unless it is used until then.
	IdleEnd time.Time
}

var errSession = problem.Unauthorized("the session has ended, or there is none: sign in").With("session_ended")

// OpenSession is Login that begins a session.
func (r *Resolver) OpenSession(ctx context.Context, in LoginInput) (*SessionPayload, error) {
	var s *db.Session
	var refresh secret.SessionToken
	e, err := r.signIn(ctx, in, func(ch *changes, try *tried, e *entry) (err error) {
		s, refresh, err = r.beginSession(ctx, ch, e, try.way())
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.sessionPayload(ctx, e, s, refresh)
}

// beginSession begins a session of a person who has come a way, whose row was held when the entry was found, and tells of it.
func (r *Resolver) beginSession(ctx context.Context, ch *changes, e *entry, by way) (s *db.Session, refresh secret.SessionToken, err error) {
	s, err = ch.tx.InsertSession(ctx, db.Session{
		UserID: e.UserID, CustomerID: e.chosen.CustomerID, ProviderID: by.providerID, UserAgent: r.UserAgent(ctx), Address: r.ClientAddress(ctx),
	})
	if err != nil {
		return nil, refresh, err
	}
	key := secret.NewSessionKey()
	if err := ch.tx.SetSessionKey(ctx, s.ID, db.SealedSessionKeys.Seal(r.Box, s.ID, key)); err != nil {
		return nil, refresh, err
	}
	what := by.told(r.from(ctx, audit.None()).With("session", s.ID))
	return s, secret.NewSessionToken(key, s.ID, 1), ch.signsIn(ctx, e, what)
}

func (r *Resolver) sessionPayload(ctx context.Context, e *entry, s *db.Session, refresh secret.SessionToken) (*SessionPayload, error) {
	login, err := r.accessToken(ctx, e, s)
	idle := time.Now().Add(db.SessionIdle)
	if s.ExpiresAt.Before(idle) {
		idle = s.ExpiresAt
	}
	return &SessionPayload{LoginPayload: login, RefreshToken: refresh.String(), IdleEnd: idle}, err
}

// RefreshSession takes a session's refresh token and gives the next one with an access token, for another company where
// one is named. A token that was replaced up to ten seconds ago, as by another tab, gets the one that is in force; an
// older one ends the session. Whoever has the token may call it; what it may no longer do is 401 session_ended.
func (r *Resolver) RefreshSession(ctx context.Context, refresh string, customerID *globalid.ID) (*SessionPayload, error) {
	t, s, key, err := r.sessionOf(ctx, refresh)
	if err != nil {
		return nil, err
	}
	ctx = access.WithBranch(ctx, s.BranchID)
	if !s.Alive {
		return nil, errSession
	}
	if customerID == nil {
		customerID = &globalid.ID{Int: s.CustomerID}
	}
	by := way{providerID: s.ProviderID}
	e, refused := r.entry(ctx, r.Store, s.UserID, customerID, by)
	if refused == nil {
		if _, err := r.Rates.Spend(ctx, &e.Principal, quota.RequestsPerMinute, 1, r.RequestsPerMinute); err != nil {
			return nil, err
		}
	}
	reused := false
	err = r.changeSession(ctx, s, t, func(ch *changes, held *db.HeldSession) error {
		current := held.Generation == t.Generation
		if reused = !current && !held.Late; reused {
			return ch.endSession(ctx, held, r.from(ctx, audit.None().With("reason", "a refresh token was used twice")))
		}
		if refused == nil && e.chosen.CustomerID != held.CustomerID { // which the person may have been taken out of until it was held
			e, refused = r.entry(ctx, ch.tx, s.UserID, customerID, by)
		}
		if refused != nil { // which is told to nobody whose token ends the session
			return refused
		}
		if current {
			held.Generation++
		}
		t = secret.NewSessionToken(key, held.ID, held.Generation)
		return r.useSession(ctx, ch, held, e, current)
	})
	if err == nil && reused {
		err = errSession
	}
	if err != nil {
		return nil, err
	}
	return r.sessionPayload(ctx, e, &s.Session, t)
}

// useSession writes down that a session was used, and by which company it goes on; another than before is signed in to.
func (r *Resolver) useSession(ctx context.Context, ch *changes, s *db.HeldSession, e *entry, replaced bool) error {
	switched := s.CustomerID != e.chosen.CustomerID
	s.CustomerID, s.UserAgent, s.Address = e.chosen.CustomerID, r.UserAgent(ctx), r.ClientAddress(ctx)
	if err := ch.tx.UseSession(ctx, s.Session, replaced); err != nil || !switched {
		return err
	}
	return ch.signsIn(ctx, e, r.from(ctx, audit.None()).With("session", s.ID))
}

// EndSession ends the session of a refresh token. One that is no longer alive, or that there never was, is fine, too.
func (r *Resolver) EndSession(ctx context.Context, refresh string) error {
	t, s, _, err := r.sessionOf(ctx, refresh)
	if err == nil && s.Alive {
		err = r.changeSession(access.WithBranch(ctx, s.BranchID), s, t, func(ch *changes, held *db.HeldSession) error {
			return ch.endSession(ctx, held, r.from(ctx, audit.None()))
		})
	}
	if errors.Is(err, errSession) {
		return nil
	}
	return err
}

// sessionOf gives the session that a refresh token was made for, and the key of its tokens.
func (r *Resolver) sessionOf(ctx context.Context, refresh string) (t secret.SessionToken, s *db.HeldSession, key []byte, err error) {
	var v check
	v.line("refreshToken", refresh, maxName)
	if err := v.err(); err != nil {
		return t, nil, nil, err
	}
	t, ok := secret.ParseSessionToken(refresh)
	if !ok {
		return t, nil, nil, errSession
	}
	if err := r.Store.AtHome(); err != nil { // keys of sessions stay there
		return t, nil, nil, err
	}
	s, err = r.Store.Session(ctx, t.SessionID)
	if errors.Is(err, db.ErrNoRows) {
		err = errSession
	}
	if err != nil {
		return t, nil, nil, err
	}
	if key, err = db.SealedSessionKeys.Open(r.Box, s.ID, s.Key); err == nil && !t.MadeWith(key) {
		err = errSession
	}
	return t, s, key, err
}

// changeSession changes a session that is alive, for its user.
func (r *Resolver) changeSession(ctx context.Context, s *db.HeldSession, t secret.SessionToken, do func(*changes, *db.HeldSession) error) error {
	return r.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		ch.person = s.UserID
		// The user first, as whoever ends all of its sessions does.
		if _, err := tx.LockUser(ctx, s.UserID); errors.Is(err, db.ErrNoRows) {
			return errSession // the sessions of who was erased are gone
		} else if err != nil {
			return err
		}
		held, err := tx.SessionForUpdate(ctx, s.ID, t.Generation)
		if errors.Is(err, db.ErrNoRows) || err == nil && !held.Alive {
			return errSession
		}
		if err != nil {
			return err
		}
		return do(ch, held)
	})
}

// endSession ends a session that is held, and tells of it in the company that it was last in.
func (ch *changes) endSession(ctx context.Context, s *db.HeldSession, what audit.Changes) error {
	now, err := ch.tx.EndSession(ctx, s.ID)
	if err != nil {
		return err
	}
	ch.callers = append(ch.callers, s.UserID)
	return ch.audit(s.CustomerID, audit.SessionEnded, s, what.Value("endedAt", nil, now.EndedAt).With("user", s.UserID))
}

// person allows what only a person may do, with a token of a login. An API key acts for its user in
// one company, and may be in other hands there; how the user logs in everywhere is not its business.
func (r *Resolver) person(ctx context.Context, need *rule.Rule) (*caller, error) {
	c, err := r.may(ctx, need)
	if err == nil && !c.Login() {
		err = problem.Denied("this takes the token of a person's login (POST /auth/session or /auth/token), not of an API key")
	}
	return c, err
}

// MeEdges resolves what belongs to the caller alone.
type MeEdges struct{ *Resolver }

// HasPassword tells whether the person who has logged in has a password; false for an API key.
func (e MeEdges) HasPassword(ctx context.Context, _ *Me) (bool, error) {
	c, err := e.may(ctx, rule.MeHasPassword)
	if err != nil || !c.Login() {
		return false, err
	}
	own, err := e.Store.Credentials(ctx, c.Email)
	if err != nil {
		return false, err
	}
	return own.PasswordHash != nil, nil
}

// Sessions are the live sessions of the person who has logged in, by id; none for an API key. Who has come from an identity provider sees those
// that come from it.
func (e MeEdges) Sessions(ctx context.Context, _ *Me) ([]*db.Session, error) {
	c, err := e.may(ctx, rule.MeSessions)
	if err != nil || !c.Login() {
		return nil, err
	}
	if err := e.Store.AtHome(); err != nil {
		return nil, err // as where a session is from stays there
	}
	return e.Store.SessionsOf(ctx, c.UserID, c.ProviderID, 0, 0)
}

// ListSessions gives each live session of the person who has logged in, by id. after is the cursor of an earlier call;
// limit 0 gives all.
func (q Query) ListSessions(ctx context.Context, after paging.Cursor, limit int, each func(*db.Session) error) error {
	c, err := q.may(ctx, rule.MeSessions)
	if err != nil || !c.Login() {
		return err
	}
	if err := q.Store.AtHome(); err != nil {
		return err
	}
	rows, err := q.Store.SessionsOf(ctx, c.UserID, c.ProviderID, lastID(after), limit)
	for _, s := range rows {
		if err := each(s); err != nil {
			return err
		}
	}
	return err
}

// GetSession gives a live session of the caller's own.
func (q Query) GetSession(ctx context.Context, id globalid.ID) (*db.Session, error) {
	c, err := q.may(ctx, rule.MeSessions)
	if err != nil {
		return nil, err
	}
	if err := q.Store.AtHome(); err != nil {
		return nil, err
	}
	s, err := q.Store.Session(ctx, id.Int)
	if err == nil && (!s.Alive || !c.owns(&s.Session)) {
		err = db.ErrNoRows
	}
	return &s.Session, missing(err, "session", id.Int)
}

func (q Query) sessionNode(ctx context.Context, id globalid.ID) (*db.Session, error) {
	return q.GetSession(ctx, id)
}

// SessionEdges resolves what depends on who asks.
type SessionEdges struct{ *Resolver }

// Current tells the session that the caller's token belongs to.
func (SessionEdges) Current(ctx context.Context, obj *db.Session) (bool, error) {
	p := access.PrincipalOf(ctx)
	return p != nil && p.SessionID == obj.ID, nil
}

// RevokeSessionInput names a session of the caller's to end.
type RevokeSessionInput struct{ ID globalid.ID }

// RevokeSessionPayload is what RevokeSession ended.
type RevokeSessionPayload struct{ Session *db.Session }

// RevokeSession ends a session of the caller's: its access tokens stop working at the next request.
func (m Mutation) RevokeSession(ctx context.Context, in RevokeSessionInput) (*RevokeSessionPayload, error) {
	c, err := m.person(ctx, rule.RevokeSession)
	if err != nil {
		return nil, err
	}
	n, err := in.ID.Of("Session", "id")
	if err != nil {
		return nil, err
	}
	out := &RevokeSessionPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if _, err := tx.LockUser(ctx, c.UserID); err != nil {
			return missing(err, "session", n)
		}
		held, err := tx.SessionForUpdate(ctx, n, 0)
		if err == nil && (!held.Alive || !c.owns(&held.Session)) {
			err = db.ErrNoRows
		}
		if err != nil {
			return missing(err, "session", n)
		}
		out.Session = &held.Session
		return ch.endSession(ctx, held, m.from(ctx, audit.None()))
	})
	return out, err
}

// RevokeOtherSessionsInput says which sessions of the caller's end.
type RevokeOtherSessionsInput struct{ IncludeCurrent *bool }

// RevokeOtherSessionsPayload is what RevokeOtherSessions ended.
type RevokeOtherSessionsPayload struct{ Sessions []*db.Session }

// RevokeOtherSessions ends all sessions of the caller's that it can see but the one that its token belongs to, unless that is to end, too.
func (m Mutation) RevokeOtherSessions(ctx context.Context, in RevokeOtherSessionsInput) (*RevokeOtherSessionsPayload, error) {
	c, err := m.person(ctx, rule.RevokeOtherSessions)
	if err != nil {
		return nil, err
	}
	but := c.SessionID
	if or(in.IncludeCurrent, false) {
		but = 0
	}
	out := &RevokeOtherSessionsPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if _, err := tx.LockUser(ctx, c.UserID); err != nil {
			return missing(err, "user", c.UserID)
		}
		if out.Sessions, err = ch.endSessions(ctx, c.UserID, c.ProviderID, but); err != nil {
			return err
		}
		what := audit.None().With("sessions", len(out.Sessions)).With("includeCurrent", or(in.IncludeCurrent, false))
		return ch.audit(c.CustomerID, audit.UserSessionsEnded, &db.User{ID: c.UserID}, m.from(ctx, what))
	})
	return out, err
}

// endSessionsIn ends those sessions of a user that are in a company, or, with 0, all; the event of the change tells of it.
func (ch *changes) endSessionsIn(ctx context.Context, userID, customerID int64) error {
	ch.callers = append(ch.callers, userID)
	return ch.tx.EndSessionsIn(ctx, userID, customerID)
}

// endSessions ends a user's sessions, or those that come from a provider, 0 for any, but one, 0 for none; the event of the change tells of it.
func (ch *changes) endSessions(ctx context.Context, userID, providerID, but int64) ([]*db.Session, error) {
	ch.callers = append(ch.callers, userID)
	return ch.tx.EndSessions(ctx, userID, providerID, but)
}
