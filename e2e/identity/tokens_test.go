package identity

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

	"canopy/e2e/platform"
)

func TestTokenExchange(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	alpine := s.Customer("Alpine Energy")
	otherSecret := "cnpy_" + strings.Repeat("a", 49)
	for _, c := range []struct {
		name   string
		form   url.Values
		basic  []string
		status int
		code   string
	}{
		{name: "in the form", form: s.GrantForm(nil), status: 200},
		{name: "for the assistant", form: s.GrantForm(map[string]string{"target_app": "assistant"}), status: 200},
		{name: "for the builder", form: s.GrantForm(map[string]string{"target_app": "builder"}), status: 200},
		{name: "by HTTP Basic", form: s.GrantForm(map[string]string{"client_id": "", "client_secret": ""}), basic: []string{s.Demo.ClientID, s.Demo.ClientSecret}, status: 200},
		{name: "by both, the same", form: s.GrantForm(nil), basic: []string{s.Demo.ClientID, s.Demo.ClientSecret}, status: 200},
		{name: "by both, different", form: s.GrantForm(nil), basic: []string{"cnpyid_someoneelse", s.Demo.ClientSecret}, status: 400, code: "invalid_request"},
		{name: "for its own account", form: s.GrantForm(map[string]string{"account_id": fmt.Sprint(s.Account(1, "tenant"))}), status: 200},
		{name: "without a grant type", form: s.GrantForm(map[string]string{"grant_type": ""}), status: 400, code: "invalid_request"},
		{name: "of another grant type", form: s.GrantForm(map[string]string{"grant_type": "password"}), status: 400, code: "unsupported_grant_type"},
		{name: "without a target", form: s.GrantForm(map[string]string{"target_app": ""}), status: 400, code: "invalid_request"},
		{name: "for another target", form: s.GrantForm(map[string]string{"target_app": "payroll"}), status: 400, code: "invalid_target"},
		{name: "without a client", form: s.GrantForm(map[string]string{"client_id": ""}), status: 401, code: "invalid_client"},
		{name: "without a secret", form: s.GrantForm(map[string]string{"client_secret": ""}), status: 401, code: "invalid_client"},
		{name: "of an unknown client", form: s.GrantForm(map[string]string{"client_id": "cnpyid_" + strings.Repeat("a", 20)}), status: 401, code: "invalid_client"},
		{name: "with a mistyped secret", form: s.GrantForm(map[string]string{"client_secret": otherSecret}), status: 401, code: "invalid_client"},
		{name: "for an account that is no number", form: s.GrantForm(map[string]string{"account_id": "mine"}), status: 400, code: "invalid_request"},
		{name: "for an account of another application", form: s.GrantForm(map[string]string{"account_id": fmt.Sprint(s.Account(1, "builder"))}), status: 400, code: "unauthorized_client"},
		{name: "for a descendant's account without a permission", form: s.GrantForm(map[string]string{"account_id": fmt.Sprint(s.Account(alpine, "tenant"))}), status: 400, code: "unauthorized_client"},
		{name: "for an account that is not there", form: s.GrantForm(map[string]string{"account_id": "999999"}), status: 400, code: "unauthorized_client"},
		{name: "for the account 0", form: s.GrantForm(map[string]string{"account_id": "0"}), status: 400, code: "unauthorized_client"},
		{name: "with a parameter twice", form: url.Values{
			"grant_type": {"client_credentials"}, "client_id": {s.Demo.ClientID, s.Demo.ClientID}, "client_secret": {s.Demo.ClientSecret}, "target_app": {"tenant"},
		}, status: 400, code: "invalid_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.Exchange(c.form, c.basic...)
			if a.Status != c.status || a.Header.Get("Cache-Control") != "no-store" {
				t.Fatalf("status %d, want %d; Cache-Control %q: %s", a.Status, c.status, a.Header.Get("Cache-Control"), a.Body)
			}
			body := a.JSON(t).(map[string]any)
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
			if strings.Contains(string(a.Body), s.Demo.ClientSecret) {
				t.Error("the secret comes back")
			}
		})
	}
	t.Run("for a descendant's account with a permission", func(t *testing.T) {
		account := s.Account(alpine, "tenant")
		s.Must(200, "POST", "/permission", root, map[string]any{"appAccountId": account, "appRoleId": s.RoleID(alpine, "tenant", "Viewer"), "userIdentityId": s.UserID(platform.DemoAdmin)})
		a := s.Exchange(s.GrantForm(map[string]string{"account_id": fmt.Sprint(account)}))
		token := platform.Member(t, a.JSON(t), "access_token").(string)
		claims := verified(t, s, token)
		if claims["cid"] != float64(alpine) || claims["aid"] != float64(account) {
			t.Errorf("%v", claims)
		}
		me := s.Must(200, "GET", "/tenant", token, nil)
		if me.ID(t, "identity.customerId") != alpine {
			t.Errorf("%s", me.Body)
		}
		platform.Scenario{Method: "GET", Path: "/tenant/1", Status: 403}.Judge(t, s.Do("GET", "/tenant/1", token, nil))
	})
	t.Run("a sibling's account is out of reach even with a permission", func(t *testing.T) {
		coral := s.Customer("Coral Logistics")
		s.Must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.Account(coral, "tenant"), "appRoleId": s.RoleID(coral, "tenant", "Viewer"), "userIdentityId": s.UserID("greta@alpine.example"),
		})
		key, plain, err := s.App.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
		if err != nil {
			t.Fatal(err)
		}
		a := s.Exchange(s.GrantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain, "account_id": fmt.Sprint(s.Account(coral, "tenant"))}))
		if a.Status != 400 || platform.Member(t, a.JSON(t), "error") != "unauthorized_client" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("JSON is not a form", func(t *testing.T) {
		s.Must(415, "POST", "/connect/token", "", map[string]any{"grant_type": "client_credentials"})
	})
}

// verified verifies a token as another service would: with the published keys and a library.
func verified(t *testing.T, s *platform.Platform, raw string) jwt.MapClaims {
	t.Helper()
	var metadata struct {
		Issuer  string
		JWKS    string   `json:"jwks_uri"`
		Token   string   `json:"token_endpoint"`
		Grants  []string `json:"grant_types_supported"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := json.Unmarshal(s.Must(200, "GET", "/.well-known/oauth-authorization-server", "", nil).Body, &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata.Issuer != s.URL || metadata.Token != s.URL+"/connect/token" || len(metadata.Grants) == 0 || len(metadata.Methods) != 2 {
		t.Errorf("metadata %+v", metadata)
	}
	var set struct {
		Keys []map[string]string
	}
	if err := json.Unmarshal(s.Must(200, "GET", strings.TrimPrefix(metadata.JWKS, s.URL), "", nil).Body, &set); err != nil {
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
	t.Parallel()
	s := platform.Start(t)
	claims := verified(t, s, s.Root())
	for name, want := range map[string]any{
		"sub": fmt.Sprint(s.UserID(platform.DemoAdmin)), "client_id": s.Demo.ClientID, "cid": 1.0, "aid": float64(s.Account(1, "tenant")), "aud": []string{"tenant"},
	} {
		if !platform.SameJSON(claims[name], want) {
			t.Errorf("%s is %v, want %v", name, claims[name], want)
		}
	}
	if life := claims["exp"].(float64) - claims["iat"].(float64); life != 900 {
		t.Errorf("a life of %v s", life)
	}
	if !strings.Contains(claims["scope"].(string), "company.create") || claims["jti"] == "" {
		t.Errorf("%v", claims)
	}
	other := verified(t, s, s.Root())
	if other["jti"] == claims["jti"] {
		t.Error("two tokens of one jti")
	}
	login := verified(t, s, s.Login(platform.DemoAdmin, s.Demo.AdminPassword))
	if !platform.SameJSON(login["aud"], []string{"tenant", "assistant", "builder"}) {
		t.Errorf("aud %v", login["aud"])
	}
	for _, name := range []string{"aid", "scope"} {
		if _, there := login[name]; there {
			t.Errorf("a login token has %s", name)
		}
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	good := s.Root()
	parts := strings.Split(good, ".")
	own := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": s.URL, "sub": "1", "aud": "tenant", "cid": 1, "exp": time.Now().Add(time.Hour).Unix()})
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
				a := s.Raw(t, "GET", path, map[string]string{"Authorization": header})
				platform.Scenario{Method: "GET", Path: path, Status: 401, Not: []string{"email"}}.Judge(t, a)
				if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("WWW-Authenticate %q", a.Header.Get("WWW-Authenticate"))
				}
			}
		})
	}
	t.Run("of another application", func(t *testing.T) {
		for _, app := range []string{"assistant", "builder"} {
			token := s.Token(s.Demo.ClientID, s.Demo.ClientSecret, app)
			s.Play(t, []platform.Scenario{
				{Name: app + " identity", Method: "GET", Path: "/tenant", Token: token, Status: 403, Code: "FORBIDDEN", Says: "tenant"},
				{Name: app + " users", Method: "GET", Path: "/tenant/users", Token: token, Status: 403},
				{Name: app + " regions", Method: "GET", Path: "/region/available", Token: token, Status: 403},
			})
			if data := s.MustGQL(token, `{ me { email customerId } }`, nil); platform.Member(t, data, "me.email") != platform.DemoAdmin {
				t.Errorf("me with a token of %s: %v", app, data)
			}
			s.Refused(t, "FORBIDDEN", token, `{ customer { name } }`, nil)
		}
	})
}

// TestTokensStopAtOnce: what a token stands on is looked up at every request.
func TestTokensStopAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	hydro := s.Customer("Alpine Hydro")
	eva := s.UserID("eva@alpine-hydro.example")
	account := s.Account(hydro, "tenant")
	permission := s.Permission(eva, account)
	key, plain, err := s.App.Resolver.OperatorCreateKey(t.Context(), hydro, "eva@alpine-hydro.example", "")
	if err != nil {
		t.Fatal(err)
	}
	token := s.Token(key.ClientID, plain, "tenant")
	toggle := "/permission/" + strconv.FormatInt(permission, 10)
	setDisabled := func(disabled bool) {
		s.MustGQL(root, `mutation($in: SetAccountDisabledInput!) { setAccountDisabled(input: $in) { account { disabled } } }`,
			map[string]any{"in": map[string]any{"id": account, "disabled": disabled}})
	}
	exchange := func(t *testing.T, status int, code string) {
		t.Helper()
		a := s.Exchange(s.GrantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain}))
		if a.Status != status || status != 200 && platform.Member(t, a.JSON(t), "error") != code {
			t.Errorf("exchange: %d %s", a.Status, a.Body)
		}
	}
	ask := func(t *testing.T, status int, code string) {
		t.Helper()
		platform.Scenario{Method: "GET", Path: "/tenant", Status: status, Code: code}.Judge(t, s.Do("GET", "/tenant", token, nil))
		if status == 403 {
			s.Refused(t, "FORBIDDEN", token, `{ me { email } }`, nil)
		}
	}
	ask(t, 200, "")
	t.Run("permission disabled", func(t *testing.T) {
		s.Must(204, "PATCH", toggle, root, nil)
		ask(t, 403, "FORBIDDEN")
		exchange(t, 400, "unauthorized_client")
		s.Must(204, "PATCH", toggle, root, nil)
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
		role := s.Number(`INSERT INTO roles (application_id, customer_id, name, features) VALUES (1, $1, 'Nothing', '{}') RETURNING id`, hydro)
		s.Must(204, "PUT", "/permission", root, map[string]any{"id": permission, "appRoleId": role})
		platform.Scenario{Method: "GET", Path: "/tenant/users", Status: 403, Says: "user.read"}.Judge(t, s.Do("GET", "/tenant/users", token, nil))
		s.Must(204, "PUT", "/permission", root, map[string]any{"id": permission, "appRoleId": s.RoleID(hydro, "tenant", "Viewer")})
		s.Must(200, "GET", "/tenant/users", token, nil)
	})
	t.Run("key expired", func(t *testing.T) {
		s.SQL(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, key.ID)
		ask(t, 401, "invalid_token")
		exchange(t, 401, "invalid_client")
		s.SQL(`UPDATE api_keys SET expires_at = NULL WHERE id = $1`, key.ID)
		ask(t, 200, "")
	})
	t.Run("key revoked", func(t *testing.T) {
		if err := s.App.Resolver.OperatorRevokeKey(t.Context(), key.ClientID); err != nil {
			t.Fatal(err)
		}
		ask(t, 401, "invalid_token")
		exchange(t, 401, "invalid_client")
	})
	t.Run("permission deleted", func(t *testing.T) {
		token = s.TokenOf(hydro, "eva@alpine-hydro.example", "tenant")
		s.Must(204, "DELETE", toggle, root, nil)
		ask(t, 403, "FORBIDDEN")
	})
}

// TestSecretRotation: a rotated key has two live secrets until the grace time is over.
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	alpine := s.Customer("Alpine Energy")
	key, first, err := s.App.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
	if err != nil {
		t.Fatal(err)
	}
	rotate := func(in map[string]any) map[string]any {
		t.Helper()
		in["id"] = key.ID
		return s.MustGQL(root, `mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientId clientSecret graceEndsAt apiKey { databaseId clientId } } }`,
			map[string]any{"in": maps.Clone(in)})["rotateApiKeySecret"].(map[string]any)
	}
	works := func(plain string) bool {
		return s.Exchange(s.GrantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain})).Status == 200
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
	s.SQL(`UPDATE api_key_secrets SET expires_at = now() - interval '1 second' WHERE api_key_id = $1 AND expires_at IS NOT NULL`, key.ID)
	if works(second["clientSecret"].(string)) || !works(third) {
		t.Fatal("the grace time does not end")
	}
	fourth := rotate(map[string]any{"graceSeconds": 0})["clientSecret"].(string)
	if works(third) || !works(fourth) {
		t.Fatal("without a grace time the old secret has to die at once")
	}
	if n := s.Number(`SELECT count(*) FROM api_key_secrets WHERE api_key_id = $1 AND (expires_at IS NULL OR expires_at > now())`, key.ID); n != 1 {
		t.Errorf("%d live secrets", n)
	}
	const bad = `mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientId } }`
	for _, grace := range []int{-1, 30*24*3600 + 1} {
		s.Refused(t, "BAD_REQUEST", root, bad, map[string]any{"in": map[string]any{"id": key.ID, "graceSeconds": grace}})
	}
}

// TestFirstUseIsWrittenAtOnce: lastAccess and lastUsedAt are set by the first use, then at most
// once a minute.
func TestFirstUseIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	alpine := s.Customer("Alpine Energy")
	greta := s.UserID("greta@alpine.example")
	permission := s.Permission(greta, s.Account(alpine, "tenant"))
	key, plain, err := s.App.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
	if err != nil {
		t.Fatal(err)
	}
	const both = `SELECT count(*) FROM permissions p, api_keys k WHERE p.id = $1 AND k.id = $2 AND p.last_access > now() - interval '20 seconds' AND k.last_used_at > now() - interval '20 seconds'`
	seen := func() any {
		data := s.MustGQL(root, `query($u: ID!) { user(id: $u) { lastAccess } }`, map[string]any{"u": greta})
		return platform.Member(t, data, "user.lastAccess")
	}
	if s.Number(both, permission, key.ID) != 0 || seen() != nil {
		t.Fatal("used before the first use")
	}
	token := s.Token(key.ClientID, plain, "tenant")
	if s.Number(both, permission, key.ID) != 1 || seen() == nil {
		t.Fatal("the first use was not written")
	}
	s.SQL(`UPDATE permissions SET last_access = now() - interval '50 seconds' WHERE id = $1`, permission)
	s.SQL(`UPDATE api_keys SET last_used_at = now() - interval '50 seconds' WHERE id = $1`, key.ID)
	s.Must(200, "GET", "/tenant", token, nil)
	if s.Number(both, permission, key.ID) != 0 {
		t.Error("written twice in a minute")
	}
	s.SQL(`UPDATE permissions SET last_access = now() - interval '61 seconds' WHERE id = $1`, permission)
	s.SQL(`UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = $1`, key.ID)
	s.Must(200, "GET", "/tenant", token, nil)
	if s.Number(both, permission, key.ID) != 1 {
		t.Error("not written after a minute")
	}
}

func TestMe(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const query = `{ me { customerId userIdentityId email user { email } customer { name } grants { application accountId roleName isOwner features } } }`
	mira := s.MustGQL(s.As("Alpine Energy", "mira@alpine.example"), query, nil)["me"]
	for path, want := range map[string]any{
		"email": "mira@alpine.example", "customer.name": "Alpine Energy", "user.email": "mira@alpine.example", "grants.#": 1,
		"grants.0.application": "tenant", "grants.0.roleName": "Viewer", "grants.0.isOwner": false,
		"grants.0.features": []string{"company.read", "billing.read", "user.read", "permission.read", "context.read", "agent.read", "webhook.read"},
	} {
		if got := platform.Member(t, mira, path); !platform.SameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	login := s.MustGQL(s.Login(platform.DemoAdmin, s.Demo.AdminPassword), query, nil)["me"]
	if got := platform.Member(t, login, "grants.#"); got != 3 {
		t.Errorf("a login has %v grants", got)
	}
	identity := s.Must(200, "GET", "/tenant", s.Root(), nil).JSON(t)
	for path, want := range map[string]any{"identity.customerId": 1, "identity.email": platform.DemoAdmin, "customer.name": "Northwind Group", "customer.canAddCustomers": true} {
		if got := platform.Member(t, identity, path); !platform.SameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if c := platform.Member(t, identity, "customer").(map[string]any); len(c) != 6 {
		t.Errorf("customer has other members than the six: %v", c)
	}
}
