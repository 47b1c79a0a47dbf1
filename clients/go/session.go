package canopy

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// SignIn is how a person begins a session.
type SignIn struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	// OTP is the code of the authenticator, or a recovery code. Without it whoever has two factors is refused with the code otp_required.
	OTP string `json:"otp,omitempty"`
	// CustomerID is the company to act in; 0 is the one that the person has belonged to longest.
	CustomerID int64 `json:"customerId,omitempty"`
}

// Signed is what a session was given last.
type Signed struct {
	Token     string `json:"token"`
	ExpiresIn int    `json:"expiresIn"`
	// RefreshToken renews the session, once; the next answer has the next one.
	RefreshToken string `json:"refreshToken"`
	// CustomerOptions are the companies that the person may act in.
	CustomerOptions []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	} `json:"customerOptions"`
}

// Open begins a person's session. Its tokens are good for every application that the person has in the company.
func (c *Client) Open(ctx context.Context, in SignIn) (*Signed, error) {
	return c.session(ctx, "/auth/session", struct {
		SignIn
		Cookie bool `json:"cookie"`
	}{in, false})
}

// Renew gives a session's next access token and its next refresh token.
func (c *Client) Renew(ctx context.Context, refreshToken string) (*Signed, error) {
	return c.session(ctx, "/auth/session/refresh", map[string]string{"refreshToken": refreshToken})
}

// End ends a session: its access tokens stop working at the next request.
func (c *Client) End(ctx context.Context, refreshToken string) error {
	r, err := jsonRequest(http.MethodDelete, "/auth/session", map[string]string{"refreshToken": refreshToken})
	if err != nil {
		return err
	}
	return c.send(ctx, r, nil)
}

func (c *Client) session(ctx context.Context, path string, in any) (*Signed, error) {
	signed := &Signed{}
	err := c.again(ctx, func() error {
		r, err := jsonRequest(http.MethodPost, path, in)
		if err != nil {
			return err
		}
		return c.send(ctx, r, signed)
	})
	return signed, err
}

// Session is the Login of a person in a program that runs on.
type Session struct {
	// Client begins and renews it; it needs the URL alone.
	Client *Client
	// Keep is told each next refresh token, so that another start of the program goes on with it; may be nil.
	Keep func(refreshToken string) error

	mu      sync.Mutex
	refresh string
	first   *Signed
}

// Start takes a session that was opened.
func (s *Session) Start(signed *Signed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.refresh = signed, signed.RefreshToken
}

// Resume takes up a session by the refresh token that was kept.
func (s *Session) Resume(refreshToken string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.refresh = nil, refreshToken
}

// Token gives the session's next access token.
func (s *Session) Token(ctx context.Context) (token string, expires time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	signed := s.first
	s.first = nil
	if signed == nil {
		if signed, err = s.Client.Renew(ctx, s.refresh); err != nil {
			return "", time.Time{}, err
		}
	}
	s.refresh = signed.RefreshToken
	if s.Keep != nil {
		if err := s.Keep(s.refresh); err != nil {
			return "", time.Time{}, err
		}
	}
	return signed.Token, signed.Expires(), nil
}

// Expires is when a token that was given just now ends.
func (s *Signed) Expires() time.Time { return time.Now().Add(time.Duration(s.ExpiresIn) * time.Second) }
