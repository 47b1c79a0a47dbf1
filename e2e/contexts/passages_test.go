package contexts

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// passageOf is the best hit's passage, and the words that are marked in its content.
func passageOf(t *testing.T, s *platform.Platform, token string, contextID int64, prompt string) (passage map[string]any, words []string) {
	t.Helper()
	hits := s.Search(token, contextID, prompt)
	if len(hits) == 0 {
		t.Fatalf("%q finds nothing", prompt)
	}
	content := []rune(hits[0]["content"].(string))
	part := func(of any) string {
		m := of.(map[string]any)
		return string(content[int(m["start"].(float64)):int(m["end"].(float64))])
	}
	for _, h := range hits[0]["highlights"].([]any) {
		words = append(words, part(h))
	}
	passage = hits[0]["passage"].(map[string]any)
	if got := part(passage); got != passage["content"] {
		t.Errorf("%q is not what stands at the passage's place: %q", passage["content"], got)
	}
	return passage, words
}

// TestPassagesCiteTheirPage: of a document of 300 pages, each a small part of a chunk, nearly every question is answered with its page.
func TestPassagesCiteTheirPage(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Book")
	s.Upload(token, id, "book.pdf", platform.Sample(t, "pages300.pdf"))
	s.Settle(token, id)
	right := 0
	for page := 1; page <= 300; page++ {
		passage, _ := passageOf(t, s, token, id, fmt.Sprintf("Where does page marker number %d begin?", page))
		if passage["page"] == float64(page) && strings.Contains(passage["content"].(string), fmt.Sprintf("number %d begins", page)) {
			right++
		}
	}
	if t.Logf("%d of 300", right); right < 297 {
		t.Errorf("%d of 300 passages cite their page", right)
	}
}

// TestPassagesCiteHeadingsAndRows: a passage has the headings above it as a path, or its row, wherever in the chunk it stands.
func TestPassagesCiteHeadingsAndRows(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	book := s.NewContext(token, "Book")
	s.Upload(token, book, "a.md", []byte("# Staff\n\nFor everybody.\n\n## Leave\n\nDays off are asked for early.\n\n### Illness\n\nA doctor’s note is needed from the third day. 🎉 Naïve héros rest.\n\n## Travel\n\nTrains before planes.\n"))
	s.Upload(token, book, "birds.docx", platform.Sample(t, "guide.docx"))
	s.Upload(token, book, "lamps.html", []byte("<h1>Lamps</h1><ol><li>Clean the lens</li><li>Trim the wick</li></ol><h2>Storms</h2><p>The foghorn VX2291-B sounds.</p>"))
	table := s.NewContext(token, "Table")
	rows := "part,colour\n"
	for i := range 200 {
		rows += fmt.Sprintf("bolt-%d,shade%d\n", i, i)
	}
	s.Upload(token, table, "parts.csv", []byte(rows))
	s.Settle(token, book)
	s.Settle(token, table)
	for _, c := range []struct {
		context                int64
		prompt, content, words string
		heading, row           any
	}{
		{book, "doctor note", "### Illness\n\nA doctor’s note is needed from the third day.", "doctor note", "Staff > Leave > Illness", nil},
		{book, "héros", "🎉 Naïve héros rest.", "héros", "Staff > Leave > Illness", nil},
		{book, "trains", "Trains before planes.", "Trains", "Staff > Travel", nil},
		{book, "dunlin length", "Bird: Dunlin; Length: 18 cm", "Dunlin Length Dunlin Length", "Field guide > Birds of the coast > Waders", nil},
		{book, "foghorn", "Storms\n\nThe foghorn VX2291-B sounds.", "foghorn", "Lamps > Storms", nil},
		{book, "vx2291b", "Storms\n\nThe foghorn VX2291-B sounds.", "VX2291-B", "Lamps > Storms", nil},
		{table, "bolt-150", "bolt-150,shade150", "bolt-150", nil, 152.0},
	} {
		passage, words := passageOf(t, s, token, c.context, c.prompt)
		if !strings.Contains(passage["content"].(string), c.content) || passage["heading"] != c.heading || passage["row"] != c.row {
			t.Errorf("%s: %v", c.prompt, passage)
		}
		if !strings.Contains(strings.Join(words, " "), c.words) {
			t.Errorf("%s: %q is marked", c.prompt, words)
		}
	}
	twin := s.NewContext(token, "The same table")
	s.Upload(token, twin, "copy.csv", []byte(rows))
	s.Settle(token, twin)
	if passage, _ := passageOf(t, s, token, twin, "bolt-150"); passage["row"] != 152.0 {
		t.Errorf("of a document with the same bytes: %v", passage)
	}
	// What was cut before has no places: it is told by its beginning.
	s.SQL(`UPDATE chunks SET places = NULL`)
	if passage, _ := passageOf(t, s, token, table, "bolt-150"); passage["row"] == nil || passage["row"].(float64) > 152 || !strings.Contains(passage["content"].(string), "bolt-150") {
		t.Errorf("a chunk from before: %v", passage)
	}
}
