package extract

import (
	"fmt"
	"strings"
	"testing"
)

// TestLevels: how deep headings stand is kept, whatever the format calls it.
func TestLevels(t *testing.T) {
	for file, want := range map[string][]string{
		"guide.md":    {"1 Birds of the coast", "2 Waders"},
		"guide.docx":  {"1 Field guide", "2 Birds of the coast", "3 Waders"},
		"report.docx": {"2 Summary of soundings", "3 Depth table", "3 Next steps"},
		"report.doc":  {"2 Summary of soundings", "3 Depth table", "3 Next steps"},
	} {
		t.Run(file, func(t *testing.T) {
			format, _ := FormatOf(file)
			var got []string
			for _, m := range extractFile(t, file, format).Marks {
				if s := fmt.Sprint(m.Level, " ", m.Heading); m.Heading != "" && (len(got) == 0 || got[len(got)-1] != s) {
					got = append(got, s)
				}
			}
			if strings.Join(got, "; ") != strings.Join(want, "; ") {
				t.Errorf("%q", got)
			}
		})
	}
	page := "<title>Site</title><h1>One</h1><p>a</p><h3>Three</h3><p>b</p>"
	document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.html", page), HTML, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := whole(t, document)
	if m := markAt(r, strings.Index(r.Text, "b")); m.Level != 4 || m.Heading != "Three" {
		t.Errorf("%+v", m)
	}
}

// outlined is a PDF of three pages whose outline has the objects from 9 on.
func outlined(outline ...string) []byte {
	text := func(lines ...string) string {
		return stream("BT /F1 12 Tf 50 700 Td 14 TL (" + strings.Join(lines, ") Tj T* (") + ") Tj ET")
	}
	page := "<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources <</Font <</F1 3 0 R>> >> >>"
	objects := []string{
		"<</Type /Catalog /Pages 2 0 R /Outlines 10 0 R>>", "<</Type /Pages /Kids [4 0 R 5 0 R 6 0 R] /Count 3>>", pdfFont,
		fmt.Sprintf(page, 7), fmt.Sprintf(page, 8), fmt.Sprintf(page, 9),
		text("Preface of it all", "1. The first chapter", "has some words.", "1.1 On a longer", "matter, with more", "has other words."), text("goes on here."), text("2. The last chapter", "ends it."),
	}
	return pdfOf(append(objects, outline...)...)
}

func TestPDFOutline(t *testing.T) {
	data := outlined("<</Type /Outlines /First 11 0 R /Last 13 0 R>>",
		"<</Title (The first chapter) /Parent 10 0 R /Next 13 0 R /First 12 0 R /Last 12 0 R /Dest [4 0 R /Fit]>>",
		"<</Title (On a longer matter) /Parent 11 0 R /Dest [4 0 R /Fit]>>",
		"<</Title (2. The LAST chapter) /Parent 10 0 R /Prev 11 0 R /Next 14 0 R /A <</S /GoTo /D [6 0 R /XYZ 0 0 0]>> >>",
		"<</Title (Leads nowhere) /Parent 10 0 R /Prev 13 0 R>>")
	document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.pdf", string(data)), PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := whole(t, document)
	for text, want := range map[string]Mark{
		"Preface": {Page: 1}, "1. The first": {Page: 1, Heading: "The first chapter", Level: 1}, "1.1": {Page: 1, Heading: "On a longer matter", Level: 2},
		"goes on": {Page: 2, Heading: "On a longer matter", Level: 2}, "ends it": {Page: 3, Heading: "2. The LAST chapter", Level: 1},
	} {
		got := markAt(r, strings.Index(r.Text, text))
		if got.Offset = 0; got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestLongTitles: the text of a page may be shorter than its titles.
func TestLongTitles(t *testing.T) {
	title := strings.Repeat("Soundings of the harbour ", 11)
	data := outlined("<</Type /Outlines /First 11 0 R /Last 11 0 R>>", "<</Title ("+title+") /Parent 10 0 R /Dest [4 0 R /Fit]>>")
	document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.pdf", string(data)), PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := markAt(whole(t, document), 0); m.Heading != strings.TrimSpace(title) {
		t.Errorf("%+v", m)
	}
}

// TestHostileOutlines: entries that lead back to each other, or say more than the pages do, cost little and harm nothing.
func TestHostileOutlines(t *testing.T) {
	for name, outline := range map[string][]string{
		"a circle of neighbours": {"<</Type /Outlines /First 11 0 R>>", "<</Title (a) /Next 12 0 R /Dest [4 0 R /Fit]>>", "<</Title (b) /Next 11 0 R /Dest [4 0 R /Fit]>>"},
		"a circle of children":   {"<</Type /Outlines /First 11 0 R>>", "<</Title (a) /First 11 0 R /Dest [4 0 R /Fit]>>"},
		"long titles":            {"<</Type /Outlines /First 11 0 R>>", "<</Title (" + strings.Repeat("x", 1<<20) + ") /Next 11 0 R /Dest [5 0 R /Fit]>>"},
		"no entry":               {"<</Type /Outlines /First 4 0 R>>"},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a.pdf", string(outlined(outline...))), PDF, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := whole(t, document); !strings.Contains(r.Text, "ends it.") || r.Pages != 3 {
				t.Errorf("%+v", r)
			}
		})
	}
}
