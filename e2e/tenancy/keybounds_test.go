package tenancy

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// keyOf makes a key by REST, and gives what was shown of it.
func keyOf(t *testing.T, s *platform.Platform, token string, body map[string]any) map[string]any {
	t.Helper()
	return s.Must(201, "POST", "/v1/keys", token, body).JSON(t).(map[string]any)
}

func exchanged(s *platform.Platform, key map[string]any) platform.Answer {
	return s.Exchange(s.GrantForm(map[string]string{"client_id": key["clientId"].(string), "client_secret": key["clientSecret"].(string), "target_app": "tenant"}))
}

func TestKeysByREST(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta := s.As("Alpine Energy", "greta@alpine.example")
	key := keyOf(t, s, greta, map[string]any{"name": "CI", "features": []string{"user.read", "company.read"}, "allowedAddresses": []string{"127.0.0.9/8", "::1/128"}})
	path := "/v1/keys/" + platform.Decimal(int64(key["id"].(float64)))
	shown := s.Must(200, "GET", path, greta, nil).JSON(t)
	want := map[string]any{"name": "CI", "features": []string{"company.read", "user.read"}, "allowedAddresses": []string{"127.0.0.0/8", "::1/128"}, "revokedAt": nil}
	for name, value := range want {
		if got := platform.Member(t, shown, name); !platform.SameJSON(got, value) || !platform.SameJSON(key[name], value) {
			t.Errorf("%s is %v and %v, want %v", name, key[name], got, value)
		}
	}
	if strings.Contains(string(s.Must(200, "GET", path, greta, nil).Body), "cnpy_") {
		t.Error("the secret is shown again")
	}
	page := s.Must(200, "GET", "/v1/keys?limit=1", greta, nil)
	if platform.Member(t, page.JSON(t), "#") != 1 || !strings.Contains(page.Header.Get("Link"), `rel="next"`) {
		t.Errorf("%v %s", page.Header, page.Body)
	}
	turned := s.Must(200, "POST", path+"/rotate", greta, map[string]any{"graceSeconds": 0}).JSON(t).(map[string]any)
	if turned["clientSecret"] == key["clientSecret"] || exchanged(s, key).Status != 401 || exchanged(s, turned).Status != 200 {
		t.Errorf("%v", turned)
	}
	s.Must(204, "DELETE", path, greta, nil)
	if exchanged(s, turned).Status != 401 || platform.Member(t, s.Must(200, "GET", path, greta, nil).JSON(t), "revokedAt") == nil {
		t.Error("a revoked key goes on")
	}
	for name, body := range map[string]map[string]any{
		"features: no right":     {"features": []string{"user.fly"}},
		"features: none":         {"features": []string{}},
		"allowedAddresses: none": {"allowedAddresses": []string{}},
		"allowedAddresses: text": {"allowedAddresses": []string{"home"}},
		"allowedAddresses: many": {"allowedAddresses": strings.Split(strings.Repeat("10.0.0.0/8,", 100)+"10.0.0.0/8", ",")},
	} {
		member, _, _ := strings.Cut(name, ":")
		if a := s.Do("POST", "/v1/keys", greta, body); a.Status != 400 || !strings.Contains(string(a.Body), "body."+member) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// TestKeysMayLess: a key has the rights that it was given, of those that its user has at the moment.
func TestKeysMayLess(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta := s.As("Alpine Energy", "greta@alpine.example")
	key := keyOf(t, s, greta, map[string]any{"features": []string{"user.read", "key.write", "context.read"}})
	issued := exchanged(s, key).JSON(t)
	token := platform.Member(t, issued, "access_token").(string)
	s.Must(200, "GET", "/tenant/users", token, nil)
	if a := s.Must(403, "GET", "/tenant/accounts", token, nil); !strings.Contains(string(a.Body), "permission.read") {
		t.Errorf("%s", a.Body)
	}
	data := s.MustGQL(token, `{ me { grants { features } } }`, nil)
	if got := platform.Member(t, data, "me.grants.0.features"); !platform.SameJSON(got, []string{"user.read", "context.read", "key.write"}) {
		t.Errorf("%v", got)
	}
	// What it makes does not exceed it, and what it rotates neither.
	for name, body := range map[string]map[string]any{
		"unbound": {}, "another right": {"features": []string{"user.read", "billing.read"}},
	} {
		if a := s.Do("POST", "/v1/keys", token, body); a.Status != 403 || !strings.Contains(string(a.Body), "beyond_own_rights") {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	keyOf(t, s, token, map[string]any{"features": []string{"user.read"}})
	broad := keyOf(t, s, greta, map[string]any{})
	if a := s.Do("POST", "/v1/keys/"+platform.Decimal(int64(broad["id"].(float64)))+"/rotate", token, nil); a.Status != 403 || !strings.Contains(string(a.Body), "beyond_own_rights") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	s.Must(200, "POST", "/v1/keys/"+platform.Decimal(int64(key["id"].(float64)))+"/rotate", token, nil)
	s.SQL(`UPDATE roles SET features = array_remove(features, 'user.read') WHERE is_owner`)
	s.Must(403, "GET", "/tenant/users", token, nil)
}

// TestKeysNameNoMoreThanTheirMakerHas: a right that its maker lacks can't be named, though the key would be without it
// for now: it would have it as soon as its user has.
func TestKeysNameNoMoreThanTheirMakerHas(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta := s.As("Alpine Energy", "greta@alpine.example")
	alpine := s.Customer("Alpine Energy")
	role := s.Mutate(greta, "createRole", "role { databaseId }", map[string]any{
		"applicationId": s.Number(`SELECT id FROM applications WHERE code = 'tenant'`), "name": "Keys", "features": []string{"key.write", "user.read"},
	})
	s.Must(200, "POST", "/permission", greta, map[string]any{
		"appAccountId": s.Account(alpine, "tenant"), "appRoleId": platform.Member(t, role, "role.databaseId"), "email": "keys@alpine.example", "name": "Kay Keys",
	})
	keeper := s.As("Alpine Energy", "keys@alpine.example")
	keyOf(t, s, keeper, map[string]any{"features": []string{"user.read"}})
	beyond := map[string]any{"features": []string{"user.read", "user.write"}}
	a := s.Do("POST", "/v1/keys", keeper, beyond)
	if a.Status != 403 || platform.Member(t, a.JSON(t), "code") != "beyond_own_rights" || !strings.Contains(string(a.Body), "the right user.write ") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	says := s.Refused(t, "FORBIDDEN", keeper, `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { clientSecret } }`, map[string]any{"in": beyond})
	if !strings.HasPrefix(says, "the right user.write ") {
		t.Errorf("GraphQL says %q", says)
	}
	if n := s.Number(`SELECT count(*) FROM api_keys k JOIN users u ON u.id = k.user_id WHERE u.email = 'keys@alpine.example'`); n != 2 {
		t.Errorf("%d keys, want that of the test and the one that names what its maker has", n)
	}
}

// TestKeysKnowTheirNetworks: from elsewhere no token is issued, and one that was is refused.
func TestKeysKnowTheirNetworks(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	from := func(address, method, path, token string) platform.Answer {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", address)
		r.Header.Set("Authorization", "Bearer "+token)
		return s.Send(r)
	}
	greta := s.As("Alpine Energy", "greta@alpine.example")
	office := keyOf(t, s, greta, map[string]any{"allowedAddresses": []string{"198.51.100.0/24", "2001:db8::/32"}})
	if a := exchanged(s, office); a.Status != 400 || platform.Member(t, a.JSON(t), "error") != "unauthorized_client" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// Here, and there: an exchange from here while here is allowed.
	s.SQL(`UPDATE api_keys SET allowed_addresses = array_append(allowed_addresses, '127.0.0.1/32') WHERE client_id = $1`, office["clientId"])
	token := platform.Member(t, exchanged(s, office).JSON(t), "access_token").(string)
	for address, status := range map[string]int{"198.51.100.7": 200, "2001:db8::5": 200, "127.0.0.1": 200, "198.51.101.7": 403, "::ffff:198.51.100.8": 200, "2001:db9::5": 403} {
		a := from(address, "GET", "/tenant", token)
		if a.Status != status || status == 403 && platform.Member(t, a.JSON(t), "code") != "address_not_allowed" {
			t.Errorf("from %s: %d %s", address, a.Status, a.Body)
		}
		if a := from(address, "GET", "/graphql?query=%7Bme%7Bemail%7D%7D", token); a.Status != status {
			t.Errorf("from %s by GraphQL: %d %s", address, a.Status, a.Body)
		}
	}
	// What it makes works from its own networks at most.
	if made := keyOf(t, s, token, map[string]any{}); !platform.SameJSON(made["allowedAddresses"], []string{"198.51.100.0/24", "2001:db8::/32", "127.0.0.1/32"}) {
		t.Errorf("%v", made)
	}
	keyOf(t, s, token, map[string]any{"allowedAddresses": []string{"198.51.100.128/25"}})
	if a := s.Do("POST", "/v1/keys", token, map[string]any{"allowedAddresses": []string{"198.51.0.0/16"}}); a.Status != 403 || !strings.Contains(string(a.Body), "beyond_own_rights") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestKeysEnd: a key lives no longer than its maker, nor than its company and those above it let it.
func TestKeysEnd(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, alpine, hydro := s.As("Alpine Energy", "greta@alpine.example"), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	short := keyOf(t, s, greta, map[string]any{"expiresAt": in(time.Hour)})
	token := platform.Member(t, exchanged(s, short).JSON(t), "access_token").(string)
	outlives := func(name, token string, body map[string]any) {
		t.Helper()
		if a := s.Do("POST", "/v1/keys", token, body); a.Status != 400 || !strings.Contains(string(a.Body), "body.expiresAt") {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	outlives("for ever", token, map[string]any{})
	outlives("longer", token, map[string]any{"expiresAt": in(2 * time.Hour)})
	keyOf(t, s, token, map[string]any{"expiresAt": in(30 * time.Minute)})

	s.Must(204, "PUT", "/tenant", greta, map[string]any{"customerId": alpine, "maxKeyDays": 30})
	outlives("for ever in the company", greta, map[string]any{})
	outlives("31 days in the company", greta, map[string]any{"expiresAt": in(31 * 24 * time.Hour)})
	keyOf(t, s, greta, map[string]any{"expiresAt": in(29 * 24 * time.Hour)})
	eva := s.UserID("eva@alpine-hydro.example")
	outlives("below", greta, map[string]any{"customerId": hydro, "userId": eva, "expiresAt": in(31 * 24 * time.Hour)})
	const change = `mutation($in: UpdateCustomerInput!) { updateCustomer(input: $in) { customer { maxKeyDays } } }`
	set := func(in map[string]any) any {
		return platform.Member(t, s.MustGQL(greta, change, map[string]any{"in": in}), "updateCustomer.customer.maxKeyDays")
	}
	if got := set(map[string]any{"customerId": alpine, "name": "Alpine Energy"}); got != 30.0 {
		t.Errorf("left out: %v", got)
	}
	if got := set(map[string]any{"customerId": alpine, "maxKeyDays": nil}); got != nil {
		t.Errorf("null: %v", got)
	}
	keyOf(t, s, greta, map[string]any{})
	s.Must(204, "PUT", "/tenant", greta, map[string]any{"customerId": alpine, "maxKeyDays": 7})
	s.Must(204, "PUT", "/tenant", greta, map[string]any{"customerId": alpine})
	outlives("left out by REST", greta, map[string]any{})
	s.Must(204, "PUT", "/tenant", greta, map[string]any{"customerId": alpine, "maxKeyDays": nil})
	keyOf(t, s, greta, map[string]any{})
	for _, days := range []any{0, -1, 3651, "7"} {
		s.Must(400, "PUT", "/tenant", greta, map[string]any{"customerId": alpine, "maxKeyDays": days})
	}
}
