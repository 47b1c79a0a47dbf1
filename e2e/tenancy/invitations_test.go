package tenancy

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

const (
	invitationsOf  = `query($c: ID) { customer(id: $c) { invitations { databaseId email status createdAt expiresAt } } }`
	myInvitations  = `{ me { invitations { id databaseId email status customer { name customer { name } } } } }`
	acceptInvited  = `mutation($id: ID!) { acceptInvitation(input: {id: $id}) { invitation { status } } }`
	declineInvited = `mutation($id: ID!) { declineInvitation(input: {id: $id}) { invitation { status } } }`
	withdrawn      = `mutation($id: ID!) { withdrawInvitation(input: {id: $id}) { invitation { status } } }`
)

// invitation gives the newest invitation of a company to an address, and what has become of it.
func invitation(t *testing.T, s *platform.Platform, token string, customer int64, email string) (id int64, status string) {
	t.Helper()
	data := s.MustGQL(token, invitationsOf, map[string]any{"c": customer})
	for _, i := range platform.Member(t, data, "customer.invitations").([]any) {
		if platform.Member(t, i, "email") == email {
			id, status = int64(platform.Member(t, i, "databaseId").(float64)), platform.Member(t, i, "status").(string)
		}
	}
	if id == 0 {
		t.Fatalf("%s is not invited", email)
	}
	return id, status
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, greta := s.Root(), s.As("Alpine Energy", "greta@alpine.example")
	alpine := s.Customer("Alpine Energy")
	s.SetUp("wei@coral.example")
	wei := s.OpenSession(t, "wei@coral.example", platform.NewPassword)
	of := func(email string) (int64, string) { t.Helper(); return invitation(t, s, greta, alpine, email) }
	is := func(t *testing.T, email, want string) {
		t.Helper()
		if _, got := of(email); got != want {
			t.Errorf("%s: %s, want %s", email, got, want)
		}
	}
	add := func(email string) {
		s.Must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.Account(alpine, "tenant"), "appRoleId": s.RoleID(alpine, "tenant", "Viewer"), "email": email,
		})
	}
	path := func(id int64) string { return fmt.Sprintf("/v1/invitations/%d", id) }

	t.Run("of somebody new", func(t *testing.T) {
		add("new@alpine.example")
		id, _ := of("new@alpine.example")
		is(t, "new@alpine.example", "PENDING")
		platform.Scenario{Status: 200, Has: map[string]any{"email": "new@alpine.example", "status": "pending", "customerId": alpine}}.Judge(t, s.Do("GET", path(id), greta, nil))
		s.SetUp("new@alpine.example")
		is(t, "new@alpine.example", "ACCEPTED")
		platform.Scenario{Status: 400}.Judge(t, s.Do("DELETE", path(id), greta, nil))
		platform.Scenario{Status: 400}.Judge(t, s.Do("POST", path(id)+"/resend", greta, nil))
	})
	t.Run("answered by who is known elsewhere", func(t *testing.T) {
		add("wei@coral.example")
		id, status := of("wei@coral.example")
		mine := s.MustGQL(wei.Token, myInvitations, nil)
		if status != "PENDING" || platform.Member(t, mine, "me.invitations.#") != 1 || platform.Member(t, mine, "me.invitations.0.customer.name") != "Alpine Energy" ||
			platform.Member(t, mine, "me.invitations.0.customer.customer") != nil {
			t.Errorf("%s %v", status, mine)
		}
		s.Refused(t, "NOT_FOUND", s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword).Token, acceptInvited, map[string]any{"id": id})
		s.Refused(t, "FORBIDDEN", s.As("Coral Logistics", "wei@coral.example"), acceptInvited, map[string]any{"id": id})
		platform.Scenario{Status: 400}.Judge(t, s.Do("POST", path(id)+"/resend", greta, nil)) // signing in accepts
		s.SQL(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = $1`, id)
		is(t, "wei@coral.example", "EXPIRED")
		s.Refused(t, "BAD_REQUEST", wei.Token, acceptInvited, map[string]any{"id": id})
		s.SQL(`UPDATE invitations SET expires_at = now() + interval '1 day' WHERE id = $1`, id)
		data := s.MustGQL(wei.Token, acceptInvited, map[string]any{"id": platform.Member(t, mine, "me.invitations.0.id")})
		if platform.Member(t, data, "acceptInvitation.invitation.status") != "ACCEPTED" {
			t.Errorf("%v", data)
		}
		if n := s.Number(`SELECT count(*) FROM memberships WHERE accepted_at IS NOT NULL AND customer_id = $1 AND user_id = $2`, alpine, s.UserID("wei@coral.example")); n != 1 {
			t.Error("the company is not accepted")
		}
		s.Refused(t, "BAD_REQUEST", wei.Token, declineInvited, map[string]any{"id": id})
	})
	t.Run("declined", func(t *testing.T) {
		s.MustGQL(wei.Token, `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`, map[string]any{"c": alpine})
		add("wei@coral.example")
		id, _ := of("wei@coral.example")
		s.MustGQL(wei.Token, declineInvited, map[string]any{"id": id})
		is(t, "wei@coral.example", "DECLINED")
		if list := string(s.Must(200, "GET", "/tenant/users", greta, nil).Body); strings.Contains(list, "wei@coral.example") {
			t.Error(list)
		}
		s.Refused(t, "BAD_REQUEST", wei.Token, acceptInvited, map[string]any{"id": id})
	})
	t.Run("of a company that is suspended or deleted", func(t *testing.T) {
		add("wei@coral.example")
		id, _ := of("wei@coral.example")
		at := fmt.Sprintf("/tenant/customer/%d", alpine)
		for _, step := range [][4]string{{"POST", at + "/suspend", "POST", at + "/resume"}, {"DELETE", at, "POST", at + "/restore"}} {
			s.Do(step[0], step[1], root, nil)
			if m := s.Refused(t, "BAD_REQUEST", wei.Token, acceptInvited, map[string]any{"id": id}); !strings.Contains(m, "is suspended") {
				t.Error(m)
			}
			s.Must(200, step[2], step[3], root, nil)
			is(t, "wei@coral.example", "PENDING")
		}
		s.MustGQL(wei.Token, `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`, map[string]any{"c": alpine})
		is(t, "wei@coral.example", "DECLINED") // by leaving
	})
	t.Run("left when its time was over", func(t *testing.T) {
		add("wei@coral.example")
		id, _ := of("wei@coral.example")
		s.SQL(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = $1`, id)
		s.MustGQL(wei.Token, `mutation($c: ID!) { leaveCustomer(input: {customerId: $c}) { deletedId } }`, map[string]any{"c": alpine})
		is(t, "wei@coral.example", "DECLINED") // and not as if the company had taken it back
	})
	t.Run("accepted by signing in", func(t *testing.T) {
		add("wei@coral.example")
		s.OpenSession(t, "wei@coral.example", platform.NewPassword, "customerId", alpine)
		is(t, "wei@coral.example", "ACCEPTED")
	})
	t.Run("withdrawn", func(t *testing.T) {
		add("back@alpine.example")
		id, _ := of("back@alpine.example")
		link := s.Link("back@alpine.example")
		s.Refused(t, "FORBIDDEN", s.TokenOf(alpine, "mira@alpine.example", "tenant"), withdrawn, map[string]any{"id": id})
		s.Refused(t, "FORBIDDEN", s.As("Coral Logistics", "wei@coral.example"), withdrawn, map[string]any{"id": id})
		data := s.MustGQL(greta, withdrawn, map[string]any{"id": id})
		if platform.Member(t, data, "withdrawInvitation.invitation.status") != "WITHDRAWN" {
			t.Errorf("%v", data)
		}
		s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": link, "password": platform.NewPassword})
		platform.Scenario{Status: 400}.Judge(t, s.Do("DELETE", path(id), greta, nil))
		if n := s.Number(`SELECT count(*) FROM permissions WHERE user_id = $1`, s.UserID("back@alpine.example")); n != 0 {
			t.Errorf("%d permissions", n)
		}
		s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "back@alpine.example"})
		is(t, "back@alpine.example", "PENDING") // another one
	})
	t.Run("sent again", func(t *testing.T) {
		id, _ := of("back@alpine.example")
		s.SQL(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = $1`, id)
		mails := len(s.Mails("back@alpine.example"))
		platform.Scenario{Status: 200, Has: map[string]any{"status": "pending"}}.Judge(t, s.Do("POST", path(id)+"/resend", greta, nil))
		if len(s.Mails("back@alpine.example")) != mails+1 {
			t.Error("no mail")
		}
		s.SetUp("back@alpine.example")
	})
	t.Run("told in the log", func(t *testing.T) {
		var told string
		s.Look(&told, `SELECT string_agg(action || ' ' || (details->'status')::text, ', ' ORDER BY id) FROM audit_events WHERE object_type = 'Invitation' AND customer_id = $1`, alpine)
		if told != `invitation.accepted {"new": "ACCEPTED", "old": "PENDING"}, invitation.declined {"new": "DECLINED", "old": "PENDING"}, invitation.declined {"new": "DECLINED", "old": "PENDING"}, invitation.declined {"new": "DECLINED", "old": "EXPIRED"}, invitation.withdrawn {"new": "WITHDRAWN", "old": "PENDING"}` {
			t.Error(told)
		}
	})
	t.Run("forgotten", func(t *testing.T) {
		s.SQL(`UPDATE invitations SET ended_at = ended_at - interval '91 days'`)
		if n, err := s.App.Store.ForgetInvitations(t.Context(), 1); err != nil || n != 1 {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := s.App.Store.ForgetInvitations(t.Context(), 1000); err != nil || s.Number(`SELECT count(*) FROM invitations WHERE ended_at IS NOT NULL`) != 0 {
			t.Error(err)
		}
	})
}

// TestInvitationsAreAnsweredOnce: whatever is tried at once, one answer holds, and the membership is as it says.
func TestInvitationsAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root, alpine := s.Root(), s.Customer("Alpine Energy")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	s.SetUp("wei@coral.example")
	wei := s.OpenSession(t, "wei@coral.example", platform.NewPassword)
	id := s.UserID("wei@coral.example")
	for round := range 8 {
		s.Must(200, "POST", "/permission", root, map[string]any{
			"appAccountId": s.Account(alpine, "tenant"), "appRoleId": s.RoleID(alpine, "tenant", "Viewer"), "userIdentityId": id,
		})
		n := s.Number(`SELECT id FROM invitations WHERE customer_id = $1 AND user_id = $2 AND status = 'PENDING'`, alpine, id)
		var wait sync.WaitGroup
		var mu sync.Mutex
		answered := 0
		for token, query := range map[string]string{wei.Token: acceptInvited, wei.Token + " ": declineInvited, greta: withdrawn} {
			wait.Go(func() {
				_, codes := s.GQL(strings.TrimSpace(token), query, map[string]any{"id": n})
				mu.Lock()
				defer mu.Unlock()
				if len(codes) == 0 {
					answered++
				}
			})
		}
		wait.Wait()
		var status string
		s.Look(&status, `SELECT status FROM invitations WHERE id = $1`, n)
		member := s.Number(`SELECT count(*) FROM memberships WHERE customer_id = $1 AND user_id = $2`, alpine, id)
		permissions := s.Number(`SELECT count(*) FROM permissions WHERE account_id = $1 AND user_id = $2`, s.Account(alpine, "tenant"), id)
		if answered != 1 || (status == "ACCEPTED") != (member == 1) || member != permissions {
			t.Fatalf("round %d: %d answers, %s, %d memberships, %d permissions", round, answered, status, member, permissions)
		}
		s.Do("DELETE", fmt.Sprintf("/tenant/user/%d?customerId=%d", id, alpine), root, nil)
	}
	if log := s.Log.String(); strings.Contains(log, "deadlock") || strings.Contains(log, "status=50") {
		t.Error("some have waited for each other")
	}
}
