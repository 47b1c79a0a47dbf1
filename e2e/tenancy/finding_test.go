package tenancy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
)

// orchard is a company whose subtree the tests of finding look into: four companies below it on two levels, with users whose
// names and addresses sort differently from their ids.
func orchard(s *platform.Platform) int64 {
	s.T.Helper()
	top := s.Number(`INSERT INTO customers (parent_id, name, region_id, created_at) VALUES ($1, 'Orchard', 1, '2020-01-01') RETURNING id`, s.Customer("Dune Retail"))
	for i, name := range []string{"pear", "Apple", "quince", "Medlar"} {
		parent := top
		if i > 1 {
			parent = s.Number(`SELECT id FROM customers WHERE name = 'Apple' AND parent_id = $1`, top)
		}
		id := s.Number(`INSERT INTO customers (parent_id, name, region_id, created_at) VALUES ($1, $2, 1, '2020-01-02'::date + $3::int) RETURNING id`, parent, name, 3-i)
		s.SQL(`INSERT INTO accounts (customer_id, app_instance_id, name) SELECT $1, i.id, $2 FROM app_instances i WHERE i.region_id = 1 ORDER BY i.id LIMIT 1`, id, name)
		s.SQL(`WITH u AS (INSERT INTO users (email, first_name, last_name, password_hash) SELECT n || '@' || lower($2) || '.example', initcap(n), $2, CASE WHEN n = 'zoe' THEN 'x' END FROM unnest(ARRAY['zoe', 'bob']) n RETURNING id, email, first_name, last_name),
			m AS (INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, accepted_at) SELECT $1, id, email, first_name, last_name, CASE WHEN first_name = 'Zoe' THEN now() END FROM u)
			INSERT INTO permissions (account_id, user_id, role_id, disabled, last_access) SELECT a.id, u.id, r.id, u.first_name = 'Bob', CASE WHEN u.first_name = 'Zoe' THEN '2026-01-02'::timestamptz END
			FROM u, accounts a JOIN app_instances i ON i.id = a.app_instance_id JOIN roles r ON r.application_id = i.application_id AND r.customer_id IS NULL AND r.name = 'Viewer'
			WHERE a.customer_id = $1`, id, name)
	}
	return top
}

// names are what the nodes of a list go by, in order.
func names(t *testing.T, data any, list, member string) string {
	t.Helper()
	var all []string
	for _, n := range platform.Member(t, data, list+".nodes").([]any) {
		all = append(all, fmt.Sprint(platform.Member(t, n, member)))
	}
	return strings.Join(all, " ")
}

// TestFinding asks both doors for what fits filters, in orders: they find the same.
func TestFinding(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, top := s.Root(), orchard(s)
	apple := s.Number(`SELECT id FROM customers WHERE name = 'Apple' AND parent_id = $1`, top)
	s.SQL(`UPDATE customers SET suspended = true WHERE name = 'quince' AND parent_id = $1`, apple)
	for _, c := range []struct {
		list, member, filter, order, want string
		// rest is the same by REST: a path, and a member of each entry; empty where it has no such list.
		rest, shown string
	}{
		{"customers", "name", `{}`, `[]`, "Orchard pear Apple quince Medlar", "", ""},
		{"customers", "name", `{}`, `[{field: NAME}]`, "Apple Medlar Orchard pear quince", "/tenant/customers/{c}?self=true&orderBy=name", "name"},
		{"customers", "name", `{}`, `[{field: NAME, direction: DESC}]`, "quince pear Orchard Medlar Apple", "/tenant/customers/{c}?self=true&orderBy=-name", "name"},
		{"customers", "name", `{level: 4}`, `[{field: CREATED_AT}]`, "Medlar quince", "/tenant/customers/{c}?level=4&orderBy=createdAt", "name"},
		{"customers", "name", fmt.Sprintf(`{parentId: %d}`, apple), `[{field: ID}]`, "quince Medlar", fmt.Sprintf("/tenant/customers/{c}?parentId=%d&orderBy=id", apple), "name"},
		{"customers", "name", `{createdSince: "2020-01-03T12:00:00Z", createdUntil: "2020-01-04T12:00:00Z"}`, `[{field: NAME}]`, "Apple", "/tenant/customers/{c}?createdSince=2020-01-03T12:00:00Z&createdUntil=2020-01-04T12:00:00Z&orderBy=name", "name"},
		{"customers", "name", fmt.Sprintf(`{or: [{ids: [%d]}, {level: 4, createdUntil: "2020-01-02T12:00:00Z"}]}`, apple), `[{field: NAME}]`, "Apple Medlar", "", ""},
		{"users", "email", `{}`, `[{field: NAME}, {field: EMAIL, direction: DESC}]`, "bob@apple.example bob@medlar.example bob@pear.example bob@quince.example zoe@apple.example zoe@medlar.example zoe@pear.example zoe@quince.example", "/tenant/users/{c}?subtree=true&orderBy=name,-email", "email"},
		{"users", "email", `{hasPassword: true}`, `[{field: EMAIL, direction: DESC}]`, "zoe@quince.example zoe@pear.example zoe@medlar.example zoe@apple.example", "/tenant/users/{c}?subtree=true&hasPassword=true&orderBy=-email", "email"},
		{"users", "email", `{email: "BOB@pear.example"}`, `[]`, "bob@pear.example", "/tenant/users/{c}?subtree=true&email=BOB@pear.example", "email"},
		{"users", "email", fmt.Sprintf(`{customerId: %d}`, apple), `[{field: EMAIL}]`, "bob@apple.example zoe@apple.example", fmt.Sprintf("/tenant/users/{c}?customerId=%d&orderBy=email", apple), "email"},
		{"users", "email", `{lastAccessSince: "2026-01-01T00:00:00Z", hasPassword: true}`, `[{field: EMAIL}]`, "zoe@apple.example zoe@medlar.example zoe@pear.example zoe@quince.example", "/tenant/users/{c}?subtree=true&lastAccessSince=2026-01-01T00:00:00Z&orderBy=email", "email"},
		{"users", "email", `{lastAccessSince: "2026-02-01T00:00:00Z"}`, `[]`, "", "/tenant/users/{c}?subtree=true&lastAccessSince=2026-02-01T00:00:00Z", "email"},
		{"users", "email", `{}`, `[{field: LAST_ACCESS, direction: DESC}, {field: EMAIL}]`, "zoe@apple.example zoe@medlar.example zoe@pear.example zoe@quince.example bob@apple.example bob@medlar.example bob@pear.example bob@quince.example", "/tenant/users/{c}?subtree=true&orderBy=-lastAccess,email", "email"},
		{"users", "email", fmt.Sprintf(`{customerId: %d}`, apple), `[{field: LAST_ACCESS}]`, "bob@apple.example zoe@apple.example", fmt.Sprintf("/tenant/users/{c}?customerId=%d&orderBy=lastAccess", apple), "email"},
		{"users", "email", `{search: "zoe"}`, `[{field: LAST_ACCESS}, {field: EMAIL}]`, "zoe@apple.example zoe@medlar.example zoe@pear.example zoe@quince.example", "/tenant/users/{c}?subtree=true&search=zoe&orderBy=lastAccess,email", "email"},
		{"customers", "name", `{level: 4}`, `[{field: STATUS, direction: DESC}, {field: NAME}]`, "quince Medlar", "/tenant/customers/{c}?level=4&orderBy=-status,name", "name"},
		{"customers", "name", `{status: SUSPENDED}`, `[{field: STATUS}]`, "quince", "/tenant/customers/{c}?status=suspended&orderBy=status", "name"},
		{"permissions", "user.email", `{disabled: true}`, `[{field: ID}]`, "bob@pear.example bob@apple.example bob@quince.example bob@medlar.example", "", ""},
		{"permissions", "disabled", fmt.Sprintf(`{customerId: %d}`, apple), `[{field: LAST_ACCESS, direction: DESC}]`, "false true", fmt.Sprintf("/v1/permissions?customerId=%d&subtree=false&orderBy=-lastAccess", apple), "disabled"},
	} {
		t.Run(c.list+c.filter+c.order, func(t *testing.T) {
			query := fmt.Sprintf(`query($c: ID) { %s(customerId: $c, filter: %s, orderBy: %s) { totalCount nodes { %s } } }`,
				c.list, c.filter, c.order, strings.Replace(c.member, ".", " { ", 1)+strings.Repeat(" }", strings.Count(c.member, ".")))
			data := s.MustGQL(root, query, map[string]any{"c": top})
			if got := names(t, data, c.list, c.member); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if n := platform.Member(t, data, c.list+".totalCount"); int(n.(float64)) != len(strings.Fields(c.want)) {
				t.Errorf("%v are counted", n)
			}
			if c.rest == "" {
				return
			}
			if got := byREST(t, s, root, strings.Replace(c.rest, "{c}", platform.Decimal(top), 1), c.shown); strings.Join(got, " ") != c.want {
				t.Errorf("by REST: %q, want %q", got, c.want)
			}
		})
	}
}

// byREST follows a list from page to page, two entries at a time, from its beginning and from its end: either way gives the whole list.
func byREST(t *testing.T, s *platform.Platform, token, path, member string) []string {
	t.Helper()
	parts := "&"
	if !strings.Contains(path, "?") {
		parts = "?"
	}
	walk := func(size string) (pages [][]string) {
		s.Follow(t, path+parts+size, token, func(t *testing.T, page platform.Answer) (shown []string) {
			for _, e := range page.JSON(t).([]any) {
				shown = append(shown, fmt.Sprint(platform.Member(t, e, member)))
			}
			pages = append(pages, shown)
			return nil
		})
		return pages
	}
	all, back := slices.Concat(walk("limit=2")...), walk("last=2")
	slices.Reverse(back)
	if fromTheEnd := slices.Concat(back...); !slices.Equal(fromTheEnd, all) || len(all) > 2 && len(back[len(back)-1]) != 2 {
		t.Errorf("%s from its end: %v, and from its beginning %v", path, back, all)
	}
	return all
}

// TestPagesGoBothWays walks lists forward and backward, one to three rows at a time, in several orders: each walk gives the whole list.
func TestPagesGoBothWays(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, top := s.Root(), orchard(s)
	s.SQL(`UPDATE customers SET suspended = true WHERE name IN ('pear', 'quince') AND $1 = ANY (lineage)`, top)
	const page = `query($c: ID, $f: Int, $a: String, $l: Int, $b: String) { %s(customerId: $c, orderBy: %s, first: $f, after: $a, last: $l, before: $b) {
		pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { databaseId } } }`
	for _, c := range []struct{ list, order string }{
		{"customers", "[]"},
		{"customers", "[{field: NAME}]"},
		{"customers", "[{field: NAME, direction: DESC}, {field: CREATED_AT}]"},
		{"customers", "[{field: CREATED_AT, direction: DESC}]"},
		{"customers", "[{field: STATUS}]"},
		{"customers", "[{field: STATUS, direction: DESC}, {field: NAME}]"},
		{"users", "[{field: NAME}]"},
		{"users", "[{field: NAME}, {field: ID, direction: DESC}]"},
		{"permissions", "[{field: LAST_ACCESS}]"},
		{"users", "[{field: LAST_ACCESS}]"},
		{"users", "[{field: LAST_ACCESS, direction: DESC}, {field: NAME}]"},
	} {
		t.Run(c.list+c.order, func(t *testing.T) {
			ask := func(args map[string]any) (ids []string, info map[string]any) {
				args["c"] = top
				data := s.MustGQL(root, fmt.Sprintf(page, c.list, c.order), args)
				return strings.Fields(names(t, data, c.list, "databaseId")), platform.Member(t, data, c.list+".pageInfo").(map[string]any)
			}
			whole, _ := ask(map[string]any{"f": 100})
			for size := 1; size < 4; size++ {
				var forward, backward []string
				for args := map[string]any{"f": size}; ; {
					ids, info := ask(args)
					forward = append(forward, ids...)
					if info["hasPreviousPage"] != (args["a"] != nil) {
						t.Errorf("going forward, %v", info)
					}
					if args = map[string]any{"f": size, "a": info["endCursor"]}; info["hasNextPage"] != true {
						break
					}
				}
				for args := map[string]any{"l": size}; ; {
					ids, info := ask(args)
					backward = append(ids, backward...)
					if info["hasNextPage"] != (args["b"] != nil) {
						t.Errorf("going backward, %v", info)
					}
					if args = map[string]any{"l": size, "b": info["startCursor"]}; info["hasPreviousPage"] != true {
						break
					}
				}
				if !slices.Equal(forward, whole) || !slices.Equal(backward, whole) || len(whole) < 5 {
					t.Errorf("by %d: forward %v, backward %v, whole %v", size, forward, backward, whole)
				}
			}
		})
	}
}

// TestNullIsLeftOut: an argument that is null is what it is when it is left out.
func TestNullIsLeftOut(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, top := s.Root(), orchard(s)
	for _, list := range []string{"customers", "users", "permissions"} {
		query := fmt.Sprintf(`query($c: ID, $s: Boolean) { %s(customerId: $c, subtree: $s) { nodes { databaseId } } }`, list)
		whole := names(t, s.MustGQL(root, query, map[string]any{"c": top}), list, "databaseId")
		if got := names(t, s.MustGQL(root, query, map[string]any{"c": top, "s": nil}), list, "databaseId"); got != whole || len(strings.Fields(whole)) < 5 {
			t.Errorf("%s of null: %s, and of nothing %s", list, got, whole)
		}
	}
	s.MustGQL(root, `query($n: Int) { search(text: "Orchard", first: $n) { __typename } regions(all: null) { id } operations { busiest(by: null, first: null) { id } } }`, map[string]any{"n": nil})
}

// TestAnEmptyListFindsNothing: of no ids, and where one of no filters is to fit, nothing is found, at both doors.
func TestAnEmptyListFindsNothing(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	for list, path := range map[string]string{"customers": "/tenant/customers", "users": "/tenant/users?subtree=true", "permissions": "/v1/permissions", "auditEvents": "/v1/audit"} {
		for filter, some := range map[string]bool{`{ids: []}`: false, `{or: []}`: false, `{or: [{or: []}]}`: false, `{or: [{or: []}, {}]}`: true, `{}`: true} {
			d := s.MustGQL(root, `{ `+list+`(first: 1, filter: `+filter+`) { nodes { id } } }`, nil)
			if n := len(platform.Member(t, d, list+".nodes").([]any)); n > 0 != some {
				t.Errorf("%s of %s: %d", list, filter, n)
			}
		}
		with := "?"
		if strings.Contains(path, "?") {
			with = "&"
		}
		for parameters, some := range map[string]bool{"ids=": false, "ids=&limit=5": false, "limit=5": true} {
			if n := len(s.Must(http.StatusOK, http.MethodGet, path+with+parameters, root, nil).JSON(t).([]any)); n > 0 != some {
				t.Errorf("%s with %s: %d", path, parameters, n)
			}
		}
	}
}

// TestEmptyFiltersAreRefused: a filter that somebody has left empty is not answered with all that there is, at either door.
func TestEmptyFiltersAreRefused(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, builder, desk := s.Root(), s.RootAs("builder"), s.RootAs("assistant")
	for path, token := range map[string]string{
		"/tenant/customers?search=": root, "/tenant/customers?status=": root, "/tenant/customers?level=": root, "/tenant/customers?createdSince=": root, "/tenant/customers?parentId=": root,
		"/tenant/users?email=": root, "/tenant/users?search=": root, "/tenant/users?hasPassword=": root, "/tenant/users?subtree=": root, "/tenant/users?orderBy=name&customerId=": root,
		"/v1/permissions?userId=": root, "/v1/permissions?disabled=": root, "/v1/permissions?customerId=": root, "/v1/permissions?limit=": root,
		"/v1/audit?action=": root, "/v1/audit?objectType=": root, "/v1/audit?objectId=": root, "/v1/audit?actorId=": root,
		"/v1/outbound-webhooks/deliveries?type=": root, "/v1/outbound-webhooks/deliveries?since=": root, "/v1/outbound-webhooks/deliveries?destinationId=": root,
		"/tenant/accounts?search=": root, "/v1/keys?active=": root, "/v1/keys?userId=": root, "/v1/keys?expiresUntil=": root, "/v1/outbound-webhooks/destinations?failing=": root,
		"/v1/agents?search=": builder, "/v1/agents?enabled=": builder, "/v1/runs?agentId=": builder, "/v1/documents?search=": desk, "/v1/documents?attributes=": desk,
	} {
		name := strings.TrimSuffix(path[strings.LastIndexAny(path, "?&")+1:], "=")
		if a := s.Must(http.StatusBadRequest, http.MethodGet, path, token, nil); !strings.Contains(string(a.Body), `"location":"query.`+name+`","message":"must not be empty"`) {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	kept := s.NewContext(desk, "Kept")
	s.Must(http.StatusBadRequest, http.MethodDelete, fmt.Sprintf("/context/%d?restorable=", kept), desk, nil)
	s.Must(http.StatusOK, http.MethodGet, fmt.Sprintf("/context/%d", kept), desk, nil)
	s.Must(http.StatusOK, http.MethodGet, "/tenant/users?subtree=true&after=&orderBy=&limit=1", root, nil) // the beginning, in no order of its own
	for list, filter := range map[string]string{"users": `email: ""`, "customers": `search: ""`, "auditEvents": `action: ""`, "webhookDeliveries": `type: ""`, "webhookDestinations": `search: ""`} {
		query := `{ ` + list + `(filter: {` + filter + `}) { nodes { id } } }`
		member, _, _ := strings.Cut(filter, ":")
		if told := s.Refused(t, "BAD_REQUEST", root, query, nil); strings.Count(told, "filter."+member) != 1 {
			t.Errorf("%s: %s", query, told)
		}
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct{ MinLength int }
			}
		}
	}
	if err := json.Unmarshal(s.Must(http.StatusOK, http.MethodGet, "/openapi.json", "", nil).Body, &document); err != nil {
		t.Fatal(err)
	}
	for _, p := range document.Paths["/v1/audit"]["get"].Parameters {
		if want := map[string]int{"action": 1, "objectType": 1}[p.Name]; p.Schema.MinLength != want {
			t.Errorf("the document has %s no shorter than %d", p.Name, p.Schema.MinLength)
		}
	}
}

// TestFindingRefuses: what can't be asked is a 400 that names it, at both doors.
func TestFindingRefuses(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	cursor := platform.Member(t, s.MustGQL(root, `{ customers(first: 1, orderBy: [{field: NAME}]) { pageInfo { endCursor } } }`, nil), "customers.pageInfo.endCursor")
	for _, query := range []string{
		`{ customers(first: 1, last: 1) { totalCount nodes { id } } }`,
		`{ customers(after: "` + fmt.Sprint(cursor) + `") { nodes { id } } }`,
		`{ customers(orderBy: [{field: CREATED_AT}], after: "` + fmt.Sprint(cursor) + `") { nodes { id } } }`,
		`{ customers(orderBy: [{field: NAME, direction: DESC}], after: "` + fmt.Sprint(cursor) + `") { nodes { id } } }`,
		`{ customers(orderBy: [{field: NAME}, {field: NAME}]) { nodes { id } } }`,
		`{ customers(filter: {ids: [0]}) { nodes { id } } }`,
		`{ customer { accounts(filter: {applicationId: 0}) { nodes { id } } } }`,
		`{ customer { accounts(orderBy: [{field: NAME}], after: "` + fmt.Sprint(cursor) + `x") { nodes { id } } } }`,
		`{ customer { apiKeys(filter: {userId: "` + globalid.ID{Type: "Customer", Int: 1}.Global() + `"}) { nodes { id } } } }`,
		`{ customer { apiKeys(orderBy: [{field: NAME}, {field: ID}, {field: CREATED_AT}, {field: EXPIRES_AT}]) { nodes { id } } } }`,
		`{ webhookDestinations(filter: {search: "..."}) { nodes { id } } }`,
		`{ customers(filter: {regionId: "` + globalid.ID{Type: "User", Int: 1}.Global() + `"}) { nodes { id } } }`,
		`{ users(filter: {email: "a\u0000b"}) { nodes { id } } }`,
		`{ customers(filter: {or: [{or: [{or: [{or: [{or: [{level: 1}]}]}]}]}]}) { nodes { id } } }`,
	} {
		s.Refused(t, "BAD_REQUEST", root, query, nil)
	}
	for _, path := range []string{
		"/tenant/customers?orderBy=size", "/tenant/customers?orderBy=name,name", "/tenant/customers?level=deep", "/tenant/customers?orderBy=name&after=" + globalid.ID{Type: "User", Int: 1}.Global(),
		"/tenant/users?hasPassword=maybe", "/tenant/users?customerId=0", "/tenant/users?ids=0", "/v1/permissions?orderBy=id,createdAt,lastAccess,id", "/v1/permissions?customerId=0",
		"/tenant/accounts?orderBy=size", "/tenant/accounts?disabled=maybe", "/v1/keys?userId=0", "/v1/keys?serach=a", "/v1/keys?last=2&limit=2",
		"/v1/outbound-webhooks/destinations?orderBy=url", "/v1/outbound-webhooks/destinations?ids=0", "/tenant/customers?last=0", "/tenant/customers?last=1001", "/tenant/customers?last=2&limit=2", "/v1/audit?last=2&limit=2",
		"/tenant/users?last=2&orderBy=name&after=" + fmt.Sprint(cursor), "/tenant/customers?orderBy=name&before=" + fmt.Sprint(cursor), "/tenant/customers?last=2&before=" + fmt.Sprint(cursor),
	} {
		s.Must(http.StatusBadRequest, http.MethodGet, path, root, nil)
	}
	if a := s.Must(http.StatusBadRequest, http.MethodGet, "/tenant/customers?createdSince=yesterday", root, nil); !strings.Contains(string(a.Body), "must be a date and time such as") {
		t.Errorf("a time that is none: %s", a.Body)
	}
	link := s.Must(http.StatusOK, http.MethodGet, "/tenant/customers?limit=1", root, nil).Header.Get("Link")
	_, after, _ := strings.Cut(link, "after=")
	after, _, _ = strings.Cut(after, "&")
	after, _, _ = strings.Cut(after, ">")
	if a := s.Must(http.StatusBadRequest, http.MethodGet, "/tenant/customers?last=1&before="+after, root, nil); !strings.Contains(string(a.Body), "name its order in orderBy") {
		t.Errorf("a cursor of a list without an order, as what a page ends before: %s", a.Body)
	}
	desk, alpine := s.RootAs("assistant"), s.Customer("Alpine Energy")
	s.Refused(t, "FORBIDDEN", desk, `query($id: ID) { documents(customerId: $id) { nodes { id } } }`, map[string]any{"id": alpine})
	s.Must(http.StatusForbidden, http.MethodGet, fmt.Sprintf("/v1/documents?customerId=%d", alpine), desk, nil)
	s.Must(http.StatusOK, http.MethodGet, "/v1/documents?customerId=1", desk, nil)
}
