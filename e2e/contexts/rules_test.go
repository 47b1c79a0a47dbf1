package contexts

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
	"canopy/jobs"
)

// TestContextFields makes, changes and reads a context.
func TestContextFields(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	const tools = `[ {"id":1,"name":"open_ticket","description":"Opens a ticket","action":"Run Agent","agentId":7,
		"parameters":[{"paramName":"title","type":"string","required":true,"description":"What it is about"}],"more":null} ]`
	a := s.Must(200, "POST", "/context", token, map[string]any{
		"name": "Handbook", "description": "You answer questions about holidays.", "caption": "Holidays and shifts", "toolsJson": tools,
	})
	for path, want := range map[string]any{
		"name": "Handbook", "embeddingModel": "canopy-lexical-2", "maxSize": 104857600, "topN": 5, "scoreThreshold": 0, "chunkSize": 1000,
		"overlap": 0.2, "toolsJson": tools, "shareState": 0, "deleted": nil, "icon": "",
	} {
		if got := platform.Member(t, a.JSON(t), path); !platform.SameJSON(got, want) {
			t.Errorf("%s is %v", path, got)
		}
	}
	prompts := platform.Member(t, a.JSON(t), "starterPrompts").([]any)
	if len(prompts) < 2 || !strings.Contains(fmt.Sprint(prompts...), "Handbook") || !strings.Contains(strings.ToLower(fmt.Sprint(prompts...)), "holidays") {
		t.Errorf("generated starter prompts: %v", prompts)
	}
	id := a.ID(t, "id")
	path := fmt.Sprintf("/context/%d", id)
	s.Play(t, []platform.Scenario{
		{
			Name: "an update keeps what is left out", Method: "PUT", Path: path, Token: token, Status: 200, Has: map[string]any{"name": "New", "toolsJson": tools, "starterPrompts": prompts},
			Body: map[string]any{"name": "New", "description": "", "caption": ""},
		},
		{
			Name: "an empty list of prompts is kept", Method: "PUT", Path: path, Token: token, Status: 200, Has: map[string]any{"starterPrompts": []any{}, "toolsJson": "[]"},
			Body: map[string]any{"name": "New", "description": "", "caption": "", "starterPrompts": []any{}, "toolsJson": "[]"},
		},
		{
			Name: "given prompts are kept", Method: "POST", Path: "/context", Token: token, Status: 200, Has: map[string]any{"starterPrompts": []any{}},
			Body: map[string]any{"name": "B", "description": "", "caption": "", "toolsJson": "[]", "starterPrompts": []any{}},
		},
		{
			Name: "without tools an update keeps []", Method: "PUT", Path: path, Token: token, Status: 200, Has: map[string]any{"toolsJson": "[]"},
			Body: map[string]any{"name": "New", "description": "", "caption": "", "toolsJson": " [\n\t] "},
		},
		{
			Name: "without tools a new context keeps []", Method: "POST", Path: "/context", Token: token, Status: 200, Has: map[string]any{"toolsJson": "[]"},
			Body: map[string]any{"name": "C", "description": "", "caption": "", "toolsJson": "[ ]"},
		},
		{Name: "shared with an emoji", Method: "PUT", Path: fmt.Sprintf("/context/share/%d", id), Token: token, Status: 204, Body: map[string]any{"shareState": 1, "icon": "👩‍👩‍👧"}},
		{Name: "the icon is kept", Method: "GET", Path: path, Token: token, Status: 200, Has: map[string]any{"shareState": 1, "icon": "👩‍👩‍👧"}},
		{Name: "two emoji", Method: "PUT", Path: fmt.Sprintf("/context/share/%d", id), Token: token, Status: 400, Says: "icon", Body: map[string]any{"shareState": 1, "icon": "🐝🐝"}},
		{Name: "a letter", Method: "PUT", Path: fmt.Sprintf("/context/share/%d", id), Token: token, Status: 400, Says: "icon", Body: map[string]any{"shareState": 1, "icon": "a"}},
		{Name: "half a flag", Method: "PUT", Path: fmt.Sprintf("/context/share/%d", id), Token: token, Status: 400, Says: "icon", Body: map[string]any{"shareState": 1, "icon": "🇩"}},
		{Name: "a flag", Method: "PUT", Path: fmt.Sprintf("/context/share/%d", id), Token: token, Status: 204, Body: map[string]any{"shareState": 0, "icon": "🇩🇪"}},
		{Name: "no such state", Method: "PUT", Path: fmt.Sprintf("/context/share/%d", id), Token: token, Status: 400, Says: "shareState", Body: map[string]any{"shareState": 2}},
	})
	data := s.MustGQL(token, `mutation($tools: String!) { createContext(input: {name: "T", description: "", caption: "", toolsJson: $tools}) {
		context { id tools { id name agentId action parameters { paramName type required } } } } }`, map[string]any{"tools": tools})
	got := platform.Member(t, data, "createContext.context.tools")
	want := []any{map[string]any{"id": 1, "name": "open_ticket", "agentId": 7, "action": "Run Agent", "parameters": []any{map[string]any{"paramName": "title", "type": "string", "required": true}}}}
	if !platform.SameJSON(got, want) {
		t.Errorf("tools: %v", got)
	}
}

func TestToolFaultsAreNamed(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	const good = `"name":"a","description":"","action":"Run Agent","agentId":1`
	for tools, places := range map[string][]string{
		``:     {"body.toolsJson"},
		`{}`:   {"body.toolsJson"},
		`null`: {"body.toolsJson"},
		`[1]`:  {"body.toolsJson[0]"},
		`[{}]`: {"body.toolsJson[0].id", "body.toolsJson[0].name", "body.toolsJson[0].description", "body.toolsJson[0].action", "body.toolsJson[0].agentId"},
		`[{"id":1,` + good + `},{"id":1,` + good + `}]`:                                {"body.toolsJson[1].id", "body.toolsJson[1].name"},
		`[{"id":1.5,` + good + `}]`:                                                    {"body.toolsJson[0].id"},
		`[{"id":1,"name":"two words","description":"","action":"Walk","agentId":"x"}]`: {"body.toolsJson[0].name", "body.toolsJson[0].action", "body.toolsJson[0].agentId"},
		`[{"id":1,` + good + `,"agentId":2}]`:                                          {"body.toolsJson[0].agentId"},
		`[{"Id":"x","id":1,` + good + `,"AGENTID":77,"Parameters":[null]}]`:            {"body.toolsJson[0].AGENTID", "body.toolsJson[0].Id", "body.toolsJson[0].Parameters"},
		`[{"id":1,` + good + `,"parameters":[{"paramName":"x","type":"string","required":true,"description":"","Required":false}]}]`: {"body.toolsJson[0].parameters[0].Required"},
		`[{"id":1,` + good + `,"parameters":{}}]`:                                                 {"body.toolsJson[0].parameters"},
		`[{"id":1,` + good + `,"parameters":[{"paramName":"x","type":"date","required":"yes"}]}]`: {"body.toolsJson[0].parameters[0].type", "body.toolsJson[0].parameters[0].required", "body.toolsJson[0].parameters[0].description"},
	} {
		t.Run(tools, func(t *testing.T) {
			a := s.Must(400, "POST", "/context", token, map[string]any{"name": "A", "description": "", "caption": "", "toolsJson": tools})
			var at []string
			for _, f := range platform.Member(t, a.JSON(t), "errors").([]any) {
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
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	for _, more := range []string{`"agent_id":77`, `"parameter":[null]`, `"parameters":null`, `"more":{"agentId":5,"AgentId":6}`} {
		text := `[{"id":1,"name":"a","description":"","action":"Run Agent","agentId":3,` + more + `}]`
		s.Must(200, "POST", "/context", token, map[string]any{"name": more, "description": "", "caption": "", "toolsJson": text})
	}
	data := s.MustGQL(token, `{ contexts { nodes { toolsJson tools { id agentId agent { name } parameters { paramName } } } } }`, nil)
	list := platform.Member(t, data, "contexts.nodes").([]any)
	for _, c := range list {
		want := []any{map[string]any{"id": 1, "agentId": 3, "agent": nil, "parameters": []any{}}}
		if !platform.SameJSON(c.(map[string]any)["tools"], want) {
			t.Errorf("%v", c)
		}
	}
	if len(list) != 4 {
		t.Errorf("%d contexts", len(list))
	}
}

// TestUploadsThatEndInBetween: what was begun to be written and that nothing came of is deleted a day later. What is kept, and what another database has in the same
// store, is left alone.
func TestUploadsThatEndInBetween(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "a.txt", []byte("kept"))
	form, contentType := platform.Form(t, platform.Part{Field: "file", Name: "a.tar.gz", Content: []byte("kept, too")})
	if a := s.Post(fmt.Sprintf("/tenant/customer/%d/import", s.Customer("Coral Logistics")), s.Root(), contentType, form); a.Status != http.StatusAccepted {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	s.SQL(`UPDATE contexts SET max_size = 5 WHERE id = $1`, id)
	form, contentType = platform.Form(t, platform.Part{Field: "file", Name: "b.txt", Content: []byte("too much")})
	if a := s.Post(fmt.Sprintf("/context/upload/%d", id), token, contentType, form); a.Status != http.StatusRequestEntityTooLarge {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if n := s.Number(`SELECT count(*) FROM blob_deletions`); n != 0 || s.Blobs() != 2 {
		t.Errorf("%d of %d files are put up for deletion", n, s.Blobs())
	}
	const begun, others = "6f1c1b1e-0000-4000-8000-000000000000", "6f1c1b1e-0000-4000-8000-000000000001"
	var want []string
	for _, prefix := range []string{db.BlobPrefix, db.ImportPrefix} {
		devtest.Check(t, s.App.Store.BeginBlob(t.Context(), prefix+begun))
		for _, name := range []string{begun, others} {
			devtest.Check(t, s.App.Resolver.Blobs.Write(t.Context(), prefix+name, strings.NewReader("orphan")))
			want = append(want, prefix+name)
		}
	}
	var found []string
	for _, before := range []time.Time{time.Now().Add(-db.UploadTime), time.Now().Add(time.Hour)} {
		devtest.Check(t, jobs.Orphans(t.Context(), s.App.Store, s.App.Resolver.Blobs, before, func(keys []string) error {
			found = append(found, keys...)
			return nil
		}))
	}
	if slices.Sort(found); !slices.Equal(found, want) {
		t.Errorf("found %v", found)
	}
	if n := s.Number(`SELECT count(*) FROM blob_deletions WHERE next_attempt_at > now() + interval '23 hours'`); n != 2 {
		t.Errorf("%d are deleted a day later", n)
	}
	s.SQL(`UPDATE blob_deletions SET next_attempt_at = now()`)
	s.Work(nil)
	devtest.Eventually(t, "what was begun is gone, as the archive that could not be read", func() bool {
		return s.Blobs() == 3 && s.Number(`SELECT count(*) FROM blob_deletions`) == 0
	})
}
