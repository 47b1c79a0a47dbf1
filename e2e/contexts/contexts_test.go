package contexts

import (
	"strings"
	"testing"

	"canopy/e2e/platform"
)

func TestADocumentIsFound(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	if hits := s.Search(token, id, "anything"); len(hits) != 0 {
		t.Errorf("a context without documents has hits: %v", hits)
	}
	for name, text := range map[string]string{
		"bees.txt":  "Bees make honey in their hives.\n\nThey dance to show where flowers are.",
		"ships.md":  "# Ships\n\nA ship needs a captain and a harbour.",
		"stock.csv": "item,count\nhammer,3\nnail,400\n",
	} {
		if a := s.Upload(token, id, name, []byte(text)); a.Status != 200 || len(strings.Trim(string(a.Body), "\"\n")) != 36 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	names := map[float64]string{}
	for _, d := range s.Settle(token, id) {
		if d["status"] != "ready" || d["chunks"] != 1.0 || d["progress"] != 1.0 || d["error"] != nil || d["completed"] == nil {
			t.Errorf("%v", d)
		}
		names[d["id"].(float64)] = d["originalName"].(string)
	}
	for prompt, want := range map[string]string{"Where do bees dance?": "bees.txt", "captains of a ship": "ships.md", "how many nails": "stock.csv"} {
		hits := s.Search(token, id, prompt)
		if len(hits) != 1 || names[hits[0]["docId"].(float64)] != want || hits[0]["similarity"].(float64) <= 0 {
			t.Errorf("%s: %v", prompt, hits)
		}
	}
	data, codes := s.GQL(token, `query($id: ID!) { searchContext(contextId: $id, prompt: "honey", mode: LEXICAL) {
		similarity content document { originalName context { name } } chunk { position page heading tokens } } }`, map[string]any{"id": id})
	hits, _ := data["searchContext"].([]any)
	if len(codes) > 0 || len(hits) != 1 {
		t.Fatalf("%v %v", data, codes)
	}
	if d := hits[0].(map[string]any)["document"].(map[string]any); d["originalName"] != "bees.txt" {
		t.Errorf("%v", d)
	}
}
