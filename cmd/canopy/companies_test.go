package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func (s *stack) regionID(code string) int64 {
	s.t.Helper()
	return s.number(`SELECT id FROM regions WHERE code = $1`, code)
}

func TestCreateCompany(t *testing.T) {
	s := newStack(t)
	root, alpine := s.root(), s.company("Alpine Energy")
	eu, uk := s.regionID("eu-central"), s.regionID("uk-south")
	greta, lukas := s.as("Alpine Energy", "greta@alpine.example"), s.as("Alpine Hydro", "lukas@alpine-hydro.example")
	nth := 0
	body := func(change map[string]any) map[string]any {
		nth++
		b := map[string]any{"name": fmt.Sprintf("New %d", nth), "regionId": eu, "email": fmt.Sprintf("new%d@new.example", nth)}
		maps.Copy(b, change)
		return b
	}
	make := func(name, token string, change map[string]any, status int, has map[string]any) scenario {
		return scenario{name: name, token: token, method: "POST", path: "/tenant/customer", body: body(change), status: status, has: has}
	}
	brightwater := s.company("Brightwater Health")
	dune := s.company("Dune Retail")
	hydro := s.company("Alpine Hydro")
	s.play(t, []scenario{
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
		make("by a company that may not", s.as("Dune Retail", "hana@dune.example"), nil, 403, nil),
		make("in a region that is not available", root, map[string]any{"regionId": uk}, 400, nil),
		make("in no region", root, map[string]any{"regionId": 999999}, 400, nil),
		make("with a bad address", root, map[string]any{"email": "not an address"}, 400, nil),
		make("without a name", root, map[string]any{"name": " "}, 400, nil),
		make("by a role that may not", s.as("Alpine Energy", "mira@alpine.example"), nil, 403, nil),
	})
	t.Run("a refusal leaves nothing", func(t *testing.T) {
		if n := s.number(`SELECT count(*) FROM customers`); n != 12+5 {
			t.Errorf("%d companies", n)
		}
		if n := s.number(`SELECT count(*) FROM users WHERE email LIKE '%new.example'`); n != 5 {
			t.Errorf("%d users", n)
		}
	})
	t.Run("the answer has the seven members", func(t *testing.T) {
		a := s.must(200, "POST", "/tenant/customer", root, body(nil))
		got := slices.Sorted(maps.Keys(a.json(t).(map[string]any)))
		if !slices.Equal(got, []string{"canAddCustomers", "createdAt", "descendantsCanAdd", "id", "name", "parentId", "regionId"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestCompanyApplications(t *testing.T) {
	s := newStack(t)
	root := s.root()
	eu := s.regionID("eu-central")
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
			id := s.must(200, "POST", "/tenant/customer", root, body).id(t, "id")
			data := s.mustGQL(root, `query($c: ID!) { customer(id: $c) { accounts { nodes { name disabled region { databaseId } application { code }
				permissions { nodes { disabled user { email } role { name isOwner } createdBy { email } } } } } } }`, map[string]any{"c": id})
			got := []string{}
			for _, a := range member(t, data, "customer.accounts.nodes").([]any) {
				got = append(got, member(t, a, "application.code").(string))
				for path, want := range map[string]any{
					"name": c.name, "disabled": false, "region.databaseId": eu, "permissions.nodes.#": 1, "permissions.nodes.0.user.email": email,
					"permissions.nodes.0.role.name": "Owner", "permissions.nodes.0.role.isOwner": true, "permissions.nodes.0.createdBy.email": demoAdmin,
				} {
					if v := member(t, a, path); !sameJSON(v, want) {
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

func TestCompanyAdmin(t *testing.T) {
	s := newStack(t)
	root := s.root()
	eu := s.regionID("eu-central")
	create := func(change map[string]any) int64 {
		body := map[string]any{"name": "Company of Names", "regionId": eu, "email": "first@admin.example"}
		maps.Copy(body, change)
		return s.must(200, "POST", "/tenant/customer", root, body).id(t, "id")
	}
	users := func(id int64) any { return s.must(200, "GET", fmt.Sprintf("/tenant/users/%d", id), root, nil).json(t) }
	t.Run("the last name is the company's by default", func(t *testing.T) {
		u := users(create(nil))
		if member(t, u, "0.firstName") != "" || member(t, u, "0.lastName") != "Company of Names" || member(t, u, "0.name") != "Company of Names" || member(t, u, "#") != 1 {
			t.Errorf("%v", u)
		}
	})
	t.Run("empty names are as if left out", func(t *testing.T) {
		u := users(create(map[string]any{"email": "third@admin.example", "firstName": " ", "lastName": ""}))
		if member(t, u, "0.firstName") != "" || member(t, u, "0.lastName") != "Company of Names" {
			t.Errorf("%v", u)
		}
	})
	t.Run("names are kept", func(t *testing.T) {
		u := users(create(map[string]any{"email": "second@admin.example", "firstName": "Sec", "lastName": "Ond"}))
		if member(t, u, "0.name") != "Sec Ond" {
			t.Errorf("%v", u)
		}
	})
	t.Run("a known address is reused, under its own names", func(t *testing.T) {
		u := users(create(map[string]any{"email": "SECOND@admin.example", "firstName": "Other"}))
		if member(t, u, "0.name") != "Sec Ond" || member(t, u, "0.email") != "second@admin.example" || member(t, u, "0.permissions.#") != 6 {
			t.Errorf("%v", u)
		}
		if n := len(s.mails("second@admin.example")); n != 2 {
			t.Errorf("%d invitations to a user without a password, want one for each company", n)
		}
	})
	t.Run("a user with a password gets no mail", func(t *testing.T) {
		s.setUp("first@admin.example")
		before := len(s.mails("first@admin.example"))
		create(map[string]any{"name": "Third"})
		if n := len(s.mails("first@admin.example")); n != before {
			t.Errorf("%d mails more", n-before)
		}
		var names []string
		for _, o := range member(t, s.must(200, "POST", "/auth/token", "", map[string]any{"email": "first@admin.example", "password": newPassword}).json(t), "customerOptions").([]any) {
			names = append(names, member(t, o, "displayName").(string))
		}
		if !slices.Equal(names, []string{"Company of Names", "Third"}) {
			t.Errorf("%v", names)
		}
	})
}

func TestCompanyFlags(t *testing.T) {
	s := newStack(t)
	root, alpine, hydro := s.root(), s.company("Alpine Energy"), s.company("Alpine Hydro")
	greta, lukas := s.as("Alpine Energy", "greta@alpine.example"), s.as("Alpine Hydro", "lukas@alpine-hydro.example")
	put := func(name, token string, id int64, change map[string]any, status int, says string) scenario {
		body := map[string]any{"customerId": id}
		maps.Copy(body, change)
		return scenario{name: name, token: token, method: "PUT", path: "/tenant", body: body, status: status, says: says}
	}
	effective := func(t *testing.T, token string, id int64, want bool) {
		t.Helper()
		data := s.mustGQL(token, `query($c: ID!) { customer(id: $c) { effectiveCanAddCustomers } }`, map[string]any{"c": id})
		if got := member(t, data, "customer.effectiveCanAddCustomers"); got != want {
			t.Errorf("effectiveCanAddCustomers of %d is %v", id, got)
		}
	}
	create := func(token string, status int) scenario {
		return scenario{
			name: fmt.Sprint("a new company: ", status), token: token, method: "POST", path: "/tenant/customer", status: status,
			body: map[string]any{"name": "x", "regionId": s.regionID("eu-central"), "email": "x@x.example"},
		}
	}
	on, off := map[string]any{"canAddCustomers": true}, map[string]any{"canAddCustomers": false}
	belowOn, belowOff := map[string]any{"descendantsCanAdd": true}, map[string]any{"descendantsCanAdd": false}
	s.play(t, []scenario{
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
	s.play(t, []scenario{
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
	s.play(t, []scenario{
		put("the root's on by itself", root, 1, map[string]any{"canAddCustomers": true, "descendantsCanAdd": true}, 204, ""),
		put("a company above", lukas, alpine, map[string]any{"name": "Mine"}, 403, ""),
		put("a company that is not there", greta, 999999, map[string]any{"name": "Mine"}, 403, ""),
		put("a company that is not there, as root", root, 999999, map[string]any{"name": "Mine"}, 404, ""),
		put("nothing at all", greta, alpine, nil, 204, ""),
		put("an empty name", greta, alpine, map[string]any{"name": ""}, 400, ""),
		put("by a role that may not", s.as("Alpine Energy", "mira@alpine.example"), alpine, map[string]any{"name": "Mine"}, 403, "company.write"),
		{name: "without the company", token: greta, method: "PUT", path: "/tenant", body: map[string]any{"name": "x"}, status: 400, says: "customerId"},
	})
}

func TestCompanyDetails(t *testing.T) {
	s := newStack(t)
	root, coral, ports, harbour := s.root(), s.company("Coral Logistics"), s.company("Coral Ports"), s.company("Harbour Robotics")
	region := s.regionID("ap-southeast")
	minh := s.as("Coral Ports", "minh@coral-ports.example")
	s.play(t, []scenario{
		{
			name: "with region, parent and ancestors", token: minh, method: "GET", path: fmt.Sprintf("/tenant/%d", harbour), status: 200,
			has: map[string]any{
				"customer.name": "Harbour Robotics", "customer.parentId": ports, "customer.region.id": region, "customer.region.description": "Singapore", "parent.name": "Coral Ports",
				"parent.id": ports, "ancestors.#": 3, "ancestors.0.name": "Northwind Group", "ancestors.0.level": 0, "ancestors.1.id": coral, "ancestors.1.level": 1, "ancestors.2.id": ports,
			},
			not: []string{"lineage", "@"},
		},
		{
			name: "the root", token: root, method: "GET", path: "/tenant/1", status: 200,
			has: map[string]any{"parent": nil, "ancestors": []any{}, "customer.parentId": nil},
		},
		{name: "above", token: minh, method: "GET", path: fmt.Sprintf("/tenant/%d", coral), status: 403, not: []string{"Coral Logistics"}},
		{name: "not there", token: minh, method: "GET", path: "/tenant/999999", status: 403},
		{name: "not there, as root", token: root, method: "GET", path: "/tenant/999999", status: 404},
		{name: "no number", token: minh, method: "GET", path: "/tenant/mine", status: 400},
	})
}

func TestListCompanies(t *testing.T) {
	s := newStack(t)
	root, coral := s.root(), s.company("Coral Logistics")
	wei := s.as("Coral Logistics", "wei@coral.example")
	below := []string{
		"Northwind Group/Coral Logistics/Coral Ports@2", "Northwind Group/Coral Logistics/Coral Ports/Harbour Robotics@3", "Northwind Group/Coral Logistics/Coral Air@2",
	}
	with := append([]string{"Northwind Group/Coral Logistics@1"}, below...)
	lines := func(t *testing.T, a answerOf) (list []string) {
		t.Helper()
		for _, c := range a.json(t).([]any) {
			list = append(list, fmt.Sprintf("%s@%v", member(t, c, "path"), member(t, c, "level")))
		}
		return list
	}
	for self, want := range map[string][]string{
		"": below, "self=false": below, "self=0": below, "self=exclude": below, "self=true": with, "self=1": with, "self=include": with,
	} {
		for _, path := range []string{"/tenant/customers?", fmt.Sprintf("/tenant/customers/%d?", coral)} {
			t.Run(path+self, func(t *testing.T) {
				a := s.must(200, "GET", path+self, wei, nil)
				if got := lines(t, a); !slices.Equal(got, want) || a.Header.Get("Link") != "" {
					t.Errorf("%v, want %v; Link %q", got, want, a.Header.Get("Link"))
				}
			})
		}
	}
	s.play(t, []scenario{
		{name: "another self", token: wei, method: "GET", path: "/tenant/customers?self=yes", status: 400, says: "self"},
		{name: "no limit", token: wei, method: "GET", path: "/tenant/customers?limit=0", status: 400, says: "limit"},
		{name: "too high a limit", token: wei, method: "GET", path: "/tenant/customers?limit=1001", status: 400, says: "limit"},
		{name: "a cursor of another place", token: wei, method: "GET", path: "/tenant/customers?after=abc", status: 400, says: "after"},
		{name: "a company outside", token: wei, method: "GET", path: "/tenant/customers/1", status: 403, not: []string{"Alpine"}},
	})
	for _, limit := range []int{1, 2, 3, 5, 12, 1000} {
		t.Run(fmt.Sprintf("pages of %d", limit), func(t *testing.T) {
			want := lines(t, s.must(200, "GET", "/tenant/customers?self=include", root, nil))
			got, pages := s.follow(t, fmt.Sprintf("/tenant/customers?self=include&limit=%d", limit), root, lines)
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if most := (len(want) + limit - 1) / limit; pages != most {
				t.Errorf("%d pages, want %d", pages, most)
			}
		})
	}
}

var nextLink = regexp.MustCompile(`^<([^>]+)>; rel="next"$`)

// follow reads a list page by page, by its Link headers.
func (s *stack) follow(t *testing.T, path, token string, lines func(*testing.T, answerOf) []string) (list []string, pages int) {
	t.Helper()
	for {
		a := s.must(200, "GET", path, token, nil)
		list = append(list, lines(t, a)...)
		pages++
		link := a.Header.Get("Link")
		if link == "" {
			return list, pages
		}
		found := nextLink.FindStringSubmatch(link)
		if found == nil || !strings.HasPrefix(found[1], s.url) || pages > 100 {
			t.Fatalf("Link %q", link)
		}
		path = strings.TrimPrefix(found[1], s.url)
	}
}
