package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"canopy/e2e/platform"
)

// providing is a platform with a company that has a provider.
type providing struct {
	*platform.Platform
	idp    *idp
	dns    *platform.DNS
	alpine int64
	// id is the provider's, as root has set it up: it speaks for corp.example.
	id int64
}

func (p providing) at() string { return fmt.Sprint("provider=", p.id) }

// provide sets a provider of a company up, with what is said of it.
func (p providing) provide(t *testing.T, token string, customer int64, issuer string, more map[string]any) int64 {
	t.Helper()
	body := map[string]any{"customerId": customer, "name": "Company login", "issuer": issuer, "clientId": "canopy", "clientSecret": clientSecret}
	for name, value := range more {
		body[name] = value
	}
	return p.Must(http.StatusCreated, "POST", "/v1/identity-providers", token, body).ID(t, "id")
}

func newProviding(t *testing.T, more map[string]any) providing {
	t.Helper()
	dns := platform.NewDNS(t)
	p := providing{Platform: platform.Start(t, platform.DeliverLocally(t), dns.Asked), idp: newIDP(t), dns: dns}
	p.alpine = p.Customer("Alpine Energy")
	given := map[string]any{"domains": []string{"corp.example"}, "defaultRoleId": p.RoleID(0, "tenant", "Viewer")}
	for name, value := range more {
		given[name] = value
	}
	p.id = p.provide(t, p.Root(), p.alpine, p.idp.URL, given)
	return p
}

const whoAmI = `{ me { email customerId user { hasPassword } sessions { current } } }`

// TestSignOn: somebody new comes from the company's provider, gets the company's role and an ordinary session, and leads to the page that
// was asked for; what was done is told, and from where.
func TestSignOn(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	on := begin(t, p.Platform, "email=gwen@CORP.example&return=/console/agents?x=1")
	if on.location.Query().Get("login_hint") != "gwen@CORP.example" || !strings.HasPrefix(on.location.String(), p.idp.URL+"/auth?") {
		t.Errorf("asked by %s", on.location)
	}
	a := back(t, p.Platform, on, p.idp.authorize(on, p.idp.right(on, "g1", "gwen@corp.example")), "&iss="+url.QueryEscape(p.idp.URL))
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/console/agents?x=1" {
		t.Fatalf("%d %s %s", a.Status, a.Header, a.Body)
	}
	for _, c := range a.Header.Values("Set-Cookie") {
		if strings.HasPrefix(c, "canopy_session=") && (!strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") || !strings.Contains(c, "Path=/auth/session")) {
			t.Errorf("cookie %s", c)
		}
	}
	token, cookie := refreshed(t, p.Platform, a)
	got := p.MustGQL(token, whoAmI, nil)
	if platform.Member(t, got, "me.email") != "gwen@corp.example" || platform.Member(t, got, "me.customerId") != float64(p.alpine) || platform.Member(t, got, "me.user.hasPassword") != false {
		t.Errorf("%v", got)
	}
	var events string
	p.Look(&events, `SELECT string_agg(action || CASE WHEN details ?& '{address,userAgent}' THEN ' from' ELSE '' END, ', ' ORDER BY id) FROM audit_events
		WHERE customer_id = $1 AND actor_user_id = (SELECT id FROM users WHERE email = 'gwen@corp.example')`, p.alpine)
	if events != "user.created, permission.created, user.identityLinked from, user.signedIn from" {
		t.Errorf("the log has %s", events)
	}
	if n := p.Number(`SELECT count(*) FROM identity_providers p, provider_sessions x WHERE position($1::bytea IN p.client_secret) > 0 OR x.id_token LIKE 'ey%'`, []byte(clientSecret)); n != 0 {
		t.Error("something lies open")
	}
	t.Run("a second time, under another address", func(t *testing.T) {
		token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "g1", "married@corp.example"))
		if got := p.MustGQL(token, whoAmI, nil); platform.Member(t, got, "me.email") != "gwen@corp.example" {
			t.Errorf("%v", got)
		}
	})
	t.Run("without a password", func(t *testing.T) {
		const enable = `mutation { enableTotp(input: {}) { secret } }`
		p.MustGQL(token, enable, nil)
		p.SQL(`UPDATE provider_sessions SET signed_in_at = now() - interval '6 minutes'`)
		p.Refused(t, "FORBIDDEN", token, enable, nil)
		if on := begin(t, p.Platform, p.at()+"&fresh=true"); on.location.Query().Get("prompt") != "login" || on.location.Query().Get("max_age") != "0" {
			t.Errorf("asked by %s", on.location)
		}
		if got := reason(t, p.idp.enter(t, p.Platform, p.at()+"&fresh=true", "g1", "gwen@corp.example", jwt.MapClaims{"auth_time": time.Now().Add(-time.Hour).Unix()})); got != "sso_invalid" {
			t.Errorf("a sign-in of an hour ago is fresh: %s", got)
		}
	})
	t.Run("signing out", func(t *testing.T) {
		out := p.AsPage(t, "POST", "/auth/session/sign-out", p.URL, cookie, nil)
		to, _ := platform.Member(t, out.JSON(t), "redirectTo").(string)
		if u, err := url.Parse(to); err != nil || !strings.HasPrefix(to, p.idp.URL+"/logout?") || u.Query().Get("id_token_hint") == "" || u.Query().Get("client_id") != "canopy" {
			t.Errorf("%d %s", out.Status, out.Body)
		}
		if works(p.Platform, token) {
			t.Error("the session goes on")
		}
	})
}

// TestNobodyGetsInByAFault: each fault of an answer, alone, lets nobody in, makes nobody, and is told in the log of the provider's company.
func TestNobodyGetsInByAFault(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		sign   func(jwt.MapClaims) string
		info   jwt.MapClaims
		more   string
		want   string
	}{
		"another audience":               {claims: jwt.MapClaims{"aud": "somebody"}, want: "sso_invalid"},
		"several audiences":              {claims: jwt.MapClaims{"aud": []string{"canopy", "somebody"}}, want: "sso_invalid"},
		"another party":                  {claims: jwt.MapClaims{"azp": "somebody"}, want: "sso_invalid"},
		"another issuer":                 {claims: jwt.MapClaims{"iss": "https://login.example"}, want: "sso_invalid"},
		"an answer of another issuer":    {more: "&iss=https%3A%2F%2Flogin.example", want: "sso_invalid"},
		"expired":                        {claims: jwt.MapClaims{"exp": now(-time.Minute)}, want: "sso_invalid"},
		"from the future":                {claims: jwt.MapClaims{"iat": now(10 * time.Minute), "exp": now(time.Hour)}, want: "sso_invalid"},
		"not yet":                        {claims: jwt.MapClaims{"nbf": now(10 * time.Minute), "exp": now(time.Hour)}, want: "sso_invalid"},
		"old":                            {claims: jwt.MapClaims{"iat": now(-time.Hour)}, want: "sso_invalid"},
		"of another sign-in":             {claims: jwt.MapClaims{"nonce": "x"}, want: "sso_invalid"},
		"without a nonce":                {claims: jwt.MapClaims{"nonce": nil}, want: "sso_invalid"},
		"without a subject":              {claims: jwt.MapClaims{"sub": ""}, want: "sso_invalid"},
		"another access token":           {claims: jwt.MapClaims{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, want: "sso_invalid"},
		"a strange key":                  {sign: func(c jwt.MapClaims) string { return p.idp.signedBy(other, c) }, want: "sso_invalid"},
		"no signature":                   {sign: unsigned, want: "sso_invalid"},
		"the secret as key":              {sign: bySecret, want: "sso_invalid"},
		"no token":                       {sign: func(jwt.MapClaims) string { return "" }, want: "sso_invalid"},
		"no token at all":                {sign: func(jwt.MapClaims) string { return "eyJ" }, want: "sso_invalid"},
		"an address not verified":        {claims: jwt.MapClaims{"email_verified": false}, want: "sso_unverified"},
		"an address that may be":         {claims: jwt.MapClaims{"email_verified": nil}, want: "sso_unverified"},
		"an address verified by a word":  {claims: jwt.MapClaims{"email_verified": "yes"}, want: "sso_unverified"},
		"no address":                     {claims: jwt.MapClaims{"email": nil}, info: jwt.MapClaims{"sub": "f1"}, want: "sso_unverified"},
		"the address of somebody else":   {claims: jwt.MapClaims{"email": nil}, info: jwt.MapClaims{"sub": "x", "email": "fay@corp.example", "email_verified": true}, want: "sso_invalid"},
		"another domain":                 {claims: jwt.MapClaims{"email": platform.DemoAdmin}, want: "sso_domain"},
		"a domain below":                 {claims: jwt.MapClaims{"email": "fay@x.corp.example"}, want: "sso_domain"},
		"a domain that looks like it":    {claims: jwt.MapClaims{"email": "fay@corp.example@evil.example"}, want: "sso_domain"},
		"a domain in another alphabet":   {claims: jwt.MapClaims{"email": "fay@ｃorp.example"}, want: "sso_domain"},
		"the person was turned away":     {more: "&error=access_denied", want: "sso_refused"},
		"a code that is none":            {more: "&code=", want: "BAD_REQUEST"},
		"an answer that is there twice ": {more: "&state=x", want: "BAD_REQUEST"},
	} {
		t.Run(name, func(t *testing.T) {
			p.forgive()
			on := begin(t, p.Platform, p.at())
			claims := p.idp.right(on, "f1", "fay@corp.example")
			for claim, value := range c.claims {
				if claims[claim] = value; value == nil {
					delete(claims, claim)
				}
			}
			sign := c.sign
			if sign == nil {
				sign = p.idp.signed
			}
			before := p.Number(`SELECT count(*) FROM audit_events WHERE action = 'identityProvider.signInFailed' AND details ?& '{address,userAgent,reason}'`)
			a := back(t, p.Platform, on, p.idp.grant(grant{claims, on.challenge, sign, c.info}), c.more)
			if got := reason(t, a); got != c.want {
				t.Errorf("%s, want %s: %s", got, c.want, a.Body)
			}
			if n := p.Number(`SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM user_identities) + (SELECT count(*) FROM users WHERE email LIKE 'fay%')`); n != 0 {
				t.Errorf("%d rows of somebody who was not let in", n)
			}
			if n := p.Number(`SELECT count(*) FROM audit_events WHERE action = 'identityProvider.signInFailed' AND details ?& '{address,userAgent,reason}'`); n == before && c.want != "BAD_REQUEST" {
				t.Error("it is not told")
			}
		})
	}
	t.Run("keys that were rotated", func(t *testing.T) {
		p.forgive()
		old := p.idp.keys[0]
		p.idp.rotate()
		if token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "r1", "ray@corp.example")); token == "" {
			t.Error("the new key is not taken")
		}
		on := begin(t, p.Platform, p.at())
		sign := func(c jwt.MapClaims) string { return p.idp.signedBy(old, c) }
		if got := reason(t, back(t, p.Platform, on, p.idp.grant(grant{p.idp.right(on, "r1", "ray@corp.example"), on.challenge, sign, nil}), "")); got != "sso_invalid" {
			t.Errorf("the old key: %s", got)
		}
	})
}

func unsigned(c jwt.MapClaims) string {
	text, _ := jwt.NewWithClaims(jwt.SigningMethodNone, c).SignedString(jwt.UnsafeAllowNoneSignatureType)
	return text
}

func bySecret(c jwt.MapClaims) string {
	text, _ := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString([]byte(clientSecret))
	return text
}

// forgive has failed tries forgotten, which would slow the next ones down.
func (p providing) forgive() {
	p.App.Resolver.Addresses.Succeed(p.T.Context(), "sso address:127.0.0.0/24")
}

// TestSignOnsAreOneBrowsersOnce: an answer is taken from the browser that has begun, once, also where the provider takes a code twice.
func TestSignOnsAreOneBrowsersOnce(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	p.idp.lenient = true
	on := begin(t, p.Platform, p.at())
	code := p.idp.authorize(on, p.idp.right(on, "o1", "oda@corp.example"))
	elsewhere := on
	elsewhere.cookies = begin(t, p.Platform, p.at()).cookies
	altered := on
	altered.state = on.state[:8] + strings.Repeat("x", len(on.state)-8)
	broken := on
	broken.cookies = []string{on.cookies[0][:len(on.cookies[0])-4] + "AAAA"}
	for name, other := range map[string]signOn{"no cookie": {state: on.state}, "another browser's": elsewhere, "another state": altered, "an altered cookie": broken, "nothing": {}} {
		if got := reason(t, back(t, p.Platform, other, code, "")); got != "sso_state" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if token, _ := refreshed(t, p.Platform, back(t, p.Platform, on, code, "")); token == "" {
		t.Fatal("the right one is not let in")
	}
	if got := reason(t, back(t, p.Platform, on, code, "")); got != "sso_state" {
		t.Errorf("a second time: %s", got)
	}
	if n := p.Number(`SELECT count(*) FROM sessions`); n != 1 {
		t.Errorf("%d sessions", n)
	}
	for _, path := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "evil", "/%0d%0a", "javascript:alert(1)", "/\t/evil.example"} {
		if a := browser(t, p.Platform, "/auth/sso?"+p.at()+"&return="+url.QueryEscape(path)); a.Status != http.StatusBadRequest && path != "/%0d%0a" {
			t.Errorf("return=%s: %d", path, a.Status)
		}
	}
	if got := reason(t, browser(t, p.Platform, "/auth/sso?email=somebody@unknown.example")); got != "sso_unknown" {
		t.Errorf("an address without a provider: %s", got)
	}
	if a := browser(t, p.Platform, "/auth/sso?look=true&email=somebody@unknown.example"); a.Status != http.StatusNoContent || a.Header.Get("Location") != "" {
		t.Errorf("which way such an address has: %d %s", a.Status, a.Body)
	}
	if a := browser(t, p.Platform, "/auth/sso?look=true&"+p.at()); a.Status != http.StatusSeeOther {
		t.Errorf("which way another one has: %d %s", a.Status, a.Body)
	}
	p.idp.named = true
	p.SQL(`UPDATE identity_providers SET issuer = issuer`) // what is known of the issuer is from before: another one is asked anew
	second := newIDP(t)
	second.named = true
	id := p.provide(t, p.Root(), p.alpine, second.URL, map[string]any{"domains": []string{"corp.example"}})
	on = begin(t, p.Platform, fmt.Sprint("provider=", id))
	if got := reason(t, back(t, p.Platform, on, second.authorize(on, second.right(on, "n1", "nan@corp.example")), "")); got != "sso_invalid" {
		t.Errorf("an answer without the issuer that was announced: %s", got)
	}
}

// TestNobodyTakesAnAccountOver: an address leads to an account only at a provider whose company has the domain, once; who has the address
// later is somebody else, and a provider opens the companies that it serves and no other.
func TestNobodyTakesAnAccountOver(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	p.SetUp("greta@alpine.example")
	p.SetUp("olivia@brightwater.example")
	greta := p.OpenSession(t, "greta@alpine.example", platform.NewPassword).Token
	evil := newIDP(t)
	// An owner lists domains that the company does not have: also that of the root's owner.
	id := p.provide(t, greta, p.alpine, evil.URL, map[string]any{"domains": []string{"northwind.example", "brightwater.example", "gmail.com"}})
	at := fmt.Sprint("provider=", id)
	for _, email := range []string{platform.DemoAdmin, "olivia@brightwater.example", "new@gmail.com"} {
		if got := reason(t, evil.enter(t, p.Platform, at, "e "+email, email)); got != "sso_domain" {
			t.Errorf("%s: %s", email, got)
		}
	}
	if got := reason(t, browser(t, p.Platform, "/auth/sso?email=olivia@brightwater.example")); got != "sso_unknown" {
		t.Errorf("a domain that is not the company's leads to its provider: %s", got)
	}
	// Now the company proves that it has the domain: the account is found, and opens nothing beyond.
	p.prove(t, greta, id, "brightwater.example")
	if got := reason(t, evil.enter(t, p.Platform, at, "o1", "olivia@brightwater.example")); got != "sso_waiting" {
		t.Errorf("an owner of another company: %s", got)
	}
	brightwater := p.Customer("Brightwater Health")
	if got := reason(t, evil.enter(t, p.Platform, at+fmt.Sprint("&customerId=", brightwater), "o1", "olivia@brightwater.example")); got != "sso_elsewhere" {
		t.Errorf("to the other company: %s", got)
	}
	if n := p.Number(`SELECT count(*) FROM sessions WHERE customer_id = $1`, brightwater); n != 0 {
		t.Error("the other company is open")
	}
	t.Run("the address goes to somebody else", func(t *testing.T) {
		token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "first", "role@corp.example"))
		if token == "" {
			t.Fatal("the first is not let in")
		}
		a := p.idp.enter(t, p.Platform, p.at(), "second", "role@corp.example")
		if got := reason(t, a); got != "sso_mismatch" {
			t.Errorf("the second: %s", got)
		}
		// Also once the first has left the company.
		p.Must(204, "DELETE", fmt.Sprintf("/tenant/user/%d?customerId=%d", p.UserID("role@corp.example"), p.alpine), p.Root(), nil)
		if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "second", "role@corp.example")); got != "sso_mismatch" {
			t.Errorf("the second, later: %s", got)
		}
		// Who was taken out of the company does not come back by itself.
		if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "first", "role@corp.example")); got != "sso_waiting" {
			t.Errorf("the first, who was taken out: %s", got)
		}
	})
	t.Run("it is unlinked", func(t *testing.T) {
		identity := p.Number(`SELECT id FROM user_identities WHERE subject = 'first'`)
		p.Must(204, "DELETE", fmt.Sprint("/v1/identities/", identity), p.Root(), nil)
		if token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "second", "role@corp.example")); token == "" {
			t.Error("the next sign-in is no first one")
		}
	})
}

// prove has the DNS say that a domain is a company's, and has the platform ask.
func (p providing) prove(t *testing.T, token string, provider int64, domain string) string {
	t.Helper()
	var record string
	p.Look(&record, `SELECT d.token FROM domain_claims d JOIN identity_providers p ON p.customer_id = d.customer_id WHERE p.id = $1 AND d.domain = $2`, provider, domain)
	p.dns.Set("_canopy-challenge."+domain, "v=spf1 -all", "canopy-domain="+record)
	return p.verify(t, token, provider, domain)
}

// verify has the DNS asked, and gives what became of the claim.
func (p providing) verify(t *testing.T, token string, provider int64, domain string) string {
	t.Helper()
	a := p.Do("POST", fmt.Sprintf("/v1/identity-providers/%d/verify", provider), token, map[string]any{"domain": domain})
	if a.Status != http.StatusOK {
		return fmt.Sprint(platform.Member(t, a.JSON(t), "code"))
	}
	for _, c := range platform.Member(t, a.JSON(t), "claims").([]any) {
		if platform.Member(t, c, "domain") == domain {
			return platform.Member(t, c, "status").(string)
		}
	}
	return "none"
}

// TestDomains: a domain is a company's while its DNS says so, or while a company above has given it away that may.
func TestDomains(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	p.SetUp("greta@alpine.example")
	p.SetUp("lukas@alpine-hydro.example")
	p.SetUp("olivia@brightwater.example")
	owner := func(email string) string { return p.OpenSession(t, email, platform.NewPassword).Token }
	greta, lukas, olivia := owner("greta@alpine.example"), owner("lukas@alpine-hydro.example"), owner("olivia@brightwater.example")
	hydro, brightwater := p.Customer("Alpine Hydro"), p.Customer("Brightwater Health")
	mine := p.provide(t, greta, p.alpine, p.idp.URL, map[string]any{"domains": []string{"Bücher.example", "alpine.example"}})
	const books = "xn--bcher-kva.example"
	if got := p.verify(t, greta, mine, books); got != "pending" {
		t.Errorf("without a record: %s", got)
	}
	p.dns.Deafen(true)
	if a := p.Do("POST", fmt.Sprintf("/v1/identity-providers/%d/verify", mine), greta, map[string]any{"domain": books}); a.Status != http.StatusServiceUnavailable {
		t.Errorf("where the DNS can't tell: %d %s", a.Status, a.Body)
	}
	p.dns.Deafen(false)
	if got := p.prove(t, greta, mine, books); got != "proven" {
		t.Errorf("with the record: %s", got)
	}
	t.Run("given from above", func(t *testing.T) {
		below := p.provide(t, greta, hydro, p.idp.URL, map[string]any{"domains": []string{books, "alpine.example"}})
		got := map[string]string{}
		for _, c := range platform.Member(t, p.Must(200, "GET", fmt.Sprint("/v1/identity-providers/", below), greta, nil).JSON(t), "claims").([]any) {
			got[platform.Member(t, c, "domain").(string)] = platform.Member(t, c, "status").(string)
		}
		if got[books] != "granted" || got["alpine.example"] != "pending" {
			t.Errorf("what is proven is given, and what is not is not: %v", got)
		}
		own := p.provide(t, lukas, hydro, p.idp.URL, map[string]any{"domains": []string{"corp.example"}})
		if got := p.verify(t, lukas, own, "corp.example"); got != "pending" {
			t.Errorf("what is the company's above is taken from below: %s", got)
		}
	})
	t.Run("of another company", func(t *testing.T) {
		theirs := p.provide(t, olivia, brightwater, p.idp.URL, map[string]any{"domains": []string{books}})
		var old, now string
		p.Look(&old, `SELECT token FROM domain_claims WHERE customer_id = $1 AND domain = $2`, p.alpine, books)
		p.Look(&now, `SELECT token FROM domain_claims WHERE customer_id = $1 AND domain = $2`, brightwater, books)
		p.dns.Set("_canopy-challenge."+books, "canopy-domain="+old, "canopy-domain="+now)
		if got := p.verify(t, olivia, theirs, books); got != "domain_taken" {
			t.Errorf("while the other record is there: %s", got)
		}
		p.dns.Set("_canopy-challenge."+books, "canopy-domain="+now)
		if got := p.verify(t, olivia, theirs, books); got != "proven" {
			t.Errorf("once it is gone: %s", got)
		}
		if n := p.Number(`SELECT count(*) FROM domain_claims WHERE customer_id = $1 AND domain = $2 AND proven_at IS NOT NULL`, p.alpine, books); n != 0 {
			t.Error("two companies have one domain")
		}
		if n := p.Number(`SELECT count(*) FROM audit_events WHERE customer_id = $1 AND action = 'customer.domainLost'`, p.alpine); n != 1 {
			t.Error("who has lost it is not told")
		}
	})
	t.Run("not by who is no owner", func(t *testing.T) {
		admin := p.As("Alpine Energy", "jonas@alpine.example")
		for _, a := range []platform.Answer{
			p.Do("POST", "/v1/identity-providers", admin, map[string]any{"name": "N", "issuer": p.idp.URL, "clientId": "c", "clientSecret": "s"}),
			p.Do("PUT", fmt.Sprint("/v1/identity-providers/", mine), admin, map[string]any{"issuer": p.idp.URL + "/other"}),
			p.Do("DELETE", fmt.Sprint("/v1/identity-providers/", mine), admin, nil),
		} {
			if a.Status != http.StatusForbidden {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
	})
	t.Run("bad input", func(t *testing.T) {
		for _, c := range []map[string]any{
			{"issuer": "http://login.example"},
			{"issuer": "https://10.0.0.1"},
			{"issuer": p.idp.URL + "?x=1"},
			{"issuer": "https://u:p@93.184.216.34"},
			{"clientSecret": ""},
			{"name": " "},
			{"domains": []string{"example"}},
			{"domains": []string{"10.0.0.1"}},
			{"domains": []string{"a b.example"}},
			{"domains": []string{"*.example.com"}},
			{"defaultRoleId": p.RoleID(0, "tenant", "Owner")},
			{"defaultRoleId": platform.AbsentID},
		} {
			body := map[string]any{"name": "N", "issuer": p.idp.URL, "clientId": "c", "clientSecret": "s"}
			for name, value := range c {
				body[name] = value
			}
			if a := p.Do("POST", "/v1/identity-providers", greta, body); a.Status != http.StatusBadRequest {
				t.Errorf("%v: %d %s", c, a.Status, a.Body)
			}
		}
	})
	t.Run("lost by time", func(t *testing.T) {
		p.prove(t, greta, mine, "alpine.example")
		p.dns.Set("_canopy-challenge.alpine.example")
		worker := p.App.Worker(nil)
		look := func(missing string) int64 {
			p.SQL(`UPDATE domain_claims SET checked_at = now() - interval '2 days', missing_since = now() - $1::interval WHERE proven_at IS NOT NULL`, missing)
			if err := worker.CheckDomains(t.Context()); err != nil {
				t.Fatal(err)
			}
			return p.Number(`SELECT count(*) FROM domain_claims WHERE customer_id = $1 AND domain = 'alpine.example' AND proven_at IS NOT NULL`, p.alpine)
		}
		if n := look("2 days"); n != 1 {
			t.Error("it is lost after two days")
		}
		p.dns.Deafen(true)
		if n := look("4 days"); n != 1 {
			t.Error("it is lost while the DNS can't tell")
		}
		p.dns.Deafen(false)
		if n := look("4 days"); n != 0 {
			t.Error("it holds after four days")
		}
	})
}

// TestRequiredProvider: where a provider is required, passwords let in nobody but owners, and who is not let in is told where to go.
func TestRequiredProvider(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	for _, email := range []string{"greta@alpine.example", "mira@alpine.example", "eva@alpine-hydro.example"} {
		p.SetUp(email)
	}
	mira := p.OpenSession(t, "mira@alpine.example", platform.NewPassword)
	p.Must(200, "PUT", fmt.Sprint("/v1/identity-providers/", p.id), p.Root(), map[string]any{"required": true})
	login := func(email string) platform.Answer {
		return p.Do("POST", "/auth/session", "", map[string]any{"email": email, "password": platform.NewPassword, "cookie": false})
	}
	for _, email := range []string{"mira@alpine.example", "eva@alpine-hydro.example"} { // who is in a company below, which inherits it
		a := login(email)
		if detail := fmt.Sprint(platform.Member(t, a.JSON(t), "detail")); reason(t, a) != "sso_required" || a.Status != 403 || !strings.Contains(detail, p.at()) || !strings.Contains(detail, "Company login") {
			t.Errorf("%s: %d %s", email, a.Status, a.Body)
		}
	}
	if a := p.Do("POST", "/auth/token", "", map[string]any{"email": "mira@alpine.example", "password": platform.NewPassword}); reason(t, a) != "sso_required" {
		t.Errorf("the older login: %s", a.Body)
	}
	if a := p.Do("POST", "/auth/token", "", map[string]any{"email": "mira@alpine.example", "password": "wrong"}); a.Status != http.StatusUnauthorized {
		t.Errorf("a wrong password learns of it: %s", a.Body)
	}
	if a := p.Refresh(mira.Refresh); reason(t, a) != "sso_required" {
		t.Errorf("a session from before: %s", a.Body)
	}
	if a := login("greta@alpine.example"); a.Status != 200 {
		t.Errorf("an owner: %s", a.Body)
	}
	hydro := p.Customer("Alpine Hydro")
	own := p.provide(t, p.Root(), hydro, p.idp.URL, map[string]any{"enabled": false})
	if a := login("eva@alpine-hydro.example"); reason(t, a) != "sso_required" {
		t.Errorf("a company whose own is not enabled: %s", a.Body)
	}
	p.Must(200, "PUT", fmt.Sprint("/v1/identity-providers/", own), p.Root(), map[string]any{"enabled": true})
	if a := login("eva@alpine-hydro.example"); a.Status != 200 {
		t.Errorf("a company that has its own: %s", a.Body)
	}
}

// TestWhoMaySignOn: new people without a role wait for one; sessions end with what they come from, at once.
func TestWhoMaySignOn(t *testing.T) {
	t.Parallel()
	p := newProviding(t, map[string]any{"defaultRoleId": nil})
	if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "w1", "wim@corp.example")); got != "sso_waiting" {
		t.Fatalf("without a role: %s", got)
	}
	hydro := p.Customer("Alpine Hydro")
	for _, customer := range []int64{p.alpine, hydro} {
		p.Must(200, "POST", "/permission", p.Root(), map[string]any{
			"appAccountId": p.Account(customer, "tenant"), "appRoleId": p.RoleID(0, "tenant", "Viewer"), "userIdentityId": p.UserID("wim@corp.example"),
		})
	}
	enter := func(query string) string {
		t.Helper()
		token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, query, "w1", "wim@corp.example"))
		if token == "" {
			t.Fatal("not let in")
		}
		return token
	}
	below := p.at() + fmt.Sprint("&customerId=", hydro)
	put := func(body map[string]any) {
		t.Helper()
		p.Must(200, "PUT", fmt.Sprint("/v1/identity-providers/", p.id), p.Root(), body)
	}
	t.Run("the company below gets its own", func(t *testing.T) {
		here, there := enter(p.at()), enter(below)
		own := p.provide(t, p.Root(), hydro, p.idp.URL, map[string]any{"enabled": false})
		ask := func() any {
			t.Helper()
			return p.MustGQL(p.Root(), `query($id: ID) { customer(id: $id) { own: identityProviders(inherited: false) { databaseId } all: identityProviders { databaseId } } }`, map[string]any{"id": hydro})
		}
		// While it is set up and tried, people sign in where they did.
		if !works(p.Platform, there) || !works(p.Platform, enter(below)) {
			t.Error("a provider that is not enabled takes the inherited one's place")
		}
		if shown := ask(); platform.Member(t, shown, "customer.own.#") != 1 || platform.Member(t, shown, "customer.all.0.databaseId") != float64(p.id) || platform.Member(t, shown, "customer.all.1.databaseId") != float64(own) {
			t.Errorf("%v", shown)
		}
		p.Must(200, "PUT", fmt.Sprint("/v1/identity-providers/", own), p.Root(), map[string]any{"enabled": true})
		if works(p.Platform, there) || !works(p.Platform, here) {
			t.Error("the session below goes on, or the other one does not")
		}
		if got := reason(t, p.idp.enter(t, p.Platform, below, "w1", "wim@corp.example")); got != "sso_elsewhere" {
			t.Errorf("by the inherited one: %s", got)
		}
		if shown := ask(); platform.Member(t, shown, "customer.own.0.databaseId") != float64(own) || platform.Member(t, shown, "customer.all.#") != 1 {
			t.Errorf("%v", shown)
		}
		p.Must(204, "DELETE", fmt.Sprint("/v1/identity-providers/", own), p.Root(), nil)
	})
	t.Run("the company below moves", func(t *testing.T) {
		there := enter(below)
		p.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/move", hydro), p.Root(), map[string]any{"parentId": p.Customer("Dune Retail")})
		if works(p.Platform, there) {
			t.Error("the provider of the old place serves yet")
		}
	})
	t.Run("it is suspended", func(t *testing.T) {
		p.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/suspend", p.alpine), p.Root(), nil)
		if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "w1", "wim@corp.example")); got != "customer_suspended" {
			t.Errorf("%s", got)
		}
		if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "w2", "new@corp.example")); got != "customer_suspended" {
			t.Errorf("somebody new: %s", got)
		}
		p.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/resume", p.alpine), p.Root(), nil)
	})
	t.Run("it is disabled", func(t *testing.T) {
		here := enter(p.at())
		put(map[string]any{"enabled": false})
		if works(p.Platform, here) {
			t.Error("the session goes on")
		}
		if got := reason(t, browser(t, p.Platform, "/auth/sso?"+p.at())); got != "sso_unknown" {
			t.Errorf("%s", got)
		}
		on := begin(t, p.Platform, p.at()+"&try=true&return=/console/x")
		a := back(t, p.Platform, on, p.idp.authorize(on, p.idp.right(on, "t1", "tess@corp.example")), "")
		page, told, _ := strings.Cut(a.Header.Get("Location"), "#trial=")
		raw, err := base64.RawURLEncoding.DecodeString(told)
		if err != nil || page != "/console/x" || !strings.Contains(string(raw), `"domainHolds":true`) || p.Number(`SELECT count(*) FROM users WHERE email LIKE 'tess%'`) != 0 {
			t.Errorf("a trial: %s %s", a.Header.Get("Location"), raw)
		}
		put(map[string]any{"enabled": true})
	})
	t.Run("a trial that comes to nothing goes back to its page", func(t *testing.T) {
		p.forgive()
		why := func(a platform.Answer) string {
			page, told, _ := strings.Cut(a.Header.Get("Location"), "#trial=")
			raw, err := base64.RawURLEncoding.DecodeString(told)
			if err != nil || page != "/console/x?y=1" || !json.Valid(raw) || a.Status != http.StatusSeeOther {
				t.Errorf("%d to %s: %s", a.Status, a.Header.Get("Location"), raw)
			}
			return string(raw)
		}
		query := "&try=true&return=" + url.QueryEscape("/console/x?y=1#z")
		on := begin(t, p.Platform, p.at()+query)
		if got := why(asPage(t, p.Platform, "/auth/sso/callback?error=access_denied&state="+url.QueryEscape(on.state), on.cookies...)); !strings.Contains(got, `"refused":"sso_refused"`) {
			t.Errorf("it was turned away: %s", got)
		}
		if got := why(asPage(t, p.Platform, "/auth/sso?provider=987654"+query)); !strings.Contains(got, `"refused":"sso_unknown"`) {
			t.Errorf("there is no provider: %s", got)
		}
		if a := asPage(t, p.Platform, "/auth/sso?provider=987654&return=/console/x"); a.Header.Get("Location") != "/console/sign-in?sso=sso_unknown" {
			t.Errorf("no trial: %s", a.Header.Get("Location"))
		}
	})
	t.Run("the provider signs out", func(t *testing.T) {
		here := enter(p.at())
		send := func(change jwt.MapClaims) int {
			claims := jwt.MapClaims{
				"iss": p.idp.URL, "aud": "canopy", "sub": "w1", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "jti": rand.Text(), "sid": "sid w1",
				"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}},
			}
			for name, value := range change {
				if claims[name] = value; value == nil {
					delete(claims, name)
				}
			}
			p.forgive()
			return p.Post(fmt.Sprint("/auth/sso/logout/", p.id), "", "application/x-www-form-urlencoded", []byte("logout_token="+p.idp.signed(claims))).Status
		}
		for name, bad := range map[string]jwt.MapClaims{
			"of another": {"aud": "x"}, "an ID token": {"events": nil}, "with a nonce": {"nonce": "x"}, "old": {"iat": time.Now().Add(-time.Hour).Unix()}, "nobody": {"sub": nil, "sid": nil},
		} {
			if status := send(bad); status != 403 || !works(p.Platform, here) {
				t.Errorf("%s: %d", name, status)
			}
		}
		if status := send(jwt.MapClaims{"sid": "another"}); status != 204 || !works(p.Platform, here) {
			t.Errorf("another session: %d", status)
		}
		same := jwt.MapClaims{"jti": "once"}
		if status := send(same); status != 204 || works(p.Platform, here) {
			t.Errorf("%d", status)
		}
		again := enter(p.at())
		if status := send(same); status != 204 || !works(p.Platform, again) {
			t.Errorf("the same token again: %d", status)
		}
		if status := send(jwt.MapClaims{"sub": nil, "sid": "another"}); status != 204 || !works(p.Platform, again) {
			t.Errorf("another session, of nobody who is named: %d", status)
		}
		if status := send(jwt.MapClaims{"sub": nil}); status != 204 || works(p.Platform, again) {
			t.Errorf("the session alone is named: %d", status)
		}
	})
	t.Run("another issuer", func(t *testing.T) {
		here := enter(p.at())
		put(map[string]any{"issuer": newIDP(t).URL})
		if works(p.Platform, here) || p.Number(`SELECT count(*) FROM user_identities`) != 0 {
			t.Error("what the other issuer has said counts yet")
		}
	})
	t.Run("the person is erased", func(t *testing.T) {
		p.SQL(`INSERT INTO user_identities (user_id, provider_id, subject, email) VALUES ($1, $2, 'w1', 'wim@corp.example')`, p.UserID("wim@corp.example"), p.id)
		p.MustGQL(p.Root(), `mutation($id: ID!) { eraseUser(input: {userId: $id}) { deletedId } }`, map[string]any{"id": p.UserID("wim@corp.example")})
		if n := p.Number(`SELECT (SELECT count(*) FROM user_identities) + (SELECT count(*) FROM provider_sessions) + (SELECT count(*) FROM audit_events WHERE details::text LIKE '%wim@%')`); n != 0 {
			t.Errorf("%d rows tell of who was erased", n)
		}
	})
}
