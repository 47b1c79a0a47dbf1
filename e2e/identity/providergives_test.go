package identity

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lib/pq"

	"canopy/e2e/platform"
)

// deputized is a company with an owner whose role has few rights, and another one, Greta, who has them all.
type deputized struct {
	providing
	// mira is the token of the owner with few rights, and few are these.
	mira, greta string
	few         []string
	evil        *idp
}

func newDeputized(t *testing.T) deputized {
	t.Helper()
	p := deputized{providing: newProviding(t, map[string]any{"domains": []string{"corp.example", "alpine.example"}}), evil: newIDP(t)}
	for _, email := range []string{"greta@alpine.example", "mira@alpine.example"} {
		p.SetUp(email)
	}
	p.few = []string{"company.read", "company.write", "user.read", "user.write", "permission.read", "permission.write", "key.read", "key.write"}
	role := p.Number(`INSERT INTO roles (application_id, customer_id, name, is_owner, features) SELECT id, $1, 'Front desk', true, $2 FROM applications WHERE code = 'tenant' RETURNING id`,
		p.alpine, pq.StringArray(p.few))
	p.SQL(`UPDATE permissions SET role_id = $3 WHERE user_id = $1 AND account_id = $2`, p.UserID("mira@alpine.example"), p.Account(p.alpine, "tenant"), role)
	p.mira = p.OpenSession(t, "mira@alpine.example", platform.NewPassword).Token
	p.greta = p.OpenSession(t, "greta@alpine.example", platform.NewPassword).Token
	return p
}

// beyond checks that an answer refuses what the caller can't give.
func (p deputized) beyond(t *testing.T, what string, a platform.Answer) {
	t.Helper()
	if a.Status != http.StatusForbidden || reason(t, a) != "beyond_own_rights" {
		t.Errorf("%s: %d %s", what, a.Status, a.Body)
	}
}

// rights are those of a token in tenant management.
func (p deputized) rights(token string) any {
	return platform.Member(p.T, p.MustGQL(token, `{ me { grants { application features } } }`, nil), "me.grants.0.features")
}

// takesOver tries what would make the rights of Greta, as whom a session is, those of whoever has it, or of Mira.
func (p deputized) takesOver(t *testing.T, session string) {
	t.Helper()
	if got := fmt.Sprint(p.rights(session)); got != fmt.Sprint(p.few) {
		t.Errorf("the session has the rights %s", got)
	}
	account, owner, mira := p.Account(p.alpine, "tenant"), p.RoleID(0, "tenant", "Owner"), p.UserID("mira@alpine.example")
	p.beyond(t, "a role for Mira", p.Do("PUT", "/permission", session, map[string]any{"id": p.Permission(mira, account), "appRoleId": owner}))
	p.beyond(t, "an own key", p.Do("POST", "/v1/keys", session, map[string]any{"name": "Mine"}))
	key := p.Must(http.StatusCreated, "POST", "/v1/keys", p.greta, map[string]any{"name": "Greta's"}).ID(t, "id")
	p.beyond(t, "the secret of Greta's key", p.Do("POST", fmt.Sprintf("/v1/keys/%d/rotate", key), session, nil))
	p.Must(http.StatusForbidden, "GET", "/tenant/billing", session, nil)
}

// TestAProviderGivesNoMoreThanItsMakerMay: an owner whose role has few rights sets up a provider whose answers it writes, and has it say that somebody is the owner with
// all rights. What comes of it has the rights that the maker could have given, and no more.
func TestAProviderGivesNoMoreThanItsMakerMay(t *testing.T) {
	t.Parallel()
	p := newDeputized(t)
	enter := func(at *idp, provider int64, subject string) string {
		t.Helper()
		token, _ := refreshed(t, p.Platform, at.enter(t, p.Platform, fmt.Sprint("provider=", provider), subject, "greta@alpine.example"))
		if token == "" {
			t.Fatal("not let in")
		}
		return token
	}
	whole := enter(p.idp, p.id, "g1")
	all := fmt.Sprint(p.rights(p.greta))
	if got := fmt.Sprint(p.rights(whole)); got != all {
		t.Errorf("by a provider of who has all rights come %s", got)
	}
	features := func(id int64) any {
		return platform.Member(t, p.Must(200, "GET", fmt.Sprint("/v1/identity-providers/", id), p.greta, nil).JSON(t), "features")
	}
	t.Run("made", func(t *testing.T) {
		p.beyond(t, "a role for new people", p.Do("POST", "/v1/identity-providers", p.mira, map[string]any{
			"name": "Another", "issuer": p.evil.URL, "clientId": "canopy", "clientSecret": clientSecret, "defaultRoleId": p.RoleID(0, "tenant", "Admin"),
		}))
		id := p.provide(t, p.mira, p.alpine, p.evil.URL, map[string]any{"domains": []string{"alpine.example"}})
		identity := p.Number(`SELECT id FROM user_identities WHERE subject = 'g1'`)
		p.Must(http.StatusNoContent, "DELETE", fmt.Sprint("/v1/identities/", identity), p.mira, nil) // or it would be sso_mismatch
		p.takesOver(t, enter(p.evil, id, "e1"))
		if got := p.MustGQL(p.greta, fmt.Sprintf(`{ customer(id: %d) { identityProviders { databaseId features } } }`, p.alpine), nil); fmt.Sprint(platform.Member(t, got, "customer.identityProviders.1.features")) != fmt.Sprint(p.few) {
			t.Errorf("the graph shows %v", got)
		}
		p.Must(http.StatusNoContent, "DELETE", fmt.Sprint("/v1/identity-providers/", id), p.greta, nil)
	})
	t.Run("led elsewhere", func(t *testing.T) {
		whole := enter(p.idp, p.id, "g1")
		at := fmt.Sprint("/v1/identity-providers/", p.id)
		p.Must(200, "PUT", at, p.mira, map[string]any{"name": "Login of Alpine", "clientSecret": clientSecret, "issuer": p.idp.URL, "clientId": "canopy"})
		if got := fmt.Sprint(p.rights(whole)); got != all || features(p.id) != nil {
			t.Errorf("what leads nowhere else takes away: %s, %v", got, features(p.id))
		}
		p.beyond(t, "leading what gives more elsewhere", p.Do("PUT", at, p.mira, map[string]any{"issuer": p.evil.URL}))
		p.Must(200, "PUT", at, p.mira, map[string]any{"issuer": p.evil.URL, "defaultRoleId": nil})
		if works(p.Platform, whole) {
			t.Error("the session from the issuer of before goes on")
		}
		session := enter(p.evil, p.id, "e1")
		p.takesOver(t, session)
		p.Must(200, "PUT", at, p.greta, map[string]any{"name": "Login", "enabled": true})
		p.takesOver(t, session)
		p.Must(200, "PUT", at, p.greta, map[string]any{"clientSecret": clientSecret}) // she vouches for it
		if got := fmt.Sprint(p.rights(session)); got != all || features(p.id) != nil {
			t.Errorf("once somebody with all rights vouches: %s, %v", got, features(p.id))
		}
		p.Must(200, "PUT", at, p.mira, map[string]any{"clientId": "another"})
		p.takesOver(t, session)
	})
}

// TestWhatWithholdsIsNamed: a refusal names the provider where that keeps a right of the role back, and the role where that lacks it by itself.
func TestWhatWithholdsIsNamed(t *testing.T) {
	t.Parallel()
	p := newDeputized(t)
	id := p.provide(t, p.mira, p.alpine, p.evil.URL, map[string]any{"domains": []string{"alpine.example"}})
	session, _ := refreshed(t, p.Platform, p.evil.enter(t, p.Platform, fmt.Sprint("provider=", id), "e1", "greta@alpine.example"))
	account, owner := p.Account(p.alpine, "tenant"), p.RoleID(0, "tenant", "Owner")
	refused := func(use, give string) {
		t.Helper()
		uses := p.Do("GET", "/tenant/billing", session, nil)
		gives := p.Do("PUT", "/permission", session, map[string]any{"id": p.Permission(p.UserID("mira@alpine.example"), account), "appRoleId": owner})
		for want, a := range map[string]platform.Answer{use: uses, give: gives} {
			if detail := fmt.Sprint(platform.Member(t, a.JSON(t), "detail")); a.Status != http.StatusForbidden || !strings.Contains(detail, want) {
				t.Errorf("%d %s, not %s", a.Status, detail, want)
			}
		}
	}
	refused("comes from an identity provider that was set up by somebody without the right billing.read", "your session comes from an identity provider that was set up by somebody without it")
	p.SQL(`UPDATE permissions SET role_id = $3 WHERE user_id = $1 AND account_id = $2`, p.UserID("greta@alpine.example"), account, p.RoleID(p.alpine, "tenant", "Front desk"))
	refused(`the role "Front desk" lacks the right billing.read`, `your own role "Front desk" in tenant management does not have it`)
}

// TestADirectoryGivesNoMoreThanItsMakerMay: the same by SCIM.
func TestADirectoryGivesNoMoreThanItsMakerMay(t *testing.T) {
	t.Parallel()
	p := newDeputized(t)
	d := directory{Platform: p.Platform, alpine: p.alpine}
	d.id, d.token = d.made(t, p.mira)
	roles := `SELECT string_agg(user_id || ' ' || role_id, ', ' ORDER BY id) FROM permissions WHERE account_id = $1`
	var before, after string
	p.Look(&before, roles, p.Account(p.alpine, "tenant"))
	group := func(role int64) string { return fmt.Sprintf("/Groups/%d-%d", p.Account(p.alpine, "tenant"), role) }
	with := func(email string) map[string]any {
		return patchOf(map[string]any{"op": "add", "path": "members", "value": []map[string]any{{"value": fmt.Sprint(p.UserID(email))}}})
	}
	for _, role := range []string{"Owner", "Admin", "Member", "Viewer"} {
		d.refused(t, 403, "", "PATCH", group(p.RoleID(0, "tenant", role)), with("mira@alpine.example"))
	}
	if p.Look(&after, roles, p.Account(p.alpine, "tenant")); after != before {
		t.Errorf("%s has become %s", before, after)
	}
	d.must(t, 204, "PATCH", group(p.RoleID(p.alpine, "tenant", "Front desk")), with("jonas@alpine.example")) // what Mira has
}
