package sso

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"canopy/internal/secret"
)

// FreshFor is how long ago a sign-in at the provider may be that is to be fresh.
const FreshFor = 5 * time.Minute

// clockSkew is how far the clock of a provider may be ahead; tokenAge how old its word may be.
const (
	clockSkew = time.Minute
	tokenAge  = 10 * time.Minute
)

// Flow is what a sign-in is known by on its way: the state to the browser, the nonce to the ID token, the verifier to the code.
type Flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	// Fresh: the person has to prove itself anew.
	Fresh bool `json:"f,omitempty"`
}

// NewFlow begins a sign-in.
func NewFlow(fresh bool) Flow {
	return Flow{State: secret.NewLinkToken(), Nonce: secret.NewLinkToken(), Verifier: oauth2.GenerateVerifier(), Fresh: fresh}
}

// Begin gives the provider's address that the browser is sent to; hint is the person's address, where it is known.
func (c *Client) Begin(ctx context.Context, p Provider, f Flow, hint string) (string, error) {
	m, err := c.about(ctx, p)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)}
	if hint != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", hint))
	}
	if f.Fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return c.config(m, p).AuthCodeURL(f.State, options...), nil
}

// Answer is what a provider has sent the browser back with.
type Answer struct{ Code, Issuer string }

// Person is who has signed in, by the provider's word.
type Person struct {
	Subject string
	Email   string
	// EmailVerified: the provider vouches for the address.
	EmailVerified bool
	GivenName     string
	FamilyName    string
	Name          string
	// SID is the provider's name of its session; "" where it tells none.
	SID string
	// SignedInAt is when the person has proven itself to the provider, as far as that tells; otherwise now.
	SignedInAt time.Time
	IDToken    string
}

// claims are those that count; the library has checked the registered ones.
type claims struct {
	Subject         string   `json:"sub"`
	Email           string   `json:"email"`
	EmailVerified   truth    `json:"email_verified"`
	GivenName       string   `json:"given_name"`
	FamilyName      string   `json:"family_name"`
	Name            string   `json:"name"`
	SID             string   `json:"sid"`
	AuthTime        *float64 `json:"auth_time"`
	AuthorizedParty string   `json:"azp"`
}

// truth is a boolean that some providers write as a text. All else is false.
type truth bool

func (t *truth) UnmarshalJSON(raw []byte) error {
	*t = string(raw) == "true" || string(raw) == `"true"`
	return nil
}

// Finish turns the code of an answer into the person, unless something of it is not as it must be.
func (c *Client) Finish(ctx context.Context, p Provider, f Flow, a Answer) (*Person, error) {
	m, err := c.about(ctx, p)
	if err != nil {
		return nil, err
	}
	// RFC 9207: an answer of another provider than the one that was asked.
	if a.Issuer != "" && a.Issuer != p.Issuer || a.Issuer == "" && m.NamesIssuer {
		return nil, invalid("the answer comes from another provider than the one that was asked", nil)
	}
	if err := c.gate.Enter(ctx, p.Branch); err != nil {
		return nil, err
	}
	defer c.gate.Leave(p.Branch)
	ctx = oidc.ClientContext(ctx, c.http)
	got, err := c.config(m, p).Exchange(ctx, a.Code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, notExchanged(err)
	}
	raw, _ := got.Extra("id_token").(string)
	if raw == "" {
		return nil, invalid("the provider has given no ID token", nil)
	}
	token, err := m.provider.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, invalid(reasonOf(err), err)
	}
	var said claims
	if err := token.Claims(&said); err != nil {
		return nil, invalid("the ID token can't be read", err)
	}
	if err := judge(p, f, token, &said, got.AccessToken); err != nil {
		return nil, err
	}
	if said.Email == "" {
		if err := askMore(ctx, m, got, &said); err != nil {
			return nil, err
		}
	}
	return said.person(raw), nil
}

// reasonOf is what is wrong with an ID token.
func reasonOf(err error) string {
	var expired *oidc.TokenExpiredError
	if errors.As(err, &expired) {
		return "the ID token has expired"
	}
	return "the ID token is not one of this provider for this platform"
}

// judge holds an ID token to what the library leaves to its callers.
func judge(p Provider, f Flow, token *oidc.IDToken, said *claims, access string) error {
	now := time.Now()
	switch {
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1:
		return invalid("the ID token belongs to another sign-in", nil)
	case token.Subject == "" || len(token.Subject) > 255:
		return invalid("the ID token names nobody", nil)
	case len(token.Audience) > 1 && said.AuthorizedParty == "", said.AuthorizedParty != "" && said.AuthorizedParty != p.ClientID:
		return invalid("the ID token was made for another client", nil)
	case token.IssuedAt.After(now.Add(clockSkew)):
		return invalid("the ID token is from the future", nil)
	case token.IssuedAt.Before(now.Add(-tokenAge)):
		return invalid("the ID token is too old", nil)
	case token.AccessTokenHash != "" && token.VerifyAccessToken(access) != nil:
		return invalid("the ID token belongs to another access token", nil)
	case f.Fresh && (said.AuthTime == nil || now.Sub(said.authTime()) > FreshFor):
		return invalid("the provider has not asked the person to sign in anew", nil)
	}
	return nil
}

// askMore asks the provider for what the ID token does not say, of the same subject.
func askMore(ctx context.Context, m *metadata, got *oauth2.Token, said *claims) error {
	if m.provider.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := m.provider.UserInfo(ctx, oauth2.StaticTokenSource(got))
	if err != nil {
		return away(err)
	}
	if info.Subject != said.Subject {
		return invalid("the provider tells of another person", nil)
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return invalid("what the provider tells of the person can't be read", err)
	}
	said.Email, said.EmailVerified = more.Email, more.EmailVerified
	said.GivenName, said.FamilyName, said.Name = more.GivenName, more.FamilyName, more.Name
	return nil
}

func (s *claims) authTime() time.Time { return time.Unix(int64(*s.AuthTime), 0) }

func (s *claims) person(raw string) *Person {
	who := &Person{
		Subject: s.Subject, Email: s.Email, EmailVerified: bool(s.EmailVerified), GivenName: s.GivenName, FamilyName: s.FamilyName, Name: s.Name,
		SID: s.SID, SignedInAt: time.Now(), IDToken: raw,
	}
	if s.AuthTime != nil && s.authTime().Before(who.SignedInAt) {
		who.SignedInAt = s.authTime()
	}
	return who
}

// notExchanged tells a provider that has refused a code from one that can't be asked.
func notExchanged(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil && slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}, refused.Response.StatusCode) {
		if refused.ErrorCode == "invalid_client" {
			return &Error{ErrAway, "the provider does not know the client, or not its secret", err}
		}
		return &Error{ErrRefused, "the provider has refused the code: it has been used, or is too old", err}
	}
	return away(err)
}

// events are those of a token that signs out.
type logout struct {
	Events map[string]json.RawMessage `json:"events"`
	Nonce  *json.RawMessage           `json:"nonce"`
	SID    string                     `json:"sid"`
	ID     string                     `json:"jti"`
	Expiry *float64                   `json:"exp"`
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// SignedOut is who a provider has signed out: all sessions of a subject, or the one that SID names, which may come without its subject.
type SignedOut struct{ Subject, SID, ID string }

// SignedOut reads a token by which a provider tells that somebody has signed out there (OpenID Connect Back-Channel Logout 1.0).
func (c *Client) SignedOut(ctx context.Context, p Provider, raw string) (*SignedOut, error) {
	m, err := c.about(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := c.gate.Enter(ctx, p.Branch); err != nil {
		return nil, err
	}
	defer c.gate.Leave(p.Branch)
	// An expiry is not asked of it by older editions: what counts is when it was issued.
	token, err := m.provider.Verifier(&oidc.Config{ClientID: p.ClientID, SkipExpiryCheck: true}).Verify(oidc.ClientContext(ctx, c.http), raw)
	if err != nil {
		return nil, invalid("the token is not one of this provider for this platform", err)
	}
	var said logout
	if err := token.Claims(&said); err != nil {
		return nil, invalid("the token can't be read", err)
	}
	now := time.Now()
	switch {
	case said.Events[logoutEvent] == nil, said.Nonce != nil, said.ID == "", token.Subject == "" && said.SID == "":
		return nil, invalid("the token is not one that signs somebody out", nil)
	case token.IssuedAt.After(now.Add(clockSkew)), token.IssuedAt.Before(now.Add(-tokenAge)), said.Expiry != nil && time.Unix(int64(*said.Expiry), 0).Before(now):
		return nil, invalid("the token is too old, or from the future", nil)
	}
	return &SignedOut{token.Subject, said.SID, said.ID}, nil
}

// TokenAge is how long a token that signs out counts.
const TokenAge = tokenAge

// SignOut gives the provider's address at which the person signs out there, and which leads back; "" where it has none.
func (c *Client) SignOut(ctx context.Context, p Provider, idToken, back string) (string, error) {
	m, err := c.about(ctx, p)
	if err != nil || !secure(m.EndSessionEndpoint) {
		return "", err
	}
	return withQuery(m.EndSessionEndpoint, map[string]string{"id_token_hint": idToken, "client_id": p.ClientID, "post_logout_redirect_uri": back})
}
