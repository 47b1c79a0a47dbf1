package resolvers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/secret"
	"canopy/internal/sso"
	"canopy/internal/unseen"
)

// People sign in at identity providers. Whoever comes back from one is let in by what the provider has signed, in the companies that the
// provider serves, and nowhere else.

// SignOnLife is how long a sign-in at a provider may take.
const SignOnLife = 10 * time.Minute

// The reasons for which somebody who signs in at a provider is not let in.
const (
	ssoUnknown    = "sso_unknown"
	ssoState      = "sso_state"
	ssoRefused    = "sso_refused"
	ssoInvalid    = "sso_invalid"
	ssoAway       = "sso_away"
	ssoUnverified = "sso_unverified"
	ssoDomain     = "sso_domain"
	ssoMismatch   = "sso_mismatch"
	ssoWaiting    = "sso_waiting"
)

// BeginSignOnInput says where somebody wants to sign in: at the provider of an address's domain, or at one that is named.
type BeginSignOnInput struct {
	Email      string
	ProviderID *globalid.ID
	// CustomerID is the company to sign in to.
	CustomerID *globalid.ID
	// Return is the page of this platform to go to afterwards.
	Return string
	// Fresh has the provider ask the person anew. Try lets nobody in, and tells what the provider says. Look asks which way there is: that there is no
	// provider is an answer then, in which the URL is "".
	Fresh, Try, Look bool
}

// BegunSignOn is where the browser goes, and what it has to keep. TriedAt is the page that a try leads back to, also where nothing has begun; ""
// where it is none.
type BegunSignOn struct{ URL, State, Cookie, TriedAt string }

// signOn is what a browser keeps, sealed, while its person signs in.
type signOn struct {
	sso.Flow
	ProviderID int64  `json:"p"`
	CustomerID int64  `json:"c,omitempty"`
	Return     string `json:"r"`
	Try        bool   `json:"t,omitempty"`
	Expires    int64  `json:"e"`
}

// BeginSignOn sends somebody to an identity provider. Anyone may call it, and learns which provider speaks for a domain, and nothing of
// who has which address.
func (r *Resolver) BeginSignOn(ctx context.Context, in BeginSignOnInput) (*BegunSignOn, error) {
	out := &BegunSignOn{}
	back, err := ownPath(in.Return)
	if err != nil {
		return out, err
	}
	if in.Try {
		out.TriedAt = back
	}
	return out, r.beginSignOn(ctx, in, back, out)
}

// beginSignOn begins it, for somebody who goes on at a page of the platform's.
func (r *Resolver) beginSignOn(ctx context.Context, in BeginSignOnInput, back string, out *BegunSignOn) error {
	// Whoever begins has tried nothing yet, and takes no place of its network for as long as the provider takes to answer.
	looked, done := context.WithCancel(ctx)
	_, err := r.tryNetwork(looked, trySignOn)
	done()
	if err != nil {
		return err
	}
	p, err := r.providerFor(ctx, in)
	if in.Look && err != nil && problem.From(err).PublicCode() == ssoUnknown {
		return nil
	}
	if err != nil {
		return err
	}
	f := signOn{Flow: sso.NewFlow(in.Fresh), ProviderID: p.ID, Return: back, Try: in.Try, Expires: time.Now().Add(SignOnLife).Unix()}
	if in.CustomerID != nil {
		if f.CustomerID, err = in.CustomerID.Of("Customer", "customerId"); err != nil {
			return err
		}
	}
	at, err := r.registration(p)
	if err != nil {
		return err
	}
	if out.URL, err = r.Providers.Begin(ctx, at, f.Flow, in.Email); err != nil {
		return signOnFailure(err)
	}
	plain, err := json.Marshal(f)
	out.State, out.Cookie = f.State, base64.RawURLEncoding.EncodeToString(db.SealedSignIns.Seal(r.Box, plain))
	return err
}

// signedInPage is the console, which goes on from there.
const signedInPage = "/console/sign-in?sso=in"

// ownPath is a page of this platform to go to, the console where none is named. Browsers read backslashes as slashes, and a path that
// begins with two of them is another host's.
func ownPath(path string) (string, error) {
	if path == "" {
		return signedInPage, nil
	}
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsFunc(path, func(c rune) bool { return c == '\\' || unseen.Is(c) }) || len(path) > maxURL {
		return "", problem.Invalid(problem.Fault{Location: "return", Message: "must be a path of this platform"})
	}
	return path, nil
}

// providerFor finds the provider that is named, or that speaks for an address. One that is not enabled can be tried.
func (r *Resolver) providerFor(ctx context.Context, in BeginSignOnInput) (*db.ProviderAtWork, error) {
	unknown := problem.Missing("there is no identity provider for that").With(ssoUnknown)
	var id int64
	var err error
	switch domain, ok := sso.DomainOf(in.Email); {
	case in.ProviderID != nil:
		id, err = in.ProviderID.Of("IdentityProvider", "provider")
	case in.Email == "":
		err = problem.Invalid(problem.Fault{Location: "email", Message: "is required, or provider in its place"})
	case !ok:
		err = unknown
	default:
		id, err = r.Store.ProviderOfDomain(ctx, domain)
	}
	var p *db.ProviderAtWork
	if err == nil {
		p, err = r.Store.ProviderAtWork(ctx, id)
	}
	if errors.Is(err, db.ErrNoRows) || err == nil && !p.Enabled && !in.Try {
		err = unknown
	}
	return p, err
}

// registration opens what the platform is registered with at a provider.
func (r *Resolver) registration(p *db.ProviderAtWork) (sso.Provider, error) {
	plain, err := db.SealedProviderSecrets.Open(r.Box, p.ID, p.ClientSecret)
	return sso.Provider{Branch: p.Lineage.Branch(), Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: string(plain)}, err
}

// signOnFailure is what whoever signs in hears of what went wrong on the way.
func signOnFailure(err error) error {
	var e *sso.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, sso.ErrAway):
		return &problem.Error{Code: problem.Unavailable, Detail: e.Message, Reason: ssoAway, RetryAfter: time.Second}
	case errors.Is(err, sso.ErrRefused):
		return problem.Denied("%s", e.Message).With(ssoRefused)
	}
	return problem.Denied("%s", e.Message).With(ssoInvalid)
}

// FinishSignOnInput is what the browser comes back with, and what it has kept.
type FinishSignOnInput struct{ State, Code, Issuer, Error, Cookie string }

// FinishedSignOn is a session, or what was found out where the sign-in was a trial, and where the browser goes on. TriedAt is that of a trial,
// also where nothing was found out.
type FinishedSignOn struct {
	Session         *SessionPayload
	Trial           *SignOnTrial
	Return, TriedAt string
}

// SignOnTrial is what a provider has said of who has tried it.
type SignOnTrial struct {
	Subject       string `json:"subject"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"emailVerified"`
	Name          string `json:"name"`
	// DomainHolds: the company has a claim to the address's domain that holds.
	DomainHolds bool `json:"domainHolds"`
}

// FinishSignOn lets somebody in who comes from a provider, once. Who is turned away is told of in the log of the provider's company.
// Return is the page to go to whatever comes of it, where it is known.
func (r *Resolver) FinishSignOn(ctx context.Context, in FinishSignOnInput) (*FinishedSignOn, error) {
	out := &FinishedSignOn{Return: signedInPage}
	try, err := r.tryNetwork(ctx, trySignOn)
	if err != nil {
		return out, err
	}
	f, err := r.openSignOn(ctx, in)
	if err != nil {
		if f != nil { // or else any page could have a browser fail here, for all of its network
			try.failed(ctx)
		}
		return out, err
	}
	if out.Return = f.Return; f.Try {
		out.TriedAt = f.Return
	}
	p, err := r.Store.ProviderAtWork(ctx, f.ProviderID)
	if errors.Is(err, db.ErrNoRows) || err == nil && !p.Enabled && !f.Try {
		err = problem.Missing("the identity provider is no longer there").With(ssoUnknown)
	}
	if err != nil {
		return out, err
	}
	if err = r.finish(ctx, in, f, p, out); err != nil {
		try.failed(ctx)
		r.logRefusal(ctx, p, err)
	}
	return out, err
}

// openSignOn gives the sign-in that a state belongs to, which the browser has begun, and uses it up. With an error it gives the one that the
// browser has begun, if any.
func (r *Resolver) openSignOn(ctx context.Context, in FinishSignOnInput) (*signOn, error) {
	foreign := problem.Bad("the sign-in was not begun in this browser, took too long, or has been used already: begin anew").With(ssoState)
	sealed, err := base64.RawURLEncoding.DecodeString(in.Cookie)
	if err != nil || in.State == "" || in.Cookie == "" {
		return nil, foreign
	}
	plain, err := db.SealedSignIns.Open(r.Box, sealed)
	if err != nil {
		return nil, foreign
	}
	f := &signOn{}
	if err := json.Unmarshal(plain, f); err != nil {
		return nil, err
	}
	expires := time.Unix(f.Expires, 0)
	if f.State != in.State || time.Now().After(expires) {
		return f, foreign
	}
	fresh, err := r.Store.UseState(ctx, secret.HashSecret("state "+f.State), expires)
	if err == nil && !fresh {
		err = foreign
	}
	return f, err
}

// finish hears the provider, and lets the person in.
func (r *Resolver) finish(ctx context.Context, in FinishSignOnInput, f *signOn, p *db.ProviderAtWork, out *FinishedSignOn) error {
	if in.Error != "" || in.Code == "" {
		return problem.Denied("the identity provider has not let the person in").With(ssoRefused)
	}
	at, err := r.registration(p)
	if err != nil {
		return err
	}
	who, err := r.Providers.Finish(ctx, at, f.Flow, sso.Answer{Code: in.Code, Issuer: in.Issuer})
	if err != nil {
		return signOnFailure(err)
	}
	if f.Try {
		out.Trial, err = r.trial(ctx, p, who)
		return err
	}
	if !who.EmailVerified || who.Email == "" {
		return problem.Denied("the identity provider does not vouch for the person's e-mail address (email_verified)").With(ssoUnverified)
	}
	out.Session, err = r.letIn(ctx, f, p, who)
	return err
}

func (r *Resolver) trial(ctx context.Context, p *db.ProviderAtWork, who *sso.Person) (*SignOnTrial, error) {
	t := &SignOnTrial{Subject: who.Subject, Email: who.Email, EmailVerified: who.EmailVerified, Name: who.Name}
	var err error
	t.DomainHolds, err = vouches(ctx, r.Store, p, who.Email)
	return t, err
}

// letIn begins the session of who has signed in at a provider. What is learnt of a person who can't be let in yet stays.
func (r *Resolver) letIn(ctx context.Context, f *signOn, p *db.ProviderAtWork, who *sso.Person) (*SessionPayload, error) {
	var e *entry
	var s *db.Session
	var refresh secret.SessionToken
	var refused error
	err := r.change(ctx, nil, func(_ *db.Store, ch *changes) (err error) {
		// What one issuer has said counts for nothing where another one is asked by now: its sessions have other rights.
		if err := ch.tx.HoldRegistration(ctx, p); errors.Is(err, db.ErrNoRows) {
			return problem.Denied("the identity provider was changed meanwhile: sign in anew").With(ssoRefused)
		} else if err != nil {
			return err
		}
		userID, err := r.identify(ctx, ch, p, who)
		if err != nil {
			return err
		}
		var customerID *globalid.ID
		if f.CustomerID != 0 {
			customerID = &globalid.ID{Int: f.CustomerID}
		}
		if e, refused = r.entry(ctx, ch.tx, userID, customerID, way{providerID: p.ID}); refused != nil {
			refused = waiting(refused, f.CustomerID)
			return nil
		}
		if s, refresh, err = r.beginSession(ctx, ch, e, way{providerID: p.ID}); err != nil {
			return err
		}
		return ch.tx.InsertProviderSession(ctx, db.ProviderSession{
			SessionID: s.ID, ProviderID: p.ID, Subject: who.Subject, SID: who.SID, SignedInAt: who.SignedInAt,
			IDToken: db.SealedIDTokens.Seal(r.Box, s.ID, []byte(who.IDToken)),
		})
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	return r.sessionPayload(ctx, e, s, refresh)
}

// waiting is what somebody hears whom the provider knows, and who may do nothing in the companies that it serves.
func waiting(err error, customerID int64) error {
	if p := problem.From(err); customerID == 0 && p.Code == problem.Forbidden && (p.Reason == "" || p.Reason == ssoElsewhere) {
		return problem.Denied("you have signed in, and have no access yet: somebody of the company has to give it to you").With(ssoWaiting)
	}
	return err
}

// logRefusal tells the provider's company of who was turned away. The throttle bounds how often.
func (r *Resolver) logRefusal(ctx context.Context, p *db.ProviderAtWork, refused error) {
	err := r.change(ctx, nil, func(_ *db.Store, ch *changes) error {
		return ch.audit(p.CustomerID, audit.IdentityProviderSignInFailed, &p.IdentityProvider, r.from(ctx, audit.None().With("reason", problem.From(refused).PublicCode())))
	})
	if err != nil {
		r.Log.WarnContext(ctx, "a failed sign-in was not written down", "provider", p.ID, "error", err)
	}
}
