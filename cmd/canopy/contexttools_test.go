package main

import (
	"fmt"
	"reflect"
	"testing"
)

// oneTool defines one tool that runs an agent.
func oneTool(agent int64) string {
	return fmt.Sprintf(`[{"id":1,"name":"run_it","description":"Runs it","action":"Run Agent","agentId":%d}]`, agent)
}

// TestToolsLeadToAgents: a tool's agent is one of the context's own company, whoever asks, and
// however far the caller reaches.
func TestToolsLeadToAgents(t *testing.T) {
	s := newStack(t)
	assistant, builder := s.rootAs("assistant"), s.rootAs("builder")
	agent := func(token, name string) int64 {
		made := s.mutate(token, "createAgent", "agent { databaseId }", map[string]any{"name": name})
		return int64(member(t, made, "agent.databaseId").(float64))
	}
	own, gone := agent(builder, "Own"), agent(builder, "Gone")
	s.mutate(builder, "deleteAgent", "deletedId", map[string]any{"id": gone})
	below := agent(s.tokenOf(s.company("Alpine Energy"), "greta@alpine.example", "builder"), "Below")

	contextOf := func(agent int64) float64 {
		made := s.mutate(assistant, "createContext", "context { databaseId }", map[string]any{
			"name": "Tools", "description": "", "caption": "", "toolsJson": oneTool(agent),
		})
		return member(t, made, "context.databaseId").(float64)
	}
	for _, c := range []struct {
		name  string
		agent int64
		want  any
	}{
		{"own", own, map[string]any{"name": "Own", "databaseId": float64(own), "runnable": false}},
		{"deleted", gone, nil},
		{"of a company below", below, nil},
		{"never there", absentID, nil},
	} {
		data := s.mustGQL(assistant, `query($id: ID!) { context(id: $id) { tools { agentId agent { name databaseId runnable } } } }`, map[string]any{"id": contextOf(c.agent)})
		tool := member(t, data, "context.tools").([]any)[0].(map[string]any)
		if tool["agentId"] != float64(c.agent) || !reflect.DeepEqual(tool["agent"], c.want) {
			t.Errorf("%s: %v", c.name, tool)
		}
	}

	// However many contexts and tools: one statement for all of their agents.
	ask := func(n int) int64 {
		return s.statements(func() {
			data := s.mustGQL(assistant, `query($n: Int) { contexts(first: $n) { nodes { tools { agent { name account { name } } } } } }`, map[string]any{"n": n})
			if got := len(member(t, data, "contexts.nodes").([]any)); got != n {
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
