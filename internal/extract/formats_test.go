package extract

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func extractFile(t testing.TB, file string, format Format) *Result {
	t.Helper()
	r, err := extractHere(t.Context(), filepath.Join("testdata", file), format, Limits{}, cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	wantClean(t, r)
	return r
}

// documents says what must and must not be in the text of the sample files.
var documents = []struct {
	file   string
	format Format
	want   []string
	never  []string
}{
	{
		file: "report.docx", format: DOCX,
		want: []string{
			"Harbour Survey, confidential draft\n", "Prepared by the tide office",
			"Station\tDepth\tRemark\nStation: Pier A; Depth: 7.5 m; Remark: soft mud second line\nStation: Pier B; Remark: not sounded\n",
			"Before inserted words and after the change.", "Measured at lowest astronomical tide.",
			"- dredge the channel\n  - only in winter\n- move the buoys\n", "link to tides", "😀", "العربية", "中文文本",
		},
		never: []string{"withdrawn", "HYPERLINK", "example.org"},
	},
	{
		file: "report.doc", format: DOC,
		want: []string{
			"Harbour Survey, confidential draft\n", "Prepared by the tide office",
			"Station\tDepth\tRemark\nPier A\t7.5 m\tsoft mud second line\nPier B\t\tnot sounded\n",
			"Before inserted words and after the change.", "Measured at lowest astronomical tide.",
			"dredge the channel", "link to tides", "😀", "العربية", "Naïve café owners pay £5 – “quoted” – for Ångström maps.",
		},
		never: []string{"withdrawn", "HYPERLINK", "example.org"},
	},
	{
		file: "report.rtf", format: DOC,
		want: []string{
			"Harbour Survey, confidential draft\n", "Prepared by the tide office",
			"Station\tDepth\tRemark\nPier A\t7.5 m\tsoft mud second line\nPier B\t\tnot sounded\n",
			"Before inserted words and after the change.", "says. [Measured at lowest astronomical tide.] Naïve",
			"dredge the channel", "link to tides", "😀", "العربية",
		},
		never: []string{"withdrawn", "HYPERLINK", "example.org", "DejaVu"},
	},
	{file: "report.docx", format: DOC, want: []string{"Summary of soundings"}},
	{
		file: "report.pdf", format: PDF,
		want:  []string{"Naïve café owners pay £5 –\n“quoted” – for Ångström maps.", "Ελληνικά", "Русский", "中文文本", "العربية", "😀"},
		never: []string{"\uFFFD"},
	},
	{file: "owner-password.pdf", format: PDF, want: []string{"Summary of soundings"}},
	{
		file: "scripts.pdf", format: PDF,
		want: []string{"η θάλασσα είναι βαθιά", "глубина моря неизвестна", "海港的深度未知", "港の深さは不明です", "العربية: عمق البحر غير معروف", "𠮷野家"},
	},
	{
		file: "guide.docx", format: DOCX,
		want:  []string{"They are loud birds.", "The nests are built of kelp.", "Bird\tLength\nBird: Dunlin; Length: 18 cm\nBird: Knot; Length: 24 cm\n", "1. Dunlin\n", "a2+b2"},
		never: []string{"silent"},
	},
	{file: "guide.rtf", format: DOC, want: []string{"cliffs. [The nests are built of kelp.] They", "Dunlin \t18 cm\n"}},
	{file: "guide.md", format: Markdown, want: []string{"## Waders\n\n1. Dunlin\n"}},
	{file: "cafe.utf8.txt", format: Text, want: []string{cafe}},
	{file: "cafe.utf8-bom.txt", format: Text, want: []string{cafe}},
	{file: "cafe.utf16-bom.txt", format: Text, want: []string{cafe}},
	{file: "cafe.utf16le.txt", format: Text, want: []string{cafe}},
	{file: "cafe.utf16be.txt", format: Text, want: []string{cafe}},
	{file: "cafe.cp1252.txt", format: Text, want: []string{"The naïve café owners pay “€5” – always, in Düsseldorf and Århus.\nSecond line.\n"}},
	{file: "ru.cp1251.txt", format: Text, want: []string{"Глубина моря у северного причала", "растает лёд.\n"}},
	{file: "ja.sjis.txt", format: Text, want: []string{"海港の深さは不明です。春になると測量が始まります。\n"}},
	{file: "tides.csv", format: CSV, want: []string{"Pier A,7.5,\"soft mud,\nsecond line\"\nPier B"}},
	{file: "tides.utf16.csv", format: CSV, want: []string{"Pier A,7.5,\"soft mud,\nsecond line\"\nPier B"}},
}

const cafe = "Naïve café owners in Łódź pay “€5” – always.\nSecond line, ωμέγα.\n"

func TestDocuments(t *testing.T) {
	for _, test := range documents {
		t.Run(test.file+" as "+string(test.format), func(t *testing.T) {
			r := extractFile(t, test.file, test.format)
			for _, want := range test.want {
				if !strings.Contains(r.Text, want) {
					t.Errorf("no %q in:\n%s", want, r.Text)
				}
			}
			for _, never := range test.never {
				if strings.Contains(r.Text, never) {
					t.Errorf("%q is in:\n%s", never, r.Text)
				}
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	places := map[string]string{ // text and the heading that it is under
		"Summary of soundings":     "Summary of soundings",
		"deeper than the chart":    "Summary of soundings",
		"Pier B":                   "Depth table",
		"after the table":          "Depth table",
		"move the buoys":           "Next steps",
		"Harbour Survey":           "",
		"Gulls nest":               "Birds of the coast",
		"built of kelp":            "Birds of the coast",
		"grey in winter":           "Waders",
		"Prepared by the tide off": "",
	}
	for _, test := range []struct {
		file   string
		format Format
	}{{"report.docx", DOCX}, {"report.doc", DOC}, {"report.rtf", DOC}, {"guide.docx", DOCX}, {"guide.md", Markdown}} {
		t.Run(test.file, func(t *testing.T) {
			r := extractFile(t, test.file, test.format)
			found := 0
			for text, heading := range places {
				at := strings.Index(r.Text, text)
				if at < 0 {
					continue
				}
				found++
				if got := markAt(r, at).Heading; got != heading {
					t.Errorf("%q is under %q, want %q", text, got, heading)
				}
			}
			if found < 3 {
				t.Errorf("only %d of the places are in the text", found)
			}
		})
	}
}

func TestPDFPages(t *testing.T) {
	r := extractFile(t, "pages300.pdf", PDF)
	if r.Pages != 300 || r.SkippedPages != 0 || len(r.Marks) != 300 {
		t.Fatalf("%d pages, %d skipped, %d marks", r.Pages, r.SkippedPages, len(r.Marks))
	}
	for i, m := range r.Marks {
		want := "Page marker number " + strconv.Itoa(i+1) + " begins."
		head := r.Text[m.Offset:min(m.Offset+60, len(r.Text))] // a page number may stand first
		if m.Page != i+1 || !strings.Contains(head, want) {
			t.Fatalf("mark %+v stands before %.40q", m, r.Text[m.Offset:])
		}
	}
}

func TestPDFColumns(t *testing.T) {
	r := extractFile(t, "columns.pdf", PDF)
	left, right := strings.Index(r.Text, "LEFTSTART"), strings.Index(r.Text, "RIGHTEND")
	if left < 0 || right < left {
		t.Errorf("the columns' ends are at %d and %d", left, right)
	}
	// Words that a line end cuts are whole again.
	if strings.Contains(r.Text, "e-\n") || !strings.Contains(r.Text, "international") {
		t.Errorf("cut words in:\n%s", r.Text)
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		file    string
		format  Format
		message string
	}{
		{"encrypted.pdf", PDF, "The PDF is encrypted."},
		{"scan.pdf", PDF, "The PDF has no text layer (a scan?)."},
		{"report.doc", DOCX, "The file is a .doc document with the name of a .docx."},
		{"report.docx", PDF, "The file is damaged."},
		{"cafe.utf8.txt", DOC, "The file is not a Word document."},
		{"report.pdf", Text, "The file is not a text file (its content is application/pdf)."},
	} {
		t.Run(test.file+" as "+string(test.format), func(t *testing.T) {
			_, err := extractHere(t.Context(), filepath.Join("testdata", test.file), test.format, Limits{}, cacheDir)
			if err == nil || err.Error() != test.message || !isFailure(err) {
				t.Errorf("error = %v, want %q", err, test.message)
			}
		})
	}
}

func TestEmptyAndBlank(t *testing.T) {
	_, err := extractHere(t.Context(), writeFile(t, "a.txt", ""), Text, Limits{}, "")
	wantReason(t, err, ReasonEmpty)
	_, err = extractHere(t.Context(), writeFile(t, "a.txt", " \r\n\t\n"), Text, Limits{}, "")
	wantReason(t, err, ReasonNoText)
}

func TestTextLimit(t *testing.T) {
	for file, format := range map[string]Format{
		"report.pdf": PDF, "report.docx": DOCX, "report.doc": DOC, "report.rtf": DOC, "cafe.utf16le.txt": Text,
	} {
		t.Run(file, func(t *testing.T) {
			_, err := extractHere(t.Context(), filepath.Join("testdata", file), format, Limits{Text: 50}, cacheDir)
			wantReason(t, err, ReasonTooLarge)
		})
	}
}
