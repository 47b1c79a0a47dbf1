package tenancy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, jonas, mira := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Energy", "jonas@alpine.example"), s.As("Alpine Energy", "mira@alpine.example")
	const create = `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { clientId clientSecret apiKey { databaseId clientId name expiresAt revokedAt lastUsedAt user { email } customer { name } } } }`
	const rotate = `mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientId } }`
	const revoke = `mutation($in: RevokeApiKeyInput!) { revokeApiKey(input: $in) { apiKey { revokedAt } } }`
	in := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return map[string]any{"in": m}
	}
	made := s.MustGQL(jonas, create, in("name", "Own"))["createApiKey"]
	for path, want := range map[string]any{"apiKey.name": "Own", "apiKey.user.email": "jonas@alpine.example", "apiKey.customer.name": "Alpine Energy", "apiKey.expiresAt": nil, "apiKey.lastUsedAt": nil} {
		if got := platform.Member(t, made, path); got != want {
			t.Errorf("%s is %v", path, got)
		}
	}
	clientID, plain := platform.Member(t, made, "clientId").(string), platform.Member(t, made, "clientSecret").(string)
	id := platform.Member(t, made, "apiKey.databaseId")
	if !strings.HasPrefix(plain, "cnpy_") || clientID != platform.Member(t, made, "apiKey.clientId") {
		t.Errorf("%v", made)
	}
	s.Must(200, "GET", "/tenant", s.Token(clientID, plain, "tenant"), nil)
	t.Run("the secret is stored as its hash, and shown once", func(t *testing.T) {
		if n := s.Number(`SELECT count(*) FROM api_key_secrets WHERE hash = sha256(convert_to($1, 'UTF8'))`, plain); n != 1 {
			t.Errorf("%d rows", n)
		}
		a := s.Do("POST", "/graphql", greta, map[string]any{"query": `{ customer { apiKeys { nodes { clientId name lastUsedAt } } } }`})
		if !strings.Contains(string(a.Body), clientID) || strings.Contains(string(a.Body), "cnpy_") {
			t.Errorf("%s", a.Body)
		}
	})
	others := s.UserID("mira@alpine.example")
	miras := platform.Member(t, s.MustGQL(greta, create, in("userId", others)), "createApiKey.apiKey.databaseId")
	for _, c := range []struct {
		name, token, query string
		in                 map[string]any
		code               string
	}{
		{"another's, by an admin", jonas, create, in("userId", others), "FORBIDDEN"},
		{"rotate another's, by an admin", jonas, rotate, in("id", miras), "FORBIDDEN"},
		{"revoke another's, by an admin", jonas, revoke, in("id", miras), "FORBIDDEN"},
		{"by a viewer", mira, create, in(), "FORBIDDEN"},
		{"rotate by a viewer", mira, rotate, in("id", miras), "FORBIDDEN"},
		{"in a company where one is not a user", greta, create, in("customerId", hydro), "BAD_REQUEST"},
		{"for one out of reach", greta, create, in("userId", s.UserID("wei@coral.example")), "FORBIDDEN"},
		{"for one of another company", greta, create, in("userId", s.UserID("lukas@alpine-hydro.example")), "BAD_REQUEST"},
		{"in a company out of reach", greta, create, in("customerId", 1), "FORBIDDEN"},
		{"expired from the start", greta, create, in("expiresAt", time.Now().Add(-time.Minute).Format(time.RFC3339)), "BAD_REQUEST"},
		{"no time", greta, create, in("expiresAt", "tomorrow"), "BAD_REQUEST"},
		{"revoke one not there", greta, revoke, in("id", 999999), "FORBIDDEN"},
		{"revoke one not there, as root", root, revoke, in("id", 999999), "NOT_FOUND"},
		{"a user's id in place of a key's", root, revoke, in("id", "VXNlcjox"), "BAD_REQUEST"},
	} {
		t.Run(c.name, func(t *testing.T) { s.Refused(t, c.code, c.token, c.query, c.in) })
	}
	t.Run("an owner of a company above", func(t *testing.T) {
		out := s.MustGQL(greta, create, in("customerId", hydro, "userId", s.UserID("eva@alpine-hydro.example")))
		s.Must(200, "GET", "/tenant", s.Token(platform.Member(t, out, "createApiKey.clientId").(string), platform.Member(t, out, "createApiKey.clientSecret").(string), "tenant"), nil)
	})
	t.Run("revoked", func(t *testing.T) {
		first := platform.Member(t, s.MustGQL(jonas, revoke, in("id", id)), "revokeApiKey.apiKey.revokedAt")
		again := platform.Member(t, s.MustGQL(greta, revoke, in("id", id)), "revokeApiKey.apiKey.revokedAt")
		if first == nil || first != again {
			t.Errorf("%v, then %v", first, again)
		}
		s.Refused(t, "BAD_REQUEST", jonas, rotate, in("id", id))
		if a := s.Exchange(s.GrantForm(map[string]string{"client_id": clientID, "client_secret": plain})); a.Status != 401 {
			t.Errorf("%d", a.Status)
		}
	})
	t.Run("who may list", func(t *testing.T) {
		s.Refused(t, "FORBIDDEN", mira, `{ customer { apiKeys { totalCount } } }`, nil)
		data := s.MustGQL(root, fmt.Sprintf(`{ customer(id: %d) { apiKeys(first: 1) { totalCount nodes { clientId } pageInfo { hasNextPage endCursor } } } }`, alpine), nil)
		if platform.Member(t, data, "customer.apiKeys.nodes.#") != 1 || platform.Member(t, data, "customer.apiKeys.pageInfo.hasNextPage") != true {
			t.Errorf("%v", data)
		}
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, jonas, mira := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Energy", "jonas@alpine.example"), s.As("Alpine Energy", "mira@alpine.example")
	const create = `mutation($in: CreateRoleInput!) { createRole(input: $in) { role { databaseId name description isOwner features applicationId customerId application { code } customer { name } } } }`
	const update = `mutation($in: UpdateRoleInput!) { updateRole(input: $in) { role { name description features } } }`
	const remove = `mutation($in: DeleteRoleInput!) { deleteRole(input: $in) { deletedId } }`
	in := func(m map[string]any) map[string]any { return map[string]any{"in": m} }
	role := platform.Member(t, s.MustGQL(jonas, create, in(map[string]any{"applicationId": 2, "name": "Curator", "features": []string{"context.write", "company.read", "company.read"}})), "createRole.role")
	for path, want := range map[string]any{
		"name": "Curator", "description": "", "isOwner": false, "features": []string{"company.read", "context.write"}, "applicationId": 2, "customerId": alpine, "application.code": "assistant", "customer.name": "Alpine Energy",
	} {
		if got := platform.Member(t, role, path); !platform.SameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	id := platform.Member(t, role, "databaseId")
	owners := platform.Member(t, s.MustGQL(greta, create, in(map[string]any{"applicationId": 1, "name": "Second owner", "isOwner": true, "features": []string{"user.read"}})), "createRole.role.databaseId")
	system := s.RoleID(alpine, "tenant", "Viewer")
	foreign := s.Number(`INSERT INTO roles (application_id, customer_id, name) VALUES (1, $1, 'Foreign') RETURNING id`, s.Customer("Coral Logistics"))
	for _, c := range []struct {
		name, token, query string
		in                 map[string]any
		code               string
	}{
		{"a name twice", jonas, create, map[string]any{"applicationId": 2, "name": "CURATOR", "features": []string{}}, "BAD_REQUEST"},
		{"an unknown right", jonas, create, map[string]any{"applicationId": 2, "name": "x", "features": []string{"company.destroy"}}, "BAD_REQUEST"},
		{"an unknown application", jonas, create, map[string]any{"applicationId": 9, "name": "x", "features": []string{}}, "BAD_REQUEST"},
		{"no name", jonas, create, map[string]any{"applicationId": 2, "name": " ", "features": []string{}}, "BAD_REQUEST"},
		{"an owner's by an admin", jonas, create, map[string]any{"applicationId": 1, "name": "x", "isOwner": true, "features": []string{}}, "FORBIDDEN"},
		{"change an owner's by an admin", jonas, update, map[string]any{"id": owners, "features": []string{"key.write"}}, "FORBIDDEN"},
		{"delete an owner's by an admin", jonas, remove, map[string]any{"id": owners}, "FORBIDDEN"},
		{"by a viewer", mira, create, map[string]any{"applicationId": 2, "name": "x", "features": []string{}}, "FORBIDDEN"},
		{"out of reach", greta, create, map[string]any{"applicationId": 2, "customerId": 1, "name": "x", "features": []string{}}, "FORBIDDEN"},
		{"change a system role", root, update, map[string]any{"id": system, "name": "x"}, "FORBIDDEN"},
		{"delete a system role", root, remove, map[string]any{"id": system}, "FORBIDDEN"},
		{"change a foreign one", greta, update, map[string]any{"id": foreign, "name": "x"}, "FORBIDDEN"},
		{"delete one not there", greta, remove, map[string]any{"id": 999999}, "FORBIDDEN"},
		{"delete one not there, as root", root, remove, map[string]any{"id": 999999}, "NOT_FOUND"},
		{"change to a bad right", jonas, update, map[string]any{"id": id, "features": []string{"x"}}, "BAD_REQUEST"},
	} {
		t.Run(c.name, func(t *testing.T) { s.Refused(t, c.code, c.token, c.query, in(c.in)) })
	}
	t.Run("another company may have the name", func(t *testing.T) {
		s.MustGQL(greta, create, in(map[string]any{"applicationId": 2, "customerId": hydro, "name": "Curator", "features": []string{}}))
	})
	t.Run("a changed role changes what its bearers may do at once", func(t *testing.T) {
		tenant := platform.Member(t, s.MustGQL(greta, create, in(map[string]any{"applicationId": 1, "name": "Helper", "features": []string{"user.read"}})), "createRole.role.databaseId")
		s.Must(200, "POST", "/permission", greta, map[string]any{"appAccountId": s.Account(hydro, "tenant"), "appRoleId": s.RoleID(hydro, "tenant", "Viewer"), "userIdentityId": s.UserID("temp@alpine.example")})
		temps := s.Permission(s.UserID("temp@alpine.example"), s.Account(alpine, "tenant"))
		s.Must(204, "PATCH", fmt.Sprint("/permission/", temps), greta, nil)
		s.Must(204, "PUT", "/permission", greta, map[string]any{"id": temps, "appRoleId": tenant})
		token := s.As("Alpine Energy", "temp@alpine.example")
		s.Must(200, "GET", "/tenant/users", token, nil)
		s.Must(403, "GET", "/tenant/accounts", token, nil)
		s.MustGQL(greta, update, in(map[string]any{"id": tenant, "features": []string{"permission.read"}, "description": "Reads accounts"}))
		s.Must(403, "GET", "/tenant/users", token, nil)
		s.Must(200, "GET", "/tenant/accounts", token, nil)
		s.Refused(t, "BAD_REQUEST", greta, remove, in(map[string]any{"id": tenant}))
		s.Must(204, "DELETE", fmt.Sprint("/permission/", temps), greta, nil)
		s.MustGQL(greta, remove, in(map[string]any{"id": tenant}))
	})
	t.Run("listed", func(t *testing.T) {
		names := func(token string, customer int64) string {
			var list []string
			for _, r := range s.MustGQL(token, `query($c: ID!) { roles(customerId: $c, applicationId: 2) { name } }`, map[string]any{"c": customer})["roles"].([]any) {
				list = append(list, platform.Member(t, r, "name").(string))
			}
			return strings.Join(list, " ")
		}
		if got := names(greta, alpine); got != "Owner Admin Member Viewer Curator" {
			t.Errorf("%s", got)
		}
		if got := names(root, 1); got != "Owner Admin Member Viewer" {
			t.Errorf("%s", got)
		}
	})
}

// TestAccountsAreDisabled: by its company's company.write, but for the one that the caller stands on.
func TestAccountsAreDisabled(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	const set = `mutation($in: SetAccountDisabledInput!) { setAccountDisabled(input: $in) { account { disabled } } }`
	in := func(id int64, disabled bool) map[string]any {
		return map[string]any{"in": map[string]any{"id": id, "disabled": disabled}}
	}
	s.Refused(t, "BAD_REQUEST", greta, set, in(s.Account(alpine, "tenant"), true))
	s.Refused(t, "FORBIDDEN", greta, set, in(s.Account(1, "tenant"), true))
	s.Refused(t, "FORBIDDEN", greta, set, in(999999, true))
	s.Refused(t, "FORBIDDEN", s.As("Alpine Energy", "mira@alpine.example"), set, in(s.Account(alpine, "builder"), true))
	s.MustGQL(greta, set, in(s.Account(hydro, "builder"), true))
	a := s.Must(200, "GET", fmt.Sprintf("/tenant/accounts/%d", hydro), greta, nil)
	if platform.Member(t, a.JSON(t), "2.disabled") != true || platform.Member(t, a.JSON(t), "0.disabled") != false {
		t.Errorf("%s", a.Body)
	}
}
