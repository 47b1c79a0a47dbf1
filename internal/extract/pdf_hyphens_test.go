package extract

import (
	"strings"
	"testing"
)

func TestPDFHyphens(t *testing.T) {
	for name, test := range map[string]struct{ rest, cut, want string }{
		"written together elsewhere":     {"All information counts.", "infor\x02mation", "information"},
		"written with a hyphen":          {"A long-term plan.", "long\x02term", "long-term"},
		"both, more often with a hyphen": {"re-sign re-sign resign", "re\x02sign", "re-sign"},
		"both, more often together":      {"co-operate cooperate cooperate", "co\x02operate", "cooperate"},
		"nowhere else":                   {"", "infor\x02mation", "information"},
		"well-known nowhere else":        {"", "well\x02known", "well-known"},
		"an ending":                      {"", "well\x02ness", "wellness"},
		"number":                         {"", "COVID\x0219", "COVID-19"},
		"a name":                         {"", "Anglo\x02American", "Anglo-American"},
		"capitals":                       {"", "INFOR\x02MATION", "INFORMATION"},
		"case":                           {"Sea-level rise.", "sea\x02level", "sea-level"},
		"first part makes such words":    {"A high-speed train at a low price, on which quality depends.", "high\x02quality", "high-quality"},
		"chain":                          {"Is the top of it", "state-of\x02the-art", "state-of-the-art"},
		"no word of a chain":             {"", "state-infor\x02mation", "state-information"},
		"half a word, and another":       {"", "Vor\x02und Nachteile", "Vor- und Nachteile"},
		"umlauts":                        {"Die Größenordnung.", "Größen\x02ordnung", "Größenordnung"},
		"no word before":                 {"", "(\x02mation", "(mation"},
		"two cuts":                       {"", "in\x02for\x02mation", "information"},
	} {
		t.Run(name, func(t *testing.T) {
			pages := []string{test.rest, "see " + test.cut + " there"}
			if got := newHyphens(pages).mend(pages[1]); got != "see "+test.want+" there" {
				t.Errorf("%q is %q, want %q", test.cut, got, test.want)
			}
		})
	}
}

// TestPDFLineEnds reads lines that end in hyphens as the engine gives them.
func TestPDFLineEnds(t *testing.T) {
	r := readPage(t, "BT /F1 12 Tf 50 700 Td 14 TL (The well-) Tj T* (known harbour gives infor-) Tj T* (mation by e-mail; an e-) Tj T* (mail is a long-) Tj T* (term record of COVID-) Tj T* (19, a long-term one.) Tj ET")
	if want := "The well-known harbour gives information by e-mail; an e-mail is a long-term record of COVID-19, a long-term one."; strings.Join(strings.Fields(r), " ") != want {
		t.Errorf("%q, want %q", r, want)
	}
}

// readPage gives the text of a PDF of one page.
func readPage(t *testing.T, content string) string {
	t.Helper()
	r, err := extractHere(t.Context(), writeFile(t, "a.pdf", string(onePage(stream(content)))), PDF, Limits{}, cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	wantClean(t, r)
	return r.Text
}

// TestManyHyphens checks that what is counted stays within bounds, and costs no more than the text does.
func TestManyHyphens(t *testing.T) {
	var page strings.Builder
	for i := range 300_000 {
		page.WriteString("w" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + "\x02" + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576%26)) + " ")
	}
	page.WriteString(strings.Repeat("x", 1<<20) + "\x02" + strings.Repeat("y", 1<<20))
	text := page.String()
	h := newHyphens([]string{text})
	if len(h.seen) > maxCutWords+4 {
		t.Errorf("%d words are counted", len(h.seen))
	}
	if strings.ContainsRune(h.mend(text), cutHyphen) {
		t.Error("a cut is left")
	}
}
