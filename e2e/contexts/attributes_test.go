package contexts

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
)

// known uploads a document with attributes.
func known(s *platform.Platform, token string, contextID int64, name, content, attributes string) platform.Answer {
	s.T.Helper()
	body, contentType := platform.Form(s.T, platform.Part{Field: "attributes", Content: []byte(attributes)}, platform.Part{Field: "file", Name: name, Content: []byte(content)})
	return s.Post(fmt.Sprintf("/context/upload/%d", contextID), token, contentType, body)
}

// TestAttributes: what is said of a document is given with it or later, is shown at both doors, and lists are filtered by it.
func TestAttributes(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	for name, attributes := range map[string]string{
		"a.txt": `{"lang": "de", "year": 2024, "draft": true}`, "b.txt": `{"lang": "en", "year": 2020}`, "c.txt": `{"lang": "de", "year": "unknown"}`, "d.txt": `{}`,
	} {
		if a := known(s, token, id, name, "text", attributes); a.Status != 200 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	for faulty, says := range map[string]string{`{"a": []}`: "attributes.a", `{"a":`: "attributes", `{"a": 1, "a": 2}`: "attributes.a", `{"id": 9007199254740993}`: "attributes.id"} {
		a := known(s, token, id, "e.txt", "text", faulty)
		if a.Status != 400 || !strings.Contains(string(a.Body), says) {
			t.Errorf("%s: %d %s", faulty, a.Status, a.Body)
		}
	}
	for filter, want := range map[string]string{
		`{}`:                                                        "a b c d",
		`{"lang": {"eq": "de"}}`:                                    "a c",
		`{"year": {"gte": 2024}}`:                                   "a",
		`{"year": {"gt": 2019, "lt": 2024}}`:                        "b",
		`{"year": {"lte": 2024}}`:                                   "a b",
		`{"year": {"eq": "unknown"}}`:                               "c",
		`{"lang": {"gt": "de"}}`:                                    "b",
		`{"lang": {"in": ["de", "fr"]}}`:                            "a c",
		`{"lang": {"in": []}}`:                                      "",
		`{"draft": {"eq": true}}`:                                   "a",
		`{"draft": {"exists": true}}`:                               "a",
		`{"lang": {"exists": false}}`:                               "d",
		`{"not": {"lang": {"eq": "de"}}}`:                           "b d",
		`{"not": {"year": {"gte": 2024}}}`:                          "b c d",
		`{"or": [{"year": {"eq": 2020}}, {"draft": {"eq": true}}]}`: "a b",
		`{"and": [{"lang": {"eq": "de"}}, {"not": {"draft": {"eq": true}}}]}`: "c",
		`{"la\" || \"ng": {"eq": "\") || exists($.lang ? (@ == \"de"}}`:       "",
		`{"": {"eq": 1}}`:                    "400",
		`{"year": {"lt": 9007199254740991}}`: "a b",
		`{"year": {"lt": 9007199254740993}}`: "400",
	} {
		a := s.Do("GET", fmt.Sprintf("/context/documents/%d?orderBy=name&attributes=%s", id, url.QueryEscape(filter)), token, nil)
		got := "400"
		if a.Status == 200 {
			var names []string
			for _, d := range a.JSON(t).([]any) {
				names = append(names, strings.TrimSuffix(platform.Member(t, d, "displayName").(string), ".txt"))
			}
			got = strings.Join(names, " ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s: %.200s", filter, got, want, a.Body)
		}
	}
	found := s.MustGQL(token, `query($f: JSON) { documents(filter: {attributes: $f}) { totalCount nodes { attributes } } }`, object{"f": object{"lang": object{"eq": "en"}}})["documents"]
	if got := fmt.Sprint(found); got != "map[nodes:[map[attributes:map[lang:en year:2020]]] totalCount:1]" {
		t.Error(got)
	}
	far := object{"far": json.RawMessage(`{"id": 9007199254740993}`), "filter": json.RawMessage(`{"id": {"eq": 9007199254740993}}`), "d": fmt.Sprintf("%.0f", s.Documents(token, id)[0]["id"]), "c": id}
	for _, q := range []string{
		`query($filter: JSON) { documents(filter: {attributes: $filter}) { totalCount } }`,
		`query($c: ID!, $filter: JSON) { searchContext(contextId: $c, prompt: "text", attributes: $filter) { content } }`,
		`mutation($d: ID!, $far: JSON) { updateDocument(input: {id: $d, attributes: $far}) { document { attributes } } }`,
		`mutation { updateDocument(input: {id: ` + far["d"].(string) + `, attributes: {id: 9007199254740993}}) { document { attributes } } }`,
	} {
		if says := s.Refused(t, "BAD_REQUEST", token, q, far); !strings.Contains(says, "9007199254740991") {
			t.Errorf("%s: %s", q, says)
		}
	}
	s.Must(400, "PUT", fmt.Sprintf("/v1/documents/%v", far["d"]), token, object{"attributes": far["far"]})
}

// TestSearchByAttributes: a filter decides which documents count before any is ranked.
func TestSearchByAttributes(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	for i := range 12 {
		attributes := `{"year": ` + fmt.Sprint(2010+i) + `, "lang": "en"}`
		if i == 3 {
			attributes = `{"lang": "de"}`
		}
		known(s, token, id, fmt.Sprintf("%d.txt", i), strings.Repeat("honey ", 13-i)+"and "+strings.Repeat("other words ", i), attributes)
	}
	names := map[float64]string{}
	for _, d := range s.Settle(token, id) {
		names[d["id"].(float64)] = d["displayName"].(string)
	}
	found := func(filter any, want ...string) {
		t.Helper()
		var rest, graph []string
		for _, hit := range s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, object{"prompt": "honey", "attributes": filter}).JSON(t).([]any) {
			rest = append(rest, names[hit.(map[string]any)["docId"].(float64)])
		}
		data := s.MustGQL(token, `query($c: ID!, $f: JSON) { searchContext(contextId: $c, prompt: "honey", attributes: $f) { document { displayName } } }`, object{"c": id, "f": filter})
		for _, hit := range data["searchContext"].([]any) {
			graph = append(graph, platform.Member(t, hit, "document.displayName").(string))
		}
		if !slices.Equal(rest, want) || !slices.Equal(graph, want) {
			t.Errorf("%v: %v and %v, want %v", filter, rest, graph, want)
		}
	}
	found(nil, "0.txt", "1.txt", "2.txt", "3.txt", "4.txt")
	found(object{"lang": object{"eq": "de"}}, "3.txt")
	found(object{"year": object{"gte": 2019}}, "9.txt", "10.txt", "11.txt")
	found(object{"not": object{"year": object{"lt": 2020}}}, "3.txt", "10.txt", "11.txt")
	found(object{"lang": object{"eq": "fr"}})
	document := int64(s.Documents(token, id)[11]["id"].(float64))
	s.Must(200, "PUT", fmt.Sprintf("/v1/documents/%d", document), token, object{"attributes": object{"lang": "fr"}})
	found(object{"lang": object{"eq": "fr"}}, "11.txt")
	a := s.Do("POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, object{"prompt": "honey", "attributes": object{"year": object{"around": 2020}}})
	if a.Status != 400 || !strings.Contains(string(a.Body), `"body.attributes.year.around"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestSearchContexts: what is found in several contexts comes in one order, with where it was found; one that can't be read is not there.
func TestSearchContexts(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	var ids []int64
	for i := range 3 {
		id := s.NewContext(token, fmt.Sprintf("Shelf %d", i))
		for j := range 2 {
			n := 2*i + j
			known(s, token, id, fmt.Sprintf("%d.txt", n), strings.Repeat("honey ", 6-n)+"and "+strings.Repeat("other words ", n), fmt.Sprintf(`{"shelf": %d}`, i))
		}
		s.Settle(token, id)
		ids = append(ids, id)
	}
	for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
		var rest, graph []string
		body := object{"contextIds": []int64{ids[2], ids[0], ids[2]}, "prompt": "honey", "mode": mode, "topN": 3}
		for _, hit := range s.Must(200, "POST", "/v1/contexts/search", token, body).JSON(t).([]any) {
			rest = append(rest, fmt.Sprint(int64(platform.Member(t, hit, "contextId").(float64)), strings.Count(platform.Member(t, hit, "content").(string), "honey")))
		}
		if want := []string{fmt.Sprint(ids[0], 6), fmt.Sprint(ids[0], 5), fmt.Sprint(ids[2], 2)}; !slices.Equal(rest, want) {
			t.Errorf("%s: %v, want %v", mode, rest, want)
		}
		data := s.MustGQL(token, `query($c: [ID!]!, $m: SearchMode!) { searchContexts(contextIds: $c, prompt: "honey", mode: $m, attributes: {shelf: {gt: 0}}) { document { displayName } } }`,
			object{"c": ids, "m": mode})
		for _, hit := range data["searchContexts"].([]any) {
			graph = append(graph, platform.Member(t, hit, "document.displayName").(string))
		}
		if want := []string{"2.txt", "3.txt", "4.txt", "5.txt"}; !slices.Equal(graph, want) {
			t.Errorf("%s: %v, want %v", mode, graph, want)
		}
	}
	for _, bad := range []object{{"contextIds": []int64{}, "prompt": "a"}, {"contextIds": make([]int64, 21), "prompt": "a"}, {"contextIds": ids, "prompt": ""}} {
		platform.Scenario{Status: 400}.Judge(t, s.Do("POST", "/v1/contexts/search", token, bad))
	}
	s.Must(404, "POST", "/v1/contexts/search", token, object{"contextIds": []int64{ids[0], 1 << 40}, "prompt": "honey"})
}

// TestUpdateDocument changes what is given, from the version that it was read at, and the log has both.
func TestUpdateDocument(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	if a := known(s, token, id, "a.txt", "text", `{"lang": "de", "year": 2024}`); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	document := int64(s.Documents(token, id)[0]["id"].(float64))
	path := fmt.Sprintf("/v1/documents/%d", document)
	has := func(a platform.Answer, name, attributes string) {
		t.Helper()
		if got := fmt.Sprint(platform.Member(t, a.JSON(t), "displayName"), " ", platform.Member(t, a.JSON(t), "attributes")); got != name+" "+attributes {
			t.Error(got)
		}
	}
	has(s.Must(200, "PUT", path, token, object{"displayName": "Valves", "attributes": nil}), "Valves", "map[lang:de year:2024]")
	before := s.Must(200, "GET", path, token, nil)
	has(s.Must(200, "PUT", path, token, object{"attributes": object{"year": 2025}}), "Valves", "map[year:2025]")
	if a := asked(s, "GET", path, token, "If-None-Match", before.Header.Get("ETag")); a.Status != 200 {
		t.Errorf("the ETag is as before: %d", a.Status)
	}
	platform.Scenario{Status: 400}.Judge(t, s.Do("PUT", path, token, object{"displayName": " ", "attributes": object{"or": 1}}))
	_, codes := s.GQL(token, `mutation($id: ID!) { updateDocument(input: {id: $id, displayName: "x", ifVersion: 1}) { document { id } } }`, object{"id": globalid.ID{Type: "Document", Int: document}.Global()})
	if !slices.Equal(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("of an old version: %v", codes)
	}
	var details string
	s.Look(&details, `SELECT details::text FROM audit_events WHERE action = 'document.updated' ORDER BY id DESC LIMIT 1`)
	for _, part := range []string{`"old"`, `"lang"`, "2024", "2025"} {
		if !strings.Contains(details, part) {
			t.Errorf("the log lacks %s: %s", part, details)
		}
	}
}
