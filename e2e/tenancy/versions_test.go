package tenancy

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"canopy/e2e/platform"
)

// conditional sends a request with a header that bounds when it is done.
func conditional(t *testing.T, s *platform.Platform, method, path, token, header, value, body string) platform.Answer {
	t.Helper()
	req := platform.Keyed(t, method, s.URL+path, token, "", body)
	req.Header.Del("Idempotency-Key")
	if body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set(header, value)
	return s.Send(req)
}

// TestETags: who has what would be shown is told so, a change is made from what is there or not at all, and its answer has the
// next tag.
func TestETags(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, assistant, builder := s.Root(), s.Assistant(), s.RootAs("builder")
	s.Must(204, "POST", "/tenant/billing", root, map[string]any{"city": "Oslo"})
	created := func(path, token string, body map[string]any) int64 {
		return s.Do("POST", path, token, body).ID(t, "id")
	}
	role := created("/v1/roles", root, map[string]any{"applicationId": 1, "name": "Tagged", "features": []string{"company.read"}})
	secret := created("/v1/secrets", builder, map[string]any{"name": "TAGGED", "value": "x"})
	provider := created("/v1/identity-providers", root, map[string]any{"name": "Tagged", "issuer": "https://93.184.216.34/", "clientId": "c", "clientSecret": "s"})
	agent := created("/v1/agents", builder, map[string]any{"name": "Tagged"})
	contextID := s.NewContext(assistant, "Tagged")
	permission := s.Permission(s.UserID("mira@alpine.example"), s.Account(s.Customer("Alpine Energy"), "tenant"))
	const disabled = `{"disabled": %d}`
	full := `{"name": "%d", "description": "", "caption": "", "toolsJson": "[]"}`
	for _, c := range []struct {
		path, token, method, write, body string
		status                           int
	}{
		{"/tenant/billing", root, "POST", "/tenant/billing", `{"city": "%d"}`, 204},
		{fmt.Sprintf("/context/%d", contextID), assistant, "PUT", "", full, 200},
		{fmt.Sprintf("/context/%d", contextID), assistant, "PUT", fmt.Sprintf("/context/share/%d", contextID), `{"shareState": 1, "icon": "%[1]d\ufe0f\u20e3"}`, 204},
		{fmt.Sprintf("/v1/contexts/%d/settings", contextID), assistant, "PUT", "", `{"topN": 7%d}`, 200},
		{fmt.Sprintf("/v1/agents/%d", agent), builder, "PUT", "", `{"name": "%d"}`, 200},
		{fmt.Sprintf("/v1/secrets/%d", secret), builder, "PUT", "", `{"name": "T%d"}`, 200},
		{fmt.Sprintf("/v1/roles/%d", role), root, "PUT", "", `{"name": "%d"}`, 200},
		{fmt.Sprintf("/v1/identity-providers/%d", provider), root, "PUT", "", `{"name": "%d"}`, 200},
		{fmt.Sprintf("/v1/accounts/%d", s.Account(s.Customer("Dune Retail"), "assistant")), root, "PUT", "", disabled, 200},
		{fmt.Sprintf("/v1/permissions/%d", permission), root, "PUT", "", disabled, 200},
	} {
		t.Run(c.path, func(t *testing.T) {
			if c.write == "" {
				c.write = c.path
			}
			body := func(n int) string {
				if c.body == disabled {
					return fmt.Sprintf(`{"disabled": %t}`, n == 1)
				}
				return fmt.Sprintf(c.body, n)
			}
			first := s.Must(200, "GET", c.path, c.token, nil)
			tag := first.Header.Get("ETag")
			if tag == "" {
				t.Fatalf("no ETag: %v", first.Header)
			}
			if a := conditional(t, s, "GET", c.path, c.token, "If-None-Match", `"x", W/`+tag, ""); a.Status != 304 || len(a.Body) > 0 || a.Header.Get("ETag") != tag {
				t.Errorf("what the client has: %d %v %s", a.Status, a.Header, a.Body)
			}
			changed := conditional(t, s, c.method, c.write, c.token, "If-Match", tag, body(1))
			if changed.Status != c.status {
				t.Fatalf("a change: %d %s", changed.Status, changed.Body)
			}
			next := changed.Header.Get("ETag")
			if now := s.Must(200, "GET", c.path, c.token, nil).Header.Get("ETag"); next == tag || next != now {
				t.Errorf("tags: %s, by the change %s, then %s", tag, next, now)
			}
			if a := conditional(t, s, "GET", c.path, c.token, "If-None-Match", tag, ""); a.Status != 200 {
				t.Errorf("what the client had: %d", a.Status)
			}
			for _, old := range []string{tag, `"x"`, "W/" + next, "1"} {
				a := conditional(t, s, c.method, c.write, c.token, "If-Match", old, body(2))
				if a.Status != 412 || platform.Member(t, a.JSON(t), "code") != "changed" || !strings.Contains(string(a.Body), "header.If-Match") {
					t.Errorf("a change from %s: %d %s", old, a.Status, a.Body)
				}
			}
			if a := conditional(t, s, c.method, c.write, c.token, "If-Match", `"1", "2"`, body(2)); a.Status != 400 {
				t.Errorf("two tags: %d %s", a.Status, a.Body)
			}
			if a := conditional(t, s, c.method, c.write, c.token, "If-Match", "*", body(3)); a.Status != c.status {
				t.Errorf("any: %d %s", a.Status, a.Body)
			}
		})
	}
	destination, _ := s.Subscribe(root, platform.PublicURL)
	s.Upload(assistant, contextID, "tagged.txt", []byte("Tagged."))
	document := int64(s.Documents(assistant, contextID)[0]["id"].(float64))
	revoked := created("/v1/keys", root, map[string]any{"userId": s.UserID(s.Demo.AdminEmail)})
	for _, c := range []struct{ path, token, gone string }{
		{fmt.Sprintf("/v1/agents/%d", agent), builder, ""},
		{fmt.Sprintf("/v1/secrets/%d", secret), builder, ""},
		{fmt.Sprintf("/v1/roles/%d", role), root, ""},
		{fmt.Sprintf("/v1/permissions/%d", permission), root, fmt.Sprintf("/permission/%d", permission)},
		{fmt.Sprintf("%s/destinations/%d", platform.Hooks, destination), root, ""},
		{fmt.Sprintf("/v1/keys/%d", revoked), root, ""},
		{fmt.Sprintf("/v1/documents/%d", document), assistant, fmt.Sprintf("/context/documents/%d/%d", contextID, document)},
		{fmt.Sprintf("/context/%d", contextID), assistant, ""},
	} {
		tag := s.Must(200, "GET", c.path, c.token, nil).Header.Get("ETag")
		at := cmp.Or(c.gone, c.path)
		if a := conditional(t, s, "DELETE", at, c.token, "If-Match", `"99-x"`, ""); a.Status != 412 || platform.Member(t, a.JSON(t), "code") != "changed" {
			t.Errorf("%s is deleted from another version: %d %s", at, a.Status, a.Body)
		}
		if a := conditional(t, s, "DELETE", at, c.token, "If-Match", tag, ""); a.Status/100 != 2 {
			t.Errorf("%s is not deleted from %s: %d %s", at, tag, a.Status, a.Body)
		}
	}
	none := fmt.Sprintf("/tenant/billing/%d", s.Customer("Dune Retail"))
	for _, tag := range []string{"*", `"0"`} {
		if a := conditional(t, s, "POST", none, root, "If-Match", tag, `{"city": "Oslo"}`); a.Status != 412 || s.Do("GET", none, root, nil).Status != 404 {
			t.Errorf("a billing record is made by a change of %s: %d %s", tag, a.Status, a.Body)
		}
	}
	key := s.Must(201, "POST", "/v1/keys", root, map[string]any{"userId": s.UserID(s.Demo.AdminEmail)})
	path := fmt.Sprintf("/v1/keys/%d", key.ID(t, "id"))
	if a := conditional(t, s, "GET", path, root, "If-None-Match", key.Header.Get("ETag"), ""); a.Status != 304 {
		t.Errorf("a key as it was made: %d %s", a.Status, a.Body)
	}
	s.Token(platform.Member(t, key.JSON(t), "clientId").(string), platform.Member(t, key.JSON(t), "clientSecret").(string), "tenant")
	if a := conditional(t, s, "GET", path, root, "If-None-Match", key.Header.Get("ETag"), ""); a.Status != 200 {
		t.Errorf("a key that was used: %d %s", a.Status, a.Body)
	}
}

// TestVersions: of many who change an object from the same version one does, whatever they change; what sets the values that are there is no change.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, assistant, builder := s.Root(), s.Assistant(), s.RootAs("builder")
	customer := s.Mutate(root, "createCustomer", "customer { databaseId version }", map[string]any{
		"parentId": 1, "name": "Versions", "regionId": s.RegionID("eu-central"), "email": "v@example.org", "firstName": "V", "lastName": "V", "tenant": true,
	})["customer"].(map[string]any)
	id := customer["databaseId"]
	user := s.UserID("v@example.org")
	permission := s.Number(`SELECT id FROM permissions WHERE user_id = $1`, user)
	made := func(token, mutation, object string, input map[string]any) any {
		return s.Mutate(token, mutation, object+" { databaseId }", input)[object].(map[string]any)["databaseId"]
	}
	s.Mutate(root, "saveBilling", "billing { version }", map[string]any{"customerId": id, "city": "Oslo"})
	viewer := s.RoleID(0, "tenant", "Viewer")
	document := s.NewContext(assistant, "Filed")
	s.Upload(assistant, document, "a.txt", []byte("A text."))
	document = int64(s.Documents(assistant, document)[0]["id"].(float64))
	for _, c := range []struct {
		mutation, object, token string
		input                   map[string]any
		// next are other values of some of its members.
		next map[string]any
	}{
		{"updateCustomer", "customer", root, map[string]any{"customerId": id, "name": "Renamed", "maxKeyDays": 9}, map[string]any{"name": "Again"}},
		{"saveBilling", "billing", root, map[string]any{"customerId": id, "city": "Bergen"}, map[string]any{"city": "Narvik"}},
		{"updateUser", "user", root, map[string]any{"id": user, "firstName": "W"}, map[string]any{"firstName": "X"}},
		{"updatePermission", "permission", root, map[string]any{"id": permission, "roleId": viewer}, map[string]any{"roleId": s.RoleID(0, "tenant", "Owner")}},
		{"setPermissionDisabled", "permission", root, map[string]any{"id": permission, "disabled": true}, map[string]any{"disabled": false}},
		{"setAccountDisabled", "account", root, map[string]any{"id": s.Account(int64(id.(float64)), "tenant"), "disabled": true}, map[string]any{"disabled": false}},
		{"updateRole", "role", root, map[string]any{
			"id": made(root, "createRole", "role", map[string]any{"applicationId": 1, "name": "R", "features": []string{}}), "name": "S", "features": []string{"company.read"},
		}, map[string]any{"name": "T"}},
		{"updateContext", "context", assistant, map[string]any{"id": s.NewContext(assistant, "C"), "name": "D", "starterPrompts": []string{"a"}, "topN": 7}, map[string]any{"topN": 8}},
		{"shareContext", "context", assistant, map[string]any{"id": s.NewContext(assistant, "Shared"), "shareState": 1}, map[string]any{"shareState": 0}},
		{"updateDocument", "document", assistant, map[string]any{"id": document, "attributes": map[string]any{"year": 2024, "by": "Ada"}}, map[string]any{"displayName": "B"}},
		{"updateAgent", "agent", builder, map[string]any{"id": made(builder, "createAgent", "agent", map[string]any{"name": "A"}), "name": "B"}, map[string]any{"name": "C"}},
		{"updateSecret", "secret", builder, map[string]any{"id": made(builder, "createSecret", "secret", map[string]any{"name": "S", "value": "x"}), "name": "T"}, map[string]any{"value": "y"}},
		{"updateIdentityProvider", "identityProvider", root, map[string]any{"id": made(root, "createIdentityProvider", "identityProvider", map[string]any{
			"name": "P", "issuer": "https://93.184.216.34/p", "clientId": "c", "clientSecret": "s",
		}), "name": "N"}, map[string]any{"name": "M"}},
		{"updateWebhookDestination", "destination", root, map[string]any{
			"id": made(root, "createWebhookDestination", "destination", map[string]any{"url": "https://93.184.216.34/"}), "name": "N", "events": []string{"run.started"},
		}, map[string]any{"name": "M"}},
	} {
		t.Run(c.mutation, func(t *testing.T) {
			fields := c.object + " { version }"
			version := func(payload map[string]any) float64 { return payload[c.object].(map[string]any)["version"].(float64) }
			from := version(s.Mutate(c.token, c.mutation, fields, c.input))
			events := s.Number(`SELECT count(*) FROM audit_events`)
			if c.mutation != "updateIdentityProvider" { // whoever sets what is set changes nothing, and stands in nobody's way
				if again := version(s.Mutate(c.token, c.mutation, fields, c.input)); again != from || s.Number(`SELECT count(*) FROM audit_events`) != events {
					t.Errorf("the same values: version %v after %v, %d events", again, from, s.Number(`SELECT count(*) FROM audit_events`)-events)
				}
			}
			maps.Copy(c.input, c.next)
			c.input["ifVersion"] = from
			query := "mutation($in: " + strings.ToUpper(c.mutation[:1]) + c.mutation[1:] + "Input!) { " + c.mutation + "(input: $in) { " + fields + " } }"
			var won atomic.Int64
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() {
					a := s.Do("POST", "/graphql", c.token, map[string]any{"query": query, "variables": map[string]any{"in": c.input}})
					switch {
					case !strings.Contains(string(a.Body), `"errors"`):
						won.Add(1)
						if got := version(platform.Member(t, a.JSON(t), "data."+c.mutation).(map[string]any)); got <= from {
							t.Errorf("the version went from %v to %v", from, got)
						}
					case !strings.Contains(string(a.Body), `"reason":"changed"`) || !strings.Contains(string(a.Body), "BAD_REQUEST"):
						t.Errorf("%s", a.Body)
					}
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Errorf("%d changes were made from the same version", won.Load())
			}
		})
	}
}
