package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func (s *stack) grantForm(change map[string]string) url.Values {
	v := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {s.info.ClientID}, "client_secret": {s.info.ClientSecret}, "target_app": {"tenant"},
	}
	for name, value := range change {
		if value == "" {
			v.Del(name)
		} else {
			v.Set(name, value)
		}
	}
	return v
}

func TestTokenExchange(t *testing.T) {
	s := newStack(t)
	root := s.root()
	alpine := s.company("Alpine Energy")
	otherSecret := "cnpy_" + strings.Repeat("a", 49)
	for _, c := range []struct {
		name   string
		form   url.Values
		basic  []string
		status int
		code   string
	}{
		{name: "in the form", form: s.grantForm(nil), status: 200},
		{name: "for the assistant", form: s.grantForm(map[string]string{"target_app": "assistant"}), status: 200},
		{name: "for the builder", form: s.grantForm(map[string]string{"target_app": "builder"}), status: 200},
		{name: "by HTTP Basic", form: s.grantForm(map[string]string{"client_id": "", "client_secret": ""}), basic: []string{s.info.ClientID, s.info.ClientSecret}, status: 200},
		{name: "by both, the same", form: s.grantForm(nil), basic: []string{s.info.ClientID, s.info.ClientSecret}, status: 200},
		{name: "by both, different", form: s.grantForm(nil), basic: []string{"cnpyid_someoneelse", s.info.ClientSecret}, status: 400, code: "invalid_request"},
		{name: "for its own account", form: s.grantForm(map[string]string{"account_id": fmt.Sprint(s.account(1, "tenant"))}), status: 200},
		{name: "without a grant type", form: s.grantForm(map[string]string{"grant_type": ""}), status: 400, code: "invalid_request"},
		{name: "of another grant type", form: s.grantForm(map[string]string{"grant_type": "password"}), status: 400, code: "unsupported_grant_type"},
		{name: "without a target", form: s.grantForm(map[string]string{"target_app": ""}), status: 400, code: "invalid_request"},
		{name: "for another target", form: s.grantForm(map[string]string{"target_app": "payroll"}), status: 400, code: "invalid_target"},
		{name: "without a client", form: s.grantForm(map[string]string{"client_id": ""}), status: 401, code: "invalid_client"},
		{name: "without a secret", form: s.grantForm(map[string]string{"client_secret": ""}), status: 401, code: "invalid_client"},
		{name: "of an unknown client", form: s.grantForm(map[string]string{"client_id": "cnpyid_" + strings.Repeat("a", 20)}), status: 401, code: "invalid_client"},
		{name: "with a mistyped secret", form: s.grantForm(map[string]string{"client_secret": otherSecret}), status: 401, code: "invalid_client"},
		{name: "for an account that is no number", form: s.grantForm(map[string]string{"account_id": "mine"}), status: 400, code: "invalid_request"},
		{name: "for an account of another application", form: s.grantForm(map[string]string{"account_id": fmt.Sprint(s.account(1, "builder"))}), status: 400, code: "unauthorized_client"},
		{name: "for a descendant's account without a permission", form: s.grantForm(map[string]string{"account_id": fmt.Sprint(s.account(alpine, "tenant"))}), status: 400, code: "unauthorized_client"},
		{name: "for an account that is not there", form: s.grantForm(map[string]string{"account_id": "999999"}), status: 400, code: "unauthorized_client"},
		{name: "for the account 0", form: s.grantForm(map[string]string{"account_id": "0"}), status: 400, code: "unauthorized_client"},
		{name: "with a parameter twice", form: url.Values{
			"grant_type": {"client_credentials"}, "client_id": {s.info.ClientID, s.info.ClientID}, "client_secret": {s.info.ClientSecret}, "target_app": {"tenant"},
		}, status: 400, code: "invalid_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.form(c.form, c.basic...)
			if a.Status != c.status || a.Header.Get("Cache-Control") != "no-store" {
				t.Fatalf("status %d, want %d; Cache-Control %q: %s", a.Status, c.status, a.Header.Get("Cache-Control"), a.Body)
			}
			body := a.json(t).(map[string]any)
			if c.status == 200 {
				if body["token_type"] != "Bearer" || body["expires_in"] != 900.0 || len(body) != 3 {
					t.Errorf("%v", body)
				}
				return
			}
			if body["error"] != c.code || body["error_description"] == "" || body["detail"] != body["error_description"] {
				t.Errorf("%v, want %s", body, c.code)
			}
			if (c.status == 401) != (a.Header.Get("WWW-Authenticate") != "") {
				t.Errorf("WWW-Authenticate %q", a.Header.Get("WWW-Authenticate"))
			}
			if strings.Contains(string(a.Body), s.info.ClientSecret) {
				t.Error("the secret comes back")
			}
		})
	}
	t.Run("for a descendant's account with a permission", func(t *testing.T) {
		account := s.account(alpine, "tenant")
		s.must(200, "POST", "/permission", root, map[string]any{"appAccountId": account, "appRoleId": s.roleID(alpine, "tenant", "Viewer"), "userIdentityId": s.userID(demoAdmin)})
		a := s.form(s.grantForm(map[string]string{"account_id": fmt.Sprint(account)}))
		token := member(t, a.json(t), "access_token").(string)
		claims := s.claims(t, token)
		if claims["cid"] != float64(alpine) || claims["aid"] != float64(account) {
			t.Errorf("%v", claims)
		}
		me := s.must(200, "GET", "/tenant", token, nil)
		if me.id(t, "identity.customerId") != alpine {
			t.Errorf("%s", me.Body)
		}
		scenario{method: "GET", path: "/tenant/1", status: 403}.judge(t, s.do("GET", "/tenant/1", token, nil))
	})
	t.Run("a sibling's account is out of reach even with a permission", func(t *testing.T) {
		coral := s.company("Coral Logistics")
		s.must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.account(coral, "tenant"), "appRoleId": s.roleID(coral, "tenant", "Viewer"), "userIdentityId": s.userID("greta@alpine.example"),
		})
		key, plain, err := s.p.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
		if err != nil {
			t.Fatal(err)
		}
		a := s.form(s.grantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain, "account_id": fmt.Sprint(s.account(coral, "tenant"))}))
		if a.Status != 400 || member(t, a.json(t), "error") != "unauthorized_client" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("JSON is not a form", func(t *testing.T) {
		s.must(415, "POST", "/connect/token", "", map[string]any{"grant_type": "client_credentials"})
	})
}

// claims verifies a token as another service would: with the published keys and a library.
func (s *stack) claims(t *testing.T, raw string) jwt.MapClaims {
	t.Helper()
	var metadata struct {
		Issuer  string
		JWKS    string   `json:"jwks_uri"`
		Token   string   `json:"token_endpoint"`
		Grants  []string `json:"grant_types_supported"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := json.Unmarshal(s.must(200, "GET", "/.well-known/oauth-authorization-server", "", nil).Body, &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata.Issuer != s.url || metadata.Token != s.url+"/connect/token" || len(metadata.Grants) == 0 || len(metadata.Methods) != 2 {
		t.Errorf("metadata %+v", metadata)
	}
	var set struct {
		Keys []map[string]string
	}
	if err := json.Unmarshal(s.must(200, "GET", strings.TrimPrefix(metadata.JWKS, s.url), "", nil).Body, &set); err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	token, err := jwt.ParseWithClaims(raw, claims, func(token *jwt.Token) (any, error) {
		for _, k := range set.Keys {
			if _, private := k["d"]; private {
				t.Error("a private key is published")
			}
			if k["kid"] == token.Header["kid"] && k["kty"] == "OKP" && k["crv"] == "Ed25519" {
				x, err := base64.RawURLEncoding.DecodeString(k["x"])
				return ed25519.PublicKey(x), err
			}
		}
		return nil, fmt.Errorf("no key %v", token.Header["kid"])
	}, jwt.WithIssuer(metadata.Issuer), jwt.WithExpirationRequired(), jwt.WithValidMethods([]string{"EdDSA"}))
	if err != nil {
		t.Fatal(err)
	}
	if token.Header["typ"] != "at+jwt" {
		t.Errorf("typ %v", token.Header["typ"])
	}
	return claims
}

func TestTokenClaims(t *testing.T) {
	s := newStack(t)
	claims := s.claims(t, s.root())
	for name, want := range map[string]any{
		"sub": fmt.Sprint(s.userID(demoAdmin)), "client_id": s.info.ClientID, "cid": 1.0, "aid": float64(s.account(1, "tenant")), "aud": []string{"tenant"},
	} {
		if !sameJSON(claims[name], want) {
			t.Errorf("%s is %v, want %v", name, claims[name], want)
		}
	}
	if life := claims["exp"].(float64) - claims["iat"].(float64); life != 900 {
		t.Errorf("a life of %v s", life)
	}
	if !strings.Contains(claims["scope"].(string), "company.create") || claims["jti"] == "" {
		t.Errorf("%v", claims)
	}
	other := s.claims(t, s.root())
	if other["jti"] == claims["jti"] {
		t.Error("two tokens of one jti")
	}
	login := s.claims(t, s.login(demoAdmin, s.info.AdminPassword))
	if !sameJSON(login["aud"], []string{"tenant", "assistant", "builder"}) {
		t.Errorf("aud %v", login["aud"])
	}
	for _, name := range []string{"aid", "scope"} {
		if _, there := login[name]; there {
			t.Errorf("a login token has %s", name)
		}
	}
}

func TestBadTokens(t *testing.T) {
	s := newStack(t)
	good := s.root()
	parts := strings.Split(good, ".")
	own := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": s.url, "sub": "1", "aud": "tenant", "cid": 1, "exp": time.Now().Add(time.Hour).Unix()})
	forged, err := own.SignedString([]byte("a key of the forger's own, long enough"))
	if err != nil {
		t.Fatal(err)
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + parts[1] + "."
	for name, header := range map[string]string{
		"none": "", "no scheme": good, "Basic": "Basic " + good, "empty": "Bearer ", "garbage": "Bearer abc", "another's payload": "Bearer " + parts[0] + "." + strings.Split(forged, ".")[1] + "." + parts[2],
		"another algorithm": "Bearer " + forged, "no algorithm": "Bearer " + none, "cut short": "Bearer " + good[:len(good)-2],
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/tenant", "/region/available", "/permission/options"} {
				a := s.raw(t, "GET", path, map[string]string{"Authorization": header})
				scenario{method: "GET", path: path, status: 401, not: []string{"email"}}.judge(t, a)
				if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("WWW-Authenticate %q", a.Header.Get("WWW-Authenticate"))
				}
			}
		})
	}
	t.Run("of another application", func(t *testing.T) {
		for _, app := range []string{"assistant", "builder"} {
			token := s.token(s.info.ClientID, s.info.ClientSecret, app)
			s.play(t, []scenario{
				{name: app + " identity", method: "GET", path: "/tenant", token: token, status: 403, code: "FORBIDDEN", says: "tenant"},
				{name: app + " users", method: "GET", path: "/tenant/users", token: token, status: 403},
				{name: app + " regions", method: "GET", path: "/region/available", token: token, status: 403},
			})
			if data := s.mustGQL(token, `{ me { email customerId } }`, nil); member(t, data, "me.email") != demoAdmin {
				t.Errorf("me with a token of %s: %v", app, data)
			}
			s.refused(t, "FORBIDDEN", token, `{ customer { name } }`, nil)
		}
	})
}

// TestTokensStopAtOnce: what a token stands on is looked up at every request.
func TestTokensStopAtOnce(t *testing.T) {
	s := newStack(t)
	root := s.root()
	hydro := s.company("Alpine Hydro")
	eva := s.userID("eva@alpine-hydro.example")
	account := s.account(hydro, "tenant")
	permission := s.permission(eva, account)
	key, plain, err := s.p.Resolver.OperatorCreateKey(t.Context(), hydro, "eva@alpine-hydro.example", "")
	if err != nil {
		t.Fatal(err)
	}
	token := s.token(key.ClientID, plain, "tenant")
	toggle := "/permission/" + strconv.FormatInt(permission, 10)
	setDisabled := func(disabled bool) {
		s.mustGQL(root, `mutation($in: SetAccountDisabledInput!) { setAccountDisabled(input: $in) { account { disabled } } }`,
			map[string]any{"in": map[string]any{"id": account, "disabled": disabled}})
	}
	exchange := func(t *testing.T, status int, code string) {
		t.Helper()
		a := s.form(s.grantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain}))
		if a.Status != status || status != 200 && member(t, a.json(t), "error") != code {
			t.Errorf("exchange: %d %s", a.Status, a.Body)
		}
	}
	ask := func(t *testing.T, status int, code string) {
		t.Helper()
		scenario{method: "GET", path: "/tenant", status: status, code: code}.judge(t, s.do("GET", "/tenant", token, nil))
		if status == 403 {
			s.refused(t, "FORBIDDEN", token, `{ me { email } }`, nil)
		}
	}
	ask(t, 200, "")
	t.Run("permission disabled", func(t *testing.T) {
		s.must(204, "PATCH", toggle, root, nil)
		ask(t, 403, "FORBIDDEN")
		exchange(t, 400, "unauthorized_client")
		s.must(204, "PATCH", toggle, root, nil)
		ask(t, 200, "")
	})
	t.Run("account disabled", func(t *testing.T) {
		setDisabled(true)
		ask(t, 403, "FORBIDDEN")
		exchange(t, 400, "unauthorized_client")
		setDisabled(false)
		ask(t, 200, "")
	})
	t.Run("role taken down a step", func(t *testing.T) {
		role := s.number(`INSERT INTO roles (application_id, customer_id, name, features) VALUES (1, $1, 'Nothing', '{}') RETURNING id`, hydro)
		s.must(204, "PUT", "/permission", root, map[string]any{"id": permission, "appRoleId": role})
		scenario{method: "GET", path: "/tenant/users", status: 403, says: "user.read"}.judge(t, s.do("GET", "/tenant/users", token, nil))
		s.must(204, "PUT", "/permission", root, map[string]any{"id": permission, "appRoleId": s.roleID(hydro, "tenant", "Viewer")})
		s.must(200, "GET", "/tenant/users", token, nil)
	})
	t.Run("key expired", func(t *testing.T) {
		s.sql(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, key.ID)
		ask(t, 401, "invalid_token")
		exchange(t, 401, "invalid_client")
		s.sql(`UPDATE api_keys SET expires_at = NULL WHERE id = $1`, key.ID)
		ask(t, 200, "")
	})
	t.Run("key revoked", func(t *testing.T) {
		if err := s.p.Resolver.OperatorRevokeKey(t.Context(), key.ClientID); err != nil {
			t.Fatal(err)
		}
		ask(t, 401, "invalid_token")
		exchange(t, 401, "invalid_client")
	})
	t.Run("permission deleted", func(t *testing.T) {
		token = s.tokenOf(hydro, "eva@alpine-hydro.example", "tenant")
		s.must(204, "DELETE", toggle, root, nil)
		ask(t, 403, "FORBIDDEN")
	})
}

// TestSecretRotation: a rotated key has two live secrets until the grace time is over.
func TestSecretRotation(t *testing.T) {
	s := newStack(t)
	root := s.root()
	alpine := s.company("Alpine Energy")
	key, first, err := s.p.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
	if err != nil {
		t.Fatal(err)
	}
	rotate := func(in map[string]any) map[string]any {
		t.Helper()
		in["id"] = key.ID
		return s.mustGQL(root, `mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientId clientSecret graceEndsAt apiKey { databaseId clientId } } }`,
			map[string]any{"in": maps.Clone(in)})["rotateApiKeySecret"].(map[string]any)
	}
	works := func(plain string) bool {
		return s.form(s.grantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain})).Status == 200
	}
	second := rotate(map[string]any{})
	ends, err := time.Parse(time.RFC3339, second["graceEndsAt"].(string))
	if err != nil || time.Until(ends) < 23*time.Hour || time.Until(ends) > 24*time.Hour {
		t.Errorf("grace ends at %v", second["graceEndsAt"])
	}
	if !works(first) || !works(second["clientSecret"].(string)) {
		t.Fatal("after a rotation both secrets have to work")
	}
	third := rotate(map[string]any{"graceSeconds": 3600})["clientSecret"].(string)
	if works(first) || !works(second["clientSecret"].(string)) || !works(third) {
		t.Fatal("after a second rotation the two newest secrets have to work, and no other")
	}
	s.sql(`UPDATE api_key_secrets SET expires_at = now() - interval '1 second' WHERE api_key_id = $1 AND expires_at IS NOT NULL`, key.ID)
	if works(second["clientSecret"].(string)) || !works(third) {
		t.Fatal("the grace time does not end")
	}
	fourth := rotate(map[string]any{"graceSeconds": 0})["clientSecret"].(string)
	if works(third) || !works(fourth) {
		t.Fatal("without a grace time the old secret has to die at once")
	}
	if n := s.number(`SELECT count(*) FROM api_key_secrets WHERE api_key_id = $1 AND (expires_at IS NULL OR expires_at > now())`, key.ID); n != 1 {
		t.Errorf("%d live secrets", n)
	}
	const bad = `mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientId } }`
	for _, grace := range []int{-1, 30*24*3600 + 1} {
		s.refused(t, "BAD_REQUEST", root, bad, map[string]any{"in": map[string]any{"id": key.ID, "graceSeconds": grace}})
	}
}

// TestFirstUseIsWrittenAtOnce: lastAccess and lastUsedAt are set by the first use, then at most
// once a minute.
func TestFirstUseIsWrittenAtOnce(t *testing.T) {
	s := newStack(t)
	root := s.root()
	alpine := s.company("Alpine Energy")
	greta := s.userID("greta@alpine.example")
	permission := s.permission(greta, s.account(alpine, "tenant"))
	key, plain, err := s.p.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
	if err != nil {
		t.Fatal(err)
	}
	const both = `SELECT count(*) FROM permissions p, api_keys k WHERE p.id = $1 AND k.id = $2 AND p.last_access > now() - interval '20 seconds' AND k.last_used_at > now() - interval '20 seconds'`
	seen := func() any {
		data := s.mustGQL(root, `query($u: ID!) { user(id: $u) { lastAccess } }`, map[string]any{"u": greta})
		return member(t, data, "user.lastAccess")
	}
	if s.number(both, permission, key.ID) != 0 || seen() != nil {
		t.Fatal("used before the first use")
	}
	token := s.token(key.ClientID, plain, "tenant")
	if s.number(both, permission, key.ID) != 1 || seen() == nil {
		t.Fatal("the first use was not written")
	}
	s.sql(`UPDATE permissions SET last_access = now() - interval '50 seconds' WHERE id = $1`, permission)
	s.sql(`UPDATE api_keys SET last_used_at = now() - interval '50 seconds' WHERE id = $1`, key.ID)
	s.must(200, "GET", "/tenant", token, nil)
	if s.number(both, permission, key.ID) != 0 {
		t.Error("written twice in a minute")
	}
	s.sql(`UPDATE permissions SET last_access = now() - interval '61 seconds' WHERE id = $1`, permission)
	s.sql(`UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = $1`, key.ID)
	s.must(200, "GET", "/tenant", token, nil)
	if s.number(both, permission, key.ID) != 1 {
		t.Error("not written after a minute")
	}
}

func TestMe(t *testing.T) {
	s := newStack(t)
	const query = `{ me { customerId userIdentityId email user { email } customer { name } grants { application accountId roleName isOwner features } } }`
	mira := s.mustGQL(s.as("Alpine Energy", "mira@alpine.example"), query, nil)["me"]
	for path, want := range map[string]any{
		"email": "mira@alpine.example", "customer.name": "Alpine Energy", "user.email": "mira@alpine.example", "grants.#": 1,
		"grants.0.application": "tenant", "grants.0.roleName": "Viewer", "grants.0.isOwner": false,
		"grants.0.features": []string{"company.read", "billing.read", "user.read", "permission.read", "context.read", "agent.read", "webhook.read"},
	} {
		if got := member(t, mira, path); !sameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	login := s.mustGQL(s.login(demoAdmin, s.info.AdminPassword), query, nil)["me"]
	if got := member(t, login, "grants.#"); got != 3 {
		t.Errorf("a login has %v grants", got)
	}
	identity := s.must(200, "GET", "/tenant", s.root(), nil).json(t)
	for path, want := range map[string]any{"identity.customerId": 1, "identity.email": demoAdmin, "customer.name": "Northwind Group", "customer.canAddCustomers": true} {
		if got := member(t, identity, path); !sameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if c := member(t, identity, "customer").(map[string]any); len(c) != 6 {
		t.Errorf("customer has other members than the six: %v", c)
	}
}
