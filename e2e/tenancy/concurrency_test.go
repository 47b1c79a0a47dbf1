package tenancy

import (
	"fmt"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// atOnce makes n calls at the same time and counts their statuses.
func atOnce(n int, call func(i int) int) map[int]int {
	begin := make(chan struct{})
	statuses := make([]int, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			<-begin
			statuses[i] = call(i)
		})
	}
	close(begin)
	calls.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	return count
}

const crowd = 50

func TestAtOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	account, viewer, owner := s.Account(hydro, "tenant"), s.RoleID(hydro, "tenant", "Viewer"), s.RoleID(hydro, "tenant", "Owner")
	is := func(t *testing.T, got map[int]int, want map[int]int) {
		t.Helper()
		if !platform.SameJSON(got, want) {
			t.Errorf("statuses %v, want %v", got, want)
		}
	}
	t.Run("one permission", func(t *testing.T) {
		body := map[string]any{"appAccountId": account, "appRoleId": viewer, "userIdentityId": s.UserID("mira@alpine.example")}
		is(t, atOnce(crowd, func(int) int { return s.Do("POST", "/permission", root, body).Status }), map[int]int{200: 1, 400: crowd - 1})
	})
	t.Run("one permission of an unknown address", func(t *testing.T) {
		body := map[string]any{"appAccountId": account, "appRoleId": viewer, "email": "crowd@crowd.example"}
		is(t, atOnce(crowd, func(int) int { return s.Do("POST", "/permission", root, body).Status }), map[int]int{200: 1, 400: crowd - 1})
		if n := len(s.Mails("crowd@crowd.example")); n != 1 {
			t.Errorf("%d invitations", n)
		}
	})
	t.Run("one user", func(t *testing.T) {
		got := atOnce(crowd, func(i int) int {
			return s.Do("POST", "/tenant/user", root, map[string]any{"customerId": alpine, "email": []string{"many@x.example", "MANY@x.example"}[i%2]}).Status
		})
		is(t, got, map[int]int{201: 1, 400: crowd - 1})
		if n := s.Number(`SELECT count(*) FROM users WHERE lower(email) = 'many@x.example'`); n != 1 {
			t.Errorf("%d users", n)
		}
		if n := len(s.Mails("many@x.example")) + len(s.Mails("MANY@x.example")); n < 1 {
			t.Errorf("%d invitations", n)
		}
	})
	t.Run("companies of one admin", func(t *testing.T) {
		eu := s.RegionID("eu-central")
		got := atOnce(crowd, func(i int) int {
			return s.Do("POST", "/tenant/customer", root, map[string]any{"name": fmt.Sprint("Crowd ", i), "regionId": eu, "email": "chain@x.example"}).Status
		})
		is(t, got, map[int]int{200: crowd})
		if n := s.Number(`SELECT count(*) FROM users WHERE email = 'chain@x.example'`); n != 1 {
			t.Errorf("%d users", n)
		}
		if n := s.Number(`SELECT count(*) FROM permissions p JOIN users u ON u.id = p.user_id WHERE u.email = 'chain@x.example'`); n != 3*crowd {
			t.Errorf("%d permissions", n)
		}
	})
	t.Run("the last owner", func(t *testing.T) {
		// Every one of ten owners tries to remove all the others, and itself.
		var tokens []string
		var permissions []int64
		for i := range 10 {
			email := fmt.Sprintf("owner%d@x.example", i)
			permissions = append(permissions, s.Must(200, "POST", "/permission", root, map[string]any{"appAccountId": account, "appRoleId": owner, "email": email}).ID(t, "id"))
			tokens = append(tokens, s.TokenOf(hydro, email, "tenant"))
		}
		permissions = append(permissions, s.Permission(s.UserID("lukas@alpine-hydro.example"), account))
		got := atOnce(len(tokens)*len(permissions), func(i int) int {
			path := fmt.Sprintf("/permission/%d", permissions[i%len(permissions)])
			return s.Do([]string{"DELETE", "PATCH"}[i%2], path, tokens[i/len(permissions)], nil).Status
		})
		for status := range got {
			if status != 204 && status != 400 && status != 403 {
				t.Errorf("%d answers of status %d", got[status], status)
			}
		}
		n := s.Number(`SELECT count(*) FROM permissions p JOIN roles r ON r.id = p.role_id WHERE p.account_id = $1 AND r.is_owner AND NOT p.disabled`, account)
		if n < 1 {
			t.Error("the company has locked itself out")
		}
	})
	t.Run("one link", func(t *testing.T) {
		link := s.Link("crowd@crowd.example")
		got := atOnce(crowd, func(i int) int {
			return s.Do("POST", "/auth/setup", "", map[string]any{"token": link, "password": fmt.Sprintf("password of caller %d", i)}).Status
		})
		// Passwords are hashed a few at a time, and a crowd from one address is told to come back.
		if got[204] != 1 || got[204]+got[400]+got[429] != crowd {
			t.Errorf("statuses %v", got)
		}
	})
	t.Run("one role's name", func(t *testing.T) {
		got := atOnce(crowd, func(int) int {
			if _, codes := s.GQL(root, `mutation { createRole(input: {applicationId: 1, name: "Same", features: []}) { role { id } } }`, nil); len(codes) > 0 {
				return map[string]int{"BAD_REQUEST": 400}[codes[0]]
			}
			return 200
		})
		is(t, got, map[int]int{200: 1, 400: crowd - 1})
	})
	t.Run("one billing record", func(t *testing.T) {
		got := atOnce(crowd, func(i int) int {
			return s.Do("POST", fmt.Sprintf("/tenant/billing/%d", alpine), root, map[string]any{"city": fmt.Sprint(i)}).Status
		})
		is(t, got, map[int]int{204: crowd})
	})
}
