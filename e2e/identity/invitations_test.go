package identity

import (
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// TestInvitationsToOneAddressAreFew: whoever invites, a person gets five mails in a day, and the links that it
// has live on.
func TestInvitationsToOneAddressAreFew(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const who = "often@invited.example"
	id := s.Must(201, "POST", "/tenant/user", s.Root(), map[string]any{"email": who}).ID(t, "id")
	for range 6 {
		s.Must(204, "POST", "/tenant/user/init", s.Root(), map[string]any{"id": id})
	}
	s.Must(201, "POST", "/tenant/user", s.As("Alpine Energy", "greta@alpine.example"), map[string]any{"email": who})
	if n := len(s.Mails(who)); n != 5 {
		t.Errorf("%d mails, want 5", n)
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.invited' AND object_id = $1`, id); n != 4 {
		t.Errorf("%d invitations are told of, want 4", n)
	}
	link := s.Link(who)
	if s.Number(`SELECT count(*) FROM link_tokens WHERE user_id = $1 AND used_at IS NULL`, id) != 1 {
		t.Error("the last link that was sent is not the one that lives")
	}
	s.SQL(`UPDATE mail_outbox SET created_at = created_at - interval '25 hours' WHERE user_id = $1`, id)
	s.Must(204, "POST", "/tenant/user/init", s.Root(), map[string]any{"id": id})
	if n := len(s.Mails(who)); n != 6 {
		t.Errorf("%d mails on the next day, want 6", n)
	}
	s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": link, "password": platform.NewPassword})
	s.SetUp(who)
}

// TestInvitationsAtOnceAreFew: companies that invite a person at the same moment are counted one after the other.
func TestInvitationsAtOnceAreFew(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const who = "wanted@invited.example"
	root := s.Root()
	var everybody sync.WaitGroup
	for _, row := range s.Must(200, "GET", "/tenant/customers", root, nil).JSON(t).([]any) {
		everybody.Go(func() {
			if got := s.Do("POST", "/tenant/user", root, map[string]any{"email": who, "customerId": platform.Member(t, row, "id")}); got.Status != 201 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
	everybody.Wait()
	if n := len(s.Mails(who)); n != 5 {
		t.Errorf("%d mails, want 5", n)
	}
}

// TestNoOtherMailboxIsAPersons: a letter whose small form is that of another makes a mailbox, or a domain, that somebody
// else may have. An invitation sent there would hand the person over.
func TestNoOtherMailboxIsAPersons(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Must(201, "POST", "/tenant/user", s.Root(), map[string]any{"email": "mike@invited.example"})
	greta := s.As("Alpine Energy", "greta@alpine.example")
	for name, like := range map[string]string{
		"I with a dot": "m\u0130ke@invited.example", "Kelvin": "mi\u212Ae@invited.example", "a domain": "mike@\u0130nvited.example", "a capital": "Ärger@invited.example",
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Must(400, "POST", "/tenant/user", greta, map[string]any{"email": like})
			if got := platform.Member(t, a.JSON(t), "errors.0.message"); got != "must not contain capital letters other than A to Z" {
				t.Error(got)
			}
			s.Refused(t, "BAD_REQUEST", greta, `mutation($e: String!) { createUser(input: {email: $e}) { user { id } } }`, map[string]any{"e": like})
		})
	}
	s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "ärger@invited.example"})
	if n := len(s.Mails("mike@invited.example")); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestNamesOfPersonsLeadNowhere: mails greet by them. A last name that is the company's by default is none that
// was given.
func TestNamesOfPersonsLeadNowhere(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	for _, name := range []string{"http://evil.example", "see www.evil.example", "WWW.EVIL.EXAMPLE", "a\u202eb", "a\u2066b", "a\u200fb", "a\u0007b"} {
		for _, member := range []string{"firstName", "lastName", "name"} {
			got := s.Must(400, "POST", "/tenant/user", root, map[string]any{"email": "linked@example.com", member: name})
			if at := platform.Member(t, got.JSON(t), "errors.0.location"); at != "body."+member {
				t.Errorf("%s %q: %v", member, name, at)
			}
		}
	}
	s.Must(400, "POST", "/tenant/customer", root, map[string]any{
		"name": "a\u202eb", "regionId": s.RegionID("eu-central"), "email": "first@linked.example",
	})
	s.Must(200, "POST", "/tenant/customer", root, map[string]any{
		"name": "www.linked.example", "regionId": s.RegionID("eu-central"), "email": "first@linked.example", "firstName": "Ann",
	})
	if n := s.Number(`SELECT count(*) FROM users WHERE email = 'first@linked.example' AND last_name = 'www.linked.example'`); n != 1 {
		t.Error("the company's name is not the last name")
	}
	s.Must(201, "POST", "/tenant/user", root, map[string]any{"email": "good@example.com", "firstName": "Zoë-Marie", "lastName": "O'Hara مريم"})
}
