package contexts

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// pdfWith is a PDF whose pages have these texts; one without is like a scan.
func pdfWith(pages ...string) []byte {
	kids, objects := "", []string{"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"}
	for i, text := range pages {
		content := "0 0 100 100 re f"
		if text != "" {
			content = "BT /F1 12 Tf 50 700 Td (" + text + ") Tj ET"
		}
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
		objects = append(objects,
			fmt.Sprintf("<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources <</Font <</F1 3 0 R>> >> >>", 5+2*i),
			fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content))
	}
	objects = append([]string{"<</Type /Catalog /Pages 2 0 R>>", fmt.Sprintf("<</Type /Pages /Kids [%s] /Count %d>>", kids, len(pages))}, objects...)
	out := "%PDF-1.4\n"
	for i, o := range objects {
		out += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return []byte(out + "trailer <</Root 1 0 R>>\n%%EOF\n")
}

// TestPagesWithoutText: a document that has text on some of its pages can be found, and says which have none.
func TestPagesWithoutText(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Scans")
	gaps := make([]string, 60)
	for i := 0; i < len(gaps); i += 2 {
		gaps[i] = fmt.Sprintf("page %d", i+1)
	}
	for _, c := range []struct {
		name  string
		pages []string
		want  string
	}{
		{"whole.pdf", []string{"one", "two"}, "[]"},
		{"partly.pdf", []string{"first words", "", "", "last words", ""}, "[map[code:no_text message:pages 2-3 have no text page:2] map[code:no_text message:page 5 has no text page:5]]"},
		{"its copy.pdf", []string{"first words", "", "", "last words", ""}, "[map[code:no_text message:pages 2-3 have no text page:2] map[code:no_text message:page 5 has no text page:5]]"},
		{"begins late.pdf", []string{"", "words"}, "[map[code:no_text message:page 1 has no text page:1]]"},
		{"many.pdf", gaps, "map[code:no_text message:page 40 has no text page:40] map[code:no_text message:10 further pages have no text page:<nil>]]"},
	} {
		s.Upload(token, id, c.name, pdfWith(c.pages...))
		s.Settle(token, id)
		for _, d := range s.Documents(token, id) {
			if got := fmt.Sprint(d["warnings"]); d["displayName"] == c.name && (d["status"] != "ready" || !strings.HasSuffix(got, c.want)) {
				t.Errorf("%s: %v %s", c.name, d["status"], got)
			}
		}
	}
	data := s.MustGQL(token, `{ documents(filter: {search: "begins"}) { nodes { warnings { code message page } } } }`, nil)
	if got := fmt.Sprint(data["documents"]); got != "map[nodes:[map[warnings:[map[code:no_text message:page 1 has no text page:1]]]]]" {
		t.Error(got)
	}
	s.Upload(token, id, "scan.pdf", pdfWith("", ""))
	s.Settle(token, id)
	for _, d := range s.Documents(token, id) {
		if d["displayName"] == "scan.pdf" && (d["status"] != "failed" || fmt.Sprint(d["warnings"]) != "[]") {
			t.Errorf("nothing but scans: %v %v", d["status"], d["warnings"])
		}
	}
}

// TestPictures: with a program that reads them, pages that are pictures are found, and no warning tells of them.
func TestPictures(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(cfg *config.Config) { cfg.OCRLanguages = "eng" })
	if err := s.App.FindOCR(t.Context()); err != nil {
		t.Skip(err)
	}
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Scans")
	s.Upload(token, id, "mixed.pdf", platform.Sample(t, "mixed.pdf"))
	s.Upload(token, id, "empty.pdf", pdfWith("", ""))
	s.Settle(token, id)
	for _, d := range s.Documents(token, id) {
		want := map[string]string{"mixed.pdf": "ready []", "empty.pdf": "failed []"}[d["displayName"].(string)]
		if got := fmt.Sprint(d["status"], " ", d["warnings"]); got != want {
			t.Errorf("%v: %s, want %s", d["displayName"], got, want)
		}
	}
	hits := s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, object{"prompt": "How many ships came in March?"}).JSON(t).([]any)
	if len(hits) == 0 || platform.Member(t, hits[0], "passage.page") != 2.0 || !strings.Contains(fmt.Sprint(platform.Member(t, hits[0], "passage.content")), "forty-two") {
		t.Errorf("%v", hits)
	}
}
