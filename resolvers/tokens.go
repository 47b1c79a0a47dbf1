package resolvers

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/secret"
	"canopy/internal/token"
)

// TokenLife is how long an access token is valid. The next one is asked for anew, or by a session.
const TokenLife = 15 * time.Minute

// loginClient is the client_id claim of a person's login, which is no API key's.
const loginClient = "canopy-login"

// TokenRequest is a client_credentials grant (RFC 6749, section 4.4) with the platform's own
// parameters: the application, and the account to act on.
type TokenRequest struct {
	GrantType    string
	ClientID     string
	ClientSecret string
	TargetApp    string
	AccountID    *int64
}

// IssuedToken is an access token with its life in seconds.
type IssuedToken struct {
	AccessToken string
	ExpiresIn   int
}

// OAuthError is a refused token request (RFC 6749, section 5.2).
type OAuthError struct {
	Code        string
	Description string
	// Unauthorized: the client did not authenticate, a 401; other refusals are a 400.
	Unauthorized bool
}

func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

var errClient = &OAuthError{Code: "invalid_client", Description: "the client id or the client secret is wrong", Unauthorized: true}

// ExchangeToken issues an access token for an API key: for the account asked for, or the eligible
// one of the lowest id in the key's company. Refusals are *OAuthError, and 429 past the key's rate.
func (r *Resolver) ExchangeToken(ctx context.Context, req TokenRequest) (*IssuedToken, error) {
	app, err := tokenTarget(req)
	if err != nil {
		return nil, err
	}
	if err := r.late(); err != nil {
		return nil, err
	}
	var accountID int64
	if req.AccountID != nil {
		accountID = *req.AccountID
	}
	x, err := r.Store.FindExchange(ctx, req.ClientID, app, accountID)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errClient
	}
	if err != nil {
		return nil, err
	}
	if !secret.Matches(req.ClientSecret, x.Hashes) {
		return nil, errClient
	}
	if x.Dead {
		return nil, &OAuthError{Code: "invalid_client", Description: "the API key was revoked or has expired", Unauthorized: true}
	}
	if x.AccountID == 0 || req.AccountID != nil && x.AccountID != *req.AccountID {
		return nil, &OAuthError{Code: "unauthorized_client", Description: "the key's user has no enabled permission on such an account of the application " + app.String()}
	}
	if x.Suspended {
		return nil, &OAuthError{Code: "unauthorized_client", Description: errSuspended.Detail}
	}
	if !r.comesFrom(ctx, x.AllowedAddresses) {
		return nil, &OAuthError{Code: "unauthorized_client", Description: "the key does not work from this address"}
	}
	if err := r.Rates.spendToken(ctx, x, r.RequestsPerMinute); err != nil {
		return nil, err
	}
	r.touchExchange(ctx, x)
	signed, err := r.sign(token.Claims{
		Audience: []string{app.String()}, Subject: strconv.FormatInt(x.UserID, 10), ClientID: req.ClientID,
		CustomerID: x.CustomerID, AccountID: x.AccountID, Scope: strings.Join(x.Rights().Names(), " "),
	})
	return &IssuedToken{signed, int(TokenLife / time.Second)}, err
}

// tokenTarget checks the parameters that need no look-up.
func tokenTarget(req TokenRequest) (access.App, error) {
	switch {
	case req.GrantType == "":
		return 0, &OAuthError{Code: "invalid_request", Description: "grant_type is required"}
	case req.GrantType != "client_credentials":
		return 0, &OAuthError{Code: "unsupported_grant_type", Description: "the only grant_type is client_credentials"}
	case req.ClientID == "" || req.ClientSecret == "":
		return 0, &OAuthError{Code: "invalid_client", Description: "client_id and client_secret are required", Unauthorized: true}
	case !secret.IsClientID(req.ClientID) || !secret.CheckAPISecret(req.ClientSecret):
		return 0, errClient
	case req.TargetApp == "":
		return 0, &OAuthError{Code: "invalid_request", Description: "target_app is required: tenant, assistant or builder"}
	}
	app, ok := access.ParseApp(req.TargetApp)
	if !ok {
		return 0, &OAuthError{Code: "invalid_target", Description: "target_app is tenant, assistant or builder"}
	}
	return app, nil
}

func (r *Resolver) touchExchange(ctx context.Context, x *db.Exchange) {
	p := access.Principal{KeyID: x.KeyID, KeyStale: x.KeyStale}
	r.touch(ctx, &p, &access.Grant{PermissionID: x.PermissionID, Stale: x.Stale})
}

// sign signs an access token, by default of the platform's usual life.
func (r *Resolver) sign(c token.Claims) (string, error) {
	key, ok := r.Keys.Signing(time.Now())
	if !ok {
		return "", problem.Away("token signing", errors.New("no signing key is active"))
	}
	c.Issuer, c.ID = r.Issuer(), newTokenID()
	if c.IssuedAt.IsZero() {
		c.IssuedAt = time.Now()
	}
	if c.ExpiresAt.IsZero() {
		c.ExpiresAt = c.IssuedAt.Add(TokenLife)
	}
	return token.Sign(key, c)
}

// newTokenID makes a jti. It tells tokens apart; nothing rests on it being hard to guess.
func newTokenID() string {
	return strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}

// Issuer is the iss claim of the platform's tokens.
func (r *Resolver) Issuer() string { return strings.TrimRight(r.PublicURL.String(), "/") }

// Admit puts the caller of a request into its context, from the value of its Authorization
// header; without one the context stays as it is. Errors are 401, and 429 past the key's rate.
func (r *Resolver) Admit(ctx context.Context, authorization string) (context.Context, error) {
	if authorization == "" {
		return ctx, nil
	}
	scheme, bearer, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || bearer == "" {
		return ctx, problem.Unauthorized("the Authorization header must be: Bearer <access token>")
	}
	claims, err := r.Verifier.Verify(strings.TrimSpace(bearer))
	if err != nil {
		return ctx, problem.Unauthorized("the access token is expired, malformed or badly signed").With("invalid_token").Because(err)
	}
	p, err := r.principal(ctx, claims)
	if err != nil {
		return ctx, err
	}
	if !hop.Counted(ctx) {
		if _, err := r.Rates.Spend(ctx, p, quota.RequestsPerMinute, 1, r.RequestsPerMinute); err != nil {
			return ctx, err
		}
	}
	return admitted(ctx, claims, p), nil
}

// principal looks up who a token stands for, as the database has it now: a permission that is
// gone or disabled, a revoked key, a disabled account, a suspended company and a signing key that was withdrawn stop working at once.
func (r *Resolver) principal(ctx context.Context, claims *token.Claims) (*access.Principal, error) {
	if err := r.late(); err != nil {
		return nil, err
	}
	serves := [len(access.Principal{}.Serves)]bool{}
	var first access.App
	for i, aud := range claims.Audience {
		app, ok := access.ParseApp(aud)
		if !ok {
			return nil, problem.Unauthorized("the access token is for another service").With("invalid_token")
		}
		if i == 0 {
			first = app
		}
		serves[app] = true
	}
	ctx = r.Store.ForCompany(ctx, claims.CustomerID)
	c, err := callerOf(ctx, r.Store, claims, first)
	for end := time.Now().Add(replicated); errors.Is(err, db.ErrNoRows) && r.mayLack(claims.IssuedAt); {
		if time.Now().After(end) {
			return nil, notYetHere()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(replicatedEvery):
		}
		c, err = callerOf(ctx, r.Store, claims, first)
	}
	if err := r.holds(ctx, claims, c, err); err != nil {
		return nil, err
	}
	c.Serves, c.Expires = serves, claims.ExpiresAt
	r.Store.KnowBranch(claims.CustomerID, c.Lineage.Branch())
	return &c.Principal, nil
}

// holds tells whether a token holds whose caller was looked up, with an error.
func (r *Resolver) holds(ctx context.Context, claims *token.Claims, c *db.Caller, err error) error {
	switch {
	case errors.Is(err, db.ErrNoRows), err == nil && c.Dead:
		return problem.Unauthorized("the access token no longer works: its API key was revoked, its session ended, or its password changed").With("invalid_token")
	case err != nil:
		return err
	case c.Withdrawn:
		r.Verifier.Withdrawn(claims.KeyID)
		return problem.Unauthorized("the access token no longer works: the key that signed it was withdrawn").With("invalid_token")
	case !r.comesFrom(ctx, c.AllowedAddresses):
		return problem.Denied("the API key does not work from this address").With("address_not_allowed")
	case c.Suspended:
		return errSuspended
	}
	return nil
}

// replicated is how long a cell waits for a caller whom it does not know yet: the session or the key was made at the home a moment ago, and is on its way. The cell looks every
// replicatedEvery until then.
const (
	replicated      = 3 * time.Second
	replicatedEvery = 20 * time.Millisecond
)

// callerOf looks up who a token stands for.
func callerOf(ctx context.Context, s *db.Store, claims *token.Claims, first access.App) (*db.Caller, error) {
	if claims.ClientID != loginClient {
		return s.KeyCaller(ctx, claims.ClientID, first, claims.AccountID, claims.KeyID)
	}
	userID, err := strconv.ParseInt(claims.Subject, 10, 64)
	if err != nil {
		return nil, err
	}
	return s.LoginCaller(ctx, db.LoginToken{
		UserID: userID, CustomerID: claims.CustomerID, SessionID: claims.SessionID, IssuedAt: claims.IssuedAt, KeyID: claims.KeyID,
	})
}

// mayLack tells whether what was made at the home at a moment may not be known here yet.
func (r *Resolver) mayLack(made time.Time) bool { return r.Lacks != nil && r.Lacks(made) }

// ReasonLate is how programs know that a cell does not know yet what the home does.
const ReasonLate = "late"

// notYetHere refuses a caller whose session or key is still on its way: nobody can tell it from one that the home does not have either, and a client would forget a good one that is said to have ended.
func notYetHere() error {
	p := problem.Away("the directory", errors.New("the replica lacks the caller")).With(ReasonLate)
	p.Detail = "this cell has not heard from the home yet of the session or the key that the access token is of"
	return p
}

// late refuses callers where there may be revocations that are not known here.
func (r *Resolver) late() error {
	if r.Late == nil {
		return nil
	}
	return r.Late()
}

// Expired refuses a token that has run out. Its cause is token.ErrExpired: a fresh one would do.
func Expired() *problem.Error {
	return problem.Unauthorized("the access token has expired").With("invalid_token").Because(token.ErrExpired)
}

// JWKS is the document of the keys that access tokens are signed with.
func (r *Resolver) JWKS() []byte { return r.Keys.JWKS() }

// Metadata is the document of the token endpoint (RFC 8414).
func (r *Resolver) Metadata() []byte { return token.Metadata(r.Issuer(), access.FeatureNames()) }
