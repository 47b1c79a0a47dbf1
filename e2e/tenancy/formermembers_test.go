package tenancy

import (
	"fmt"
	"strings"
	"testing"

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
	s.MustGQL(own.Token, `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`, map[string]any{"c": alpine})
	// What becomes of the person elsewhere is nothing to the company that was left.
	s.SQL(`UPDATE users SET email = 'elsewhere@people.example' WHERE id = $1`, id)

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
	t.Run("those who never were there are out of reach", func(t *testing.T) {
		for _, stranger := range []int64{s.UserID(platform.DemoAdmin), platform.AbsentID} {
			s.Must(403, "GET", fmt.Sprintf("/v1/audit?actorId=%d", stranger), greta, nil)
			s.Refused(t, "FORBIDDEN", greta, asked, map[string]any{"u": stranger, "c": alpine})
		}
	})
}
