package platform

import (
	"encoding/json"
	"strings"
	"testing"
)

// Plain brings a value of either door to one form: connections become lists, JSON texts what they
// hold, words of enums are in lower case, and "no creator" is the platform itself.
func Plain(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = Plain(x[i])
		}
	case map[string]any:
		if nodes, ok := x["nodes"]; ok && len(x) == 1 {
			return Plain(nodes)
		}
		for name, value := range x {
			x[name] = Plain(value)
		}
		for _, name := range []string{"features", "createdBy"} {
			if text, ok := x[name].(string); ok {
				var held any
				if json.Unmarshal([]byte(text), &held) == nil {
					x[name] = held
				}
			}
		}
		for _, name := range []string{"signing", "status", "errorKind"} { // enums, whose words REST has in lower case
			if word, ok := x[name].(string); ok {
				x[name] = strings.ToLower(word)
			}
		}
		if by, ok := x["createdBy"]; ok && by == nil {
			x["createdBy"] = map[string]any{"id": 0, "email": ""}
		}
	}
	return v
}

// pretty is a value as lines, which show where two differ.
func pretty(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func SameAnswers(t *testing.T, what string, rest, graph any) {
	t.Helper()
	a, b := pretty(t, Plain(rest)), pretty(t, Plain(graph))
	if a != b {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		from := max(0, i-150)
		t.Errorf("%s differs:\nREST    …%.300s\nGraphQL …%.300s", what, a[from:], b[from:])
	}
}
