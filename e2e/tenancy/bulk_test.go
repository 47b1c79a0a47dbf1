package tenancy

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// outcomes gives the code of each row's refusal, "" where it was not refused, as a bulk mutation has answered; the rows are in
// their order.
func outcomes(t *testing.T, list any, object string) (codes []string) {
	t.Helper()
	for i, r := range list.([]any) {
		row := r.(map[string]any)
		if int(row["index"].(float64)) != i || (row["error"] == nil) != (row[object] != nil) {
			t.Errorf("row %d: %v", i, row)
		}
		code := ""
		if e, ok := row["error"].(map[string]any); ok {
			code = e["code"].(string)
			if e["message"] == "" {
				t.Errorf("row %d: %v", i, row)
			}
		}
		codes = append(codes, code)
	}
	return codes
}

// TestBulk: each row of a bulk mutation is done or refused by itself, by the rules of the mutation for one.
func TestBulk(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	s.Must(200, "POST", "/tenant/customer", root, map[string]any{"name": "Bulk", "regionId": s.RegionID("eu-central"), "email": "owner@bulk.example", "tenant": true, "assistant": true})
	id := s.Customer("Bulk")
	s.SetUp("owner@bulk.example")
	owner := s.As("Bulk", "owner@bulk.example")
	same := func(got []string, want ...string) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	made := s.Mutate(owner, "createUsers", "results { index error { code message } user { databaseId email firstName permissions { totalCount } } }", map[string]any{"users": []map[string]any{
		{"email": "a@bulk.example", "firstName": "A"}, {"email": "no address"}, {"email": "b@bulk.example"}, {"email": "A@bulk.example"}, {"email": "c@bulk.example", "lastName": "www.x.example"},
	}})["results"]
	same(outcomes(t, made, "user"), "", "BAD_REQUEST", "", "user_exists", "BAD_REQUEST")
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.created' AND customer_id = $1`, id); n != 2 {
		t.Errorf("%d are told of", n)
	}
	account, elsewhere := s.Account(id, "tenant"), s.Account(1, "tenant")
	viewer, tenantOwner := s.RoleID(0, "tenant", "Viewer"), s.RoleID(0, "tenant", "Owner")
	a, b := s.UserID("a@bulk.example"), s.UserID("b@bulk.example")
	given := s.Must(200, "POST", "/v1/permissions/bulk", owner, map[string]any{"permissions": []map[string]any{
		{"appAccountId": account, "appRoleId": viewer, "userIdentityId": a},
		{"appAccountId": account, "appRoleId": viewer, "userIdentityId": a},
		{"appAccountId": elsewhere, "appRoleId": viewer, "userIdentityId": a},
		{"appAccountId": account, "appRoleId": viewer},
		{"appAccountId": account, "appRoleId": tenantOwner, "email": "d@bulk.example"},
		{"appAccountId": account, "appRoleId": s.RoleID(0, "assistant", "Viewer"), "userIdentityId": b},
	}}).JSON(t)
	same(outcomes(t, platform.Member(t, given, "results"), "permission"), "", "permission_exists", "FORBIDDEN", "BAD_REQUEST", "", "BAD_REQUEST")
	if told := fmt.Sprint(platform.Member(t, given, "results").([]any)[5]); !strings.Contains(told, "message:appRoleId: ") {
		t.Errorf("a role of another application is told as %s", told)
	}
	// Nobody gives what they don't have, in bulk either.
	s.SQL(`UPDATE permissions SET role_id = $1 WHERE user_id = $2 AND account_id = $3`, s.RoleID(0, "tenant", "Admin"), a, account)
	s.SetUp("a@bulk.example")
	admin := s.As("Bulk", "a@bulk.example")
	given = s.Must(200, "POST", "/v1/permissions/bulk", admin, map[string]any{"permissions": []map[string]any{{"appAccountId": account, "appRoleId": tenantOwner, "userIdentityId": b}}}).JSON(t)
	same(outcomes(t, platform.Member(t, given, "results"), "permission"), "FORBIDDEN")

	d := s.UserID("d@bulk.example")
	removed := s.Mutate(owner, "removeUsers", "results { index error { code message } deletedId }", map[string]any{"userIds": []any{b, b, s.UserID(s.Demo.AdminEmail), d}})["results"]
	same(outcomes(t, removed, "deletedId"), "", "FORBIDDEN", "FORBIDDEN", "")
	last := s.Must(200, "POST", "/v1/users/bulk/remove", owner, map[string]any{"userIds": []any{s.UserID("owner@bulk.example"), a}}).JSON(t)
	same(outcomes(t, platform.Member(t, last, "results"), "deletedId"), "last_owner", "")

	many := make([]map[string]any, 201)
	for i := range many {
		many[i] = map[string]any{"email": fmt.Sprintf("m%d@bulk.example", i)}
	}
	for _, list := range [][]map[string]any{many, {}} {
		s.Must(400, "POST", "/v1/users/bulk", owner, map[string]any{"users": list})
	}
	s.Must(403, "POST", "/v1/users/bulk", owner, map[string]any{"customerId": 1, "users": many[:1]})
	all := s.Must(200, "POST", "/v1/users/bulk", owner, map[string]any{"users": many[:200]}).JSON(t)
	same(outcomes(t, platform.Member(t, all, "results"), "user"), make([]string, 200)...)
	s.Must(200, "PUT", fmt.Sprintf("/tenant/limits/%d", id), root, map[string]any{"limits": map[string]any{"users": 202}})
	full := s.Must(200, "POST", "/v1/users/bulk", owner, map[string]any{"users": []map[string]any{{"email": "x@bulk.example"}, {"email": "y@bulk.example"}}}).JSON(t)
	same(outcomes(t, platform.Member(t, full, "results"), "user"), "", "limit_reached")
}

// TestBulkHearsWhatIsLost: who loses the right while rows are made makes no more of them.
func TestBulkHearsWhatIsLost(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greta := s.As("Alpine Energy", "greta@alpine.example")
	s.SQL(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		UPDATE permissions p SET disabled = true FROM users u WHERE u.id = p.user_id AND u.email = 'greta@alpine.example';
		PERFORM pg_sleep(2.1); -- a caller may be known for two seconds
		RETURN NULL; END $$`)
	s.SQL(`CREATE TRIGGER lose AFTER INSERT ON memberships FOR EACH ROW WHEN (NEW.email = 'b@bulk.example') EXECUTE FUNCTION lose()`)
	made := s.Mutate(greta, "createUsers", "results { index error { code message } user { email } }", map[string]any{"users": []map[string]any{
		{"email": "a@bulk.example"}, {"email": "b@bulk.example"}, {"email": "c@bulk.example"}, {"email": "d@bulk.example"},
	}})["results"]
	if got := fmt.Sprint(outcomes(t, made, "user")); got != "[  FORBIDDEN FORBIDDEN]" {
		t.Error(got)
	}
	if n := s.Number(`SELECT count(*) FROM users WHERE email LIKE '%@bulk.example'`); n != 2 {
		t.Errorf("%d are made", n)
	}
}

// TestBulkIsNoWayAroundRates: rows count as requests.
func TestBulkIsNoWayAroundRates(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.RateLimit = 20 })
	root := s.Root()
	users := make([]map[string]any, 30)
	for i := range users {
		users[i] = map[string]any{"email": fmt.Sprintf("m%d@rate.example", i)}
	}
	s.Must(429, "POST", "/v1/users/bulk", root, map[string]any{"users": users})
	s.Must(200, "POST", "/v1/users/bulk", root, map[string]any{"users": users[:10]})
}
