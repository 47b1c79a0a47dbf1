package tenancy

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"canopy/e2e/platform"
)

func TestCreateCustomer(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	eu, uk := s.RegionID("eu-central"), s.RegionID("uk-south")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	nth := 0
	body := func(change map[string]any) map[string]any {
		nth++
		b := map[string]any{"name": fmt.Sprintf("New %d", nth), "regionId": eu, "email": fmt.Sprintf("new%d@new.example", nth)}
		maps.Copy(b, change)
		return b
	}
	make := func(name, token string, change map[string]any, status int, has map[string]any) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "POST", Path: "/tenant/customer", Body: body(change), Status: status, Has: has}
	}
	brightwater := s.Customer("Brightwater Health")
	dune := s.Customer("Dune Retail")
	hydro := s.Customer("Alpine Hydro")
	s.Play(t, []platform.Scenario{
		make("below the caller by default", greta, nil, 200, map[string]any{"parentId": alpine, "regionId": eu, "canAddCustomers": false, "descendantsCanAdd": false}),
		make("below a descendant", greta, map[string]any{"parentId": hydro}, 200, map[string]any{"parentId": hydro}),
		make("with both flags", greta, map[string]any{"canAddCustomers": true, "descendantsCanAdd": true}, 200, map[string]any{"canAddCustomers": true, "descendantsCanAdd": true}),
		make("by the root, anywhere", root, map[string]any{"parentId": dune}, 200, map[string]any{"parentId": dune}),
		make("with nulls for what is optional", greta, map[string]any{"parentId": nil, "firstName": nil, "tenant": nil, "canAddCustomers": nil}, 200, map[string]any{"parentId": alpine}),
		make("outside reach", greta, map[string]any{"parentId": brightwater}, 403, nil),
		make("above the caller", greta, map[string]any{"parentId": 1}, 403, nil),
		make("below a company that is not there", greta, map[string]any{"parentId": 999999}, 403, nil),
		make("below a company that is not there, as root", root, map[string]any{"parentId": 999999}, 404, nil),
		make("with a flag where the parent forbids it", lukas, map[string]any{"canAddCustomers": true}, 403, nil),
		make("with a flag where the parent forbids it, as root", root, map[string]any{"parentId": dune, "descendantsCanAdd": true}, 403, nil),
		make("by a company that may not", s.As("Dune Retail", "hana@dune.example"), nil, 403, nil),
		make("in a region that is not available", root, map[string]any{"regionId": uk}, 400, nil),
		make("in no region", root, map[string]any{"regionId": 999999}, 400, nil),
		make("with a bad address", root, map[string]any{"email": "not an address"}, 400, nil),
		make("without a name", root, map[string]any{"name": " "}, 400, nil),
		make("by a role that may not", s.As("Alpine Energy", "mira@alpine.example"), nil, 403, nil),
	})
	t.Run("a refusal leaves nothing", func(t *testing.T) {
		if n := s.Number(`SELECT count(*) FROM customers`); n != 12+5 {
			t.Errorf("%d companies", n)
		}
		if n := s.Number(`SELECT count(*) FROM users WHERE email LIKE '%new.example'`); n != 5 {
			t.Errorf("%d users", n)
		}
	})
	t.Run("the answer has the seven members", func(t *testing.T) {
		a := s.Must(200, "POST", "/tenant/customer", root, body(nil))
		got := slices.Sorted(maps.Keys(a.JSON(t).(map[string]any)))
		if !slices.Equal(got, []string{"canAddCustomers", "createdAt", "descendantsCanAdd", "id", "name", "parentId", "regionId"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestCustomerApplications(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	eu := s.RegionID("eu-central")
	for i, c := range []struct {
		name   string
		change map[string]any
		want   []string
	}{
		{"all by default", nil, []string{"assistant", "builder", "tenant"}},
		{"no assistant", map[string]any{"assistant": false}, []string{"builder", "tenant"}},
		{"no builder", map[string]any{"builder": false}, []string{"assistant", "tenant"}},
		{"no tenant", map[string]any{"tenant": false}, []string{"assistant", "builder"}},
		{"none", map[string]any{"tenant": false, "builder": false, "assistant": false}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			email := fmt.Sprintf("apps%d@apps.example", i)
			body := map[string]any{"name": c.name, "regionId": eu, "email": email}
			maps.Copy(body, c.change)
			id := s.Must(200, "POST", "/tenant/customer", root, body).ID(t, "id")
			data := s.MustGQL(root, `query($c: ID!) { customer(id: $c) { accounts { nodes { name disabled region { databaseId } application { code }
				permissions { nodes { disabled user { email } role { name isOwner } createdBy { email } } } } } } }`, map[string]any{"c": id})
			got := []string{}
			for _, a := range platform.Member(t, data, "customer.accounts.nodes").([]any) {
				got = append(got, platform.Member(t, a, "application.code").(string))
				for path, want := range map[string]any{
					"name": c.name, "disabled": false, "region.databaseId": eu, "permissions.nodes.#": 1, "permissions.nodes.0.user.email": email,
					"permissions.nodes.0.role.name": "Owner", "permissions.nodes.0.role.isOwner": true, "permissions.nodes.0.createdBy.email": platform.DemoAdmin,
				} {
					if v := platform.Member(t, a, path); !platform.SameJSON(v, want) {
						t.Errorf("%s is %v, want %v", path, v, want)
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("accounts of %v, want %v", got, c.want)
			}
		})
	}
}

func TestCustomerAdmin(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	eu := s.RegionID("eu-central")
	create := func(change map[string]any) int64 {
		body := map[string]any{"name": "Company of Names", "regionId": eu, "email": "first@admin.example"}
		maps.Copy(body, change)
		return s.Must(200, "POST", "/tenant/customer", root, body).ID(t, "id")
	}
	users := func(id int64) any { return s.Must(200, "GET", fmt.Sprintf("/tenant/users/%d", id), root, nil).JSON(t) }
	t.Run("the last name is the company's by default", func(t *testing.T) {
		u := users(create(nil))
		if platform.Member(t, u, "0.firstName") != "" || platform.Member(t, u, "0.lastName") != "Company of Names" || platform.Member(t, u, "0.name") != "Company of Names" || platform.Member(t, u, "#") != 1 {
			t.Errorf("%v", u)
		}
	})
	t.Run("by the graph an empty last name is none", func(t *testing.T) {
		made := s.Mutate(root, "createCustomer", "admin { firstName lastName name }", map[string]any{"name": "Company of Nobody", "regionId": eu, "email": "fourth@admin.example", "lastName": ""})
		if !platform.SameJSON(platform.Member(t, made, "admin"), map[string]any{"firstName": "", "lastName": "", "name": ""}) {
			t.Errorf("%v", made)
		}
	})
	t.Run("empty names are as if left out", func(t *testing.T) {
		u := users(create(map[string]any{"email": "third@admin.example", "firstName": " ", "lastName": ""}))
		if platform.Member(t, u, "0.firstName") != "" || platform.Member(t, u, "0.lastName") != "Company of Names" {
			t.Errorf("%v", u)
		}
	})
	t.Run("names are kept", func(t *testing.T) {
		u := users(create(map[string]any{"email": "second@admin.example", "firstName": "Sec", "lastName": "Ond"}))
		if platform.Member(t, u, "0.name") != "Sec Ond" {
			t.Errorf("%v", u)
		}
	})
	t.Run("a known address is reused, under its own names", func(t *testing.T) {
		u := users(create(map[string]any{"email": "SECOND@admin.example", "firstName": "Other"}))
		if platform.Member(t, u, "0.name") != "Sec Ond" || platform.Member(t, u, "0.email") != "second@admin.example" || platform.Member(t, u, "0.permissions.#") != 6 {
			t.Errorf("%v", u)
		}
		if n := len(s.Mails("second@admin.example")); n != 2 {
			t.Errorf("%d invitations to a user without a password, want one for each company", n)
		}
	})
	t.Run("a user with a password gets no mail", func(t *testing.T) {
		s.SetUp("first@admin.example")
		before := len(s.Mails("first@admin.example"))
		create(map[string]any{"name": "Third"})
		if n := len(s.Mails("first@admin.example")); n != before {
			t.Errorf("%d mails more", n-before)
		}
		var names []string
		for _, o := range platform.Member(t, s.Must(200, "POST", "/auth/token", "", map[string]any{"email": "first@admin.example", "password": platform.NewPassword}).JSON(t), "customerOptions").([]any) {
			names = append(names, platform.Member(t, o, "displayName").(string))
		}
		if !slices.Equal(names, []string{"Company of Names", "Third"}) {
			t.Errorf("%v", names)
		}
	})
}

func TestCustomerFlags(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	put := func(name, token string, id int64, change map[string]any, status int, says string) platform.Scenario {
		body := map[string]any{"customerId": id}
		maps.Copy(body, change)
		return platform.Scenario{Name: name, Token: token, Method: "PUT", Path: "/tenant", Body: body, Status: status, Says: says}
	}
	effective := func(t *testing.T, token string, id int64, want bool) {
		t.Helper()
		data := s.MustGQL(token, `query($c: ID!) { customer(id: $c) { effectiveCanAddCustomers } }`, map[string]any{"c": id})
		if got := platform.Member(t, data, "customer.effectiveCanAddCustomers"); got != want {
			t.Errorf("effectiveCanAddCustomers of %d is %v", id, got)
		}
	}
	create := func(token string, status int) platform.Scenario {
		return platform.Scenario{
			Name: fmt.Sprint("a new company: ", status), Token: token, Method: "POST", Path: "/tenant/customer", Status: status,
			Body: map[string]any{"name": "x", "regionId": s.RegionID("eu-central"), "email": "x@x.example"},
		}
	}
	on, off := map[string]any{"canAddCustomers": true}, map[string]any{"canAddCustomers": false}
	belowOn, belowOff := map[string]any{"descendantsCanAdd": true}, map[string]any{"descendantsCanAdd": false}
	s.Play(t, []platform.Scenario{
		put("own name", lukas, hydro, map[string]any{"name": "Hydro"}, 204, ""),
		put("own flag off", lukas, hydro, off, 204, ""),
		create(lukas, 403),
		put("own flag on", lukas, hydro, on, 403, "above"),
		put("own other flag on", lukas, hydro, belowOn, 403, "above"),
		put("on from above", greta, hydro, on, 204, ""),
		put("what is on already stays", lukas, hydro, on, 204, ""),
		put("own flag of a company one step down", greta, alpine, belowOff, 204, ""),
	})
	effective(t, lukas, hydro, false)
	effective(t, greta, alpine, true)
	s.Play(t, []platform.Scenario{
		create(lukas, 403),
		put("the same value stays allowed", greta, hydro, on, 204, ""),
		put("off and on again where one above forbids it", greta, hydro, off, 204, ""),
		put("on where one above forbids it", greta, hydro, on, 403, "descendantsCanAdd"),
		put("on where one above forbids it, as root", root, hydro, on, 403, "descendantsCanAdd"),
		put("on again from above", root, alpine, belowOn, 204, ""),
		put("then on below", greta, hydro, on, 204, ""),
		create(lukas, 200),
		put("the root's off", root, 1, map[string]any{"canAddCustomers": false, "descendantsCanAdd": false}, 204, ""),
	})
	effective(t, root, 1, true)
	effective(t, greta, alpine, false)
	s.Play(t, []platform.Scenario{
		put("the root's on by itself", root, 1, map[string]any{"canAddCustomers": true, "descendantsCanAdd": true}, 204, ""),
		put("a company above", lukas, alpine, map[string]any{"name": "Mine"}, 403, ""),
		put("a company that is not there", greta, 999999, map[string]any{"name": "Mine"}, 403, ""),
		put("a company that is not there, as root", root, 999999, map[string]any{"name": "Mine"}, 404, ""),
		put("nothing at all", greta, alpine, nil, 204, ""),
		put("an empty name", greta, alpine, map[string]any{"name": ""}, 400, ""),
		put("by a role that may not", s.As("Alpine Energy", "mira@alpine.example"), alpine, map[string]any{"name": "Mine"}, 403, "company.write"),
		{Name: "without the company", Token: greta, Method: "PUT", Path: "/tenant", Body: map[string]any{"name": "x"}, Status: 400, Says: "customerId"},
	})
}

func TestCustomerDetails(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, coral, ports, harbour := s.Root(), s.Customer("Coral Logistics"), s.Customer("Coral Ports"), s.Customer("Harbour Robotics")
	region := s.RegionID("ap-southeast")
	minh := s.As("Coral Ports", "minh@coral-ports.example")
	s.Play(t, []platform.Scenario{
		{
			Name: "with region, parent and ancestors", Token: minh, Method: "GET", Path: fmt.Sprintf("/tenant/%d", harbour), Status: 200,
			Has: map[string]any{
				"customer.name": "Harbour Robotics", "customer.parentId": ports, "customer.region.id": region, "customer.region.description": "Singapore", "parent.name": "Coral Ports",
				"parent.id": ports, "ancestors.#": 3, "ancestors.0.name": "Northwind Group", "ancestors.0.level": 0, "ancestors.1.id": coral, "ancestors.1.level": 1, "ancestors.2.id": ports,
			},
			Not: []string{"lineage", "@"},
		},
		{
			Name: "the root", Token: root, Method: "GET", Path: "/tenant/1", Status: 200,
			Has: map[string]any{"parent": nil, "ancestors": []any{}, "customer.parentId": nil},
		},
		{Name: "above", Token: minh, Method: "GET", Path: fmt.Sprintf("/tenant/%d", coral), Status: 403, Not: []string{"Coral Logistics"}},
		{Name: "not there", Token: minh, Method: "GET", Path: "/tenant/999999", Status: 403},
		{Name: "not there, as root", Token: root, Method: "GET", Path: "/tenant/999999", Status: 404},
		{Name: "no number", Token: minh, Method: "GET", Path: "/tenant/mine", Status: 400},
	})
}

// paths are the companies of a list, each with its path and level.
func paths(t *testing.T, a platform.Answer) (list []string) {
	t.Helper()
	for _, c := range a.JSON(t).([]any) {
		list = append(list, fmt.Sprintf("%s@%v", platform.Member(t, c, "path"), platform.Member(t, c, "level")))
	}
	return list
}

func TestListCustomers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, coral := s.Root(), s.Customer("Coral Logistics")
	wei := s.As("Coral Logistics", "wei@coral.example")
	below := []string{
		"Northwind Group/Coral Logistics/Coral Ports@2", "Northwind Group/Coral Logistics/Coral Ports/Harbour Robotics@3", "Northwind Group/Coral Logistics/Coral Air@2",
	}
	with := append([]string{"Northwind Group/Coral Logistics@1"}, below...)
	for self, want := range map[string][]string{
		"": below, "self=false": below, "self=0": below, "self=exclude": below, "self=true": with, "self=1": with, "self=include": with,
	} {
		for _, path := range []string{"/tenant/customers?", fmt.Sprintf("/tenant/customers/%d?", coral)} {
			t.Run(path+self, func(t *testing.T) {
				a := s.Must(200, "GET", path+self, wei, nil)
				if got := paths(t, a); !slices.Equal(got, want) || a.Header.Get("Link") != "" {
					t.Errorf("%v, want %v; Link %q", got, want, a.Header.Get("Link"))
				}
			})
		}
	}
	s.Play(t, []platform.Scenario{
		{Name: "another self", Token: wei, Method: "GET", Path: "/tenant/customers?self=yes", Status: 400, Says: "self"},
		{Name: "no limit", Token: wei, Method: "GET", Path: "/tenant/customers?limit=0", Status: 400, Says: "limit"},
		{Name: "too high a limit", Token: wei, Method: "GET", Path: "/tenant/customers?limit=1001", Status: 400, Says: "limit"},
		{Name: "a cursor of another place", Token: wei, Method: "GET", Path: "/tenant/customers?after=abc", Status: 400, Says: "after"},
		{Name: "a company outside", Token: wei, Method: "GET", Path: "/tenant/customers/1", Status: 403, Not: []string{"Alpine"}},
	})
	for _, limit := range []int{1, 2, 3, 5, 12, 1000} {
		t.Run(fmt.Sprintf("pages of %d", limit), func(t *testing.T) {
			want := paths(t, s.Must(200, "GET", "/tenant/customers?self=include", root, nil))
			got, pages := s.Follow(t, fmt.Sprintf("/tenant/customers?self=include&limit=%d", limit), root, paths)
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if most := (len(want) + limit - 1) / limit; pages != most {
				t.Errorf("%d pages, want %d", pages, most)
			}
		})
	}
}
