package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"canopy/e2e/platform"
)

// idp is a small OpenID Connect provider that signs what it is told to, right or wrong.
type idp struct {
	*httptest.Server
	t  *testing.T
	mu sync.Mutex
	// keys are the published ones, the last of which signs.
	keys  []*ecdsa.PrivateKey
	codes map[string]grant
	n     int
	// lenient has codes work as often as they come; named announces that answers name the issuer.
	lenient, named bool
}

// grant is what a code stands for.
type grant struct {
	claims    jwt.MapClaims
	challenge string
	sign      func(jwt.MapClaims) string
	info      jwt.MapClaims
}

const clientSecret = "a secret of the registration"

func newIDP(t *testing.T) *idp {
	t.Helper()
	p := &idp{t: t, codes: map[string]grant{}}
	p.rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.metadata)
	mux.HandleFunc("GET /jwks", p.jwks)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Server.Close)
	return p
}

// rotate has another key sign from now on, and the ones before published no more.
func (p *idp) rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.keys = []*ecdsa.PrivateKey{key}
}

func (p *idp) metadata(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks", "userinfo_endpoint": p.URL + "/userinfo",
		"end_session_endpoint": p.URL + "/logout", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"}, "authorization_response_iss_parameter_supported": p.named,
	})
}

func (p *idp) kid() string { return fmt.Sprint("key ", p.n) }

func (p *idp) jwks(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := p.keys[0].PublicKey
	raw, err := key.Bytes()
	if err != nil {
		p.t.Error(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": p.kid(), "x": encode(raw[1:33]), "y": encode(raw[33:]),
	}}})
}

// signed signs claims as the provider does.
func (p *idp) signed(claims jwt.MapClaims) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.signedBy(p.keys[0], claims)
}

func (p *idp) signedBy(key *ecdsa.PrivateKey, claims jwt.MapClaims) string {
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = p.kid()
	text, err := token.SignedString(key)
	if err != nil {
		p.t.Error(err)
	}
	return text
}

// token exchanges a code, for who has the client's secret and the verifier of the code.
func (p *idp) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	code := r.FormValue("code")
	g, known := p.codes[code]
	if !p.lenient {
		delete(p.codes, code)
	}
	p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	secret, _ = url.QueryUnescape(secret)
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if !known || id != "canopy" || secret != clientSecret || base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error": "invalid_grant"}`))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": code, "token_type": "Bearer", "id_token": g.sign(g.claims)})
	p.mu.Lock()
	p.codes["info "+code] = g
	p.mu.Unlock()
}

func (p *idp) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p.codes["info "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")].info)
}

// signOn is a sign-in on its way: what the browser was sent with, and what it has kept.
type signOn struct {
	state, nonce, challenge string
	cookies                 []string
	location                *url.URL
}

// browser sends a request as a browser does that follows no redirect by itself, and takes whatever it is answered.
func browser(t *testing.T, s *platform.Platform, path string, cookies ...string) platform.Answer {
	t.Helper()
	return visit(t, s, path, "", cookies...)
}

// asPage is browser for a page to show.
func asPage(t *testing.T, s *platform.Platform, path string, cookies ...string) platform.Answer {
	t.Helper()
	return visit(t, s, path, "text/html,*/*", cookies...)
}

func visit(t *testing.T, s *platform.Platform, path, accept string, cookies ...string) platform.Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	for _, c := range cookies {
		req.Header.Add("Cookie", c)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	a := platform.Answer{Status: resp.StatusCode, Header: resp.Header}
	buf := make([]byte, 64<<10)
	n, _ := resp.Body.Read(buf)
	a.Body = buf[:n]
	return a
}

// begin begins a sign-in at a provider.
func begin(t *testing.T, s *platform.Platform, query string) signOn {
	t.Helper()
	a := browser(t, s, "/auth/sso?"+query)
	if a.Status != http.StatusSeeOther {
		t.Fatalf("begin: %d %s", a.Status, a.Body)
	}
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	q := to.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" || q.Get("client_id") != "canopy" || q.Get("redirect_uri") != s.URL+"/auth/sso/callback" {
		t.Fatalf("the provider is asked by %s", to)
	}
	return signOn{q.Get("state"), q.Get("nonce"), q.Get("code_challenge"), pairs(a), to}
}

// pairs are the cookies that an answer sets, as requests have them.
func pairs(a platform.Answer) (list []string) {
	for _, c := range a.Header.Values("Set-Cookie") {
		pair, _, _ := strings.Cut(c, ";")
		list = append(list, pair)
	}
	return list
}

// right are the claims of a provider that tells the truth.
func (p *idp) right(on signOn, subject, email string) jwt.MapClaims {
	now := time.Now()
	return jwt.MapClaims{
		"iss": p.URL, "aud": "canopy", "sub": subject, "exp": now.Add(time.Minute).Unix(), "iat": now.Unix(), "nonce": on.nonce, "sid": "sid " + subject,
		"email": email, "email_verified": true, "given_name": "Gwen", "family_name": "Guest",
	}
}

// authorize gives a code for claims.
func (p *idp) authorize(on signOn, claims jwt.MapClaims) string {
	return p.grant(grant{claims: claims, challenge: on.challenge, sign: p.signed})
}

func (p *idp) grant(g grant) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.codes[code] = g
	return code
}

// back comes back from a provider.
func back(t *testing.T, s *platform.Platform, on signOn, code, more string) platform.Answer {
	t.Helper()
	return browser(t, s, "/auth/sso/callback?state="+url.QueryEscape(on.state)+"&code="+url.QueryEscape(code)+more, on.cookies...)
}

// enter signs somebody in at a provider, and gives the answer to the browser.
func (p *idp) enter(t *testing.T, s *platform.Platform, query, subject, email string, change ...jwt.MapClaims) platform.Answer {
	t.Helper()
	on := begin(t, s, query)
	claims := p.right(on, subject, email)
	for _, c := range change {
		maps.Copy(claims, c)
	}
	return back(t, s, on, p.authorize(on, claims), "")
}

// refreshed gives the token of the session that an answer has begun; "" where it has begun none.
func refreshed(t *testing.T, s *platform.Platform, a platform.Answer) (token, cookie string) {
	t.Helper()
	for _, pair := range pairs(a) {
		if strings.HasPrefix(pair, "canopy_session=") && len(pair) > len("canopy_session=") {
			got := s.AsPage(t, "POST", "/auth/session/refresh", s.URL, pair, nil)
			if got.Status != 200 {
				t.Fatalf("refresh: %d %s", got.Status, got.Body)
			}
			return platform.Member(t, got.JSON(t), "token").(string), pairs(got)[0]
		}
	}
	return "", ""
}

// reason is the code with which somebody was turned away.
func reason(t *testing.T, a platform.Answer) string {
	t.Helper()
	if a.Status == http.StatusSeeOther {
		return fmt.Sprint("let in, to ", a.Header.Get("Location"))
	}
	return fmt.Sprint(platform.Member(t, a.JSON(t), "code"))
}
