package graph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/intake"
)

// nested is a chain of fragments, each of which spreads the next one twice: it expands to 2⁶⁰
// fields.
func nested() string {
	const n = 60
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "fragment f%d on Customer { ...f%d ...f%d } ", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "fragment f%d on Customer { name }", n)
	return b.String()
}

func TestGuard(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+" ", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, document string
		refused        string
	}{
		{"a plain query", `{ customer { name } }`, ""},
		{"the greatest depth", strings.Repeat("{ a ", maxDepth) + strings.Repeat("}", maxDepth), ""},
		{"too deep", strings.Repeat("{ a ", maxDepth+1) + strings.Repeat("}", maxDepth+1), "levels deep"},
		{"too deep by fragments", `{ customer { ...f } } fragment f on Customer ` + strings.Repeat("{ a ", maxDepth) + strings.Repeat("}", maxDepth), "levels deep"},
		{"fragments that explode", `{ customer { ...f0 } } ` + nested(), "fields"},
		{"the most aliases", `{ customer { ` + repeat(maxAliases, "a%d: name") + `} }`, ""},
		{"too many aliases", `{ customer { ` + repeat(maxAliases+1, "a%d: name") + `} }`, "aliases"},
		{"aliases by a fragment", `{ customer { ...f } b: customer { ...f } } fragment f on Customer { ` + repeat(maxAliases/2+1, "a%d: name") + `}`, "aliases"},
		{"too many directives", `{ customer { name ` + strings.Repeat("@skip(if: false) ", maxDirectives+1) + `} }`, "directives"},
		{"too many fields", `{ customer { ` + strings.Repeat("name ", maxFields+1) + `} }`, "fields"},
		{"too many roots", `{ ` + repeat(maxRootFields+1, "a%d: me { email }") + `}`, "root"},
		{"too many roots by a fragment", `{ ...f } fragment f on Query { ` + repeat(maxRootFields+1, "a%d: me { email }") + `}`, "root"},
		{"too many roots in a fragment without a name", `{ ... { ` + repeat(maxRootFields+1, "a%d: me { email }") + `} }`, "root"},
		{"too many fields of a fragment that nobody uses", `{ me { email } } fragment x on User { ` + repeat(maxFields+1, "email%d") + `}`, "fields"},
		{"a field too often", `{ me { email } } fragment x on User { ` + strings.Repeat("email ", maxAlike+1) + `}`, "one name"},
		{"a field too often in several selections", `{ ` + strings.Repeat("me { "+strings.Repeat("email ", 40)+"} ", 40) + `}`, "one name"},
		{"a field too often by fragments", `{ me { email } } fragment x on User { ` + strings.Repeat("...y ", 40) + `} fragment y on User { email a: email email email email }`, "one name"},
		{"too many spreads", `{ me { ` + repeat(maxSpreads+1, "...f%d") + `} } ` + repeat(maxSpreads+1, "fragment f%d on User { email }"), "spreads"},
		{"fragments in a circle", `{ customer { ...a } } fragment a on Customer { ...b } fragment b on Customer { ...a }`, ""},
		{"a field too often in a circle", `{ me { email } } fragment a on User { ...b ` + strings.Repeat("email ", maxAlike+1) + `} fragment b on User { ...a }`, "one name"},
		{"circles that explode", `{ me { email } } fragment f0 on User { ...f30 }` + func() (s string) {
			for i := range 30 {
				s += fmt.Sprintf(" fragment f%d on User { ...f%d ...f%d }", i+1, i, i)
			}
			return s
		}(), "one name"},
		{"a fragment that is missing", `{ customer { ...gone } }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			err := newGuard().MutateOperationParameters(t.Context(), &graphql.RawParams{Query: c.document})
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %v", took)
			}
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Message, c.refused)):
				t.Errorf("got %v, want a refusal for %s", err, c.refused)
			}
		})
	}
}

// Whatever passes the guard is validated in a time that does no harm. Each of these is as large as
// the body may be, or expands to more.
func TestHostileDocumentsAreRefusedSoon(t *testing.T) {
	for name, document := range map[string]string{
		"fragments that explode":                     `{ customer { ...f0 } } ` + nested(),
		"fragments that explode beside an operation": `{ __typename } ` + nested(),
		"braces":                strings.Repeat("{", intake.MaxBody/2),
		"brackets":              `{ customer(id: ` + strings.Repeat("[", intake.MaxBody/2),
		"one field many times":  `{ customer { ` + strings.Repeat("name ", maxFields) + `} }`,
		"many operations":       strings.Repeat("query { customer { name } } ", maxTokens/8),
		"a circle of fragments": `{ customer { ...a } } fragment a on Customer { ...b } fragment b on Customer { ...a ...a }`,
		"unknown fields":        `{ customer { ` + strings.Repeat("nameless ", maxFields-1) + `} }`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			a := newTestDoor(t, nil).query(t, document, nil)
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
			if a.code() != "BAD_REQUEST" && a.code() != "UNAUTHENTICATED" {
				t.Errorf("answered %d %.300s", a.Status, a.Raw)
			}
			if len(a.Raw) > 64<<10 {
				t.Errorf("the answer has %d bytes and %d errors", len(a.Raw), len(a.Errors))
			}
		})
	}
}
