package rule

import (
	"slices"
	"testing"

	"canopy/internal/access"
)

func TestSentence(t *testing.T) {
	for _, c := range []struct {
		rule *Rule
		want string
	}{
		{&Rule{Apps: access.Apps()}, "Takes a token for any application."},
		{&Rule{Apps: []access.App{access.Tenant}}, "Takes a token for `tenant`."},
		{&Rule{Apps: []access.App{access.Builder, access.Assistant}, Right: access.AgentRun}, "Needs the right `agent.run`, with a token for `builder` or `assistant`."},
		{&Rule{Apps: access.Apps(), Right: access.WebhookRead}, "Needs the right `webhook.read`, with a token for any application."},
	} {
		if got := c.rule.Sentence(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestDeclaredRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All() {
		if seen[r.Field] || Of(r.Field) != r || len(r.Apps) == 0 {
			t.Errorf("%+v", r)
		}
		seen[r.Field] = true
	}
	if Of("Query.nothing") != nil {
		t.Error("there is a rule of nothing")
	}
	for r, want := range map[*Rule]bool{SearchContext: false, DiagramCheck: false, AskContext: false, CustomerPath: false, StartRun: true} {
		if r.Changes() != want {
			t.Errorf("%s changes: %v", r.Field, r.Changes())
		}
	}
	for r, want := range map[*Rule]bool{UpdateCustomer: true, SetPermissionDisabled: true, CustomerUsage: false, ExportCustomer: false, CreateAgent: false} {
		if r.AtHome() != want {
			t.Errorf("%s is the home's: %v", r.Field, r.AtHome())
		}
	}
	if Identity.Field != Me.Field || !slices.Equal(Identity.Apps, []access.App{access.Tenant}) {
		t.Errorf("%+v", Identity)
	}
}
