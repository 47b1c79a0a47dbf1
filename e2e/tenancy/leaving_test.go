package tenancy

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// works tells whether a token is still good for anything.
func works(s *platform.Platform, token string) bool {
	return s.Do("GET", "/tenant", token, nil).Status == 200
}

func TestUpdateUser(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine := s.Customer("Alpine Energy")
	greta, root := s.As("Alpine Energy", "greta@alpine.example"), s.Root()
	jonas := s.UserID("jonas@alpine.example")
	path := func(email string) string { return "/tenant/user/" + platform.Decimal(s.UserID(email)) }
	put := func(name, token, email string, status int, body, has map[string]any) platform.Scenario {
		return platform.Scenario{Name: name, Token: token, Method: "PUT", Path: path(email), Body: body, Status: status, Has: has}
	}
	s.Play(t, []platform.Scenario{
		put("by an admin", greta, "jonas@alpine.example", 200, map[string]any{"firstName": "Jo"}, map[string]any{"firstName": "Jo", "id": jonas, "hasPassword": false}),
		put("both", greta, "jonas@alpine.example", 200, map[string]any{"firstName": "Jo", "lastName": "Nas"}, map[string]any{"name": "Jo Nas"}),
		put("nothing", greta, "jonas@alpine.example", 200, map[string]any{}, map[string]any{"name": "Jo Nas"}),
		put("a link", greta, "jonas@alpine.example", 400, map[string]any{"firstName": "www.evil.example"}, nil),
		put("by a viewer", s.As("Alpine Energy", "mira@alpine.example"), "jonas@alpine.example", 403, map[string]any{"firstName": "X"}, nil),
		put("of a company elsewhere", greta, "wei@coral.example", 403, map[string]any{"firstName": "X"}, nil),
		{Name: "of nobody", Token: root, Method: "PUT", Path: "/tenant/user/999999", Body: map[string]any{}, Status: 404},
	})
	t.Run("by oneself, whatever the role", func(t *testing.T) {
		s.SetUp("mira@alpine.example")
		mira := s.OpenSession(t, "mira@alpine.example", platform.NewPassword)
		s.Must(200, "PUT", path("mira@alpine.example"), mira.Token, map[string]any{"lastName": "Moos"})
		if got := platform.Member(t, s.MustGQL(mira.Token, `{ me { user { lastName } } }`, nil), "me.user.lastName"); got != "Moos" {
			t.Error(got)
		}
	})
	t.Run("of who belongs elsewhere, too, by nobody else", func(t *testing.T) {
		s.SetUp("wei@coral.example")
		s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "wei@coral.example", "firstName": "Given"})
		platform.Scenario{Status: 403}.Judge(t, s.Do("PUT", path("wei@coral.example"), greta, map[string]any{"firstName": "X"}))
		s.Must(200, "PUT", path("wei@coral.example"), root, map[string]any{"firstName": "Weiss"}) // who reaches all of them
	})
	t.Run("told in the log", func(t *testing.T) {
		var told string
		s.Look(&told, `SELECT details::text FROM audit_events WHERE action = 'user.updated' AND object_id = $1 AND customer_id = $2 ORDER BY id LIMIT 1`, jonas, alpine)
		if !strings.Contains(told, `"firstName": {"new": "Jo", "old": "`) {
			t.Error(told)
		}
	})
}

// TestNamesOfBlanksAreEmpty: a name that has nothing but blanks is none, whoever gives it.
func TestNamesOfBlanksAreEmpty(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, jonas := s.As("Alpine Energy", "greta@alpine.example"), s.UserID("jonas@alpine.example")
	s.Must(200, "PUT", fmt.Sprintf("/tenant/user/%d", jonas), greta, map[string]any{"firstName": "  "})
	s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "blank@alpine.example", "firstName": "  ", "lastName": "   "})
	if n := s.Number(`SELECT count(*) FROM users WHERE id = $1 AND first_name = '' OR email = 'blank@alpine.example' AND first_name || last_name = ''`, jonas); n != 2 {
		t.Errorf("%d of 2 are empty", n)
	}
}

// TestNamesChangedAtOnce: who changes one of the names keeps the other as it has become meanwhile.
func TestNamesChangedAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta, jonas := s.As("Alpine Energy", "greta@alpine.example"), s.UserID("jonas@alpine.example")
	path := fmt.Sprintf("/tenant/user/%d", jonas)
	held, err := s.DB.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback() }()
	if _, err := held.Exec(`UPDATE users SET first_name = 'Jo' WHERE id = $1`, jonas); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(`UPDATE memberships SET first_name = 'Jo' WHERE user_id = $1`, jonas); err != nil {
		t.Fatal(err)
	}
	answered := make(chan platform.Answer)
	go func() { answered <- s.Do("PUT", path, greta, map[string]any{"lastName": "Nas"}) }()
	for s.Number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		runtime.Gosched()
	}
	if err := held.Commit(); err != nil {
		t.Fatal(err)
	}
	platform.Scenario{Status: 200, Has: map[string]any{"name": "Jo Nas"}}.Judge(t, <-answered)
}

func TestRemoveUser(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	greta, root := s.As("Alpine Energy", "greta@alpine.example"), s.Root()
	const email = "anna@alpine.example"
	grant := func(customer int64, app, role string) {
		s.Must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.Account(customer, app), "appRoleId": s.RoleID(customer, app, role), "email": email,
		})
	}
	grant(alpine, "tenant", "Admin")
	grant(alpine, "assistant", "Member")
	grant(hydro, "tenant", "Admin")
	id := s.UserID(email)
	of := func(customer int64) string { return fmt.Sprintf("/tenant/user/%d?customerId=%d", id, customer) }
	s.SetUp(email)
	inAlpine := s.OpenSession(t, email, platform.NewPassword, "customerId", alpine)
	inHydro := s.OpenSession(t, email, platform.NewPassword, "customerId", hydro)
	key := s.As("Alpine Energy", email)
	heard := twin.OverSSE(t, inAlpine.Token)
	twin.Until(t, heard, func(n int) {
		s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": alpine, "name": fmt.Sprint("Alpine ", n)})
	})
	platform.Scenario{Status: 403}.Judge(t, s.Do("DELETE", of(alpine), s.As("Coral Logistics", "wei@coral.example"), nil))
	platform.Scenario{Status: 403}.Judge(t, s.Do("DELETE", of(alpine), s.TokenOf(alpine, "mira@alpine.example", "tenant"), nil))
	before := s.Number(`SELECT max(id) FROM audit_events`)

	s.Must(204, "DELETE", fmt.Sprintf("/tenant/user/%d", id), greta, nil) // of the own company
	gone := time.Now()
	for h := platform.Next(t, heard, "the end"); h.Err == nil && !h.Over; h = platform.Next(t, heard, "the end") {
		continue
	}
	if took := time.Since(gone); took > platform.AtOnce {
		t.Errorf("the subscription has ended after %v", took)
	}
	if works(twin, inAlpine.Token) || works(s, key) || !works(s, inHydro.Token) {
		t.Errorf("session %v, key %v, session in another company %v", works(s, inAlpine.Token), works(s, key), works(s, inHydro.Token))
	}
	platform.Scenario{Status: 401, Code: "session_ended"}.Judge(t, s.Refresh(inAlpine.Refresh))
	platform.Scenario{Status: 403}.Judge(t, s.Refresh(inHydro.Refresh, "customerId", alpine))
	listed := func(customer int64) bool {
		return strings.Contains(string(s.Must(200, "GET", fmt.Sprintf("/tenant/users/%d", customer), root, nil).Body), email)
	}
	if listed(alpine) || !listed(hydro) { // what the company below has is its own
		t.Errorf("listed there %v, below %v", listed(alpine), listed(hydro))
	}
	platform.Scenario{Status: 403}.Judge(t, s.Do("DELETE", of(alpine), greta, nil)) // twice
	platform.Scenario{Status: 404}.Judge(t, s.Do("DELETE", of(alpine), root, nil))
	var told string
	s.Look(&told, `SELECT string_agg(DISTINCT action, ' ' ORDER BY action) FROM audit_events WHERE customer_id = $1 AND id > $2`, alpine, before)
	if told != "apiKey.revoked permission.deleted user.removed" {
		t.Error(told)
	}
	t.Run("owners are the business of owners", func(t *testing.T) {
		admin := s.TokenOf(hydro, email, "tenant")
		owner := s.Number(`SELECT p.user_id FROM permissions p JOIN roles r ON r.id = p.role_id JOIN accounts a ON a.id = p.account_id WHERE r.is_owner AND a.customer_id = $1 LIMIT 1`, hydro)
		platform.Scenario{Status: 403}.Judge(t, s.Do("DELETE", fmt.Sprintf("/tenant/user/%d", owner), admin, nil))
	})
	t.Run("the last owner stays, unless a company above says otherwise", func(t *testing.T) {
		self := fmt.Sprintf("/tenant/user/%d", s.UserID("greta@alpine.example"))
		platform.Scenario{Status: 400, Code: "last_owner"}.Judge(t, s.Do("DELETE", self, greta, nil))
		s.Must(204, "DELETE", fmt.Sprintf("%s?customerId=%d", self, alpine), root, nil)
		if works(s, greta) {
			t.Error("who was removed still has a key")
		}
	})
}

func TestLeaveCustomer(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, coral := s.Customer("Alpine Energy"), s.Customer("Coral Logistics")
	root := s.Root()
	key := s.As("Alpine Energy", "greta@alpine.example")
	s.SetUp("greta@alpine.example")
	s.Must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(coral, "tenant"), "appRoleId": s.RoleID(coral, "tenant", "Viewer"), "email": "greta@alpine.example",
	})
	home := s.OpenSession(t, "greta@alpine.example", platform.NewPassword, "customerId", alpine)
	away := s.OpenSession(t, "greta@alpine.example", platform.NewPassword, "customerId", coral)
	const leave = `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`
	s.Refused(t, "FORBIDDEN", key, leave, map[string]any{"c": coral})
	s.Refused(t, "FORBIDDEN", home.Token, leave, map[string]any{"c": s.Customer("Dune Retail")})
	s.Refused(t, "FORBIDDEN", home.Token, leave, map[string]any{"c": platform.AbsentID})
	s.Refused(t, "FORBIDDEN", home.Token, leave, map[string]any{"c": 0}) // which is no word for all of them
	if says := s.Refused(t, "BAD_REQUEST", away.Token, leave, map[string]any{"c": alpine}); !strings.Contains(says, "last enabled owner") {
		t.Error(says)
	}
	s.MustGQL(home.Token, leave, map[string]any{"c": coral}) // which the token does not reach
	if works(s, away.Token) || !works(s, home.Token) || !works(s, key) {
		t.Errorf("there %v, elsewhere %v, a key elsewhere %v", works(s, away.Token), works(s, home.Token), works(s, key))
	}
	a := s.Must(200, "POST", "/auth/token", "", map[string]any{"email": "greta@alpine.example", "password": platform.NewPassword})
	if platform.Member(t, a.JSON(t), "customerOptions.#") != 1 {
		t.Errorf("%s", a.Body)
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.removed' AND customer_id = $1 AND actor_user_id = object_id`, coral); n != 1 {
		t.Errorf("%d events", n)
	}
}

// TestWhatIsOpenEndsAtOnce: a key that is revoked and a permission that is suspended end what is open on another process.
func TestWhatIsOpenEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	made := s.Must(201, "POST", "/v1/keys", root, map[string]any{"name": "short"}).JSON(t)
	key := s.Token(platform.Member(t, made, "clientId").(string), platform.Member(t, made, "clientSecret").(string), "tenant")
	permission := s.Permission(s.UserID("greta@alpine.example"), s.Account(alpine, "tenant"))
	for name, c := range map[string]struct {
		token, method, path string
	}{
		"a key":        {key, "DELETE", fmt.Sprintf("/v1/keys/%v", platform.Member(t, made, "id"))},
		"a permission": {s.As("Alpine Energy", "greta@alpine.example"), "PATCH", fmt.Sprintf("/permission/%d", permission)},
	} {
		t.Run(name, func(t *testing.T) {
			heard := twin.OverSSE(t, c.token)
			twin.Until(t, heard, func(n int) {
				s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": alpine, "name": fmt.Sprint(name, n)})
			})
			if a := s.Do(c.method, c.path, root, nil); a.Status != 204 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			gone := time.Now()
			for h := platform.Next(t, heard, "the end"); h.Err == nil && !h.Over; h = platform.Next(t, heard, "the end") {
				continue
			}
			if took := time.Since(gone); took > platform.AtOnce {
				t.Errorf("it has ended after %v", took)
			}
		})
	}
}

// TestTheLastTwoOwners: however many try at once to take each other out, or to leave, one stays.
func TestTheLastTwoOwners(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	emails, apps := []string{"greta@alpine.example", "gustav@alpine.example"}, []string{"tenant", "assistant", "builder"}
	own := func() { // both are owners of everything
		for _, email := range emails {
			for _, app := range apps {
				s.Do("POST", "/permission", root, map[string]any{
					"appAccountId": s.Account(alpine, app), "appRoleId": s.RoleID(alpine, app, "Owner"), "email": email,
				})
			}
		}
	}
	own()
	for _, email := range emails {
		s.SetUp(email)
	}
	for round := range 5 {
		var sessions []platform.Session
		var ids []int64
		for _, email := range emails {
			sessions = append(sessions, s.OpenSession(t, email, platform.NewPassword, "customerId", alpine))
			ids = append(ids, s.UserID(email))
		}
		var wait sync.WaitGroup
		for i, session := range sessions {
			wait.Go(func() { s.Do("DELETE", fmt.Sprintf("/tenant/user/%d", ids[1-i]), session.Token, nil) })
			wait.Go(func() {
				s.GQL(session.Token, `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`, map[string]any{"c": alpine})
			})
		}
		wait.Wait()
		for _, app := range apps {
			if n := s.Number(`SELECT count(*) FROM permissions p JOIN roles r ON r.id = p.role_id WHERE r.is_owner AND NOT p.disabled AND p.account_id = $1`, s.Account(alpine, app)); n != 1 {
				t.Fatalf("round %d: %d owners of %s", round, n, app)
			}
		}
		if log := s.Log.String(); strings.Contains(log, "deadlock") || strings.Contains(log, "status=50") {
			t.Fatal("some have waited for each other")
		}
		own()
	}
}
