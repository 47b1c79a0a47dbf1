package intake

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckJSON(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct{ body, location, message string }{
		"an object":             {`{"a":1,"b":[{"c":null}]}`, "", ""},
		"a bare value":          {`"x"`, "", ""},
		"space around":          {" \n{}\t", "", ""},
		"64 levels":             {nested(64), "", ""},
		"65 levels":             {nested(65), "body" + strings.Repeat("[0]", 64), "nested too deeply"},
		"a name twice":          {`{"a":1,"a":2}`, "body.a", "more than once"},
		"a name twice, escaped": {`{"a":1,"\u0061":2}`, "body.a", "more than once"},
		"a name twice, inside":  {`{"x":[{},{"y":1,"y":1}]}`, "body.x[1].y", "more than once"},
		"the same name apart":   {`{"x":{"y":1},"z":{"y":1}}`, "", ""},
		"cut off":               {`{"a":"b`, "body.a", "ends too early"},
		"nothing":               {``, "body", "ends too early"},
		"a second value":        {`{} {}`, "body", "after the JSON value"},
		"garbage at the end":    {`{}x`, "body", "after the JSON value"},
		"no JSON":               {`{"a":nope}`, "body.a", "not valid JSON"},
		"a trailing comma":      {`{"a":1,}`, "body", "not valid JSON"},
		"invalid UTF-8":         {"{\"a\":\"\xff\"}", "body.a", "not valid JSON"},
		"half a surrogate pair": {`{"a":"\ud800"}`, "body.a", "not valid JSON"},
		"a name with a slash":   {`{"a/b":tru}`, "body.a/b", "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			f := CheckJSON([]byte(c.body))
			if c.message == "" {
				if f != nil {
					t.Fatalf("refused: %+v", *f)
				}
				return
			}
			if f == nil || f.Location != c.location || !strings.Contains(f.Message, c.message) {
				t.Fatalf("got %+v, want %q … %q", f, c.location, c.message)
			}
		})
	}
}

func TestOpenMember(t *testing.T) {
	for cut, want := range map[string]string{
		`{"name":"` + strings.Repeat("a", 5000):                          "body.name",
		`{"a":[{"b":1},{"c":"` + strings.Repeat("x", 100):                "body.a[1].c",
		`{"` + strings.Repeat("n", 300):                                  "body",
		`{"` + strings.Repeat("n", 300) + `":"` + strings.Repeat("x", 9): "body." + strings.Repeat("n", 100) + "…",
	} {
		if got := OpenMember([]byte(cut)); got != want {
			t.Errorf("%.40q…: %q, want %q", cut, got, want)
		}
	}
}

// What the scan lets through is JSON to the standard library as well, and what it refuses is
// refused there too, or breaks one of the rules that are stricter here.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}]}`, `{"a":1,"a":2}`, `[[[[]]]]`, "\"\xff\"", `{}{}`, ` 1e9 `, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fault := CheckJSON(body)
		valid := json.Valid(body)
		if fault == nil && (!valid || !utf8.Valid(body)) {
			t.Fatalf("%q was let through", body)
		}
		if fault != nil && (fault.Message == "" || !strings.HasPrefix(fault.Location, "body")) {
			t.Fatalf("%q: a fault without a place or a word: %+v", body, fault)
		}
		if fault != nil && valid && strings.Contains(fault.Message, "ends too early") {
			t.Fatalf("%q is whole", body)
		}
		if !strings.HasPrefix(OpenMember(body), "body") {
			t.Fatalf("%q: no open member", body)
		}
	})
}
