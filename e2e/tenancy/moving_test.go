package tenancy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// moving is the path that moves a company.
func moving(id int64) string { return fmt.Sprintf("/tenant/customer/%d/move", id) }

func below(id int64) map[string]any { return map[string]any{"parentId": id} }

// TestMoveCustomer: a company goes with everything below it, and reach, flags, limits, lists and the log are as at the new
// place from the next request on, whichever process is asked.
func TestMoveCustomer(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	ports, harbour := s.Customer("Coral Ports"), s.Customer("Harbour Robotics")
	coral, hydro := s.Customer("Coral Logistics"), s.Customer("Alpine Hydro")
	root, wei, greta := s.Root(), s.As("Coral Logistics", "wei@coral.example"), s.As("Alpine Energy", "greta@alpine.example")
	minh := s.As("Coral Ports", "minh@coral-ports.example")
	get := func(id int64) string { return fmt.Sprintf("/tenant/%d", id) }
	s.Must(200, "GET", get(harbour), wei, nil)
	s.SQL(`INSERT INTO contexts (account_id, name, description, caption, embedding_model) VALUES ($1, 'Quays', '', '', 'canopy-lexical-1')`, s.Account(harbour, "assistant"))
	s.SQL(`INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, model, chunk_size, overlap)
		SELECT id, gen_random_uuid(), 'a', 'a', 0, 'txt', '', '', 7, 'm', 100, 0 FROM contexts WHERE name = 'Quays'`)
	s.Must(201, "POST", "/tenant/user", root, map[string]any{"customerId": hydro, "email": "kenji@harbour.example", "firstName": "K.", "lastName": "M."})
	s.TrueTree()

	a := s.Must(200, "POST", moving(ports), root, below(hydro))
	if !platform.SameJSON(a.JSON(t), s.Must(200, "GET", get(ports), root, nil).JSON(t)) {
		t.Errorf("answered %s", a.Body)
	}
	platform.Scenario{Status: 200, Has: map[string]any{"customer.parentId": hydro, "parent.name": "Alpine Hydro", "ancestors.2.name": "Alpine Hydro"}}.Judge(t, a)
	s.TrueTree()
	for _, at := range []*platform.Platform{s, twin} {
		platform.Scenario{Status: 403}.Judge(t, at.Do("GET", get(ports), wei, nil))
		platform.Scenario{Status: 403}.Judge(t, at.Do("GET", get(harbour), wei, nil))
		platform.Scenario{Status: 200, Has: map[string]any{"ancestors.3.name": "Coral Ports"}}.Judge(t, at.Do("GET", get(harbour), greta, nil))
		platform.Scenario{Status: 200}.Judge(t, at.Do("GET", get(harbour), minh, nil))
	}
	if n := s.Number(`SELECT branch_id FROM documents d JOIN contexts c ON c.id = d.context_id WHERE c.name = 'Quays'`); n != s.Customer("Alpine Energy") {
		t.Errorf("the document takes its turn in branch %d", n)
	}
	for _, log := range []int64{ports, coral} {
		var details string
		s.Look(&details, `SELECT details FROM audit_events WHERE action = 'customer.moved' AND customer_id = $1 AND object_id = $2`, log, ports)
		if want := fmt.Sprintf(`{"parent": {"new": %d, "old": %d}}`, hydro, coral); details != want {
			t.Errorf("the log of %d tells %s, want %s", log, details, want)
		}
	}
	listed := paths(t, s.Must(200, "GET", "/tenant/customers", greta, nil))
	if !slices.ContainsFunc(listed, func(l string) bool {
		return strings.HasSuffix(l, "Alpine Energy/Alpine Hydro/Coral Ports/Harbour Robotics@4")
	}) {
		t.Errorf("below the new place are %v", listed)
	}
	before := s.Number(`SELECT count(*) FROM audit_events`)
	s.Must(200, "POST", moving(ports), root, below(hydro))
	if n := s.Number(`SELECT count(*) FROM audit_events`); n != before {
		t.Error("a company that is there already was moved")
	}
	s.Must(200, "POST", moving(ports), root, below(1))
	s.TrueTree()
	s.Must(200, "POST", moving(ports), root, below(coral))
	s.TrueTree()
	s.Must(200, "GET", get(harbour), wei, nil)
}

func TestMoveCustomerIsRefused(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	ports, harbour, air := s.Customer("Coral Ports"), s.Customer("Harbour Robotics"), s.Customer("Coral Air")
	coral, hydro, alpine := s.Customer("Coral Logistics"), s.Customer("Alpine Hydro"), s.Customer("Alpine Energy")
	root, wei := s.Root(), s.As("Coral Logistics", "wei@coral.example")
	deep := hydro
	for range 61 {
		deep = s.Number(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, 'Deep', 1) RETURNING id`, deep)
	}
	s.Play(t, []platform.Scenario{
		{Name: "the root", Token: root, Method: "POST", Path: moving(1), Body: below(coral), Status: 400, Says: "path.cid"},
		{Name: "below itself", Token: root, Method: "POST", Path: moving(coral), Body: below(coral), Status: 400, Says: "body.parentId"},
		{Name: "below one below it", Token: root, Method: "POST", Path: moving(coral), Body: below(harbour), Status: 400, Says: "body.parentId"},
		{Name: "the own company", Token: wei, Method: "POST", Path: moving(coral), Body: below(1), Status: 403},
		{Name: "to a place out of reach", Token: wei, Method: "POST", Path: moving(ports), Body: below(hydro), Status: 403},
		{Name: "from a place out of reach", Token: wei, Method: "POST", Path: moving(hydro), Body: below(ports), Status: 403},
		{Name: "above the own company", Token: wei, Method: "POST", Path: moving(ports), Body: below(1), Status: 403},
		{Name: "to nowhere", Token: root, Method: "POST", Path: moving(ports), Body: below(platform.AbsentID), Status: 404},
		{Name: "too deep", Token: root, Method: "POST", Path: moving(coral), Body: below(deep), Status: 400, Says: "too deep"},
		{Name: "a new one, too deep", Token: root, Method: "POST", Path: "/tenant/customer", Status: 400, Says: "too deep", Body: map[string]any{
			"parentId": deep, "name": "Deeper", "regionId": 1, "email": "deep@x.example",
		}},
		{Name: "among the own", Token: wei, Method: "POST", Path: moving(ports), Body: below(air), Status: 200},
	})
	s.SQL(`UPDATE customers SET erase_at = now() + interval '1 day' WHERE id = $1`, alpine)
	s.Play(t, []platform.Scenario{
		{Name: "below a deleted one", Token: root, Method: "POST", Path: moving(ports), Body: below(hydro), Status: 400, Says: "body.parentId: is a deleted company"},
		{Name: "out of a deleted one", Token: root, Method: "POST", Path: moving(hydro), Body: below(ports), Status: 400, Says: "path.cid: is a deleted company"},
	})
	s.SQL(`UPDATE customers SET erase_at = NULL WHERE id = $1`, alpine)
	// What would exceed a limit at the new place is refused, and the limit is named.
	users := s.Number(`SELECT count(*) FROM subtree_users WHERE customer_id = $1`, alpine)
	limitsOf(s, root, alpine, map[string]any{"users": users + 1})
	platform.Scenario{Status: 403, Code: "limit_reached", Has: map[string]any{"limit": "users", "used": users, "max": users + 1}}.
		Judge(t, s.Do("POST", moving(air), root, below(alpine)))
	limitsOf(s, root, alpine, map[string]any{"users": nil, "customers": s.Number(`SELECT sum(n) FROM usage_counts WHERE customer_id = $1 AND name = 'customers'`, alpine) + 1})
	platform.Scenario{Status: 403, Code: "limit_reached", Has: map[string]any{"limit": "customers"}}.Judge(t, s.Do("POST", moving(air), root, below(hydro)))
	// Right below the root it is bound by what binds all who are there.
	s.SQL(`INSERT INTO default_limits (name, most) VALUES ('customers', 1) ON CONFLICT (name) DO UPDATE SET most = 1`)
	platform.Scenario{Status: 403, Code: "limit_reached", Has: map[string]any{"limit": "customers"}}.Judge(t, s.Do("POST", moving(air), root, below(1)))
	s.Must(200, "POST", moving(harbour), root, below(1))
	s.TrueTree()
}

// TestMovedFlags: what those above allow counts at the new place.
func TestMovedFlags(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	ports, root := s.Customer("Coral Ports"), s.Root()
	minh := s.As("Coral Ports", "minh@coral-ports.example")
	may := func() any {
		return platform.Member(t, s.MustGQL(minh, `{ customer { effectiveCanAddCustomers } }`, nil), "customer.effectiveCanAddCustomers")
	}
	if may() != true {
		t.Fatal("the company may add none from the beginning")
	}
	s.Must(200, "POST", moving(ports), root, below(s.Customer("Brightwater Health"))) // which lets none below it add any
	if may() != false {
		t.Error("the company may add others where those above forbid it")
	}
	s.SQL(`UPDATE customers SET max_key_days = 7 WHERE name = 'Brightwater Health'`)
	s.Refused(t, "BAD_REQUEST", minh, `mutation($at: DateTime!) { createApiKey(input: {name: "Long", expiresAt: $at}) { clientId } }`, map[string]any{"at": time.Now().AddDate(0, 0, 30).Format(time.RFC3339)})
}

// TestMovedReachEnds: what is open for those who lose reach ends within a second, on every process, and a key that acts below
// its own company acts there no longer.
func TestMovedReachEnds(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	coral, ports, root := s.Customer("Coral Logistics"), s.Customer("Coral Ports"), s.Root()
	wei := s.TokenOf(coral, "wei@coral.example", "tenant")
	s.Must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(ports, "tenant"), "appRoleId": s.RoleID(ports, "tenant", "Admin"), "userIdentityId": s.UserID("wei@coral.example"),
	})
	key := s.MustGQL(wei, `mutation { createApiKey(input: {name: "Downwards"}) { clientId clientSecret } }`, nil)["createApiKey"]
	downwards := platform.Member(t, s.Exchange(s.GrantForm(map[string]string{
		"client_id": platform.Member(t, key, "clientId").(string), "client_secret": platform.Member(t, key, "clientSecret").(string),
		"account_id": platform.Decimal(s.Account(ports, "tenant")),
	})).JSON(t), "access_token").(string)
	s.Must(200, "GET", fmt.Sprintf("/tenant/%d", ports), downwards, nil)
	destination := s.Must(201, "POST", platform.Hooks+"/destinations", s.As("Coral Ports", "minh@coral-ports.example"), map[string]any{"url": platform.PublicURL}).ID(t, "id")
	streams := map[string]<-chan string{}
	for name, at := range map[string]*platform.Platform{"here": s, "there": twin} {
		streams[name] = at.Stream(t, fmt.Sprintf(`subscription { webhookDeliveryUpdated(destinationId: %d) { status } }`, destination), wei)
	}
	heard := twin.OverSSE(t, wei)
	twin.Until(t, heard, func(n int) {
		s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": coral, "name": fmt.Sprint("Coral ", n)})
	})
	s.Must(200, "POST", moving(ports), root, below(s.Customer("Alpine Energy")))
	moved := time.Now()
	platform.Scenario{Status: 403}.Judge(t, twin.Do("GET", fmt.Sprintf("/tenant/%d", ports), downwards, nil))
	for name, lines := range streams {
		for line := range lines {
			if line != "" && !strings.Contains(line, "NOT_FOUND") {
				t.Errorf("%s: %s", name, line)
			}
		}
		if took := time.Since(moved); took > platform.AtOnce {
			t.Errorf("%s: the subscription has ended after %v", name, took)
		}
	}
	twin.Until(t, heard, func(n int) {
		s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": coral, "name": fmt.Sprint("Coral ", -n)})
	})
}

// nextOf is the path of the page after one.
func nextOf(t *testing.T, s *platform.Platform, a platform.Answer) string {
	t.Helper()
	path, rest, found := strings.Cut(strings.TrimPrefix(a.Header.Get("Link"), "<"+s.URL), ">")
	if !found || rest != `; rel="next"` {
		t.Fatalf("Link %q", a.Header.Get("Link"))
	}
	return path
}

// TestCursorsOfMovedCompanies: a list goes on from where a company was that has moved away; that of a company that has moved
// itself is to be begun anew.
func TestCursorsOfMovedCompanies(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, coral, ports := s.Root(), s.Customer("Coral Logistics"), s.Customer("Coral Ports")
	wei := s.As("Coral Logistics", "wei@coral.example")
	for i := range 3 {
		s.SQL(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, $2, 1)`, coral, fmt.Sprint("Coral Quay ", i))
	}
	all := paths(t, s.Must(200, "GET", "/tenant/customers", wei, nil))
	first := s.Must(200, "GET", "/tenant/customers?limit=1", wei, nil)
	next := nextOf(t, s, first)
	found := nextOf(t, s, s.Must(200, "GET", "/tenant/customers?level=2&limit=1", wei, nil))
	const query = `query($id: ID!, $after: String) { customer(id: $id) { descendants(first: 1, after: $after) { pageInfo { endCursor } nodes { path } } } }`
	page := s.MustGQL(wei, query, map[string]any{"id": coral})
	cursor := platform.Member(t, page, "customer.descendants.pageInfo.endCursor")
	if got := paths(t, first); !strings.HasSuffix(got[0], "Coral Ports@2") {
		t.Fatalf("the first is %v", got)
	}
	s.Must(200, "POST", moving(ports), root, below(s.Customer("Alpine Energy")))
	rest := paths(t, s.Must(200, "GET", strings.Replace(next, "limit=1", "limit=1000", 1), wei, nil))
	if want := all[2:]; !slices.Equal(rest, want) { // without the one that has moved, and that below it
		t.Errorf("the list goes on with %v, want %v", rest, want)
	}
	again := s.MustGQL(wei, query, map[string]any{"id": coral, "after": cursor})
	if got := platform.Member(t, again, "customer.descendants.nodes.0.path"); !strings.HasPrefix(all[2], got.(string)) {
		t.Errorf("the list goes on with %v", got)
	}
	s.Must(200, "POST", moving(coral), root, below(s.Customer("Dune Retail")))
	for _, path := range []string{next, found} {
		platform.Scenario{Status: 400, Says: "its company was moved"}.Judge(t, s.Do("GET", path, wei, nil))
	}
	if told := s.Refused(t, "BAD_REQUEST", wei, query, map[string]any{"id": coral, "after": cursor}); !strings.Contains(told, "its company was moved") {
		t.Errorf("told %s", told)
	}
}

// TestReadWhileMoved: what the people of a company ask for while it moves is answered as at one place, or told as worth another try: no list ends before its end, and
// nothing that there is is out of reach.
func TestReadWhileMoved(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	coral, root, wei := s.Customer("Coral Logistics"), s.Root(), s.As("Coral Logistics", "wei@coral.example")
	s.SQL(`WITH u AS (INSERT INTO users (email) SELECT 'more' || n || '@x.example' FROM generate_series(1, 1100) n RETURNING id, email)
		INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT $1, id, email, '', '' FROM u`, coral)
	all, _ := usersOf(t, s, wei)
	one := fmt.Sprint("/tenant/user/", s.UserID("more7@x.example"))
	moved := make(chan bool)
	go func() {
		defer close(moved)
		for i := range 30 {
			s.Do("POST", moving(coral), root, below(s.Customer([]string{"Alpine Energy", "Dune Retail"}[i%2])))
		}
	}()
	told := map[int]int{}
	judge := func(a platform.Answer, what string) bool {
		if told[a.Status]++; a.Status != 200 && a.Status != 204 && (a.Status != 503 || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), "moved meanwhile")) {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
		return a.Status == 200
	}
	for on := true; on; {
		select {
		case <-moved:
			on = false
		default:
		}
		for _, at := range []*platform.Platform{s, twin} {
			if list, whole := usersOf(t, at, wei); whole && len(list) != len(all) {
				t.Errorf("a list of %d users has %d", len(all), len(list))
			}
			judge(at.Do("GET", "/tenant", wei, nil), "the company")
			judge(at.Do("PUT", one, wei, map[string]any{"firstName": "Moving"}), "a change")
			if a := at.Do("GET", "/tenant/users?subtree=true&search=more7&limit=5", wei, nil); judge(a, "a search") && len(a.JSON(t).([]any)) == 0 {
				t.Error("a search finds nobody")
			}
			data, codes := at.GQL(wei, `{ customer { users(first: 1) { totalCount nodes { email } } } }`, nil)
			if len(codes) == 0 && platform.Member(t, data, "customer.users.totalCount") == 0.0 || len(codes) > 0 && codes[0] != "UNAVAILABLE" {
				t.Errorf("the graph tells %v, %v", data, codes)
			}
		}
	}
	t.Log(told)
}

// TestTreeAtOnce moves companies at random while others are made, and people come and go: whatever happens it stays a tree, what is
// counted is true, and nobody is told of a fault of the platform's.
func TestTreeAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, eu := s.Root(), s.RegionID("eu-central")
	ids := []int64{s.Customer("Alpine Energy"), s.Customer("Coral Logistics"), s.Customer("Dune Retail")}
	for i := range 12 {
		ids = append(ids, s.Must(200, "POST", "/tenant/customer", root, map[string]any{
			"parentId": ids[i], "name": fmt.Sprint("Company ", i), "regionId": eu, "email": fmt.Sprintf("admin%d@tree.example", i%5),
		}).ID(t, "id"))
	}
	one := func() int64 { return ids[rand.IntN(len(ids))] }
	change := func(i int) platform.Answer {
		switch i % 4 {
		case 0, 1:
			return s.Do("POST", moving(one()), root, below(one()))
		case 2:
			return s.Do("POST", "/tenant/customer", root, map[string]any{"parentId": one(), "name": "New", "regionId": eu, "email": fmt.Sprintf("new%d@tree.example", i%7)})
		}
		if i%8 == 3 {
			return s.Do("POST", "/tenant/user", root, map[string]any{"customerId": one(), "email": fmt.Sprintf("admin%d@tree.example", rand.IntN(5))})
		}
		return s.Do("DELETE", fmt.Sprintf("/tenant/user/%d?customerId=%d", s.UserID(fmt.Sprintf("admin%d@tree.example", rand.IntN(5))), one()), root, nil)
	}
	for range 4 {
		got := atOnce(2*crowd, func(i int) int {
			a := change(i)
			if a.Status >= 500 || a.Status == 429 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			return a.Status
		})
		s.TrueTree()
		if got[200] < crowd/2 {
			t.Errorf("statuses %v", got)
		}
	}
	// Two into each other: one comes first, and the other would be below itself.
	a, b := s.Customer("Brightwater Clinics"), s.Customer("Brightwater Labs")
	for range 10 {
		got := atOnce(2, func(i int) int { return s.Do("POST", moving([]int64{a, b}[i]), root, below([]int64{b, a}[i])).Status })
		if !platform.SameJSON(got, map[int]int{200: 1, 400: 1}) {
			t.Errorf("statuses %v", got)
		}
		for _, id := range []int64{a, b} {
			s.Must(200, "POST", moving(id), root, below(s.Customer("Brightwater Health")))
		}
	}
	s.TrueTree()
}
