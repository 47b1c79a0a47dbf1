package tenancy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// deleteCustomer deletes a company.
func deleteCustomer(s *platform.Platform, token string, customer int64) platform.Answer {
	return s.Do("DELETE", fmt.Sprintf("/tenant/customer/%d", customer), token, nil)
}

// listed are the names of companies that a list of REST gives.
func listed(t *testing.T, s *platform.Platform, token, path string) (names []string) {
	t.Helper()
	for _, row := range s.Must(http.StatusOK, "GET", path, token, nil).JSON(t).([]any) {
		names = append(names, row.(map[string]any)["name"].(string))
	}
	return names
}

// TestDeletion deletes a company with two below it and restores it. Meanwhile nobody acts for it, it is left out of lists, with
// what lies below, and found by its id and by its status.
func TestDeletion(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine, hydro, air := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro"), s.Customer("Coral Air")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	s.Must(http.StatusOK, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(air, "tenant"), "appRoleId": s.RoleID(1, "tenant", "Viewer"), "email": "greta@alpine.example",
	})
	s.SetUp("wei@coral.example")
	wei := s.OpenSession(t, "wei@coral.example", platform.NewPassword).Token
	s.Must(http.StatusCreated, "POST", "/tenant/user", greta, map[string]any{"email": "wei@coral.example"})
	invited := func() int {
		return len(platform.Member(t, s.MustGQL(wei, `{ me { invitations { email } } }`, nil), "me.invitations").([]any))
	}
	if n := invited(); n != 1 {
		t.Errorf("%d invitations", n)
	}
	everybody := listed(t, s, root, "/tenant/customers")
	a := deleteCustomer(s, root, alpine)
	platform.Scenario{Status: http.StatusAccepted, Has: map[string]any{"customer.status": "deleted", "customer.effectiveStatus": "deleted", "customer.id": alpine}}.Judge(t, a)
	at, err := time.Parse(time.RFC3339, platform.Member(t, a.JSON(t), "customer.eraseAt").(string))
	if wait := time.Until(at); err != nil || wait < 30*24*time.Hour-time.Minute || wait > 30*24*time.Hour {
		t.Errorf("%v, in %v", err, wait)
	}
	for _, token := range []string{greta, lukas} {
		suspended.Judge(t, s.Do("GET", "/tenant", token, nil))
	}
	t.Run("it is left out of lists, with what lies below", func(t *testing.T) {
		for _, path := range []string{"/tenant/customers", "/tenant/customers?limit=100", "/tenant/customers?orderBy=name", "/tenant/customers?status=active", "/tenant/customers?level=1", "/tenant/customers?parentId=1"} {
			for _, name := range listed(t, s, root, path) {
				if strings.HasPrefix(name, "Alpine") {
					t.Errorf("%s has %s", path, name)
				}
			}
		}
		if n := len(listed(t, s, root, "/tenant/customers")); n != len(everybody)-3 {
			t.Errorf("%d companies", n)
		}
		data := s.MustGQL(root, `query($u: ID!) { customers { totalCount nodes { name } } customer { children { nodes { name } totalCount } descendants(first: 200) { nodes { name } totalCount } }
			user(id: $u) { customers { nodes { name } totalCount } } search(text: "alpine", types: [CUSTOMER]) { ... on Customer { name } } }`, map[string]any{"u": s.UserID("greta@alpine.example")})
		if text := fmt.Sprint(data); strings.Contains(text, "Alpine") {
			t.Error(text)
		}
		for path, want := range map[string]int{"customers": len(everybody) - 2, "customer.descendants": len(everybody) - 3, "user.customers": 1} {
			if n := platform.Member(t, data, path+".totalCount"); n != float64(want) {
				t.Errorf("%s counts %v, not %d", path, n, want)
			}
		}
	})
	t.Run("it invites nobody", func(t *testing.T) {
		if n := invited(); n != 0 {
			t.Errorf("%d invitations", n)
		}
	})
	t.Run("it is found from above", func(t *testing.T) {
		if names := listed(t, s, root, "/tenant/customers?status=deleted"); !slices.Equal(names, []string{"Alpine Energy"}) {
			t.Error(names)
		}
		s.Must(http.StatusOK, "GET", fmt.Sprintf("/tenant/%d", hydro), root, nil)
		data := s.MustGQL(root, `query($id: ID) { customer(id: $id) { status effectiveStatus children { nodes { name effectiveStatus } } }
			customer1: customers(filter: {or: [{status: DELETED}, {ids: [1]}]}) { nodes { name } } }`, map[string]any{"id": alpine})
		if got, want := fmt.Sprint(data), "map[customer:map[children:map[nodes:[map[effectiveStatus:DELETED name:Alpine Hydro] map[effectiveStatus:DELETED name:Alpine Solar]]] effectiveStatus:DELETED status:DELETED]"+
			" customer1:map[nodes:[map[name:Northwind Group] map[name:Alpine Energy]]]]"; got != want {
			t.Errorf("%s, not %s", got, want)
		}
		if names := listed(t, s, root, fmt.Sprintf("/tenant/customers/%d?self=true", alpine)); !slices.Equal(names, []string{"Alpine Energy", "Alpine Hydro", "Alpine Solar"}) {
			t.Error(names)
		}
	})
	t.Run("nothing is put into it", func(t *testing.T) {
		below := map[string]any{"parentId": hydro, "name": "New", "regionId": 1, "email": "new@alpine.example"}
		platform.Scenario{Status: http.StatusBadRequest, Says: "parentId"}.Judge(t, s.Do("POST", "/tenant/customer", root, below))
	})
	for what, answer := range map[string]platform.Answer{
		"delete": deleteCustomer(s, root, alpine), "suspend": customerAction(s, root, alpine, "suspend"), "resume": customerAction(s, root, alpine, "resume"),
		"restore another": customerAction(s, root, air, "restore"),
	} {
		t.Run(what+" again", func(t *testing.T) {
			platform.Scenario{Status: http.StatusBadRequest, Code: "wrong_status"}.Judge(t, answer)
		})
	}
	platform.Scenario{Status: http.StatusOK, Not: []string{"tatus", "eraseAt"}}.Judge(t, customerAction(s, root, alpine, "restore"))
	if !works(s, greta) || !works(s, lukas) {
		t.Error("a token does not work again")
	}
	if names := listed(t, s, root, "/tenant/customers"); !slices.Equal(names, everybody) {
		t.Error(names)
	}
	if n := invited(); n != 1 {
		t.Errorf("%d invitations after it was restored", n)
	}
	t.Run("it is restored as suspended as it was", func(t *testing.T) {
		customerAction(s, root, hydro, "suspend")
		deleteCustomer(s, root, hydro)
		platform.Scenario{Status: http.StatusOK, Has: map[string]any{"customer.status": "suspended"}}.Judge(t, customerAction(s, root, hydro, "restore"))
	})
	t.Run("not once its time is over", func(t *testing.T) {
		deleteCustomer(s, root, hydro)
		s.SQL(`UPDATE customers SET erase_at = now() WHERE id = $1`, hydro)
		platform.Scenario{Status: http.StatusBadRequest, Code: "wrong_status"}.Judge(t, customerAction(s, root, hydro, "restore"))
	})
	t.Run("from above", func(t *testing.T) {
		for _, answer := range []platform.Answer{deleteCustomer(s, greta, alpine), deleteCustomer(s, root, 1), deleteCustomer(s, greta, air), customerAction(s, greta, alpine, "restore")} {
			platform.Scenario{Status: http.StatusForbidden}.Judge(t, answer)
		}
	})
}
