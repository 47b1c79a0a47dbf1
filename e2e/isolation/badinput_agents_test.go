package isolation

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/rest"
)

// freeForm are members that take any JSON, or a moment: TestAgentDrafts, TestRunsAreExecuted and
// TestDestinationsAreManaged try them.
var freeForm = map[string]bool{"diagram": true, "input": true, "since": true, "events": true, "url": true}

// TestAgentBadInputs is TestGraphBadInputs for agents, runs and webhooks.
func TestAgentBadInputs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	b := &badInput{world: y.world, tables: newTables(t, y.DB)}
	s := declared()
	rows := map[string][]graphRow{}
	for _, row := range y.graphRows() {
		if field, is := strings.CutPrefix(row.fields, "Mutation."); is {
			field, _, _ = strings.Cut(field, "/")
			rows[field] = append(rows[field], row)
		}
	}
	for _, f := range s.Mutation.Fields {
		if rows[f.Name] == nil {
			continue
		}
		for _, field := range s.Types[f.Arguments[0].Type.Name()].Fields {
			m := inputMember{of: f.Name, name: field.Name, kind: kindOf(field.Type), required: field.Type.NonNull}
			if !freeForm[m.name] {
				t.Run(f.Name+"/"+m.name, func(t *testing.T) { b.field(t, f.Name, chooseInput(rows[f.Name], y.world, m.name), m) })
			}
		}
	}
	y.quiet(t)
}

// TestAgentBadArguments is TestGraphBadArguments for agents, runs and webhooks.
func TestAgentBadArguments(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	login := y.Login(y.Demo.AdminEmail, y.Demo.AdminPassword)
	s := declared()
	for _, f := range s.Query.Fields {
		if !agentFields()["Query."+f.Name] || f.Name == "node" {
			continue
		}
		for _, arg := range f.Arguments {
			if !freeForm[arg.Name] {
				t.Run(f.Name+"/"+arg.Name, func(t *testing.T) { y.argument(t, login, "Query", f, arg) })
			}
		}
	}
	y.quiet(t)
}

// TestAgentBadBodies is TestRESTBadBodies for agents, runs and webhooks.
func TestAgentBadBodies(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	b := &badInput{world: y.world, tables: newTables(t, y.DB)}
	_, registry := rest.New(y.App.Resolver, rest.Options{})
	for _, e := range rest.Endpoints(registry) {
		for _, row := range y.restRows() {
			if row.op != e.OperationID || row.body == nil {
				continue
			}
			for _, m := range bodyMembers(registry.OpenAPI(), e) {
				if !freeForm[m.name] {
					t.Run(e.OperationID+"/"+m.name, func(t *testing.T) { b.member(t, e, row, m) })
				}
			}
		}
	}
	y.quiet(t)
}

// TestAgentBadParameters is TestRESTBadParameters for agents, runs and webhooks.
func TestAgentBadParameters(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	_, registry := rest.New(y.App.Resolver, rest.Options{})
	bodies := map[string]any{}
	for _, row := range y.restRows() {
		if row.body != nil {
			bodies[row.op] = row.body(&ask{world: y.world, as: asRoot})
		}
	}
	for _, e := range rest.Endpoints(registry) {
		if !agentOperations()[e.OperationID] {
			continue
		}
		for _, p := range operationOf(registry.OpenAPI(), e).Parameters {
			if p.In == "header" {
				continue // TestDoneOnce
			}
			for _, v := range badValues {
				if isSearched(p, v) || p.In == "query" && (v == "0" || v == "-1") && p.Schema.Type != "integer" {
					continue
				}
				path := place.ReplaceAllStringFunc(e.Path, func(string) string { return url.PathEscape(v) })
				if p.In == "query" {
					path = place.ReplaceAllString(e.Path, "1") + "?" + p.Name + "=" + url.QueryEscape(v)
				}
				got := y.Do(e.Method, path, y.tokens[asRoot], bodies[e.OperationID])
				if got.Status < 400 || got.Status >= 500 {
					t.Errorf("%s %s %.30q: %d %.300s", e.OperationID, p.Name, v, got.Status, got.Body)
				}
				if got.Status == http.StatusBadRequest && !strings.Contains(string(got.Body), p.In+"."+p.Name) {
					t.Errorf("%s %s %.30q: the refusal does not name the parameter: %.300s", e.OperationID, p.Name, v, got.Body)
				}
			}
		}
	}
	y.quiet(t)
}

// TestAgentDrafts tries drafts and what publishing says of them.
func TestAgentDrafts(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.RootAs("builder")
	agent := s.Mutate(token, "createAgent", "agent { id }", map[string]any{"name": "Drafty"})["agent"].(map[string]any)["id"]
	for name, c := range map[string]struct {
		draft string
		fault string
	}{
		"no object":    {`[1]`, "diagram"},
		"no steps":     {`{"output":{}}`, "diagram"},
		"unknown type": {`{"steps":[{"id":"a","type":"jump"}],"output":{}}`, "diagram.steps[0].type"},
		"two faults":   {`{"steps":[{"id":"a","type":"fail"},{"id":"a","type":"set","values":{"x":"{{ nonsense( }}"}}],"output":{}}`, "diagram.steps[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Do("POST", "/graphql", token, `{"query":"mutation($i: UpdateAgentInput!){ updateAgent(input: $i) { agent { draft } } }","variables":{"i":{"id":"`+agent.(string)+`","diagram":`+c.draft+`}}}`)
			if classOf(a) != getsOK {
				t.Fatalf("%s", a.Body)
			}
			a = s.Do("POST", "/graphql", token, `{"query":"mutation($i: PublishAgentInput!){ publishAgent(input: $i) { agent { name } } }","variables":{"i":{"id":"`+agent.(string)+`"}}}`)
			if classOf(a) != getsBad || !strings.Contains(string(a.Body), `"location":"`+c.fault) {
				t.Errorf("%s", a.Body)
			}
			at := strings.TrimPrefix(strings.TrimPrefix(c.fault, "diagram"), ".")
			a = s.Do("POST", "/v1/agents/check", token, `{"diagram":`+c.draft+`}`)
			if classOf(a) != getsOK || !strings.Contains(string(a.Body), `"location":"`+at) {
				t.Errorf("the check: %s", a.Body)
			}
		})
	}
	big := `{"query":"mutation($i: UpdateAgentInput!){ updateAgent(input: $i) { agent { name } } }","variables":{"i":{"id":"` + agent.(string) + `","diagram":{"x":"` + strings.Repeat("x", 300<<10) + `"}}}}`
	if a := s.Do("POST", "/graphql", token, big); classOf(a) != getsBad && classOf(a) != "PAYLOAD_TOO_LARGE" {
		t.Errorf("a large draft: %.200s", a.Body)
	}
	if a := s.Do("POST", "/v1/agents/check", token, `{"diagram":{"x":"`+strings.Repeat("x", 300<<10)+`"}}`); classOf(a) != getsBad && classOf(a) != "PAYLOAD_TOO_LARGE" {
		t.Errorf("a large diagram to check: %.200s", a.Body)
	}
}
