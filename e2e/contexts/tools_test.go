package contexts

import (
	"reflect"
	"testing"

	"canopy/e2e/platform"
)

// TestToolsLeadToAgents: a tool's agent is one of the context's own company, whoever asks, and
// however far the caller reaches.
func TestToolsLeadToAgents(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	assistant, builder := s.RootAs("assistant"), s.RootAs("builder")
	agent := func(token, name string) int64 {
		made := s.Mutate(token, "createAgent", "agent { databaseId }", map[string]any{"name": name})
		return int64(platform.Member(t, made, "agent.databaseId").(float64))
	}
	own, gone := agent(builder, "Own"), agent(builder, "Gone")
	s.Mutate(builder, "deleteAgent", "deletedId", map[string]any{"id": gone})
	below := agent(s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder"), "Below")

	contextOf := func(agent int64) float64 {
		made := s.Mutate(assistant, "createContext", "context { databaseId }", map[string]any{
			"name": "Tools", "description": "", "caption": "", "toolsJson": platform.OneTool(agent),
		})
		return platform.Member(t, made, "context.databaseId").(float64)
	}
	for _, c := range []struct {
		name  string
		agent int64
		want  any
	}{
		{"own", own, map[string]any{"name": "Own", "databaseId": float64(own), "runnable": false}},
		{"deleted", gone, nil},
		{"of a company below", below, nil},
		{"never there", platform.AbsentID, nil},
	} {
		data := s.MustGQL(assistant, `query($id: ID!) { context(id: $id) { tools { agentId agent { name databaseId runnable } } } }`, map[string]any{"id": contextOf(c.agent)})
		tool := platform.Member(t, data, "context.tools").([]any)[0].(map[string]any)
		if tool["agentId"] != float64(c.agent) || !reflect.DeepEqual(tool["agent"], c.want) {
			t.Errorf("%s: %v", c.name, tool)
		}
	}

	// However many contexts and tools: one statement for all of their agents.
	ask := func(n int) int64 {
		return s.Statements(func() {
			data := s.MustGQL(assistant, `query($n: Int) { contexts(first: $n) { nodes { tools { agent { name account { name } } } } } }`, map[string]any{"n": n})
			if got := len(platform.Member(t, data, "contexts.nodes").([]any)); got != n {
				t.Fatalf("%d contexts", got)
			}
		})
	}
	for range 12 {
		contextOf(own)
	}
	ask(1)
	if a, b := ask(1), ask(16); a != b {
		t.Errorf("%d statements for one context, %d for sixteen", a, b)
	}
}
