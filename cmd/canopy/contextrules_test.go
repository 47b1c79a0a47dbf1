package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
	"canopy/jobs"
	"canopy/resolvers"
)

// TestContextFields makes, changes and reads a context.
func TestContextFields(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	const tools = `[ {"id":1,"name":"open_ticket","description":"Opens a ticket","action":"Run Agent","agentId":7,
		"parameters":[{"paramName":"title","type":"string","required":true,"description":"What it is about"}],"more":null} ]`
	a := s.must(200, "POST", "/context", token, map[string]any{
		"name": "Handbook", "description": "You answer questions about holidays.", "caption": "Holidays and shifts", "toolsJson": tools,
	})
	for path, want := range map[string]any{
		"name": "Handbook", "embeddingModel": "canopy-lexical-1", "maxSize": 104857600, "topN": 5, "scoreThreshold": 0, "chunkSize": 1000,
		"overlap": 0.2, "toolsJson": tools, "shareState": 0, "deleted": nil, "icon": "",
	} {
		if got := member(t, a.json(t), path); !sameJSON(got, want) {
			t.Errorf("%s is %v", path, got)
		}
	}
	prompts := member(t, a.json(t), "starterPrompts").([]any)
	if len(prompts) < 2 || !strings.Contains(fmt.Sprint(prompts...), "Handbook") || !strings.Contains(strings.ToLower(fmt.Sprint(prompts...)), "holidays") {
		t.Errorf("generated starter prompts: %v", prompts)
	}
	id := a.id(t, "id")
	path := fmt.Sprintf("/context/%d", id)
	s.play(t, []scenario{
		{
			name: "an update keeps what is left out", method: "PUT", path: path, token: token, status: 200, has: map[string]any{"name": "New", "toolsJson": tools, "starterPrompts": prompts},
			body: map[string]any{"name": "New", "description": "", "caption": ""},
		},
		{
			name: "an empty list of prompts is kept", method: "PUT", path: path, token: token, status: 200, has: map[string]any{"starterPrompts": []any{}, "toolsJson": "[]"},
			body: map[string]any{"name": "New", "description": "", "caption": "", "starterPrompts": []any{}, "toolsJson": "[]"},
		},
		{
			name: "given prompts are kept", method: "POST", path: "/context", token: token, status: 200, has: map[string]any{"starterPrompts": []any{}},
			body: map[string]any{"name": "B", "description": "", "caption": "", "toolsJson": "[]", "starterPrompts": []any{}},
		},
		{
			name: "without tools an update keeps []", method: "PUT", path: path, token: token, status: 200, has: map[string]any{"toolsJson": "[]"},
			body: map[string]any{"name": "New", "description": "", "caption": "", "toolsJson": " [\n\t] "},
		},
		{
			name: "without tools a new context keeps []", method: "POST", path: "/context", token: token, status: 200, has: map[string]any{"toolsJson": "[]"},
			body: map[string]any{"name": "C", "description": "", "caption": "", "toolsJson": "[ ]"},
		},
		{name: "shared with an emoji", method: "PUT", path: fmt.Sprintf("/context/share/%d", id), token: token, status: 204, body: map[string]any{"shareState": 1, "icon": "👩‍👩‍👧"}},
		{name: "the icon is kept", method: "GET", path: path, token: token, status: 200, has: map[string]any{"shareState": 1, "icon": "👩‍👩‍👧"}},
		{name: "two emoji", method: "PUT", path: fmt.Sprintf("/context/share/%d", id), token: token, status: 400, says: "icon", body: map[string]any{"shareState": 1, "icon": "🐝🐝"}},
		{name: "a letter", method: "PUT", path: fmt.Sprintf("/context/share/%d", id), token: token, status: 400, says: "icon", body: map[string]any{"shareState": 1, "icon": "a"}},
		{name: "half a flag", method: "PUT", path: fmt.Sprintf("/context/share/%d", id), token: token, status: 400, says: "icon", body: map[string]any{"shareState": 1, "icon": "🇩"}},
		{name: "a flag", method: "PUT", path: fmt.Sprintf("/context/share/%d", id), token: token, status: 204, body: map[string]any{"shareState": 0, "icon": "🇩🇪"}},
		{name: "no such state", method: "PUT", path: fmt.Sprintf("/context/share/%d", id), token: token, status: 400, says: "shareState", body: map[string]any{"shareState": 2}},
	})
	data := s.mustGQL(token, `mutation($tools: String!) { createContext(input: {name: "T", description: "", caption: "", toolsJson: $tools}) {
		context { id tools { id name agentId action parameters { paramName type required } } } } }`, map[string]any{"tools": tools})
	got := member(t, data, "createContext.context.tools")
	want := []any{map[string]any{"id": 1, "name": "open_ticket", "agentId": 7, "action": "Run Agent", "parameters": []any{map[string]any{"paramName": "title", "type": "string", "required": true}}}}
	if !sameJSON(got, want) {
		t.Errorf("tools: %v", got)
	}
}

func TestToolFaultsAreNamed(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	const good = `"name":"a","description":"","action":"Run Agent","agentId":1`
	for tools, places := range map[string][]string{
		``:     {"body.toolsJson"},
		`{}`:   {"body.toolsJson"},
		`null`: {"body.toolsJson"},
		`[1]`:  {"body.toolsJson[0]"},
		`[{}]`: {"body.toolsJson[0].id", "body.toolsJson[0].name", "body.toolsJson[0].description", "body.toolsJson[0].action", "body.toolsJson[0].agentId"},
		`[{"id":1,` + good + `},{"id":1,` + good + `}]`:                                           {"body.toolsJson[1].id", "body.toolsJson[1].name"},
		`[{"id":1.5,` + good + `}]`:                                                               {"body.toolsJson[0].id"},
		`[{"id":1,"name":"two words","description":"","action":"Walk","agentId":"x"}]`:            {"body.toolsJson[0].name", "body.toolsJson[0].action", "body.toolsJson[0].agentId"},
		`[{"id":1,` + good + `,"agentId":2}]`:                                                     {"body.toolsJson[0].agentId"},
		`[{"id":1,` + good + `,"parameters":{}}]`:                                                 {"body.toolsJson[0].parameters"},
		`[{"id":1,` + good + `,"parameters":[{"paramName":"x","type":"date","required":"yes"}]}]`: {"body.toolsJson[0].parameters[0].type", "body.toolsJson[0].parameters[0].required", "body.toolsJson[0].parameters[0].description"},
	} {
		t.Run(tools, func(t *testing.T) {
			a := s.must(400, "POST", "/context", token, map[string]any{"name": "A", "description": "", "caption": "", "toolsJson": tools})
			var at []string
			for _, f := range member(t, a.json(t), "errors").([]any) {
				at = append(at, f.(map[string]any)["location"].(string))
			}
			if fmt.Sprint(at) != fmt.Sprint(places) {
				t.Errorf("%v, want %v: %s", at, places, a.Body)
			}
		})
	}
}

// TestToolsAreReadAsChecked: members of other names are kept, and nothing is read from them.
func TestToolsAreReadAsChecked(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	for _, more := range []string{`"Id":"x"`, `"AGENTID":77`, `"Parameters":[null]`, `"parameters":null`, `"more":{"agentId":5}`} {
		text := `[{"id":1,"name":"a","description":"","action":"Run Agent","agentId":3,` + more + `}]`
		s.must(200, "POST", "/context", token, map[string]any{"name": more, "description": "", "caption": "", "toolsJson": text})
	}
	data := s.mustGQL(token, `{ contexts { nodes { toolsJson tools { id agentId agent { name } parameters { paramName } } } } }`, nil)
	list := member(t, data, "contexts.nodes").([]any)
	for _, c := range list {
		want := []any{map[string]any{"id": 1, "agentId": 3, "agent": nil, "parameters": []any{}}}
		if !sameJSON(c.(map[string]any)["tools"], want) {
			t.Errorf("%v", c)
		}
	}
	if len(list) != 5 {
		t.Errorf("%d contexts", len(list))
	}
}

// TestPrivateContexts: a person sees no private context of another, unless it owns the account; a key
// sees all.
func TestPrivateContexts(t *testing.T) {
	w := newWorld(t)
	w.grant(w.target, w.shared, "assistant", resolvers.MemberRole)
	w.sql(`UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE email IN ($2, $3, $4)`,
		demoAdmin, "minh"+targetMail, "vera"+targetMail, "shared@elsewhere.example")
	login := func(email string) string {
		a := w.must(200, "POST", "/auth/token", "", map[string]any{"email": email, "password": w.info.AdminPassword, "customerId": w.target})
		return member(t, a.json(t), "token").(string)
	}
	owner, viewer, author := login("minh"+targetMail), login("vera"+targetMail), login("shared@elsewhere.example")
	id := w.newContext(author, "Diary")
	path := fmt.Sprintf("/context/%d", id)
	sees := func(token string) bool {
		a := w.do("GET", path, token, nil)
		listed := strings.Contains(string(w.must(200, "GET", "/context", token, nil).Body), `"Diary"`)
		found := w.do("POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "x"}).Status == 200
		if listed != (a.Status == 200) || listed != found || !listed && a.Status != 404 {
			t.Errorf("listed %v, found %v, read %d", listed, found, a.Status)
		}
		return listed
	}
	for name, c := range map[string]struct {
		token           string
		private, shared bool
	}{
		"its author": {author, true, true}, "the account's owner": {owner, true, true}, "another person": {viewer, false, true},
		"another person's key": {w.desk[asViewer], true, true},
	} {
		w.must(204, "PUT", fmt.Sprintf("/context/share/%d", id), author, map[string]any{"shareState": 0})
		if got := sees(c.token); got != c.private {
			t.Errorf("%s sees the private context: %v", name, got)
		}
		w.must(204, "PUT", fmt.Sprintf("/context/share/%d", id), author, map[string]any{"shareState": 1})
		if got := sees(c.token); got != c.shared {
			t.Errorf("%s sees the shared context: %v", name, got)
		}
	}
	t.Run("edges", func(t *testing.T) {
		const query = `{ customer { contexts { nodes { name } } children { nodes { contexts { totalCount } } }
			accounts { nodes { application { code } contexts { nodes { name } } } } } }`
		data, codes := w.gql(viewer, query, nil)
		if !sameJSON(member(t, data, "customer.contexts.nodes"), []any{map[string]any{"name": "Diary"}}) {
			t.Errorf("%v", data)
		}
		// What the token does not serve is not there, and says so: one company below, two other accounts.
		if member(t, data, "customer.children.nodes.0.contexts") != nil || !slices.Equal(codes, []string{"FORBIDDEN", "FORBIDDEN", "FORBIDDEN"}) {
			t.Errorf("%v: %v", codes, data)
		}
		for _, a := range member(t, data, "customer.accounts.nodes").([]any) {
			if contexts := member(t, a, "contexts"); (contexts != nil) != (member(t, a, "application.code") == "assistant") {
				t.Errorf("%v", a)
			}
		}
	})
}

// TestOrphansAreSwept puts an original into the store that no document has.
func TestOrphansAreSwept(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	s.upload(token, s.newContext(token, "Handbook"), "a.txt", []byte("kept"))
	if err := s.p.Resolver.Blobs.Write(t.Context(), "documents/6f1c1b1e-0000-4000-8000-000000000000", strings.NewReader("orphan")); err != nil {
		t.Fatal(err)
	}
	w := s.p.Worker(nil)
	for _, c := range []struct {
		age  time.Duration
		left int64
	}{{24 * time.Hour, 0}, {-time.Hour, 1}} {
		if err := jobs.SweepBlobs(t.Context(), w.Store, w.Documents.Blobs, c.age); err != nil {
			t.Fatal(err)
		}
		if n := s.number(`SELECT count(*) FROM blob_deletions`); n != c.left {
			t.Errorf("older than %s: %d orphans", c.age, n)
		}
	}
	s.work(nil)
	devtest.Eventually(t, "the orphan is gone", func() bool { return s.blobs() == 1 })
}
