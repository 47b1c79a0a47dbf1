package words

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Müller & Söhne GmbH":       "muller sohne gmbh",
		"ÅLAND/İzmir\tO'Brien 4711": "aland izmir o brien 4711",
		"anna.smith+x@acme.example": "anna smith x acme example",
		"東京 株式会社":                   "東京 株式会社",
		" -_%.*\\'\":&|!()<>¿…« » ": "",
		strings.Repeat("a", 200):    strings.Repeat("a", 200),
	} {
		if got := strings.Join(Of(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n := len(Parse(strings.Repeat("word ", 5000))); n != most {
		t.Errorf("%d words are looked for", n)
	}
}

// fits tells whether a name matches patterns, which are regular expressions of PostgreSQL.
func fits(patterns []string, name string) bool {
	return !slices.ContainsFunc(patterns, func(p string) bool {
		return !regexp.MustCompile(regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(p, `\x{$1}`)).MatchString(Plain(name))
	})
}

// lacks tells whether a plain name has not one of some texts as LIKE has them.
func lacks(name string) func(part string) bool {
	return func(part string) bool { return !strings.Contains(Plain(name), strings.Trim(part, "%")) }
}

func TestPlainWords(t *testing.T) {
	for text, names := range map[string]map[string]bool{
		"granite harb":                       {"Granite Harbour": true, "Harbour of Granite": true, "granite": false, "Granites Harbour": false},
		"harbour":                            {"Granite Harbour": true, "Harbours": true, "Harbor": false},
		strings.Repeat("long", 20) + " name": {strings.Repeat("long", 20) + " name": true, "name " + strings.Repeat("long", 15): true, strings.Repeat("long", 14) + " name": false},
		"soren lodz":                         {"Søren Łódź": true, "Sören Lodz": true, "Sxren Łódź": false},
		"straße":                             {"Strasse": true, "STRAẞE 5": true, "Strase": false},
		"thordis aegir":                      {"Þórdís Ægir": true, "Tórdís Ægir": false},
		"smith@acme":                         {"Anna Smith anna.smith@acme.example": true, "Anna Smith": false},
	} {
		s := Parse(text)
		for name, want := range names {
			if got := fits(s.Patterns(), name); got != want || s.In(OfName(name)) != want {
				t.Errorf("%q in %q: %v by patterns, %v by words", text, name, got, s.In(OfName(name)))
			}
			if want && slices.ContainsFunc(s.Parts(), lacks(name)) {
				t.Errorf("%q fits %q, and lacks one of %q", name, text, s.Parts())
			}
		}
	}
}

// TestOneEdit: what patterns find is what the queries name.
func TestOneEdit(t *testing.T) {
	for text, names := range map[string]map[string]bool{
		"granite":        {"Granite": true, "granit": true, "ganite": true, "granitee": true, "grenite": true, "grantie": true, "garnite x": true, "grnte": false, "granites 2": true, "granitess": false},
		"harbor granite": {"Granite Harbour": true, "Granit Harbor": true, "Granit Harbour": false, "Granite": false},
		"sorem":          {"Søren": true, "Sø": false},
		"groß":           {"Grosz": true, "Grob": false, "Groß": true},
		"москва":         {"Масква": true, "Моксва": true, "Минск": false},
		"4711":           {"4712": false},
		"abc":            {"abd": false},
	} {
		for name, want := range names {
			byPattern, byQuery := false, false
			for _, n := range Parse(text).Nears() {
				byPattern = byPattern || fits(n.Patterns(), name)
				if fits(n.Patterns(), name) && !slices.ContainsFunc(n.Parts(), func(part string) bool { return !lacks(name)(part) }) {
					t.Errorf("%q is near %q, and has none of %q", name, text, n.Parts())
				}
				missing := func(q string) bool { return !slices.Contains(OfName(name), strings.Trim(q, "'")) }
				byQuery = byQuery || !slices.ContainsFunc(n.Others(""), missing) && slices.ContainsFunc(n.Queries(""), func(q string) bool { return !missing(q) })
			}
			if byPattern != want || byQuery != want {
				t.Errorf("%q near %q: %v by patterns, %v by queries", text, name, byPattern, byQuery)
			}
		}
	}
	for _, word := range []string{"granite", "москва", "harbor", "sore"} { // whatever the edit
		n := Parse(word).Nears()[0]
		for _, q := range n.Queries("") {
			if edited := strings.Trim(q, "'"); !slices.ContainsFunc(n.Parts(), func(part string) bool { return !lacks(edited)(part) }) {
				t.Errorf("%q is near %q, and has none of %q", edited, word, n.Parts())
			}
		}
	}
	long := Parse(strings.Repeat("abcdefghijklmnopqrstuvwxyz ", 5))
	for _, n := range long.Nears() {
		if q := len(n.Queries("")); q > 2000 {
			t.Errorf("%d queries", q)
		}
	}
}
