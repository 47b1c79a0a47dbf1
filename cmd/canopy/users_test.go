package main

import (
	"fmt"
	"slices"
	"testing"
)

func TestAddUser(t *testing.T) {
	s := newStack(t)
	alpine, coral := s.company("Alpine Energy"), s.company("Coral Logistics")
	greta, root := s.as("Alpine Energy", "greta@alpine.example"), s.root()
	add := func(name, token string, body, has map[string]any, status int) scenario {
		return scenario{name: name, token: token, method: "POST", path: "/tenant/user", body: body, status: status, has: has}
	}
	s.play(t, []scenario{
		add("to the own company", greta, map[string]any{"email": "one@alpine.example", "firstName": "One", "lastName": "Two"},
			map[string]any{"name": "One Two", "hasPassword": false, "otpMethod": "none", "lastAccess": nil, "permissions": []any{}, "email": "one@alpine.example"}, 201),
		add("a full name is split", greta, map[string]any{"email": "two@alpine.example", "name": "Anna Maria de Souza"}, map[string]any{"firstName": "Anna", "lastName": "Maria de Souza"}, 201),
		add("a full name is split where the others are empty", greta, map[string]any{"email": "five.five@alpine.example", "name": "Jo Ray", "firstName": " ", "lastName": ""}, map[string]any{"firstName": "Jo", "lastName": "Ray"}, 201),
		add("a single name", greta, map[string]any{"email": "three@alpine.example", "name": "Prince"}, map[string]any{"firstName": "Prince", "lastName": "", "name": "Prince"}, 201),
		add("a full name beside a first name is not split", greta, map[string]any{"email": "four@alpine.example", "name": "Any Body", "firstName": "Some"}, map[string]any{"firstName": "Some", "lastName": ""}, 201),
		add("to a company below", greta, map[string]any{"email": "five@alpine.example", "customerId": s.company("Alpine Solar")}, map[string]any{"name": ""}, 201),
		add("twice", greta, map[string]any{"email": "ONE@alpine.example"}, nil, 400),
		add("to a company elsewhere", greta, map[string]any{"email": "six@alpine.example", "customerId": coral}, nil, 403),
		add("to a company that is not there", greta, map[string]any{"email": "six@alpine.example", "customerId": 999999}, nil, 403),
		add("to a company that is not there, as root", root, map[string]any{"email": "six@alpine.example", "customerId": 999999}, nil, 404),
		add("without an address", greta, map[string]any{"firstName": "No"}, nil, 400),
		add("with no address", greta, map[string]any{"email": "six"}, nil, 400),
		add("with a display name", greta, map[string]any{"email": "Six <six@alpine.example>"}, nil, 400),
		add("by a viewer", s.as("Alpine Energy", "mira@alpine.example"), map[string]any{"email": "six@alpine.example"}, nil, 403),
	})
	if n := len(s.mails("one@alpine.example")); n != 1 {
		t.Errorf("%d invitations", n)
	}
	if n := s.number(`SELECT count(*) FROM users WHERE email LIKE 'six@%'`); n != 0 {
		t.Errorf("refusals made %d users", n)
	}
	t.Run("who exists elsewhere is added as it is", func(t *testing.T) {
		scenario{status: 201, has: map[string]any{"name": "Wei Tan", "permissions": []any{}, "lastAccess": nil}, not: []string{"Coral"}}.judge(t,
			s.do("POST", "/tenant/user", greta, map[string]any{"email": "WEI@coral.example", "firstName": "Changed"}))
		list := s.must(200, "GET", fmt.Sprintf("/tenant/users/%d", alpine), greta, nil)
		scenario{status: 200, not: []string{"Coral"}}.judge(t, list)
		found := slices.ContainsFunc(list.json(t).([]any), func(u any) bool {
			return member(t, u, "email") == "wei@coral.example" && member(t, u, "permissions.#") == 0
		})
		if !found {
			t.Errorf("%s", list.Body)
		}
		if n := len(s.mails("wei@coral.example")); n != 2 {
			t.Errorf("%d invitations, want a second one while there is no password", n)
		}
	})
	t.Run("who has a password gets no second mail", func(t *testing.T) {
		s.setUp("hana@dune.example")
		s.must(201, "POST", "/tenant/user", greta, map[string]any{"email": "hana@dune.example"})
		if n := len(s.mails("hana@dune.example")); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestInviteAgain(t *testing.T) {
	s := newStack(t)
	greta, root := s.as("Alpine Energy", "greta@alpine.example"), s.root()
	s.setUp("jonas@alpine.example")
	again := func(name, token string, id any, status int, says string) scenario {
		return scenario{name: name, token: token, method: "POST", path: "/tenant/user/init", body: map[string]any{"id": id}, status: status, says: says}
	}
	s.play(t, []scenario{
		again("without a password", greta, s.userID("mira@alpine.example"), 204, ""),
		again("below", greta, s.userID("lukas@alpine-hydro.example"), 204, ""),
		again("set up already", greta, s.userID("jonas@alpine.example"), 400, "completed"),
		again("elsewhere", greta, s.userID("wei@coral.example"), 403, ""),
		again("above", greta, s.userID(demoAdmin), 403, ""),
		again("not there", greta, 999999, 403, ""),
		again("not there, as root", root, 999999, 404, ""),
		again("no number", greta, "mira", 400, "id"),
		{name: "nobody", token: greta, method: "POST", path: "/tenant/user/init", body: map[string]any{}, status: 400, says: "id"},
		again("by a viewer", s.as("Alpine Energy", "mira@alpine.example"), s.userID("mira@alpine.example"), 403, "user.write"),
	})
	if n := len(s.mails("mira@alpine.example")); n != 2 {
		t.Errorf("%d invitations", n)
	}
	if n := len(s.mails("wei@coral.example")); n != 1 {
		t.Errorf("%d invitations to one out of reach", n)
	}
}

func TestListUsers(t *testing.T) {
	s := newStack(t)
	alpine := s.company("Alpine Energy")
	greta, lukas := s.as("Alpine Energy", "greta@alpine.example"), s.as("Alpine Hydro", "lukas@alpine-hydro.example")
	// Greta also has a permission below, and one elsewhere, which only root sees.
	hydro, coral := s.company("Alpine Hydro"), s.company("Coral Logistics")
	for _, c := range []int64{hydro, coral} {
		s.must(200, "POST", "/permission", s.root(), map[string]any{
			"appAccountId": s.account(c, "tenant"), "appRoleId": s.roleID(c, "tenant", "Viewer"), "userIdentityId": s.userID("greta@alpine.example"),
		})
	}
	emails := func(t *testing.T, a answerOf) (list []string) {
		t.Helper()
		for _, u := range a.json(t).([]any) {
			list = append(list, member(t, u, "email").(string))
		}
		return list
	}
	own := []string{"greta@alpine.example", "jonas@alpine.example", "mira@alpine.example", "temp@alpine.example"}
	for path, want := range map[string]struct {
		token  string
		emails []string
	}{
		"/tenant/users":                         {greta, own},
		fmt.Sprintf("/tenant/users/%d", alpine): {s.root(), own},
		fmt.Sprintf("/tenant/users/%d", hydro):  {lukas, []string{"greta@alpine.example", "lukas@alpine-hydro.example", "eva@alpine-hydro.example"}},
	} {
		t.Run(path, func(t *testing.T) {
			a := s.must(200, "GET", path, want.token, nil)
			if got := emails(t, a); !slices.Equal(got, want.emails) {
				t.Errorf("%v, want %v", got, want.emails)
			}
			for _, limit := range []int{1, 2, 3, 4} {
				if got, _ := s.follow(t, fmt.Sprintf("%s?limit=%d", path, limit), want.token, emails); !slices.Equal(got, want.emails) {
					t.Errorf("in pages of %d: %v", limit, got)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		token string
		path  string
		count int
	}{
		"greta sees her own and below":    {greta, "/tenant/users", 4},
		"root sees all":                   {s.root(), fmt.Sprintf("/tenant/users/%d", alpine), 5},
		"hydro sees that on hydro's only": {lukas, "/tenant/users", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.must(200, "GET", c.path, c.token, nil)
			if got := member(t, a.json(t), "0.permissions.#"); got != c.count {
				t.Errorf("%v permissions, want %d", got, c.count)
			}
		})
	}
	t.Run("lastAccess is what the caller may see of it", func(t *testing.T) {
		a := s.must(200, "GET", "/tenant/users", lukas, nil)
		if got := member(t, a.json(t), "0.lastAccess"); got != nil {
			t.Errorf("hydro sees greta's use of alpine: %v", got)
		}
		if got := member(t, s.must(200, "GET", "/tenant/users", greta, nil).json(t), "0.lastAccess"); got == nil {
			t.Error("greta has used her permission")
		}
	})
	s.play(t, []scenario{
		{name: "a permission's shape", token: greta, method: "GET", path: "/tenant/users?limit=2", status: 200, has: map[string]any{
			"1.permissions.#": 3, "1.permissions.0.createdBy": fmt.Sprintf(`{"id":%d,"email":%q}`, s.userID(demoAdmin), demoAdmin), "1.permissions.0.lastAccess": nil,
			"1.permissions.0.role.name": "Admin", "1.permissions.0.role.customerId": nil, "1.permissions.0.instanceActive": true, "1.permissions.0.account.name": "Alpine Energy",
			"1.permissions.0.region.name": "Europe Central", "1.permissions.0.application.appType": 1,
		}, not: []string{"password", "otp_secret", "lineage"}},
		{name: "outside", token: lukas, method: "GET", path: fmt.Sprintf("/tenant/users/%d", alpine), status: 403, not: []string{"jonas"}},
		{name: "no number", token: greta, method: "GET", path: "/tenant/users/all", status: 400},
	})
}
