package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// sessionCookie has a session's refresh token in browsers, which send it to sessionPath and what is below alone.
const (
	sessionCookie = "canopy_session"
	sessionPath   = "/auth/session"
)

type openSessionInput struct {
	Body struct {
		Email      string         `json:"email" doc:"The user's e-mail address"`
		Password   string         `json:"password" doc:"The user's password"`
		CustomerID *int64         `json:"customerId,omitempty" doc:"The company to log in to; without it, the one that the user has belonged to longest"`
		OTP        *string        `json:"otp,omitempty" example:"123456" doc:"The current code of the user's authenticator, or a recovery code, where two-factor is on"`
		Passkey    *PasskeyAnswer `json:"passkey,omitempty" doc:"A passkey in place of the code, as POST /auth/passkey asks for it"`
		Cookie     *bool          `json:"cookie,omitempty" default:"true" doc:"Whether the refresh token goes into the cookie canopy_session, for pages, or else into the answer, for programs"`
	} `nameHint:"OpenSessionRequest"`
}

// sessionInput names a session by the cookie, or by a refresh token, which goes first.
type sessionInput struct {
	Cookie string `cookie:"canopy_session" doc:"The refresh token of a page"`
	Body   *struct {
		CustomerID   *int64  `json:"customerId,omitempty" doc:"The company to go on in; by default the one that the session was last in"`
		RefreshToken *string `json:"refreshToken,omitempty" doc:"The refresh token of a program; a page has it in its cookie"`
	} `nameHint:"RefreshSessionRequest"`
}

type endSessionInput struct {
	Cookie string `cookie:"canopy_session" doc:"The refresh token of a page"`
	Body   *struct {
		RefreshToken *string `json:"refreshToken,omitempty" doc:"The refresh token of a program; a page has it in its cookie"`
	} `nameHint:"EndSessionRequest"`
}

type sessionAnswer struct {
	LoginAnswer
	RefreshToken string `json:"refreshToken,omitempty" doc:"The token to renew the session with, once; only where it is not in the cookie"`
}

// WithCookie is an answer that sets the cookie, or takes it away.
type WithCookie struct {
	SetCookie string `header:"Set-Cookie" doc:"The refresh token of a page"`
}

type openedSession struct {
	WithCookie
	Body sessionAnswer
}

// session is a person's login that renews itself.
type session struct {
	ID         int64     `json:"id"`
	CreatedAt  time.Time `json:"createdAt" doc:"When the person signed in"`
	LastUsedAt time.Time `json:"lastUsedAt" doc:"When it was last renewed"`
	UserAgent  string    `json:"userAgent" doc:"The program that it was last renewed from, by its own word"`
	Address    string    `json:"address" doc:"The address that it was last renewed from"`
	Current    bool      `json:"current" doc:"It is the session that the caller's token belongs to"`
}

// SessionPath names a session in the path.
type SessionPath struct {
	ID int64 `path:"id" doc:"The session's id"`
}

type endSessionsInput struct {
	IncludeCurrent bool `query:"includeCurrent" doc:"Whether the session that the token belongs to ends, too"`
}

func (a *api) registerSessions() {
	refusals := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}
	add(a, operation{
		id: "openSession", method: http.MethodPost, path: sessionPath, tag: tagLogin, public: true, own: true, errors: refusals,
		summary:     "Begin a session",
		description: "Logs in as POST /auth/token does, and gives a refresh token beside the access token: in the cookie canopy_session (HttpOnly, SameSite=Strict), or in the answer. A session ends 14 days after its last use, and after 90 days.",
	}, a.openSession)
	add(a, operation{
		id: "refreshSession", method: http.MethodPost, path: sessionPath + "/refresh", tag: tagLogin, public: true, own: true, errors: refusals,
		summary:     "Renew a session",
		description: "Gives the next access token and the next refresh token, also for another company. A refresh token works once; within ten seconds an old one gets the one in its place again, and after that it ends the session. 401 session_ended asks for a new login.",
	}, a.refreshSession)
	add(a, operation{
		id: "endSession", method: http.MethodDelete, path: sessionPath, tag: tagLogin, public: true, own: true, errors: []int{http.StatusForbidden},
		summary: "Sign out", description: "Ends the session of a refresh token, and takes the cookie away. Its access tokens stop working at the next request.",
	}, a.endSession)
	addList(a, operation{
		id: "listSessions", rule: rule.MeSessions, path: "/v1/sessions", tag: tagLogin,
		summary: "List the caller's sessions", description: "The live sessions of the person who has logged in, by id; none for an API key.",
	}, 1, func(ctx context.Context, _ *Paging, q query, each emit[session]) error {
		return a.queries().ListSessions(ctx, q.after, q.limit, func(s *db.Session) error {
			return each(a.session(ctx, s), paging.IDs(s.ID))
		})
	})
	add(a, operation{
		id: "getSession", rule: rule.MeSessions, method: http.MethodGet, path: "/v1/sessions/{id}", tag: tagLogin, errors: []int{http.StatusNotFound},
		summary: "Get a session", description: "A live session of the caller's own.",
	}, func(ctx context.Context, in *SessionPath) (*one[session], error) {
		s, err := a.queries().GetSession(ctx, globalid.ID{Int: in.ID})
		if err != nil {
			return nil, err
		}
		return &one[session]{a.session(ctx, s)}, nil
	})
	add(a, operation{
		id: "revokeSession", rule: rule.RevokeSession, method: http.MethodDelete, path: "/v1/sessions/{id}", tag: tagLogin, errors: []int{http.StatusNotFound},
		summary: "End a session", description: "Ends a session of the caller's own: its access tokens stop working at the next request. For a token of a person's login.",
	}, func(ctx context.Context, in *SessionPath) (*struct{}, error) {
		_, err := a.mutations().RevokeSession(ctx, resolvers.RevokeSessionInput{ID: globalid.ID{Int: in.ID}})
		return nil, err
	})
	add(a, operation{
		id: "revokeOtherSessions", rule: rule.RevokeOtherSessions, method: http.MethodDelete, path: "/v1/sessions", tag: tagLogin, errors: []int{http.StatusNotFound},
		summary: "End the other sessions", description: "Ends all sessions of the caller's but the one that the token belongs to. For a token of a person's login.",
	}, func(ctx context.Context, in *endSessionsInput) (*struct{}, error) {
		_, err := a.mutations().RevokeOtherSessions(ctx, resolvers.RevokeOtherSessionsInput{IncludeCurrent: &in.IncludeCurrent})
		return nil, err
	})
}

func (a *api) session(ctx context.Context, s *db.Session) session {
	current, _ := resolvers.SessionEdges{Resolver: a.r}.Current(ctx, s)
	return session{
		ID: s.ID, CreatedAt: s.CreatedAt.UTC(), LastUsedAt: s.LastUsedAt.UTC(), UserAgent: s.UserAgent, Address: s.Address,
		Current: current,
	}
}

func (a *api) openSession(ctx context.Context, in *openSessionInput) (*openedSession, error) {
	b := in.Body
	got, err := a.r.OpenSession(ctx, resolvers.LoginInput{
		Email: b.Email, Password: b.Password, CustomerID: optionalID(b.CustomerID), SecondFactor: resolvers.SecondFactor{OTP: b.OTP, Passkey: b.Passkey.input()},
	})
	return a.opened(got, b.Cookie == nil || *b.Cookie, err)
}

func (a *api) refreshSession(ctx context.Context, in *sessionInput) (*openedSession, error) {
	var customerID *int64
	var token *string
	if in.Body != nil {
		customerID, token = in.Body.CustomerID, in.Body.RefreshToken
	}
	refresh, byCookie := refreshToken(in.Cookie, token)
	got, err := a.r.RefreshSession(ctx, refresh, optionalID(customerID))
	return a.opened(got, byCookie, err)
}

func (a *api) endSession(ctx context.Context, in *endSessionInput) (*WithCookie, error) {
	var token *string
	if in.Body != nil {
		token = in.Body.RefreshToken
	}
	refresh, byCookie := refreshToken(in.Cookie, token)
	if err := a.r.EndSession(ctx, refresh); err != nil || !byCookie {
		return nil, err
	}
	return &WithCookie{a.cookie("", -1)}, nil
}

// refreshToken is that of the body, or else that of the cookie.
func refreshToken(cookie string, body *string) (token string, byCookie bool) {
	if body != nil {
		return *body, false
	}
	return cookie, true
}

// opened tells of a session with its refresh token where it was asked for.
func (a *api) opened(got *resolvers.SessionPayload, byCookie bool, err error) (*openedSession, error) {
	if err != nil {
		return nil, err
	}
	out := &openedSession{Body: sessionAnswer{LoginAnswer: loginAnswerOf(got.LoginPayload)}}
	if byCookie {
		out.SetCookie = a.cookie(got.RefreshToken, time.Until(got.IdleEnd))
	} else {
		out.Body.RefreshToken = got.RefreshToken
	}
	return out, nil
}

// cookie is the value of Set-Cookie; a life below 0 takes the cookie away.
func (a *api) cookie(value string, life time.Duration) string {
	c := http.Cookie{
		Name: sessionCookie, Value: value, Path: sessionPath, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(a.base, "https:"), MaxAge: int(life / time.Second),
	}
	if life < 0 {
		c.MaxAge = -1
	}
	return c.String()
}

// fromHere refuses what a page of another origin asks of an operation that the browser's cookie serves.
func (a *api) fromHere(hc huma.Context, next func(huma.Context)) {
	// Where another cell has passed the request on, it has looked at that.
	if own, _ := hc.Operation().Metadata[ownKey].(bool); own && hop.By(hc.Context()) == "" {
		if r, _ := humago.Unwrap(hc); a.own.Check(r) != nil && !a.origins.Has(r.Header.Get("Origin")) {
			respond(hc, problemOf(hc.Context(), problem.Denied("this is for pages of the platform itself, and of the origins that it knows").With("cross_origin")))
			return
		}
	}
	next(hc)
}

// ownOrigin lets pages of the platform through, whatever it is reached by. A malformed address is none.
func ownOrigin(base string) *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	scheme, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	_ = p.AddTrustedOrigin(scheme + "://" + host)
	return p
}
