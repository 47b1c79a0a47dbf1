package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

func TestCreatePermission(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, jonas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Energy", "jonas@alpine.example")
	mira, nina := s.UserID("mira@alpine.example"), s.UserID("nina@alpine-solar.example")
	account := s.Account(hydro, "tenant")
	viewer, owner := s.RoleID(hydro, "tenant", "Viewer"), s.RoleID(hydro, "tenant", "Owner")
	other := s.Number(`INSERT INTO roles (application_id, customer_id, name) VALUES (1, $1, 'Of Alpine') RETURNING id`, alpine)
	own := s.Number(`INSERT INTO roles (application_id, customer_id, name) VALUES (1, $1, 'Of Hydro') RETURNING id`, hydro)
	post := func(name, token string, account, role any, user map[string]any, status int, says string, has map[string]any) platform.Scenario {
		body := map[string]any{"appAccountId": account, "appRoleId": role}
		for k, v := range user {
			body[k] = v
		}
		return platform.Scenario{Name: name, Token: token, Method: "POST", Path: "/permission", Body: body, Status: status, Says: says, Has: has}
	}
	id := func(n int64) map[string]any { return map[string]any{"userIdentityId": n} }
	s.Play(t, []platform.Scenario{
		post("a first one", greta, account, viewer, id(mira), 200, "", map[string]any{
			"appAccountId": account, "userIdentityId": mira, "appRoleId": viewer, "lastAccess": nil, "disabled": false,
			"createdBy": fmt.Sprintf(`{"id":%d,"email":"greta@alpine.example"}`, s.UserID("greta@alpine.example")),
		}),
		post("a second one", greta, account, viewer, id(mira), 400, "already", nil),
		post("a second one of another role", greta, account, own, id(mira), 400, "already", nil),
		post("suspended from the start", greta, s.Account(hydro, "assistant"), s.RoleID(hydro, "assistant", "Member"), map[string]any{"userIdentityId": mira, "disabled": true}, 200, "", map[string]any{"disabled": true}),
		post("a role of the company's own", greta, account, own, id(nina), 200, "", map[string]any{"appRoleId": own}),
		post("a role of another company", greta, account, other, id(s.UserID("temp@alpine.example")), 400, "account's company", nil),
		post("a role of another application", greta, account, s.RoleID(hydro, "builder", "Viewer"), id(s.UserID("temp@alpine.example")), 400, "another application", nil),
		post("a role that is not there", greta, account, 999999, id(s.UserID("temp@alpine.example")), 400, "appRoleId", nil),
		post("an account elsewhere", greta, s.Account(s.Customer("Coral Air"), "tenant"), viewer, id(mira), 403, "", nil),
		post("an account above", greta, s.Account(1, "tenant"), viewer, id(mira), 403, "", nil),
		post("an account that is not there", greta, 999999, viewer, id(mira), 403, "", nil),
		post("an account that is not there, as root", root, 999999, viewer, id(mira), 404, "", nil),
		post("a user elsewhere", greta, account, viewer, id(s.UserID("wei@coral.example")), 403, "", nil),
		post("a user that is not there", greta, account, viewer, id(999999), 403, "", nil),
		post("an owner's, by an admin", jonas, account, owner, id(s.UserID("jonas@alpine.example")), 403, "owner", nil),
		post("an owner's, by an owner", greta, account, owner, id(s.UserID("jonas@alpine.example")), 200, "", nil),
		post("by a viewer", s.As("Alpine Energy", "mira@alpine.example"), account, viewer, id(s.UserID("temp@alpine.example")), 403, "permission.write", nil),
		post("of nobody", greta, account, viewer, nil, 400, "userIdentityId", nil),
		post("of an id and an address", greta, account, viewer, map[string]any{"userIdentityId": mira, "email": "x@x.example"}, 400, "email", nil),
		post("of no address", greta, account, viewer, map[string]any{"email": "x"}, 400, "email", nil),
		{Name: "of no account", Token: greta, Method: "POST", Path: "/permission", Body: map[string]any{"appRoleId": viewer, "userIdentityId": mira}, Status: 400, Says: "appAccountId"},
	})
	t.Run("the same by GraphQL", func(t *testing.T) {
		message := s.Refused(t, "BAD_REQUEST", greta, `mutation($in: CreatePermissionInput!) { createPermission(input: $in) { permission { id } } }`,
			map[string]any{"in": map[string]any{"accountId": account, "roleId": viewer, "userId": mira}})
		if message != "the user has a permission on this account already" {
			t.Errorf("%q", message)
		}
	})
}

func TestImplicitUsers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	account, viewer := s.Account(hydro, "tenant"), s.RoleID(hydro, "tenant", "Viewer")
	grant := func(email string, account int64, more map[string]any) platform.Answer {
		body := map[string]any{"appAccountId": account, "appRoleId": viewer, "email": email}
		for k, v := range more {
			body[k] = v
		}
		return s.Must(200, "POST", "/permission", greta, body)
	}
	members := func(customer int64, email string) int64 {
		return s.Number(`SELECT count(*) FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.customer_id = $1 AND lower(u.email) = lower($2)`, customer, email)
	}
	t.Run("an unknown address is made and invited", func(t *testing.T) {
		a := grant("new@implicit.example", account, map[string]any{"name": "New Person"})
		if a.ID(t, "userIdentityId") != s.UserID("new@implicit.example") || len(s.Mails("new@implicit.example")) != 1 || members(hydro, "new@implicit.example") != 1 {
			t.Errorf("%s", a.Body)
		}
		list := s.Must(200, "GET", fmt.Sprintf("/tenant/users/%d", hydro), greta, nil).JSON(t).([]any)
		if last := list[len(list)-1]; platform.Member(t, last, "firstName") != "New" || platform.Member(t, last, "lastName") != "Person" {
			t.Errorf("%v", last)
		}
	})
	t.Run("a known one is used, and invited while there is no password", func(t *testing.T) {
		s.SetUp("siti@coral-air.example")
		for email, more := range map[string]int{"wei@coral.example": 1, "siti@coral-air.example": 0} {
			before := len(s.Mails(email))
			a := grant(strings.ToUpper(email), account, map[string]any{"firstName": "Other"})
			if a.ID(t, "userIdentityId") != s.UserID(email) || len(s.Mails(email)) != before+more {
				t.Errorf("%s", a.Body)
			}
		}
		if s.Number(`SELECT count(*) FROM users WHERE first_name = 'Other'`) != 0 {
			t.Error("a company renamed another's user")
		}
	})
	t.Run("a membership that only permissions gave goes with the last", func(t *testing.T) {
		minh := s.UserID("minh@coral-ports.example")
		var granted []int64
		for _, app := range []string{"tenant", "assistant"} {
			granted = append(granted, s.Must(200, "POST", "/permission", s.Root(), map[string]any{
				"appAccountId": s.Account(hydro, app), "appRoleId": s.RoleID(hydro, app, "Viewer"), "userIdentityId": minh,
			}).ID(t, "id"))
		}
		s.Must(204, "DELETE", fmt.Sprintf("/permission/%d", granted[0]), greta, nil)
		if members(hydro, "minh@coral-ports.example") != 1 {
			t.Error("gone with the first of two")
		}
		s.Must(204, "DELETE", fmt.Sprintf("/permission/%d", granted[1]), greta, nil)
		if members(hydro, "minh@coral-ports.example") != 0 {
			t.Error("not gone with the last")
		}
		platform.Scenario{Status: 200, Not: []string{"minh@"}}.Judge(t, s.Do("GET", fmt.Sprintf("/tenant/users/%d", hydro), greta, nil))
		platform.Scenario{Status: 403}.Judge(t, s.Do("POST", "/tenant/user/init", greta, map[string]any{"id": minh}))
		if members(s.Customer("Coral Ports"), "minh@coral-ports.example") != 1 {
			t.Error("gone from its own company")
		}
	})
	t.Run("who was added stays", func(t *testing.T) {
		s.Must(204, "DELETE", fmt.Sprintf("/permission/%d", s.Permission(s.UserID("wei@coral.example"), account)), greta, nil)
		if members(hydro, "wei@coral.example") != 1 {
			t.Error("who was given by address is gone")
		}
		s.Must(204, "DELETE", fmt.Sprintf("/permission/%d", s.Permission(s.UserID("eva@alpine-hydro.example"), account)), greta, nil)
		if members(hydro, "eva@alpine-hydro.example") != 1 {
			t.Error("gone")
		}
	})
}

func TestChangePermission(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	greta, jonas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Energy", "jonas@alpine.example")
	account := s.Account(alpine, "tenant")
	mira := s.Permission(s.UserID("mira@alpine.example"), account)
	gretas := s.Permission(s.UserID("greta@alpine.example"), account)
	nina := s.Permission(s.UserID("nina@alpine-solar.example"), s.Account(s.Customer("Alpine Solar"), "tenant"))
	wei := s.Permission(s.UserID("wei@coral.example"), s.Account(s.Customer("Coral Logistics"), "tenant"))
	member, admin, owner := s.RoleID(alpine, "tenant", "Member"), s.RoleID(alpine, "tenant", "Admin"), s.RoleID(alpine, "tenant", "Owner")
	put := func(name, token string, id, role int64, status int, says string) platform.Scenario {
		return platform.Scenario{Name: "role: " + name, Token: token, Method: "PUT", Path: "/permission", Body: map[string]any{"id": id, "appRoleId": role}, Status: status, Says: says}
	}
	at := func(method, name, token string, id int64, status int, says string) platform.Scenario {
		return platform.Scenario{Name: method + ": " + name, Token: token, Method: method, Path: fmt.Sprintf("/permission/%d", id), Status: status, Says: says}
	}
	s.Play(t, []platform.Scenario{
		put("another", jonas, mira, member, 204, ""),
		put("of another application", jonas, mira, s.RoleID(alpine, "builder", "Viewer"), 400, "another application"),
		put("that is not there", jonas, mira, 999999, 400, "appRoleId"),
		put("an owner's by an admin", jonas, mira, owner, 403, "owner"),
		put("of an owner by an admin", jonas, gretas, member, 403, "owner"),
		put("elsewhere", greta, wei, member, 403, ""),
		put("not there", greta, 999999, member, 403, ""),
		put("not there, as root", root, 999999, member, 404, ""),
		at("PATCH", "off", jonas, mira, 204, ""),
		put("of a suspended one", jonas, mira, admin, 204, ""),
		at("PATCH", "of an owner by an admin", jonas, gretas, 403, "owner"),
		at("PATCH", "elsewhere", greta, wei, 403, ""),
		at("PATCH", "not there, as root", root, 999999, 404, ""),
		at("PATCH", "no number", root, 0, 404, ""),
		at("DELETE", "of an owner by an admin", jonas, gretas, 403, "owner"),
		at("DELETE", "elsewhere", greta, wei, 403, ""),
		at("DELETE", "not there", greta, 999999, 403, ""),
	})
	if s.Number(`SELECT count(*) FROM permissions WHERE id = $1 AND disabled AND role_id = $2`, mira, admin) != 1 {
		t.Error("a suspended permission takes a new role and stays suspended")
	}
	t.Run("the last owner", func(t *testing.T) {
		s.Play(t, []platform.Scenario{
			at("DELETE", "by its own company", greta, gretas, 400, "last enabled owner"),
			at("PATCH", "by its own company", greta, gretas, 400, "last enabled owner"),
			put("by its own company", greta, gretas, admin, 400, "last enabled owner"),
			put("an owner's again", greta, gretas, owner, 204, ""),
			put("a second owner", greta, mira, owner, 204, ""),
			at("DELETE", "beside a suspended owner", greta, gretas, 400, "last enabled owner"),
			at("PATCH", "the second one on", greta, mira, 204, ""),
			put("the first one down", greta, gretas, admin, 204, ""),
			at("PATCH", "an admin now", greta, mira, 403, "owner"),
			at("DELETE", "by an owner above", root, mira, 204, ""),
			at("PATCH", "one step down, by an owner above it", s.As("Alpine Solar", "nina@alpine-solar.example"), nina, 400, "last enabled owner"),
			put("the last one of a company below, from above", root, nina, admin, 204, ""),
			at("PATCH", "the root's own", root, s.Permission(s.UserID(platform.DemoAdmin), s.Account(1, "tenant")), 400, "last enabled owner"),
		})
	})
	t.Run("gone is gone", func(t *testing.T) {
		s.Play(t, []platform.Scenario{at("PATCH", "a deleted one", root, mira, 404, ""), at("DELETE", "a deleted one", root, mira, 404, "")})
	})
}

func TestPermissionOptions(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	eu, us := s.RegionID("eu-central"), s.RegionID("us-east")
	account := s.Account(alpine, "assistant")
	own := s.Number(`INSERT INTO roles (application_id, customer_id, name) VALUES (2, $1, 'Curator') RETURNING id`, alpine)
	apps := []any{option(1, "Tenant management", false), option(2, "Assistant", false), option(3, "Agent builder", false)}
	chosen := []any{option(1, "Tenant management", false), option(2, "Assistant", true), option(3, "Agent builder", false)}
	region, acc := []any{option(eu, "Europe Central", true)}, []any{option(account, "Alpine Energy", true)}
	none := []any{}
	get := func(name, token, path string, status int, has map[string]any) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "GET", Path: "/permission/options" + path, Status: status, Has: has, Not: []string{"@"}}
	}
	s.Play(t, []platform.Scenario{
		get("applications", greta, "", 200, map[string]any{"applications": apps, "regions": none, "accounts": none, "roles": none, "users": none}),
		get("regions", greta, "/2", 200, map[string]any{"applications": chosen, "regions": region, "accounts": none, "roles": none, "users": none}),
		get("accounts", greta, fmt.Sprintf("/2/%d", eu), 200, map[string]any{"regions": region, "accounts": acc, "roles": none, "users": none}),
		get("roles and users", greta, fmt.Sprintf("/2/%d/%d", eu, account), 200, map[string]any{
			"accounts": acc, "roles.#": 5, "roles.4": option(own, "Curator", false), "users.#": 4, "users.0": option(s.UserID("greta@alpine.example"), "Greta Huber", false),
		}),
		get("of a company below", greta, fmt.Sprintf("/1/%d?cid=%d", eu, hydro), 200, map[string]any{"accounts.0.value": s.Account(hydro, "tenant")}),
		get("of the chosen account's company", root, fmt.Sprintf("/2/%d/%d", eu, account), 200, map[string]any{"users.#": 4}),
		get("of a company without users to spare", s.As("Dune Retail", "hana@dune.example"), fmt.Sprintf("/1/%d/%d", us, s.Account(s.Customer("Dune Retail"), "tenant")), 200,
			map[string]any{"users": []any{option(s.UserID("hana@dune.example"), "Hana Silva", true)}}),
		get("of a company outside", greta, "?cid=1", 403, nil),
		get("of the company 0", greta, "?cid=0", 403, nil),
		get("of an account outside", greta, fmt.Sprintf("/2/%d/%d", eu, s.Account(1, "assistant")), 403, nil),
		get("an application that is none", greta, "/9", 400, nil),
		get("an application by name", greta, "/assistant", 400, nil),
		get("a region without accounts", greta, fmt.Sprintf("/2/%d", us), 400, nil),
		get("an account of another application", greta, fmt.Sprintf("/1/%d/%d", eu, account), 400, nil),
		get("by a token without the right", s.Token(s.Demo.ClientID, s.Demo.ClientSecret, "builder"), "", 403, nil),
	})
	t.Run("disabled accounts come with all only", func(t *testing.T) {
		s.SQL(`UPDATE accounts SET disabled = true WHERE id = $1`, account)
		rest := []any{option(1, "Tenant management", false), option(3, "Agent builder", false)}
		s.Play(t, []platform.Scenario{
			get("without", greta, "", 200, map[string]any{"applications": rest}),
			get("with", greta, "?all=true", 200, map[string]any{"applications": apps}),
			get("chosen without", greta, fmt.Sprintf("/2/%d/%d", eu, account), 400, nil),
			get("chosen with", greta, fmt.Sprintf("/2/%d/%d?all=true", eu, account), 200, map[string]any{"accounts": acc}),
		})
	})
}

func option(value int64, title string, selected bool) map[string]any {
	return map[string]any{"value": value, "title": title, "selected": selected}
}

func TestListAccounts(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine := s.Customer("Alpine Energy")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	a := s.Must(200, "GET", "/tenant/accounts", greta, nil)
	platform.Scenario{Status: 200, Not: []string{"password", "hasPassword", "lineage", "Hydro"}, Has: map[string]any{
		"#": 3, "0.application.name": "Tenant management", "0.customerId": alpine, "0.disabled": false, "0.instanceActive": true, "0.domain": s.URL,
		"0.region.name": "Europe Central", "0.permissions.#": 4, "0.permissions.1.userIdentity.name": "Jonas Keller", "0.permissions.1.role.name": "Admin",
		"0.permissions.3.disabled": true, "0.permissions.3.userIdentity.email": "temp@alpine.example", "0.permissions.0.application.appType": 1,
	}}.Judge(t, a)
	names := func(t *testing.T, a platform.Answer) (list []string) {
		t.Helper()
		for _, x := range a.JSON(t).([]any) {
			list = append(list, fmt.Sprint(platform.Member(t, x, "id")))
		}
		return list
	}
	for limit := 1; limit <= 3; limit++ {
		if got, _ := s.Follow(t, fmt.Sprintf("/tenant/accounts/%d?limit=%d", alpine, limit), s.Root(), names); !slices.Equal(got, names(t, a)) {
			t.Errorf("in pages of %d: %v", limit, got)
		}
	}
	s.Play(t, []platform.Scenario{
		{Name: "outside", Token: greta, Method: "GET", Path: "/tenant/accounts/1", Status: 403},
		{Name: "not there, as root", Token: s.Root(), Method: "GET", Path: "/tenant/accounts/999999", Status: 404},
	})
}

// TestPermissionsAreSuspendedAsIsSaid: what is said twice is done once, and told once.
func TestPermissionsAreSuspendedAsIsSaid(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	jonas := s.As("Alpine Energy", "jonas@alpine.example")
	mira := s.Permission(s.UserID("mira@alpine.example"), s.Account(s.Customer("Alpine Energy"), "tenant"))
	told := func() int64 {
		return s.Number(`SELECT count(*) FROM audit_events WHERE action = 'permission.toggled' AND object_id = $1`, mira)
	}
	for i, disabled := range []bool{false, true, true, false, false} {
		s.Mutate(jonas, "setPermissionDisabled", "permission { disabled }", map[string]any{"id": mira, "disabled": disabled})
		if got := s.Number(`SELECT count(*) FROM permissions WHERE id = $1 AND disabled`, mira) == 1; got != disabled {
			t.Errorf("%d: suspended is %v", i, got)
		}
		if want := []int64{0, 1, 1, 2, 2}[i]; told() != want {
			t.Errorf("%d: told %d times, want %d", i, told(), want)
		}
	}
}
