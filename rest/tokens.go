package rest

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/intake"
	"canopy/resolvers"
)

// tokenForm is the input of the token endpoint, as it came.
type tokenForm struct {
	authorization string
	form          []byte
}

// Resolve keeps the form, and the header that may carry the client's credentials.
func (f *tokenForm) Resolve(hc huma.Context) []error {
	f.authorization = hc.Header("Authorization")
	f.form, _ = hc.Context().Value(formKey{}).([]byte)
	return nil
}

// tokenAnswer is the answer of RFC 6749, section 5.1.
type tokenAnswer struct {
	AccessToken string `json:"access_token" doc:"The bearer token, a JWT (RFC 9068)"`
	TokenType   string `json:"token_type" enum:"Bearer" doc:"Always Bearer"`
	ExpiresIn   int    `json:"expires_in" example:"900" doc:"How long the token is good, in seconds"`
}

// OAuthProblem is the error body of the token endpoint (RFC 6749, section 5.2).
type OAuthProblem struct {
	Code        string `json:"error" example:"invalid_client" doc:"The error code of RFC 6749, section 5.2, or RFC 8707 (invalid_target)"`
	Description string `json:"error_description" doc:"What is wrong, for a person"`
	Detail      string `json:"detail" doc:"The same, where the other endpoints have it"`

	status  int
	headers http.Header
}

// Error is the sentence for a person.
func (p *OAuthProblem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *OAuthProblem) GetStatus() int { return p.status }

// GetHeaders are the headers that go with the problem.
func (p *OAuthProblem) GetHeaders() http.Header { return p.headers }

func oauthProblem(e *resolvers.OAuthError) *OAuthProblem {
	p := &OAuthProblem{Code: e.Code, Description: e.Description, Detail: e.Description, status: http.StatusBadRequest, headers: http.Header{}}
	if e.Unauthorized {
		p.status = http.StatusUnauthorized
		p.headers.Set("WWW-Authenticate", `Basic realm="canopy"`)
	}
	return p
}

type document struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

func (a *api) registerTokens() {
	add(a, operation{
		id: "exchangeToken", method: http.MethodPost, path: "/connect/token", tag: tagTokens, public: true, body: true, errors: []int{http.StatusUnauthorized, http.StatusTooManyRequests},
		summary:     "Exchange an API key for an access token",
		description: "The client credentials grant of OAuth 2.0 (RFC 6749, section 4.4). The client may name itself in the form or by HTTP Basic.",
	}, a.exchange)
	a.documentExchange()
	add(a, operation{
		id: "getKeys", method: http.MethodGet, path: "/.well-known/jwks.json", tag: tagTokens, public: true,
		summary: "Get the public keys of access tokens", description: "The keys that access tokens are signed with, as a JSON Web Key Set (RFC 7517).",
		responses: jsonDocument(keySetType, "The key set"),
	}, func(context.Context, *struct{}) (*document, error) {
		return &document{ContentType: keySetType, CacheControl: "public, max-age=300", Body: a.r.JWKS()}, nil
	})
	add(a, operation{
		id: "getServerMetadata", method: http.MethodGet, path: "/.well-known/oauth-authorization-server", tag: tagTokens, public: true,
		summary: "Get the metadata of the token endpoint", description: "Where and how tokens are issued (RFC 8414).",
		responses: jsonDocument(jsonType, "The metadata"),
	}, func(context.Context, *struct{}) (*document, error) {
		return &document{ContentType: jsonType, CacheControl: "public, max-age=300", Body: a.r.Metadata()}, nil
	})
}

func (a *api) exchange(ctx context.Context, in *tokenForm) (*one[tokenAnswer], error) {
	req, refused := tokenRequest(in.authorization, in.form)
	if refused != nil {
		return nil, oauthProblem(refused)
	}
	issued, err := a.r.ExchangeToken(ctx, *req)
	var oauth *resolvers.OAuthError
	if errors.As(err, &oauth) {
		return nil, oauthProblem(oauth)
	}
	if err != nil {
		return nil, err
	}
	return &one[tokenAnswer]{tokenAnswer{AccessToken: issued.AccessToken, TokenType: "Bearer", ExpiresIn: issued.ExpiresIn}}, nil
}

// tokenRequest reads the form, in which no parameter may be twice (RFC 6749, section 3.2), nor one in other
// letters than documented, and the credentials of the header.
func tokenRequest(authorization string, form []byte) (*resolvers.TokenRequest, *resolvers.OAuthError) {
	values, err := url.ParseQuery(string(form))
	if err != nil || !utf8.Valid(form) {
		return nil, invalidRequest("the body is not a form")
	}
	req := &resolvers.TokenRequest{}
	var account string
	parameters := map[string]*string{
		"grant_type": &req.GrantType, "client_id": &req.ClientID, "client_secret": &req.ClientSecret,
		"target_app": &req.TargetApp, "account_id": &account,
	}
	for name := range values {
		if known := intake.LikeName(name, maps.Keys(parameters)); known != "" {
			return nil, invalidRequest(known + " is there in other letters: names are taken as they are documented")
		}
	}
	for name, into := range parameters {
		v := values[name]
		if len(v) > 1 {
			return nil, invalidRequest(name + " is there more than once")
		}
		if len(v) == 1 {
			*into = v[0]
		}
	}
	if account != "" {
		n, err := strconv.ParseInt(account, 10, 64)
		if err != nil {
			return nil, invalidRequest("account_id is not an integer of 64 bits")
		}
		req.AccountID = &n
	}
	return req, basicCredentials(req, authorization)
}

// basicCredentials takes the client's name and secret from an HTTP Basic header, in which both
// are form-encoded (RFC 6749, section 2.3.1). What the form says as well must be the same.
func basicCredentials(req *resolvers.TokenRequest, authorization string) *resolvers.OAuthError {
	if authorization == "" {
		return nil
	}
	scheme, rest, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Basic") {
		if req.ClientID != "" {
			return nil // a client that sends its last bearer token with every request
		}
		return &resolvers.OAuthError{Code: "invalid_client", Description: "clients name themselves in the form or by HTTP Basic", Unauthorized: true}
	}
	id, secret, ok := parseBasic(strings.TrimSpace(rest))
	switch {
	case !ok:
		return &resolvers.OAuthError{Code: "invalid_client", Description: "the HTTP Basic header can't be read", Unauthorized: true}
	case req.ClientID != "" && req.ClientID != id, req.ClientSecret != "" && req.ClientSecret != secret:
		return invalidRequest("the form and the HTTP Basic header name different clients")
	}
	req.ClientID, req.ClientSecret = id, secret
	return nil
}

func parseBasic(encoded string) (id, secret string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(raw), ":")
	id, errID := url.QueryUnescape(id)
	secret, errSecret := url.QueryUnescape(secret)
	return id, secret, ok && errID == nil && errSecret == nil
}

func invalidRequest(description string) *resolvers.OAuthError {
	return &resolvers.OAuthError{Code: "invalid_request", Description: description}
}

func tokenRequestBody() *huma.RequestBody {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	grant := text("Always client_credentials")
	grant.Enum = []any{"client_credentials"}
	target := text("What the token is for: tenant for companies, users, permissions, billing and regions; assistant for contexts; builder for agents")
	target.Enum = []any{"tenant", "assistant", "builder"}
	return &huma.RequestBody{
		Description: "The parameters of the grant",
		Required:    true,
		Content: map[string]*huma.MediaType{formType: {
			Schema: &huma.Schema{
				Type: huma.TypeObject, Required: []string{"grant_type", "target_app"},
				Properties: map[string]*huma.Schema{
					"grant_type":    grant,
					"client_id":     text("The client id of the API key; may be left out with HTTP Basic"),
					"client_secret": text("The secret of the API key; may be left out with HTTP Basic"),
					"target_app":    target,
					"account_id":    {Type: huma.TypeInteger, Format: "int64", Description: "The account that the token is to act on; without it, the eligible one of the lowest id"},
				},
			},
			Example: map[string]any{"grant_type": "client_credentials", "client_id": "key_5d0c2f", "client_secret": "cnpy_0000", "target_app": "tenant"},
		}},
	}
}

// documentExchange documents the form, and the refusals in the form of RFC 6749. It comes after
// the registration: the library would take a form that it knows of for a JSON body.
func (a *api) documentExchange() {
	doc := a.huma.OpenAPI()
	op := doc.Paths["/connect/token"].Post
	op.RequestBody = tokenRequestBody()
	schema := doc.Components.Schemas.Schema(reflect.TypeFor[OAuthProblem](), true, "")
	for _, status := range []string{"400", "401"} {
		op.Responses[status].Content = map[string]*huma.MediaType{jsonType: {Schema: schema}}
	}
}

// keySetType is the media type of key sets (RFC 7517, section 8.5.2).
const keySetType = "application/jwk-set+json"

func jsonDocument(mediaType, description string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: description,
		Content:     map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeObject}}},
	}}
}
