package rest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/sso"
	"canopy/resolvers"
)

const (
	ssoPath = "/auth/sso"
	// A browser keeps what it has begun under a name of the state's, so that pages in several tabs don't lose each other's.
	signOnCookie = "canopy_sso_"
	stateDigits  = 8
	// signInPage is where people go whom a provider has not got in; behind trialMark stands what a trial has found out.
	signInPage = "/console/sign-in"
	trialMark  = "#trial="
)

type beginSignOnInput struct {
	Accept     string `header:"Accept" hidden:"true"`
	Email      string `query:"email" doc:"The person's address: its domain tells the provider"`
	Provider   int64  `query:"provider" minimum:"1" doc:"The identity provider, in place of the address"`
	CustomerID int64  `query:"customerId" minimum:"1" doc:"The company to sign in to; by default the one that the person has belonged to longest, of those that the provider serves"`
	Return     string `query:"return" doc:"The path of this platform to go to afterwards; by default the console"`
	Fresh      bool   `query:"fresh" doc:"Whether the provider has to ask the person anew"`
	Try        bool   `query:"try" doc:"Whether nobody is let in, and what the provider says of the person, or why it says nothing, goes to the page as #trial=, JSON in base64url; also of a provider that is not enabled"`
	Look       bool   `query:"look" doc:"Whether it is asked which way there is: 204 in place of 404 sso_unknown, which browsers would write into their log as an error"`

	query string
}

// Resolve keeps the query as it came, for a browser that is led on with it.
func (in *beginSignOnInput) Resolve(hc huma.Context) []error {
	u := hc.URL()
	in.query = u.RawQuery
	return nil
}

type finishSignOnInput struct {
	Accept string `header:"Accept" hidden:"true"`
	State  string `query:"state" doc:"What the provider was given"`
	Code   string `query:"code" doc:"What the person's sign-in is had for"`
	Issuer string `query:"iss" doc:"Who has sent the person back (RFC 9207)"`
	Error  string `query:"error" doc:"Why the provider has not let the person in"`

	cookies []*http.Cookie
}

// Resolve keeps the cookies, of which the state names one.
func (in *finishSignOnInput) Resolve(hc huma.Context) []error {
	in.cookies, _ = http.ParseCookie(hc.Header("Cookie")) // one that can't be read is none
	return nil
}

// redirect sends a browser elsewhere.
type redirect struct {
	Status    int
	Location  string   `header:"Location" doc:"Where to go on"`
	SetCookie []string `header:"Set-Cookie" doc:"What the browser has to keep"`
}

type signOutAnswer struct {
	WithCookie
	Body struct {
		RedirectTo *string `json:"redirectTo" doc:"The page of the identity provider that the session came from, where the person signs out there, too; null where there is none"`
	}
}

// logoutForm is a token by which a provider tells that somebody has signed out, as it came.
type logoutForm struct {
	ID   int64 `path:"id" doc:"The identity provider's id"`
	form []byte
}

// Resolve keeps the form.
func (f *logoutForm) Resolve(hc huma.Context) []error {
	f.form, _ = hc.Context().Value(formKey{}).([]byte)
	return nil
}

func (a *api) registerSignOns() {
	refusals := []int{http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests}
	there := map[string]*huma.Response{"303": {Description: "To the next page"}}
	ways := map[string]*huma.Response{"303": there["303"], "204": {Description: "There is no provider, with look"}}
	add(a, operation{
		id: "beginSignOn", method: http.MethodGet, path: ssoPath, tag: tagIdentity, public: true, errors: refusals, responses: ways, status: http.StatusSeeOther,
		summary:     "Sign in at an identity provider",
		description: "Sends a browser to the provider of an address's domain, or to the one that is named. 404 sso_unknown where there is none, or with look 204. It tells nothing of who has which address.",
	}, a.beginSignOn)
	add(a, operation{
		id: "finishSignOn", method: http.MethodGet, path: sso.CallbackPath, tag: tagIdentity, public: true, errors: refusals, responses: there, status: http.StatusSeeOther,
		summary:     "Come back from an identity provider",
		description: "Begins a session, whose refresh token is in the cookie canopy_session, and goes on to the page that was asked for. Whoever is not let in goes to the sign-in page, where a browser asks, with the code as sso.",
	}, a.finishSignOn)
	add(a, operation{
		id: "signedOutElsewhere", method: http.MethodPost, path: sso.LogoutPath + "/{id}", tag: tagIdentity, public: true, body: true, errors: []int{http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests},
		summary:     "Tell that somebody has signed out",
		description: "For identity providers (OpenID Connect Back-Channel Logout 1.0): ends the sessions that the logout_token names.",
	}, a.signedOut)
	a.huma.OpenAPI().Paths[sso.LogoutPath+"/{id}"].Post.RequestBody = logoutRequestBody() // after the registration, as documentExchange
	add(a, operation{
		id: "signOut", method: http.MethodPost, path: sessionPath + "/sign-out", tag: tagLogin, public: true, own: true, errors: []int{http.StatusForbidden},
		summary:     "Sign out here and at the identity provider",
		description: "Ends the session as DELETE /auth/session does, and tells where the person signs out at the identity provider that it came from.",
	}, a.signOut)
}

func logoutRequestBody() *huma.RequestBody {
	return &huma.RequestBody{
		Description: "The token", Required: true,
		Content: map[string]*huma.MediaType{formType: {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"logout_token"},
			Properties: map[string]*huma.Schema{"logout_token": {Type: huma.TypeString, Description: "Signed by the provider"}},
		}}},
	}
}

func (a *api) beginSignOn(ctx context.Context, in *beginSignOnInput) (*redirect, error) {
	// A browser that has come to a cell goes on here: the provider sends it back here, and it brings what it keeps to who has given it.
	if hop.By(ctx) != "" && isBrowser(in.Accept) && !in.Look {
		return &redirect{Status: http.StatusSeeOther, Location: a.base + ssoPath + "?" + in.query}, nil
	}
	begun, err := a.r.BeginSignOn(ctx, resolvers.BeginSignOnInput{
		Email: in.Email, ProviderID: idOf(in.Provider), CustomerID: idOf(in.CustomerID), Return: in.Return, Fresh: in.Fresh, Try: in.Try, Look: in.Look,
	})
	if err != nil {
		return a.turnedAway(ctx, in.Accept, begun.TriedAt, err)
	}
	if begun.URL == "" {
		return &redirect{Status: http.StatusNoContent}, nil
	}
	return &redirect{http.StatusSeeOther, begun.URL, []string{a.signOnCookie(begun.State, begun.Cookie, resolvers.SignOnLife)}}, nil
}

func (a *api) finishSignOn(ctx context.Context, in *finishSignOnInput) (*redirect, error) {
	kept := ""
	for _, c := range in.cookies {
		if c.Name == signOnName(in.State) {
			kept = c.Value
		}
	}
	done, err := a.r.FinishSignOn(ctx, resolvers.FinishSignOnInput{State: in.State, Code: in.Code, Issuer: in.Issuer, Error: in.Error, Cookie: kept})
	if err != nil {
		out, err := a.turnedAway(ctx, in.Accept, done.TriedAt, err)
		if out != nil && kept != "" {
			out.SetCookie = []string{a.signOnCookie(in.State, "", -1)}
		}
		return out, err
	}
	out := &redirect{http.StatusSeeOther, done.Return, []string{a.signOnCookie(in.State, "", -1)}}
	if done.Session != nil {
		out.SetCookie = append(out.SetCookie, a.cookie(done.Session.RefreshToken, time.Until(done.Session.IdleEnd)))
	}
	if done.Trial != nil {
		out.Location = tried(done.TriedAt, done.Trial)
	}
	return out, nil
}

// refusedTrial is why a trial has found out nothing.
type refusedTrial struct {
	Refused string `json:"refused"`
	Detail  string `json:"detail"`
}

// tried is the page of a trial with what has come of it.
func tried(page string, what any) string {
	told, _ := json.Marshal(what) // texts alone
	page, _, _ = strings.Cut(page, "#")
	return page + trialMark + base64.RawURLEncoding.EncodeToString(told)
}

// isBrowser tells by what is accepted whether somebody looks at what is answered.
func isBrowser(accept string) bool { return strings.Contains(accept, "text/html") }

// turnedAway sends a browser to the page where people sign in, or back to that of a trial, which says why; others hear it at once. What another cell has to say is passed on to it.
func (a *api) turnedAway(ctx context.Context, accept, triedAt string, err error) (*redirect, error) {
	p := problem.From(err)
	if !isBrowser(accept) || p.Code == problem.Internal || passedOn(ctx, p) {
		return nil, err
	}
	if triedAt != "" {
		return &redirect{Status: http.StatusSeeOther, Location: tried(triedAt, refusedTrial{p.PublicCode(), p.Detail})}, nil
	}
	return &redirect{Status: http.StatusSeeOther, Location: signInPage + "?" + url.Values{"sso": {p.PublicCode()}}.Encode()}, nil
}

func signOnName(state string) string {
	return signOnCookie + state[:min(len(state), stateDigits)]
}

// signOnCookie is what a browser keeps while its person signs in elsewhere, from where it comes back by a link: so it is Lax.
func (a *api) signOnCookie(state, value string, life time.Duration) string {
	c := http.Cookie{
		Name: signOnName(state), Value: value, Path: sso.CallbackPath, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(a.base, "https:"), MaxAge: int(life / time.Second),
	}
	if life < 0 {
		c.MaxAge = -1
	}
	return c.String()
}

func (a *api) signOut(ctx context.Context, in *endSessionInput) (*signOutAnswer, error) {
	var token *string
	if in.Body != nil {
		token = in.Body.RefreshToken
	}
	refresh, byCookie := refreshToken(in.Cookie, token)
	to, err := a.r.SignOut(ctx, refresh)
	if err != nil {
		return nil, err
	}
	out := &signOutAnswer{}
	if to != "" {
		out.Body.RedirectTo = &to
	}
	if byCookie {
		out.SetCookie = a.cookie("", -1)
	}
	return out, nil
}

func (a *api) signedOut(ctx context.Context, in *logoutForm) (*struct{}, error) {
	values, err := url.ParseQuery(string(in.form))
	if err != nil || len(values["logout_token"]) != 1 {
		return nil, problem.Invalid(problem.Fault{Location: "logout_token", Message: "is required, once"})
	}
	return nil, a.r.SignedOutElsewhere(ctx, in.ID, values.Get("logout_token"))
}
