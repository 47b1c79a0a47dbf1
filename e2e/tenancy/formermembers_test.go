package tenancy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// TestWhoHasLeftStaysKnown: the log of a company goes on telling who did what, also of those who have left it, and of nobody else.
func TestWhoHasLeftStaysKnown(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, coral := s.Customer("Alpine Energy"), s.Customer("Coral Logistics")
	root, greta, wei := s.Root(), s.As("Alpine Energy", "greta@alpine.example"), s.As("Coral Logistics", "wei@coral.example")
	const email = "parting@people.example"
	for _, customer := range []int64{alpine, coral} {
		s.Must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.Account(customer, "tenant"), "appRoleId": s.RoleID(customer, "tenant", "Admin"), "email": email,
		})
	}
	id := s.UserID(email)
	s.SetUp(email)
	own := s.OpenSession(t, email, platform.NewPassword, "customerId", alpine)
	s.Must(204, "PUT", "/tenant", own.Token, map[string]any{"customerId": alpine, "name": "Alpine by an admin"})
	s.Must(200, "POST", "/permission", own.Token, map[string]any{
		"appAccountId": s.Account(alpine, "tenant"), "appRoleId": s.RoleID(alpine, "tenant", "Viewer"), "email": "given@alpine.example",
	})
	s.MustGQL(own.Token, `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`, map[string]any{"c": alpine})
	// What becomes of the person elsewhere is nothing to the company that was left.
	s.SQL(`UPDATE users SET email = 'elsewhere@people.example' WHERE id = $1`, id)

	givenBy := func(when, want string) {
		for _, path := range []string{"/tenant/users", "/tenant/accounts", "/v1/permissions"} {
			a := s.Must(200, "GET", path, greta, nil)
			if body := string(a.Body); strings.Contains(body, "elsewhere@") || path != "/v1/permissions" && !strings.Contains(body, fmt.Sprintf(`{\"id\":%d,\"email\":\"%s\"}`, id, want)) {
				t.Errorf("%s, %s tells %s", when, path, body)
			}
		}
		data := fmt.Sprint(s.MustGQL(greta, `{ permissions { nodes { createdBy { databaseId email } } } customer { users { nodes { permissions { nodes { createdBy { email } } } } } } }`, nil))
		if strings.Contains(data, "elsewhere@") || !strings.Contains(data, fmt.Sprintf("map[databaseId:%d email:%s]", id, want)) {
			t.Errorf("%s, the graph tells %s", when, data)
		}
	}
	givenBy("after the person has left", email)

	const asked = `query($u: ID!, $c: ID!) { auditEvents(filter: {actorId: $u, customerId: $c}) { nodes { action actor { databaseId email } } } }`
	for who, token := range map[string]string{"an owner": greta, "one of root": root} {
		want := email
		if token == root { // which reaches the other company, too
			want = "elsewhere@people.example"
		}
		told := map[string]bool{}
		for _, e := range platform.Member(t, s.MustGQL(token, asked, map[string]any{"u": id, "c": alpine}), "auditEvents.nodes").([]any) {
			told[platform.Member(t, e, "action").(string)] = true
			if platform.Member(t, e, "actor.databaseId") != float64(id) || platform.Member(t, e, "actor.email") != want {
				t.Errorf("%s sees %v", who, e)
			}
		}
		if !told["customer.updated"] || !told["user.removed"] {
			t.Errorf("%s sees %v", who, told)
		}
		rest := s.Must(200, "GET", fmt.Sprintf("/v1/audit?actorId=%d&customerId=%d&action=customer.updated", id, alpine), token, nil)
		if platform.Member(t, rest.JSON(t), "#") != 1 || platform.Member(t, rest.JSON(t), "0.actorId") != float64(id) {
			t.Errorf("%s sees %s", who, rest.Body)
		}
	}
	s.Refused(t, "FORBIDDEN", greta, `query($u: ID!) { user(id: $u) { email } }`, map[string]any{"u": id})

	t.Run("who is no member any more anywhere", func(t *testing.T) {
		s.Must(204, "DELETE", fmt.Sprintf("/tenant/user/%d", id), wei, nil)
		for who, token := range map[string]string{"an owner": greta, "one of root": root} {
			if a := s.Must(200, "GET", fmt.Sprintf("/v1/audit?actorId=%d&customerId=%d&action=customer.updated", id, alpine), token, nil); !strings.Contains(string(a.Body), fmt.Sprintf(`"actorId":%d`, id)) {
				t.Errorf("%s sees %s", who, a.Body)
			}
		}
	})
	t.Run("what was known is forgotten in time", func(t *testing.T) {
		s.SQL(`UPDATE former_members SET created_at = now() - interval '3 days' WHERE user_id = $1`, id)
		last, err := s.App.Store.ForgetFormerMembers(t.Context(), 48*time.Hour, 0, 100)
		if err != nil || last == 0 || s.Number(`SELECT count(*) FROM former_members WHERE user_id = $1 AND (email <> '' OR first_name <> '' OR last_name <> '')`, id) != 0 {
			t.Errorf("%d, %v", last, err)
		}
		givenBy("once that is forgotten", "")
		if last, err := s.App.Store.ForgetFormerMembers(t.Context(), 48*time.Hour, 0, 100); err != nil || last != 0 {
			t.Errorf("%d rows are looked at again, %v", last, err)
		}
	})
	t.Run("those who never were there are out of reach", func(t *testing.T) {
		for _, stranger := range []int64{s.UserID(platform.DemoAdmin), platform.AbsentID} {
			s.Must(403, "GET", fmt.Sprintf("/v1/audit?actorId=%d", stranger), greta, nil)
			s.Refused(t, "FORBIDDEN", greta, asked, map[string]any{"u": stranger, "c": alpine})
		}
	})
}
