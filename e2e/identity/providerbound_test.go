package identity

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"canopy/e2e/platform"
)

const nextPassword = "Correct-horse-9-battery"

// ownWays are the mutations that make, change or take away a way to sign in, as somebody asks for them who has no password.
func ownWays(userID int64, password string) map[string]string {
	return map[string]string{
		"changePassword":          fmt.Sprintf(`changePassword(input: {current: %q, new: %q}) { user { id } }`, password, nextPassword),
		"requestEmailChange":      fmt.Sprintf(`requestEmailChange(input: {email: "mira@evil.example", password: %q}) { user { id } }`, password),
		"enableTotp":              fmt.Sprintf(`enableTotp(input: {password: %q}) { secret }`, password),
		"confirmTotp":             `confirmTotp(input: {code: "123456"}) { recoveryCodes }`,
		"disableTotp":             fmt.Sprintf(`disableTotp(input: {code: "123456", password: %q}) { user { id } }`, password),
		"regenerateRecoveryCodes": fmt.Sprintf(`regenerateRecoveryCodes(input: {password: %q}) { recoveryCodes }`, password),
		"beginPasskey":            fmt.Sprintf(`beginPasskey(input: {password: %q}) { state }`, password),
		"createPasskey":           `createPasskey(input: {state: "AAAA", credential: {}}) { recoveryCodes }`,
		"updatePasskey":           `updatePasskey(input: {id: 1, name: "Mine"}) { passkey { id } }`,
		"deletePasskey":           fmt.Sprintf(`deletePasskey(input: {id: 1, password: %q}) { deletedId }`, password),
		"eraseUser":               fmt.Sprintf(`eraseUser(input: {userId: %d}) { deletedId }`, userID),
	}
}

// refusal is the reason with which a mutation is refused; "" where it is not.
func (p providing) refusal(t *testing.T, token, mutation string) string {
	t.Helper()
	a := p.Do("POST", "/graphql", token, map[string]any{"query": "mutation { " + mutation + " }"})
	body := a.JSON(t).(map[string]any)
	if body["errors"] == nil {
		return ""
	}
	extensions := platform.Member(t, body, "errors.0.extensions").(map[string]any)
	return fmt.Sprint(extensions["code"], " ", extensions["reason"])
}

// without adds somebody to a company who has no password, as nobody has who comes by a provider or a directory, and gives the role.
func (p providing) without(t *testing.T, email string, customer, role int64) int64 {
	t.Helper()
	p.Must(http.StatusCreated, "POST", "/tenant/user", p.Root(), map[string]any{"email": email, "customerId": customer})
	id := p.UserID(email)
	p.Must(200, "POST", "/permission", p.Root(), map[string]any{"appAccountId": p.Account(customer, "tenant"), "appRoleId": role, "userIdentityId": id})
	return id
}

// signsIn is the status of a sign-in with the password that nobody should have.
func (p providing) signsIn(email string) int {
	return p.Do("POST", "/auth/session", "", map[string]any{"email": email, "password": nextPassword, "cookie": false}).Status
}

// credentials are all that somebody signs in with.
func (p providing) credentials(userID int64) (all string) {
	p.Look(&all, `SELECT (SELECT concat(email, password_hash, otp_method, otp_secret, password_changed_at) FROM users WHERE id = $1)
		|| (SELECT concat(string_agg(name || id, ',' ORDER BY id)) FROM passkeys WHERE user_id = $1)
		|| (SELECT count(*) FROM email_changes WHERE user_id = $1)`, userID)
	return all
}

// TestABoundedSessionLeadsToNoOther: a session of a provider that withholds rights from its person makes, changes and takes away no way to sign in, by which these would come.
func TestABoundedSessionLeadsToNoOther(t *testing.T) {
	t.Parallel()
	p := newDeputized(t)
	petra := p.without(t, "petra@alpine.example", p.alpine, p.RoleID(0, "tenant", "Owner"))
	desk := p.without(t, "dora@alpine.example", p.alpine, p.RoleID(p.alpine, "tenant", "Front desk"))
	id := p.provide(t, p.mira, p.alpine, p.evil.URL, map[string]any{"domains": []string{"alpine.example"}})
	enter := func(subject, email string) string {
		t.Helper()
		token, _ := refreshed(t, p.Platform, p.evil.enter(t, p.Platform, fmt.Sprint("provider=", id), subject, email))
		if token == "" {
			t.Fatal("not let in")
		}
		return token
	}
	// refused tries all ways, at both doors.
	refused := func(t *testing.T, session string, userID int64, password string) {
		t.Helper()
		before := p.credentials(userID)
		for name, mutation := range ownWays(userID, password) {
			if got := p.refusal(t, session, mutation); got != "FORBIDDEN sso_bounded" {
				t.Errorf("%s: %q", name, got)
			}
		}
		for _, a := range []platform.Answer{
			p.Do("POST", "/v1/passkeys/begin", session, map[string]any{"password": password}),
			p.Do("POST", "/v1/passkeys", session, map[string]any{"state": "AAAA", "credential": map[string]any{}}),
			p.Do("PUT", "/v1/passkeys/1", session, map[string]any{"name": "Mine"}),
			p.Do("DELETE", "/v1/passkeys/1", session, map[string]any{"password": password}),
		} {
			if a.Status != http.StatusForbidden || reason(t, a) != "sso_bounded" {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
		if p.credentials(userID) != before {
			t.Error("something was changed")
		}
	}
	session := enter("e1", "petra@alpine.example")
	t.Run("without a password", func(t *testing.T) {
		refused(t, session, petra, "")
		if got := p.signsIn("petra@alpine.example"); got != http.StatusUnauthorized {
			t.Errorf("signed in by a password: %d", got)
		}
	})
	t.Run("with a password", func(t *testing.T) {
		refused(t, enter("e2", "greta@alpine.example"), p.UserID("greta@alpine.example"), platform.NewPassword)
	})
	t.Run("who is withheld nothing goes on as ever", func(t *testing.T) {
		dora := enter("e3", "dora@alpine.example")
		for _, name := range []string{"enableTotp", "requestEmailChange", "changePassword"} {
			if got := p.refusal(t, dora, ownWays(desk, "")[name]); got != "" {
				t.Errorf("%s: %s", name, got)
			}
		}
		if got := p.signsIn("dora@alpine.example"); got != 200 {
			t.Errorf("her own password: %d", got)
		}
	})
	t.Run("once somebody with all rights vouches for the provider", func(t *testing.T) {
		p.Must(200, "PUT", fmt.Sprint("/v1/identity-providers/", id), p.greta, map[string]any{"clientSecret": clientSecret})
		if got := p.refusal(t, session, ownWays(petra, "")["enableTotp"]); got != "" {
			t.Error(got)
		}
	})
}

// TestAProviderTakesNobodyOverElsewhere: who has no password is the provider's alone in the companies that it serves. So it makes no way into others.
func TestAProviderTakesNobodyOverElsewhere(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	brightwater, owner := p.Customer("Brightwater Health"), p.RoleID(0, "tenant", "Owner")
	evil := newIDP(t)
	id := p.provide(t, p.Root(), p.alpine, evil.URL, map[string]any{"domains": []string{"brightwater.example"}, "defaultRoleId": p.RoleID(0, "tenant", "Viewer")})
	enter := func(subject, email string) string {
		t.Helper()
		token, _ := refreshed(t, p.Platform, evil.enter(t, p.Platform, fmt.Sprint("provider=", id), subject, email))
		if token == "" {
			t.Fatal("not let in")
		}
		return token
	}
	const olga, olivia = "olga@brightwater.example", "olivia@brightwater.example"
	userID := p.without(t, olga, brightwater, owner)
	session, before := enter("e1", olga), p.credentials(userID)
	for _, name := range []string{"changePassword", "requestEmailChange", "enableTotp", "disableTotp", "regenerateRecoveryCodes", "eraseUser"} {
		if got := p.refusal(t, session, ownWays(userID, "")[name]); got != "FORBIDDEN sso_elsewhere" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := p.signsIn(olga); got != http.StatusUnauthorized || p.credentials(userID) != before {
		t.Errorf("signed in by a password: %d", got)
	}
	t.Run("with a password", func(t *testing.T) { // which proves who it is to the platform
		p.SetUp(olivia)
		own := p.OpenSession(t, olivia, platform.NewPassword)
		_, key := p.AddPasskey(t, own.Token, platform.NewPassword)
		session := enter("e2", olivia)
		if a := p.Do("PUT", fmt.Sprint("/v1/passkeys/", key), session, map[string]any{"name": "Pwned"}); a.Status != http.StatusForbidden || reason(t, a) != "sso_elsewhere" {
			t.Errorf("renaming a passkey: %d %s", a.Status, a.Body)
		}
		if got := p.refusal(t, session, fmt.Sprintf(`updatePasskey(input: {id: %d, name: "Pwned"}) { passkey { id } }`, key)); got != "FORBIDDEN sso_elsewhere" {
			t.Errorf("renaming a passkey: %q", got)
		}
		if got := p.refusal(t, session, ownWays(0, platform.NewPassword)["changePassword"]); got != "" {
			t.Error(got)
		}
	})
}

// TestAnAnswerThatIsHeldBackCountsForNothing: an issuer answers when the provider is led back to another one, whose sessions have all rights.
func TestAnAnswerThatIsHeldBackCountsForNothing(t *testing.T) {
	t.Parallel()
	p := newDeputized(t)
	at := fmt.Sprint("/v1/identity-providers/", p.id)
	p.Must(200, "PUT", at, p.mira, map[string]any{"issuer": p.evil.URL, "defaultRoleId": nil})
	on := begin(t, p.Platform, p.at())
	code := p.evil.grant(grant{claims: p.evil.right(on, "g1", "greta@alpine.example"), challenge: on.challenge, sign: func(claims jwt.MapClaims) string {
		p.Must(200, "PUT", at, p.greta, map[string]any{"issuer": p.idp.URL, "clientSecret": clientSecret})
		return p.evil.signed(claims)
	}})
	if got := reason(t, back(t, p.Platform, on, code, "")); got != "sso_refused" {
		t.Error(got)
	}
	if n := p.Number(`SELECT count(*) FROM provider_sessions`); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "g2", "greta@alpine.example")); token == "" {
		t.Error("nobody is let in from the issuer of now")
	}
}

// TestWhoLeadsAProviderGivesItsDefaultRole: the role that new people get was given by somebody with all rights. Who decides which people these are gives it anew.
func TestWhoLeadsAProviderGivesItsDefaultRole(t *testing.T) {
	t.Parallel()
	p := newDeputized(t)
	admin := p.RoleID(0, "tenant", "Admin")
	desk := p.Must(http.StatusCreated, "POST", "/v1/roles", p.greta, map[string]any{
		"applicationId": p.Number(`SELECT id FROM applications WHERE code = 'tenant'`), "name": "Desk", "features": p.few,
	}).ID(t, "id")
	at := fmt.Sprint("/v1/identity-providers/", p.id)
	set := func(t *testing.T, token string, status int, in map[string]any) platform.Answer {
		t.Helper()
		return p.Must(status, "PUT", at, token, in)
	}
	set(t, p.greta, 200, map[string]any{"defaultRoleId": admin})
	for name, in := range map[string]map[string]any{
		"issuer": {"issuer": p.evil.URL}, "client": {"clientId": "another"}, "domain": {"domains": []string{"alpine.example", "corp.example", "mira.example"}},
		"role": {"defaultRoleId": admin}, "all": {"issuer": p.evil.URL, "clientId": "another", "clientSecret": clientSecret, "defaultRoleId": admin},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			p.beyond(t, "by REST", p.Do("PUT", at, p.mira, in))
			given := map[string]any{"id": p.id}
			for field, value := range in {
				given[field] = value
			}
			a := p.Do("POST", "/graphql", p.mira, map[string]any{
				"query": `mutation($in: UpdateIdentityProviderInput!) { updateIdentityProvider(input: $in) { identityProvider { id } } }`, "variables": map[string]any{"in": given},
			})
			if got := platform.Member(t, a.JSON(t), "errors.0.extensions"); platform.Member(t, got, "code") != "FORBIDDEN" || platform.Member(t, got, "reason") != "beyond_own_rights" {
				t.Errorf("by GraphQL: %s", a.Body)
			}
		})
	}
	t.Run("what leads nowhere else is not", func(t *testing.T) {
		set(t, p.mira, 200, map[string]any{"name": "Login", "required": false, "enabled": true, "clientSecret": clientSecret, "domains": []string{"alpine.example"}})
	})
	t.Run("with a role of one's own", func(t *testing.T) {
		set(t, p.mira, 200, map[string]any{"issuer": p.evil.URL, "defaultRoleId": desk})
		set(t, p.mira, 200, map[string]any{"clientId": "another"})
		set(t, p.mira, 200, map[string]any{"clientId": "canopy", "defaultRoleId": nil})
	})
	t.Run("a bounded provider gives nothing beyond its bound", func(t *testing.T) {
		if a := p.Do("PUT", at, p.greta, map[string]any{"defaultRoleId": admin}); a.Status != http.StatusBadRequest || platform.Member(t, a.JSON(t), "errors.0.location") != "body.defaultRoleId" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		p.Refused(t, "BAD_REQUEST", p.greta, fmt.Sprintf(`mutation { updateIdentityProvider(input: {id: %d, defaultRoleId: %d}) { identityProvider { id } } }`, p.id, admin), nil)
		set(t, p.mira, 200, map[string]any{"defaultRoleId": desk})
		enter := func(subject, email string) platform.Answer {
			return p.evil.enter(t, p.Platform, p.at(), subject, email)
		}
		if token, _ := refreshed(t, p.Platform, enter("n1", "mira+1@alpine.example")); fmt.Sprint(p.rights(token)) != fmt.Sprint(p.few) {
			t.Errorf("the role within the bound gives %v", p.rights(token))
		}
		// The role gets more.
		p.Must(200, "PUT", fmt.Sprint("/v1/roles/", desk), p.greta, map[string]any{"features": append([]string{"audit.read"}, p.few...)})
		if got := reason(t, enter("n2", "mira+2@alpine.example")); got != "sso_waiting" {
			t.Error(got)
		}
		if n := p.Number(`SELECT count(*) FROM permissions WHERE user_id = $1`, p.UserID("mira+2@alpine.example")); n != 0 {
			t.Errorf("%d permissions", n)
		}
		set(t, p.greta, 200, map[string]any{"clientSecret": clientSecret, "defaultRoleId": admin}) // she vouches for it
		if token, _ := refreshed(t, p.Platform, enter("n3", "nora@alpine.example")); token == "" {
			t.Error("nobody gets in")
		}
	})
}
