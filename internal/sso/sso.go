// Package sso signs people in at OpenID Connect providers that others choose: authorization code flow with PKCE (OpenID Connect
// Core 1.0, RFC 7636), under the hardening of RFC 9700. It takes no provider's word but what it has signed itself, for this
// client, for this sign-in, just now. All requests to providers go by the rules of the package egress.
package sso

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/hashicorp/golang-lru/v2/expirable"
	"golang.org/x/oauth2"

	"canopy/internal/egress"
	"canopy/internal/share"
)

// CallbackPath is where providers send people back to; LogoutPath, with the provider's id below it, where they tell that somebody has
// signed out.
const (
	CallbackPath = "/auth/sso/callback"
	LogoutPath   = "/auth/sso/logout"
)

const (
	// knownFor is how long what a provider says of itself is believed, its keys included; awayFor how long one that does not answer is
	// left alone.
	knownFor = 10 * time.Minute
	awayFor  = 5 * time.Second
	// maxKnown bounds the providers that are known at once; places those that are asked at once.
	maxKnown = 1000
	places   = 64
)

// Provider is an identity provider, and this platform's registration there.
type Provider struct {
	// Branch is the branch of the company that has it, which its places are counted for.
	Branch                         int64
	Issuer, ClientID, ClientSecret string
}

// asked is what is asked of a provider's issuer at the same time, once for each branch: so nobody waits for another's turn.
type asked struct {
	branch int64
	issuer string
}

// The kinds of failures.
var (
	// ErrAway says that the provider does not answer, or not as one does.
	ErrAway = errors.New("the provider does not answer")
	// ErrInvalid says that what came is not to be believed.
	ErrInvalid = errors.New("the provider's answer is not valid")
	// ErrRefused says that the provider has refused, or the person has.
	ErrRefused = errors.New("the provider has refused")
)

// Error is a failure, with a sentence that may be shown.
type Error struct {
	Kind    error
	Message string
	Cause   error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }

func invalid(message string, cause error) error { return &Error{ErrInvalid, message, cause} }

// Client is the platform at its providers. It is safe for concurrent use.
type Client struct {
	http     *http.Client
	redirect string
	known    *expirable.LRU[string, *metadata]
	away     *expirable.LRU[string, error]
	together share.Together[asked, *metadata]
	gate     *share.Gate[int64]
}

// New makes a client for a platform that is reached at an address.
func New(out *egress.Client, public *url.URL) *Client {
	return &Client{
		http: &http.Client{
			Transport:     out.Transport(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		redirect: public.JoinPath(CallbackPath).String(),
		known:    expirable.NewLRU[string, *metadata](maxKnown, nil, knownFor),
		away:     expirable.NewLRU[string, error](maxKnown, nil, awayFor),
		gate:     share.NewGate[int64](places),
	}
}

// Redirect is the address that a provider has to know as the platform's.
func (c *Client) Redirect() string { return c.redirect }

// metadata is what a provider says of itself (OpenID Connect Discovery 1.0, RFC 8414).
type metadata struct {
	provider *oidc.Provider
	style    oauth2.AuthStyle

	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	EndSessionEndpoint    string   `json:"end_session_endpoint"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	NamesIssuer           bool     `json:"authorization_response_iss_parameter_supported"`
}

// about finds what a provider says of itself, and believes it for a while. Those of a branch who ask for the same at once ask once.
func (c *Client) about(ctx context.Context, p Provider) (*metadata, error) {
	if m, ok := c.known.Get(p.Issuer); ok {
		return m, nil
	}
	if err, ok := c.away.Get(p.Issuer); ok {
		return nil, err
	}
	m, err := c.together.Ask(ctx, asked{p.Branch, p.Issuer}, func(ctx context.Context) (*metadata, error) { return c.discover(ctx, p) })
	switch {
	case err == nil:
		c.known.Add(p.Issuer, m)
	case ctx.Err() == nil:
		c.away.Add(p.Issuer, err)
	}
	return m, err
}

func (c *Client) discover(ctx context.Context, p Provider) (*metadata, error) {
	if err := c.gate.Enter(ctx, p.Branch); err != nil {
		return nil, err
	}
	defer c.gate.Leave(p.Branch)
	// What is found fetches keys later on, for other requests than this one.
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), p.Issuer)
	if err != nil {
		return nil, away(err)
	}
	m := &metadata{provider: found}
	if err := found.Claims(m); err != nil {
		return nil, away(err)
	}
	for _, endpoint := range []string{m.AuthorizationEndpoint, m.TokenEndpoint} {
		if !secure(endpoint) {
			return nil, &Error{ErrAway, "the provider has an endpoint that is not an https address", nil}
		}
	}
	switch {
	case len(m.AuthMethods) == 0, slices.Contains(m.AuthMethods, "client_secret_basic"):
		m.style = oauth2.AuthStyleInHeader
	case slices.Contains(m.AuthMethods, "client_secret_post"):
		m.style = oauth2.AuthStyleInParams
	default:
		return nil, &Error{ErrAway, "the provider takes no client secret: it has to offer client_secret_basic or client_secret_post", nil}
	}
	return m, nil
}

// away says that a provider can't be asked, and why as far as that may be told.
func away(err error) error {
	var known *egress.Error
	if errors.As(err, &known) {
		return &Error{ErrAway, "the provider can't be reached: " + known.Message, err}
	}
	return &Error{ErrAway, "the provider's answer is not that of an OpenID Connect provider of this issuer", err}
}

// secure tells an address that a browser may be sent to.
func secure(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

func (c *Client) config(m *metadata, p Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: c.redirect, Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
		Endpoint: oauth2.Endpoint{AuthURL: m.AuthorizationEndpoint, TokenURL: m.TokenEndpoint, AuthStyle: m.style},
	}
}
