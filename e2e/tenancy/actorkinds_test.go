package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestActorKinds: the log tells at both doors, and in an export, what kind of actor it was, also of somebody above, of whom it tells nothing else.
func TestActorKinds(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	const jonas = "jonas@hydro.example" // who reads, in a company below
	s.Must(200, "POST", "/permission", greta, map[string]any{"appAccountId": s.Account(hydro, "tenant"), "appRoleId": s.RoleID(hydro, "tenant", "Owner"), "email": jonas})
	s.SetUp(jonas)
	own := s.OpenSession(t, jonas, platform.NewPassword, "customerId", hydro).Token
	above := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword).Token

	named := func(token, name string) func() {
		return func() { s.Must(204, "PUT", "/tenant", token, map[string]any{"customerId": hydro, "name": name}) }
	}
	for _, c := range []struct {
		kind string
		told bool // who it was
		do   func()
	}{
		{"USER", true, named(own, "Hydro by its own")},
		{"USER", false, named(above, "Hydro by a person above")},
		{"API_KEY", false, named(greta, "Hydro by a key above")},
		{"UNKNOWN", false, func() {
			s.Must(401, "POST", "/auth/session", "", map[string]any{"email": jonas, "password": "not the password", "cookie": false})
		}},
		{"PLATFORM", false, func() {
			if _, _, err := s.App.Resolver.OperatorCreateKey(t.Context(), hydro, jonas, "From the shell"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		from := s.Number(`SELECT max(id) FROM audit_events`)
		c.do()
		id := s.Number(`SELECT max(id) FROM audit_events`)
		if id == from {
			t.Fatalf("%s: nothing is told", c.kind)
		}
		of := map[string]any{"f": map[string]any{"ids": []any{id}, "actorKind": c.kind}}
		d := s.MustGQL(own, `query($f: AuditEventFilter) { auditEvents(filter: $f) { totalCount nodes { actorKind actor { databaseId } } } }`, of)
		if platform.Member(t, d, "auditEvents.nodes.#") != 1 || platform.Member(t, d, "auditEvents.totalCount") != float64(1) || platform.Member(t, d, "auditEvents.nodes.0.actorKind") != c.kind ||
			(platform.Member(t, d, "auditEvents.nodes.0.actor") != nil) != c.told {
			t.Errorf("%s by GraphQL: %v", c.kind, d)
		}
		alone := s.MustGQL(own, `query($f: AuditEventFilter) { auditEvents(filter: $f) { nodes { actorKind } } }`, of)
		if platform.Member(t, alone, "auditEvents.nodes.0.actorKind") != c.kind {
			t.Errorf("%s alone: %v", c.kind, alone)
		}
		word := map[string]string{"USER": "user", "API_KEY": "apiKey", "UNKNOWN": "unknown", "PLATFORM": "platform"}[c.kind]
		a := s.Must(200, "GET", fmt.Sprintf("/v1/audit?ids=%d&actorKind=%s", id, word), own, nil)
		if platform.Member(t, a.JSON(t), "#") != 1 || platform.Member(t, a.JSON(t), "0.actorKind") != word || (platform.Member(t, a.JSON(t), "0.actorId") != nil) != c.told {
			t.Errorf("%s by REST: %s", c.kind, a.Body)
		}
		for _, told := range []string{string(platform.MustJSON(t, d)), string(a.Body)} {
			if strings.Contains(told, platform.DemoAdmin) || strings.Contains(told, "greta") || !c.told && strings.Contains(told, fmt.Sprintf(`"actorId":%d`, s.UserID(platform.DemoAdmin))) {
				t.Errorf("%s tells who: %s", c.kind, told)
			}
		}
		for _, other := range []string{"user", "apiKey", "directory", "unknown", "platform"} {
			b := s.Must(200, "GET", fmt.Sprintf("/v1/audit?ids=%d&actorKind=%s", id, other), own, nil)
			if (platform.Member(t, b.JSON(t), "#") == 1) != (other == word) {
				t.Errorf("%s is found as %s: %s", word, other, b.Body)
			}
		}
	}

	// The kind is the same for a reader above, who is told who it was.
	query := fmt.Sprintf("/v1/audit?customerId=%d&actorKind=user&action=customer.updated", hydro)
	for reader, token := range map[string]string{"above": greta, "root": s.Root(), "own": own} {
		var kinds []string
		rows := s.Must(200, "GET", query, token, nil).JSON(t).([]any)
		for _, e := range rows {
			kinds = append(kinds, fmt.Sprint(platform.Member(t, e, "actorKind"), platform.Member(t, e, "actorId") != nil))
		}
		want := []string{fmt.Sprint("user", reader == "root"), "usertrue"}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s: %v, want %v", reader, kinds, want)
		}
	}

	stop := s.Work(&platform.Letterbox{})
	defer stop()
	e := exported(t, s, own, hydro)
	shown := map[string]bool{}
	for _, row := range fetch(t, s, e["url"].(string)).rows["auditEvents"] {
		shown[fmt.Sprint(row["actorKind"])] = true
	}
	for _, kind := range []string{"USER", "API_KEY", "UNKNOWN", "PLATFORM"} {
		if !shown[kind] {
			t.Errorf("the export tells of %v", shown)
		}
	}
}
