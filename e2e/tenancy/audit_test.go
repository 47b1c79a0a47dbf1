package tenancy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"canopy/e2e/platform"
)

// TestAuditLog makes one change of each kind and reads what was written of it.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta := s.As("Alpine Energy", "greta@alpine.example")
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	account, mira := s.Account(alpine, "tenant"), s.UserID("mira@alpine.example")
	viewer := s.RoleID(alpine, "tenant", "Viewer")
	temp := s.Permission(s.UserID("temp@alpine.example"), account)
	run := func(query string, in map[string]any) map[string]any {
		t.Helper()
		return s.MustGQL(greta, query, map[string]any{"in": in})
	}
	var role, key float64
	var made, added, granted int64
	type event struct {
		Action, ObjectType string
		ObjectID           int64
		Details            map[string]any
	}
	var clientID string
	type change struct {
		New any `json:"new,omitempty"`
		Old any `json:"old,omitempty"`
	}
	steps := []struct {
		action, object string
		do             func() int64
		details        map[string]any
	}{
		{"customer.created", "Customer", func() int64 {
			made = s.Must(200, "POST", "/tenant/customer", greta, map[string]any{"name": "Audited", "regionId": s.RegionID("eu-central"), "email": "a@audit.example"}).ID(t, "id")
			return made
		}, map[string]any{"name": change{New: "Audited"}}},
		{"customer.updated", "Customer", func() int64 {
			s.Must(204, "PUT", "/tenant", greta, map[string]any{"customerId": hydro, "name": "Renamed"})
			return hydro
		}, map[string]any{"name": change{Old: "Alpine Hydro", New: "Renamed"}}},
		{"billing.saved", "Billing", func() int64 {
			s.Must(204, "POST", "/tenant/billing", greta, map[string]any{"city": "Graz"})
			return alpine
		}, map[string]any{"city": change{New: "Graz"}}},
		{"user.created", "User", func() int64 {
			added = s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "b@audit.example"}).ID(t, "id")
			return added
		}, map[string]any{"email": change{New: "b@audit.example"}}},
		{"user.invited", "User", func() int64 {
			s.Must(204, "POST", "/tenant/user/init", greta, map[string]any{"id": mira})
			return mira
		}, nil},
		{"permission.created", "Permission", func() int64 {
			granted = s.Must(200, "POST", "/permission", greta, map[string]any{"appAccountId": account, "appRoleId": viewer, "userIdentityId": added}).ID(t, "id")
			return granted
		}, map[string]any{"role": change{New: viewer}}},
		{"permission.updated", "Permission", func() int64 {
			s.Must(204, "PUT", "/permission", greta, map[string]any{"id": granted, "appRoleId": s.RoleID(alpine, "tenant", "Member")})
			return granted
		}, map[string]any{"role": change{Old: viewer, New: s.RoleID(alpine, "tenant", "Member")}}},
		{"permission.toggled", "Permission", func() int64 {
			s.Must(204, "PATCH", fmt.Sprint("/permission/", temp), greta, nil)
			return temp
		}, map[string]any{"disabled": change{Old: true, New: false}}},
		{"permission.deleted", "Permission", func() int64 {
			s.Must(204, "DELETE", fmt.Sprint("/permission/", temp), greta, nil)
			return temp
		}, map[string]any{"account": change{Old: account}}},
		{"role.created", "Role", func() int64 {
			role = platform.Member(t, run(`mutation($in: CreateRoleInput!) { createRole(input: $in) { role { databaseId } } }`,
				map[string]any{"applicationId": 1, "name": "Audited", "features": []string{"user.read"}}), "createRole.role.databaseId").(float64)
			return int64(role)
		}, map[string]any{"name": change{New: "Audited"}}},
		{"role.updated", "Role", func() int64 {
			run(`mutation($in: UpdateRoleInput!) { updateRole(input: $in) { role { name } } }`, map[string]any{"id": role, "name": "Again"})
			return int64(role)
		}, map[string]any{"name": change{Old: "Audited", New: "Again"}}},
		{"role.deleted", "Role", func() int64 {
			run(`mutation($in: DeleteRoleInput!) { deleteRole(input: $in) { deletedId } }`, map[string]any{"id": role})
			return int64(role)
		}, map[string]any{"name": change{Old: "Again"}}},
		{"apiKey.created", "ApiKey", func() int64 {
			out := run(`mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { clientId apiKey { databaseId } } }`, map[string]any{"name": "Audited"})
			key, clientID = platform.Member(t, out, "createApiKey.apiKey.databaseId").(float64), platform.Member(t, out, "createApiKey.clientId").(string)
			return int64(key)
		}, map[string]any{"name": change{New: "Audited"}}},
		{"apiKey.rotated", "ApiKey", func() int64 {
			run(`mutation($in: RotateApiKeySecretInput!) { rotateApiKeySecret(input: $in) { clientId } }`, map[string]any{"id": key})
			return int64(key)
		}, map[string]any{"clientSecret": change{Old: "changed", New: "changed"}}},
		{"apiKey.revoked", "ApiKey", func() int64 {
			run(`mutation($in: RevokeApiKeyInput!) { revokeApiKey(input: $in) { apiKey { revokedAt } } }`, map[string]any{"id": key})
			return int64(key)
		}, nil},
		{"account.updated", "Account", func() int64 {
			id := s.Account(alpine, "builder")
			run(`mutation($in: SetAccountDisabledInput!) { setAccountDisabled(input: $in) { account { disabled } } }`, map[string]any{"id": id, "disabled": true})
			return id
		}, map[string]any{"disabled": change{Old: false, New: true}}},
	}
	last := func() (event, map[string]any) {
		t.Helper()
		data := s.MustGQL(greta, `{ auditEvents(first: 1) { nodes { action objectType objectId details clientId createdAt actor { email } customer { databaseId } } } }`, nil)
		raw, err := json.Marshal(platform.Member(t, data, "auditEvents.nodes.0"))
		if err != nil {
			t.Fatal(err)
		}
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		return e, platform.Member(t, data, "auditEvents.nodes.0").(map[string]any)
	}
	total := func() int64 { return s.Number(`SELECT count(*) FROM audit_events`) }
	for _, step := range steps {
		t.Run(step.action, func(t *testing.T) {
			before := total()
			object := step.do()
			if n := total() - before; n != 1 {
				t.Errorf("%d events", n)
			}
			e, raw := last()
			if e.Action != step.action || e.ObjectType != step.object || e.ObjectID != object {
				t.Errorf("%+v, want %s of %s %d", e, step.action, step.object, object)
			}
			for name, want := range step.details {
				if !platform.SameJSON(e.Details[name], want) {
					t.Errorf("details %v, want %s %v", e.Details, name, want)
				}
			}
			if platform.Member(t, raw, "actor.email") != "greta@alpine.example" || !strings.HasPrefix(fmt.Sprint(raw["clientId"]), "cnpyid_") {
				t.Errorf("by %v with %v", raw["actor"], raw["clientId"])
			}
		})
	}
	t.Run("a refusal writes none", func(t *testing.T) {
		before := total()
		s.Must(400, "POST", "/tenant/user", greta, map[string]any{"email": "b@audit.example"})
		s.Must(403, "PUT", "/tenant", greta, map[string]any{"customerId": 1, "name": "Mine"})
		if total() != before {
			t.Error("a refused change was written down as done")
		}
	})
	t.Run("secrets are not in it", func(t *testing.T) {
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE details::text ~ 'cnpy_|token|password'`); n != 0 {
			t.Errorf("%d events with a secret", n)
		}
		if clientID == "" {
			t.Error("no key was made")
		}
	})
	t.Run("reach", func(t *testing.T) {
		lukas := s.TokenOf(hydro, "lukas@alpine-hydro.example", "tenant")
		data := s.MustGQL(lukas, `{ auditEvents(first: 100) { totalCount nodes { action customer { databaseId } actor { email } } } }`, nil)
		seen := false
		for _, e := range platform.Member(t, data, "auditEvents.nodes").([]any) {
			if got := int64(platform.Member(t, e, "customer.databaseId").(float64)); got != hydro {
				t.Errorf("hydro sees an event of %d", got)
			}
			if actor := e.(map[string]any)["actor"]; actor != nil && strings.Contains(fmt.Sprint(actor), "greta") {
				t.Error("hydro sees who acted from above")
			}
			seen = seen || platform.Member(t, e, "action") == "customer.updated"
		}
		if !seen || platform.Member(t, data, "auditEvents.totalCount") != float64(len(platform.Member(t, data, "auditEvents.nodes").([]any))) {
			t.Errorf("%v", data)
		}
	})
	s.Refused(t, "FORBIDDEN", s.As("Alpine Energy", "mira@alpine.example"), `{ auditEvents { totalCount } }`, nil)
}

func TestAuditSubscription(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, hydro, coral := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro"), s.Customer("Coral Logistics")
	root := s.Root()
	names := 0 // each another, as a name that stays is no event
	rename := func(id int64) func(int) {
		return func(int) {
			names++
			s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": id, "name": fmt.Sprint("Renamed ", names)})
		}
	}
	doors := map[string]func(t *testing.T, token string) <-chan platform.Heard{
		"socket": func(t *testing.T, token string) <-chan platform.Heard {
			c := s.OverSocket(t, map[string]any{"authorization": "Bearer " + token}, nil)
			return c
		},
		"socket, by the header": func(t *testing.T, token string) <-chan platform.Heard {
			c := s.OverSocket(t, nil, http.Header{"Authorization": {"Bearer " + token}})
			return c
		},
		"events": s.OverSSE,
	}
	for name, subscribe := range doors {
		t.Run(name, func(t *testing.T) {
			key, plain, err := s.App.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "")
			if err != nil {
				t.Fatal(err)
			}
			stream := subscribe(t, s.Token(key.ClientID, plain, "tenant"))
			e := s.Until(t, stream, rename(hydro))
			if e["action"] != "customer.updated" || e["objectId"] != float64(hydro) {
				t.Errorf("%v", e)
			}
			t.Run("not what is out of reach", func(t *testing.T) {
				rename(coral)(0)
				rename(alpine)(1)
				for {
					h := platform.Next(t, stream, "an event of its own")
					if h.Err != nil || h.Over || h.Event["objectId"] == float64(coral) {
						t.Fatalf("%+v", h)
					}
					if h.Event["objectId"] == float64(alpine) {
						return
					}
				}
			})
			t.Run("ends when the token stops working", func(t *testing.T) {
				if err := s.App.Resolver.OperatorRevokeKey(t.Context(), key.ClientID); err != nil {
					t.Fatal(err)
				}
				rename(hydro)(2)
				for {
					h := platform.Next(t, stream, "the end")
					if h.Over || h.Err != nil {
						return
					}
					if h.Event != nil && h.Event["action"] != "customer.updated" {
						t.Errorf("told after the end: %v", h.Event)
					}
				}
			})
		})
	}
	t.Run("refused", func(t *testing.T) {
		for name, init := range map[string]map[string]any{
			"without a token": nil, "with a bad one": {"authorization": "Bearer abc"},
		} {
			t.Run(name, func(t *testing.T) {
				stream := s.OverSocket(t, init, nil)
				if h := platform.Next(t, stream, "a refusal"); h.Err == nil {
					t.Errorf("%+v", h)
				}
			})
		}
		t.Run("with the token in the URL", func(t *testing.T) {
			a := s.Raw(t, "GET", "/graphql?query="+"%7Bme%7Bemail%7D%7D&access_token="+root+"&authorization=Bearer+"+root, nil)
			if !strings.Contains(string(a.Body), "UNAUTHENTICATED") || strings.Contains(string(a.Body), platform.DemoAdmin) {
				t.Errorf("%s", a.Body)
			}
		})
		t.Run("without the right", func(t *testing.T) {
			stream := s.OverSocket(t, map[string]any{"authorization": "Bearer " + s.TokenOf(alpine, "mira@alpine.example", "tenant")}, nil)
			if h := platform.Next(t, stream, "a refusal"); h.Err == nil || !strings.Contains(h.Err.Error(), "audit.read") {
				t.Errorf("%+v", h)
			}
		})
		t.Run("from another site", func(t *testing.T) {
			dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
			conn, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/graphql", http.Header{"Origin": {"https://evil.example"}})
			if err == nil {
				_ = conn.Close()
				t.Fatal("let in")
			}
			if resp == nil || resp.StatusCode != 403 {
				t.Errorf("%v", resp)
			}
		})
	})
}
