package tenancy

import (
	"fmt"
	"slices"
	"testing"

	"canopy/e2e/platform"
)

func TestAddUser(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, coral := s.Customer("Alpine Energy"), s.Customer("Coral Logistics")
	greta, root := s.As("Alpine Energy", "greta@alpine.example"), s.Root()
	add := func(name, token string, body, has map[string]any, status int) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "POST", Path: "/tenant/user", Body: body, Status: status, Has: has}
	}
	s.Play(t, []platform.Scenario{
		add("to the own company", greta, map[string]any{"email": "one@alpine.example", "firstName": "One", "lastName": "Two"},
			map[string]any{"name": "One Two", "hasPassword": false, "otpMethod": "none", "lastAccess": nil, "permissions": []any{}, "email": "one@alpine.example"}, 201),
		add("a full name is split", greta, map[string]any{"email": "two@alpine.example", "name": "Anna Maria de Souza"}, map[string]any{"firstName": "Anna", "lastName": "Maria de Souza"}, 201),
		add("a full name is split where the others are empty", greta, map[string]any{"email": "five.five@alpine.example", "name": "Jo Ray", "firstName": " ", "lastName": ""}, map[string]any{"firstName": "Jo", "lastName": "Ray"}, 201),
		add("a single name", greta, map[string]any{"email": "three@alpine.example", "name": "Prince"}, map[string]any{"firstName": "Prince", "lastName": "", "name": "Prince"}, 201),
		add("a full name beside a first name is not split", greta, map[string]any{"email": "four@alpine.example", "name": "Any Body", "firstName": "Some"}, map[string]any{"firstName": "Some", "lastName": ""}, 201),
		add("to a company below", greta, map[string]any{"email": "five@alpine.example", "customerId": s.Customer("Alpine Solar")}, map[string]any{"name": ""}, 201),
		add("twice", greta, map[string]any{"email": "ONE@alpine.example"}, nil, 400),
		add("to a company elsewhere", greta, map[string]any{"email": "six@alpine.example", "customerId": coral}, nil, 403),
		add("to a company that is not there", greta, map[string]any{"email": "six@alpine.example", "customerId": 999999}, nil, 403),
		add("to a company that is not there, as root", root, map[string]any{"email": "six@alpine.example", "customerId": 999999}, nil, 404),
		add("without an address", greta, map[string]any{"firstName": "No"}, nil, 400),
		add("with no address", greta, map[string]any{"email": "six"}, nil, 400),
		add("with a display name", greta, map[string]any{"email": "Six <six@alpine.example>"}, nil, 400),
		add("by a viewer", s.As("Alpine Energy", "mira@alpine.example"), map[string]any{"email": "six@alpine.example"}, nil, 403),
	})
	if n := len(s.Mails("one@alpine.example")); n != 1 {
		t.Errorf("%d invitations", n)
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email LIKE 'six@%'`); n != 0 {
		t.Errorf("refusals made %d users", n)
	}
	t.Run("who exists elsewhere is added as if it were new", func(t *testing.T) {
		platform.Scenario{Status: 201, Has: map[string]any{"name": "Changed", "email": "WEI@coral.example", "permissions": []any{}, "lastAccess": nil}, Not: []string{"Coral", "Wei Tan"}}.Judge(t,
			s.Do("POST", "/tenant/user", greta, map[string]any{"email": "WEI@coral.example", "firstName": "Changed"}))
		list := s.Must(200, "GET", fmt.Sprintf("/tenant/users/%d", alpine), greta, nil)
		platform.Scenario{Status: 200, Not: []string{"Coral", "Wei Tan"}}.Judge(t, list)
		found := slices.ContainsFunc(list.JSON(t).([]any), func(u any) bool {
			return platform.Member(t, u, "email") == "WEI@coral.example" && platform.Member(t, u, "permissions.#") == 0
		})
		if !found {
			t.Errorf("%s", list.Body)
		}
		if n := len(s.Mails("wei@coral.example")); n != 2 {
			t.Errorf("%d invitations, want a second one while there is no password", n)
		}
	})
	t.Run("who has a password gets no second mail", func(t *testing.T) {
		s.SetUp("hana@dune.example")
		s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "hana@dune.example"})
		if n := len(s.Mails("hana@dune.example")); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestInviteAgain(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, root := s.As("Alpine Energy", "greta@alpine.example"), s.Root()
	s.SetUp("jonas@alpine.example")
	again := func(name, token string, id any, status int, says string) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "POST", Path: "/tenant/user/init", Body: map[string]any{"id": id}, Status: status, Says: says}
	}
	s.Play(t, []platform.Scenario{
		again("without a password", greta, s.UserID("mira@alpine.example"), 204, ""),
		again("below", greta, s.UserID("lukas@alpine-hydro.example"), 204, ""),
		again("set up already", greta, s.UserID("jonas@alpine.example"), 400, "completed"),
		again("elsewhere", greta, s.UserID("wei@coral.example"), 403, ""),
		again("above", greta, s.UserID(platform.DemoAdmin), 403, ""),
		again("not there", greta, 999999, 403, ""),
		again("not there, as root", root, 999999, 404, ""),
		again("no number", greta, "mira", 400, "id"),
		{Name: "nobody", Token: greta, Method: "POST", Path: "/tenant/user/init", Body: map[string]any{}, Status: 400, Says: "id"},
		again("by a viewer", s.As("Alpine Energy", "mira@alpine.example"), s.UserID("mira@alpine.example"), 403, "user.write"),
	})
	if n := len(s.Mails("mira@alpine.example")); n != 2 {
		t.Errorf("%d invitations", n)
	}
	if n := len(s.Mails("wei@coral.example")); n != 1 {
		t.Errorf("%d invitations to one out of reach", n)
	}
}

func TestListUsers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine := s.Customer("Alpine Energy")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	// Greta also has a permission below, and one elsewhere, which only root sees.
	hydro, coral := s.Customer("Alpine Hydro"), s.Customer("Coral Logistics")
	for _, c := range []int64{hydro, coral} {
		s.Must(200, "POST", "/permission", s.Root(), map[string]any{
			"appAccountId": s.Account(c, "tenant"), "appRoleId": s.RoleID(c, "tenant", "Viewer"), "userIdentityId": s.UserID("greta@alpine.example"),
		})
	}
	emails := func(t *testing.T, a platform.Answer) (list []string) {
		t.Helper()
		for _, u := range a.JSON(t).([]any) {
			list = append(list, platform.Member(t, u, "email").(string))
		}
		return list
	}
	own := []string{"greta@alpine.example", "jonas@alpine.example", "mira@alpine.example", "temp@alpine.example"}
	for path, want := range map[string]struct {
		token  string
		emails []string
	}{
		"/tenant/users":                         {greta, own},
		fmt.Sprintf("/tenant/users/%d", alpine): {s.Root(), own},
		fmt.Sprintf("/tenant/users/%d", hydro):  {lukas, []string{"greta@alpine.example", "lukas@alpine-hydro.example", "eva@alpine-hydro.example"}},
	} {
		t.Run(path, func(t *testing.T) {
			a := s.Must(200, "GET", path, want.token, nil)
			if got := emails(t, a); !slices.Equal(got, want.emails) {
				t.Errorf("%v, want %v", got, want.emails)
			}
			for _, limit := range []int{1, 2, 3, 4} {
				if got, _ := s.Follow(t, fmt.Sprintf("%s?limit=%d", path, limit), want.token, emails); !slices.Equal(got, want.emails) {
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
		"root sees all":                   {s.Root(), fmt.Sprintf("/tenant/users/%d", alpine), 5},
		"hydro sees that on hydro's only": {lukas, "/tenant/users", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Must(200, "GET", c.path, c.token, nil)
			if got := platform.Member(t, a.JSON(t), "0.permissions.#"); got != c.count {
				t.Errorf("%v permissions, want %d", got, c.count)
			}
		})
	}
	t.Run("lastAccess is what the caller may see of it", func(t *testing.T) {
		a := s.Must(200, "GET", "/tenant/users", lukas, nil)
		if got := platform.Member(t, a.JSON(t), "0.lastAccess"); got != nil {
			t.Errorf("hydro sees greta's use of alpine: %v", got)
		}
		if got := platform.Member(t, s.Must(200, "GET", "/tenant/users", greta, nil).JSON(t), "0.lastAccess"); got == nil {
			t.Error("greta has used her permission")
		}
	})
	s.Play(t, []platform.Scenario{
		{Name: "a permission's shape", Token: greta, Method: "GET", Path: "/tenant/users?limit=2", Status: 200, Has: map[string]any{
			"1.permissions.#": 3, "1.permissions.0.createdBy": fmt.Sprintf(`{"id":%d,"email":%q}`, s.UserID(platform.DemoAdmin), platform.DemoAdmin), "1.permissions.0.lastAccess": nil,
			"1.permissions.0.role.name": "Admin", "1.permissions.0.role.customerId": nil, "1.permissions.0.instanceActive": true, "1.permissions.0.account.name": "Alpine Energy",
			"1.permissions.0.region.name": "Europe Central", "1.permissions.0.application.appType": 1,
		}, Not: []string{"password", "otp_secret", "lineage"}},
		{Name: "outside", Token: lukas, Method: "GET", Path: fmt.Sprintf("/tenant/users/%d", alpine), Status: 403, Not: []string{"jonas"}},
		{Name: "no number", Token: greta, Method: "GET", Path: "/tenant/users/all", Status: 400},
	})
}
