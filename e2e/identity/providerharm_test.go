package identity

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// TestAProviderHarmsNobodyElsewhere: a company's own provider can say that it is anybody of its domains. Whom it opens a session for so, it
// can do nothing to in companies that it does not serve, and it learns nothing of them.
func TestAProviderHarmsNobodyElsewhere(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	const email = "olivia@brightwater.example"
	p.SetUp(email)
	olivia, brightwater := p.UserID(email), p.Customer("Brightwater Health")
	dune := p.Customer("Dune Retail")
	p.Must(200, "POST", "/permission", p.Root(), map[string]any{
		"appAccountId": p.Account(dune, "tenant"), "appRoleId": p.RoleID(0, "tenant", "Viewer"), "userIdentityId": olivia,
	})
	own := p.OpenSession(t, email, platform.NewPassword)
	evil := newIDP(t)
	id := p.provide(t, p.Root(), p.alpine, evil.URL, map[string]any{"domains": []string{"brightwater.example"}, "defaultRoleId": p.RoleID(0, "tenant", "Viewer")})
	enter := func() string {
		t.Helper()
		token, _ := refreshed(t, p.Platform, evil.enter(t, p.Platform, fmt.Sprint("provider=", id), "e1", email))
		if token == "" {
			t.Fatal("not let in")
		}
		return token
	}
	session := enter()
	whole := `SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM (
		SELECT u.email || u.first_name || u.last_name || coalesce(u.erased_at::text, '') FROM users u WHERE id = $1
		UNION ALL SELECT m.customer_id || ' ' || (m.accepted_at IS NOT NULL) FROM memberships m WHERE user_id = $1
		UNION ALL SELECT i.id || i.status FROM invitations i WHERE user_id = $1) x(x)`
	var before, after string
	p.Look(&before, whole, olivia)
	t.Run("what concerns it elsewhere is refused", func(t *testing.T) {
		invitation := p.Number(`SELECT id FROM invitations WHERE user_id = $1 AND customer_id = $2`, olivia, dune)
		if a := p.Do("PUT", fmt.Sprintf("/tenant/user/%d", olivia), session, map[string]any{"firstName": "Pwned"}); a.Status != http.StatusForbidden || reason(t, a) != "sso_elsewhere" {
			t.Errorf("renaming: %d %s", a.Status, a.Body)
		}
		for name, mutation := range map[string]string{
			"erasing":  fmt.Sprintf(`eraseUser(input: {userId: %d}) { deletedId }`, olivia),
			"nowhere":  `leaveCustomer(input: {customerId: 987654}) { deletedId }`,
			"leaving":  fmt.Sprintf(`leaveCustomer(input: {customerId: %d}) { deletedId }`, brightwater),
			"renaming": fmt.Sprintf(`updateUser(input: {id: %d, firstName: "Pwned"}) { user { id } }`, olivia),
		} {
			if said := p.Refused(t, "FORBIDDEN", session, "mutation { "+mutation+" }", nil); !strings.Contains(said, "identity provider") {
				t.Errorf("%s: %s", name, said)
			}
		}
		for _, name := range []string{"acceptInvitation", "declineInvitation"} {
			p.Refused(t, "NOT_FOUND", session, fmt.Sprintf(`mutation { %s(input: {id: %d}) { invitation { id } } }`, name, invitation), nil)
		}
		if p.Look(&after, whole, olivia); after != before {
			t.Error("something was changed")
		}
	})
	t.Run("it sees and ends its own sessions alone", func(t *testing.T) {
		got := p.MustGQL(session, `{ me { sessions { current } invitations { id } } }`, nil)
		if platform.Member(t, got, "me.sessions.#") != 1 || platform.Member(t, got, "me.invitations.#") != 0 {
			t.Errorf("%v", got)
		}
		if got := p.MustGQL(own.Token, `{ me { sessions { current } invitations { id } } }`, nil); platform.Member(t, got, "me.sessions.#") != 2 || platform.Member(t, got, "me.invitations.#") != 1 {
			t.Errorf("the person itself sees %v", got)
		}
		theirs := p.Number(`SELECT id FROM sessions WHERE user_id = $1 AND provider_id = 0`, olivia)
		p.Refused(t, "NOT_FOUND", session, fmt.Sprintf(`mutation { revokeSession(input: {id: %d}) { session { id } } }`, theirs), nil)
		p.Must(404, "GET", fmt.Sprint("/v1/sessions/", theirs), session, nil)
		second := enter()
		p.Must(204, "DELETE", "/v1/sessions", second, nil)
		if works(p.Platform, session) || !works(p.Platform, second) || !works(p.Platform, own.Token) {
			t.Error("other sessions end than those that come from the provider")
		}
		session = second
	})
	t.Run("at home it may do what everybody may", func(t *testing.T) {
		p.MustGQL(session, fmt.Sprintf(`mutation { leaveCustomer(input: {customerId: %d}) { deletedId } }`, p.alpine), nil)
		token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "g1", "gwen@corp.example"))
		gwen := p.UserID("gwen@corp.example")
		p.MustGQL(token, fmt.Sprintf(`mutation { updateUser(input: {id: %d, firstName: "Gwendolyn"}) { user { id } } }`, gwen), nil)
		p.MustGQL(token, fmt.Sprintf(`mutation { eraseUser(input: {userId: %d}) { deletedId } }`, gwen), nil)
	})
}

// TestWhoMayLessAdmitsNobody: whoever says how people sign in can sign in as any of them. So no key does it that is bound to less than its
// owner has.
func TestWhoMayLessAdmitsNobody(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	p.SetUp("greta@alpine.example")
	greta := p.OpenSession(t, "greta@alpine.example", platform.NewPassword).Token
	try := func(token string) platform.Answer {
		return p.Do("POST", "/v1/identity-providers", token, map[string]any{
			"customerId": p.alpine, "name": "Another", "issuer": p.idp.URL, "clientId": "canopy", "clientSecret": clientSecret, "domains": []string{"corp.example"},
		})
	}
	for name, bounds := range map[string]map[string]any{
		"of one right":  {"features": []string{"company.write"}},
		"that ends":     {"expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
		"of a network":  {"allowedAddresses": []string{"0.0.0.0/0", "::/0"}},
		"without bound": {},
	} {
		bounds["name"] = name
		key := p.Must(201, "POST", "/v1/keys", greta, bounds).JSON(t)
		issued := p.Exchange(url.Values{
			"grant_type": {"client_credentials"}, "target_app": {"tenant"}, "client_id": {platform.Member(t, key, "clientId").(string)}, "client_secret": {platform.Member(t, key, "clientSecret").(string)},
		})
		token := platform.Member(t, issued.JSON(t), "access_token").(string)
		made := try(token)
		if name == "without bound" {
			if made.Status != http.StatusCreated {
				t.Errorf("a key %s: %d %s", name, made.Status, made.Body)
			}
			continue
		}
		if made.Status != http.StatusForbidden || reason(t, made) != "beyond_own_rights" {
			t.Errorf("a key %s: %d %s", name, made.Status, made.Body)
		}
		for _, a := range []platform.Answer{
			p.Do("PUT", fmt.Sprint("/v1/identity-providers/", p.id), token, map[string]any{"enabled": false}),
			p.Do("DELETE", fmt.Sprint("/v1/identity-providers/", p.id), token, nil),
			p.Do("POST", fmt.Sprintf("/v1/identity-providers/%d/verify", p.id), token, map[string]any{"domain": "corp.example"}),
		} {
			if a.Status != http.StatusForbidden || reason(t, a) != "beyond_own_rights" {
				t.Errorf("a key %s: %d %s", name, a.Status, a.Body)
			}
		}
	}
}

// TestNoPageKeepsANetworkFromSigningIn: answers of sign-ins that no browser has begun are no tries, and tokens that are not good, of one
// provider, keep none of another's from being heard.
func TestNoPageKeepsANetworkFromSigningIn(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	second := newIDP(t)
	other := p.provide(t, p.Root(), p.alpine, second.URL, nil)
	for range 40 {
		if got := reason(t, back(t, p.Platform, signOn{state: "a"}, "b", "")); got != "sso_state" {
			t.Fatal(got)
		}
	}
	out := func(id int64) int {
		return p.Post(fmt.Sprint("/auth/sso/logout/", id), "", "application/x-www-form-urlencoded", []byte("logout_token=nonsense")).Status
	}
	last := 0
	for range 40 {
		last = out(other)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("40 bad tokens: %d", last)
	}
	if got := out(p.id); got == http.StatusTooManyRequests {
		t.Error("another provider's tokens are not heard")
	}
	if token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "g1", "gwen@corp.example")); token == "" {
		t.Error("nobody gets in")
	}
}
