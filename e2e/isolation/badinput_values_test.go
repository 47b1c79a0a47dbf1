package isolation

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// outcome is what a hostile value must lead to.
type outcome int

const (
	refusedOrKept outcome = iota // refused by name, or kept exactly as it came
	refused
	accepted
)

// inputMember is one member of an input: of a REST body, or of an input of the graph.
type inputMember struct {
	// of is the operation.
	of, name string
	kind     string // string, integer, number, boolean, array
	required bool
}

// hostile is a value for a member, as raw JSON; "" leaves the member out.
type hostile struct {
	name, raw string
	must      outcome
	// text is the string that the value stands for, where it may be kept.
	text string
}

const (
	nested      = 10_000
	tooLong     = 5_000
	tenMegabyte = 10 << 20
)

// Long values are made once: they are sent some thousand times.
var (
	deepJSON = strings.Repeat(`[`, nested) + strings.Repeat(`]`, nested)
	longText = `"` + strings.Repeat("é", tooLong) + `"`
	hugeText = `"` + strings.Repeat("x", tenMegabyte) + `"`
)

// hostiles lists the values that a member is tried with.
func hostiles(m inputMember) []hostile {
	left := accepted
	if m.required {
		left = refused
	}
	list := []hostile{
		{name: "missing", must: left},
		{name: "null", raw: `null`, must: left},
		{name: "object", raw: `{"a":1}`, must: refused},
		{name: "deep", raw: deepJSON, must: refused},
		{name: "invalid UTF-8", raw: "\"a\xff\xfeb\"", must: refused},
		{name: "lone surrogate", raw: `"a\ud800b"`, must: refused},
		{name: "cut off", raw: `"a`, must: refused},
		{name: "ten megabytes", raw: hugeText, must: refused},
	}
	switch m.kind {
	case "string":
		return append(list, texts(m.of+"."+m.name)...)
	case "integer":
		return append(list, integers()...)
	case "number":
		return append(list, hostile{name: "text", raw: `"1"`, must: refused}, hostile{name: "boolean", raw: `true`, must: refused},
			hostile{name: "array", raw: `[1]`, must: refused}, hostile{name: "huge exponent", raw: `1e400`, must: refused}, hostile{name: "below 0", raw: `-.5`, must: refused})
	case "boolean":
		return append(list, hostile{name: "number", raw: `1`, must: refused}, hostile{name: "text", raw: `"true"`, must: refused},
			hostile{name: "array", raw: `[true]`, must: refused})
	}
	return append(list, hostile{name: "number", raw: `1`, must: refused}, hostile{name: "boolean", raw: `true`, must: refused})
}

// texts are tried with a mark in those that may be kept: what is found of it later was kept of this member.
func texts(mark string) []hostile {
	return []hostile{
		{name: "number", raw: `7`, must: refused},
		{name: "boolean", raw: `true`, must: refused},
		{name: "array", raw: `["a"]`, must: refused},
		{name: "empty", raw: `""`},
		{name: "blank", raw: `"   "`}, // which may stand for nothing
		{name: "NUL", raw: `"a\u0000b"`, must: refused},
		{name: "too long", raw: longText, must: refused},
		{name: "space around it", raw: `" ` + mark + ` "`, text: " " + mark + " "},
		{name: "emoji", raw: `"Zoë👩‍🚀🇩🇪` + mark + `"`, text: "Zoë👩‍🚀🇩🇪" + mark},
		{name: "quotes", raw: `"O'Hara\\\"; DROP TABLE ` + mark + `; --"`, text: `O'Hara\"; DROP TABLE ` + mark + `; --`},
		{name: "turned", raw: `"a\u202egpj.exe` + mark + `"`, text: "a\u202egpj.exe" + mark},
		{name: "link", raw: `"WWW.example.com/` + mark + `"`, text: "WWW.example.com/" + mark},
		{name: "replacement character", raw: `"a\ufffdb` + mark + `"`, text: "a\ufffdb" + mark},
	}
}

func integers() []hostile {
	return []hostile{
		{name: "text", raw: `"x"`, must: refused},
		{name: "boolean", raw: `true`, must: refused},
		{name: "array", raw: `[1]`, must: refused},
		{name: "fraction", raw: `1.5`, must: refused},
		{name: "below 0", raw: `-1`, must: refused},
		{name: "0", raw: `0`, must: refused},
		{name: "smallest", raw: `-9223372036854775808`, must: refused},
		{name: "2^63", raw: `9223372036854775808`, must: refused},
		{name: "below -2^63", raw: `-9223372036854775809`, must: refused},
		{name: "huge exponent", raw: `1e400`, must: refused},
	}
}

// spends tells that a request may have used up what it named, so that the next one needs another good input: all do but those that are refused
// for their form, of which judge sees that the tables are as they were.
func spends(got platform.Answer) bool {
	c := classOf(got)
	return c != getsBad && c != "413" && c != "PAYLOAD_TOO_LARGE"
}

// with writes an object with one member replaced by a raw value, or left out.
func with(t testing.TB, base object, name, raw string) string {
	t.Helper()
	var b strings.Builder
	b.Grow(len(raw) + 4<<10)
	b.WriteByte('{')
	separator := ""
	for _, key := range slices.Sorted(maps.Keys(base)) {
		if key == name {
			continue
		}
		value, err := json.Marshal(base[key])
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(separator + `"` + key + `":` + string(value))
		separator = ","
	}
	if raw != "" {
		b.WriteString(separator + `"` + name + `":`)
		b.WriteString(raw)
	}
	b.WriteByte('}')
	return b.String()
}
