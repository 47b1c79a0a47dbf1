package tenancy

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// customerAction posts what is done to a company, and gives the answer.
func customerAction(s *platform.Platform, token string, customer int64, what string) platform.Answer {
	return s.Do("POST", fmt.Sprintf("/tenant/customer/%d/%s", customer, what), token, nil)
}

// suspended is the answer to whoever acts for a suspended company.
var suspended = platform.Scenario{Status: 403, Code: "customer_suspended"}

// TestSuspension suspends a company with two below it: at the next request nobody acts for any of them, on any process, and
// after it was resumed everything goes on.
func TestSuspension(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	root, alpine, hydro := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	for _, email := range []string{"lukas@alpine-hydro.example", "mira@alpine.example"} {
		s.SetUp(email)
	}
	s.Must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(s.Customer("Coral Air"), "tenant"), "appRoleId": s.RoleID(1, "tenant", "Viewer"), "email": "mira@alpine.example",
	})
	greta := s.As("Alpine Energy", "greta@alpine.example")
	lukas := s.OpenSession(t, "lukas@alpine-hydro.example", platform.NewPassword)
	mira := s.OpenSession(t, "mira@alpine.example", platform.NewPassword, "customerId", alpine)
	form, tell := formOf(s, hydro, "lukas@alpine-hydro.example"), fmt.Sprintf("/tenant/%d", hydro)
	heard := twin.OverSSE(t, lukas.Token)
	twin.Until(t, heard, func(n int) {
		s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": hydro, "name": fmt.Sprint("Hydro ", n)})
	})

	a := customerAction(s, root, alpine, "suspend")
	at := time.Now()
	platform.Scenario{Status: 200, Has: map[string]any{"customer.status": "suspended", "customer.effectiveStatus": "suspended", "parent.id": 1}}.Judge(t, a)
	if own := s.Must(200, "GET", fmt.Sprintf("/tenant/%d", alpine), root, nil); string(own.Body) != string(a.Body) {
		t.Errorf("%s is not %s", a.Body, own.Body)
	}
	for _, p := range []*platform.Platform{s, twin} {
		for _, token := range []string{greta, lukas.Token, mira.Token} {
			suspended.Judge(t, p.Do("GET", "/tenant", token, nil))
			if _, codes := p.GQL(token, `{ me { email } }`, nil); len(codes) != 1 || codes[0] != "FORBIDDEN" {
				t.Error(codes)
			}
		}
	}
	t.Run("an open subscription ends at once, and says why", func(t *testing.T) {
		h := platform.Next(t, heard, "the end")
		for ; h.Err == nil && !h.Over; h = platform.Next(t, heard, "the end") {
			continue
		}
		if took := time.Since(at); took > platform.AtOnce || h.Err == nil || !strings.Contains(h.Err.Error(), "suspended") {
			t.Errorf("it has ended after %v: %v", took, h.Err)
		}
	})
	t.Run("no token is issued", func(t *testing.T) {
		if a := s.Exchange(form); a.Status != 400 || platform.Member(t, a.JSON(t), "error") != "unauthorized_client" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("no login is offered it", func(t *testing.T) {
		logIn := func(email string, customer any) platform.Answer {
			return s.Do("POST", "/auth/token", "", map[string]any{"email": email, "password": platform.NewPassword, "customerId": customer})
		}
		suspended.Judge(t, logIn("lukas@alpine-hydro.example", nil))
		suspended.Judge(t, logIn("lukas@alpine-hydro.example", hydro))
		suspended.Judge(t, logIn("mira@alpine.example", alpine))
		a := logIn("mira@alpine.example", nil)
		platform.Scenario{Status: 200, Not: []string{"Alpine"}, Has: map[string]any{"customerOptions.0.displayName": "Coral Air"}}.Judge(t, a)
	})
	t.Run("no session is renewed in it, nor led to it", func(t *testing.T) {
		suspended.Judge(t, s.Refresh(lukas.Refresh))
		suspended.Judge(t, s.Refresh(mira.Refresh))
		elsewhere := platform.SessionOf(t, s.Refresh(mira.Refresh, "customerId", s.Customer("Coral Air")))
		suspended.Judge(t, s.Refresh(elsewhere.Refresh, "customerId", alpine))
	})
	t.Run("who is above still reaches it", func(t *testing.T) {
		data := s.MustGQL(root, `query($id: ID) { customer(id: $id) { status effectiveStatus users { nodes { email } } } }`, map[string]any{"id": hydro})
		if c := data["customer"].(map[string]any); c["status"] != "ACTIVE" || c["effectiveStatus"] != "SUSPENDED" {
			t.Error(c)
		}
		s.Must(204, "PUT", "/tenant", root, map[string]any{"customerId": hydro, "name": "Alpine Hydro"})
		s.Must(201, "POST", "/tenant/user", root, map[string]any{"customerId": hydro, "email": "late@alpine-hydro.example"})
		if n := s.Statements(func() { s.Must(200, "GET", tell, root, nil) }); n > 2 {
			t.Errorf("%d statements", n)
		}
	})
	t.Run("it is found by its status", func(t *testing.T) {
		for query, want := range map[string]string{"status=suspended": `["Alpine Energy"]`, "status=active&parentId=" + platform.Decimal(alpine): `["Alpine Hydro","Alpine Solar"]`, "status=deleted": `[]`} {
			names := []string{}
			for _, row := range s.Must(200, "GET", "/tenant/customers?"+query, root, nil).JSON(t).([]any) {
				names = append(names, row.(map[string]any)["name"].(string))
			}
			if got := string(platform.MustJSON(t, names)); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		data := s.MustGQL(root, `{ customers(filter: {status: SUSPENDED}) { nodes { name status } totalCount } }`, nil)
		if got, _ := json.Marshal(data); string(got) != `{"customers":{"nodes":[{"name":"Alpine Energy","status":"SUSPENDED"}],"totalCount":1}}` {
			t.Errorf("%s", got)
		}
	})

	platform.Scenario{Status: 200, Not: []string{"tatus"}}.Judge(t, customerAction(twin, root, alpine, "resume"))
	for _, token := range []string{greta, lukas.Token, mira.Token} {
		if !works(s, token) || !works(twin, token) {
			t.Error("a token does not work again")
		}
	}
	platform.SessionOf(t, s.Refresh(lukas.Refresh))
	if a := s.Exchange(form); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// formOf makes an API key for a person in a company, and gives the form that a token is asked for with.
func formOf(s *platform.Platform, customer int64, email string) url.Values {
	s.T.Helper()
	key, plain, err := s.App.Resolver.OperatorCreateKey(s.T.Context(), customer, email, "test")
	if err != nil {
		s.T.Fatal(err)
	}
	return s.GrantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain})
}

// TestSuspensionIsDoneFromAbove: by a company above, to one in the status for it, and the log of the company tells.
func TestSuspensionIsDoneFromAbove(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	root, greta := s.Root(), s.As("Alpine Energy", "greta@alpine.example")
	play := func(name, token string, customer int64, what string, want platform.Scenario) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			want.Judge(t, customerAction(s, token, customer, what))
		})
	}
	denied, wrong := platform.Scenario{Status: 403, Code: "FORBIDDEN"}, platform.Scenario{Status: 400, Code: "wrong_status"}
	for _, what := range []string{"suspend", "resume"} {
		play(what+" oneself", greta, alpine, what, denied)
		play(what+" the root", root, 1, what, denied)
		play(what+" a company elsewhere", greta, s.Customer("Coral Air"), what, denied)
		play(what+" without the right", s.As("Alpine Energy", "mira@alpine.example"), hydro, what, denied)
		play(what+" nothing", root, platform.AbsentID, what, platform.Scenario{Status: 404})
	}
	play("resume an active one", greta, hydro, "resume", wrong)
	play("suspend", greta, hydro, "suspend", platform.Scenario{Status: 200, Has: map[string]any{"customer.status": "suspended", "customer.id": hydro}})
	play("suspend again", greta, hydro, "suspend", wrong)
	play("suspend above it", root, alpine, "suspend", platform.Scenario{Status: 200})
	play("resume below a suspended one", root, hydro, "resume", platform.Scenario{Status: 200, Has: map[string]any{"customer.effectiveStatus": "suspended"}, Not: []string{`"status"`}})
	suspended.Judge(t, customerAction(s, greta, hydro, "suspend")) // whose own company is suspended by now
	play("resume", root, alpine, "resume", platform.Scenario{Status: 200})
	var told []string
	if err := s.DB.Select(&told, `SELECT action || ' ' || (details->'status')::text FROM audit_events WHERE customer_id = $1 AND details ? 'status' ORDER BY id`, hydro); err != nil {
		t.Fatal(err)
	}
	if want := `customer.suspended {"new": "SUSPENDED", "old": "ACTIVE"}, customer.resumed {"new": "ACTIVE", "old": "SUSPENDED"}`; strings.Join(told, ", ") != want {
		t.Errorf("the log tells %q", told)
	}
}
