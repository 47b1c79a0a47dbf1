package diagram

import (
	"fmt"
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	const ok = `,"output":{}}`
	for _, tc := range []struct {
		name, raw string
		want      []string // "location|part of the message", in order
	}{
		{"not JSON", `{"steps":[}`, []string{"|not valid JSON at byte 10"}},
		{"nothing", ``, []string{"|not valid"}},
		{"two values", `{} {}`, []string{"|after the end"}},
		{"duplicate member", `{"steps":[],"steps":[]}`, []string{"|duplicate"}},
		{"not UTF-8", "{\"a\":\"\xff\"}", []string{"|UTF-8"}},
		{"number out of range", `{"steps":1e999}`, []string{"|out of range"}},
		{"too deep", strings.Repeat("[", 70) + strings.Repeat("]", 70), []string{"|deeper than 64"}},
		{"too long", `{"a":"` + strings.Repeat("a", MaxDiagram) + `"}`, []string{"|longer than 256 KiB"}},
		{"not an object", `[]`, []string{"|must be an object, not an array"}},
		{"empty object", `{}`, []string{"steps|array of steps", "output|must be an object"}},
		{"output a text", `{"steps":[],"output":"x"}`, []string{"output|must be an object"}},
		{"output a mixture", `{"steps":[],"output":"{{ input }}!"}`, []string{"output|must be an object"}},
		{"unknown member", `{"steps":[],"output":{},"extra":1}`, []string{"extra|unknown field"}},
		{"step not an object", `{"steps":[1]` + ok, []string{"steps[0]|must be an object, not a number"}},
		{"empty step", `{"steps":[{}]` + ok, []string{"steps[0].id|is required", "steps[0].type|is required"}},
		{"bad id", `{"steps":[{"id":"a-b","type":"set","values":{}}]` + ok, []string{"steps[0].id|letters"}},
		{"id with a wrong type", `{"steps":[{"id":1,"type":"set","values":{}}]` + ok, []string{"steps[0].id|must be a text", "steps[0].id|letters"}},
		{"same id", `{"steps":[{"id":"a","type":"set","values":{}},{"id":"a","type":"set","values":{}}]` + ok, []string{`steps[1].id|another step has the id "a"`}},
		{"unknown type", `{"steps":[{"id":"a","type":"sett","values":{}}]` + ok, []string{`steps[0].type|unknown type "sett"; a step is set, search, ask, chat, http or fail`}},
		{"type an expression", `{"steps":[{"id":"a","type":"{{ input.t }}"}]` + ok, []string{"steps[0].type|expressions", "steps[0].type|unknown type"}},
		{"misspelt member", `{"steps":[{"id":"a","type":"set","value":{}}]` + ok, []string{"steps[0].values|must be an object", "steps[0].value|unknown field"}},
		{"when a text", `{"steps":[{"id":"a","type":"set","values":{},"when":"yes"}]` + ok, []string{"steps[0].when|true or false, not a text"}},
		{"when a number", `{"steps":[{"id":"a","type":"set","values":{},"when":1}]` + ok, []string{"steps[0].when|true or false"}},
		{"unclosed", `{"steps":[{"id":"a","type":"set","values":{"é":"é {{ input"}}]` + ok, []string{"steps[0].values.é|at character 3 is not closed"}},
		{"unclosed string", `{"steps":[],"output":{"a":"{{ 'x }}"}}`, []string{"output.a|not closed"}},
		{"empty expression", `{"steps":[],"output":{"a":"{{ }}"}}`, []string{"output.a|empty"}},
		{"syntax", `{"steps":[],"output":{"a":[1,{"b":"{{ 1 + }}"}]}}`, []string{"output.a[1].b|unexpected token EOF (line 1, column"}},
		{"unknown name", `{"steps":[],"output":{"a":"{{ foo.bar }}"}}`, []string{"output.a|unknown name foo"}},
		{"unknown function", `{"steps":[],"output":{"a":"{{ foo(1) }}"}}`, []string{"output.a|unknown function foo"}},
		{"method", `{"steps":[],"output":{"a":"{{ input.foo(1) }}"}}`, []string{"output.a|only functions"}},
		{"environment", `{"steps":[],"output":{"a":"{{ $env }}"}}`, []string{"output.a|unknown name $env"}},
		{"environment's member", `{"steps":[],"output":{"a":"{{ $env['meter!'] }}"}}`, []string{"output.a|unknown name $env"}},
		{"meter", `{"steps":[],"output":{"a":"{{ tick!(1) }}"}}`, []string{"output.a|"}},
		{"time", `{"steps":[],"output":{"a":"{{ now() }}"}}`, []string{"output.a|unknown function now"}},
		{"function as a value", `{"steps":[],"output":{"a":"{{ let f = repeat; f('a', 9) }}"}}`, []string{"output.a|"}},
		{"library's function as a value", `{"steps":[],"output":{"a":"{{ let f = upper; 1 }}"}}`, []string{"output.a|upper is a function"}},
		{"dynamic pattern", `{"steps":[],"output":{"a":"{{ 'a' matches input.p }}"}}`, []string{"output.a|matches takes a pattern"}},
		{"bad pattern", `{"steps":[],"output":{"a":"{{ input.a matches '(' }}"}}`, []string{"output.a|missing closing"}},
		{"expression too long", `{"steps":[],"output":{"a":"{{ '` + strings.Repeat("a", MaxExpression) + `' }}"}}`, []string{"output.a|longer than 8192 bytes"}},
		{"too many nodes", `{"steps":[],"output":{"a":"{{ [` + strings.Repeat("1,", 3000) + `1] }}"}}`, []string{"output.a|nodes"}},
		{"too many expressions", `{"steps":[],"output":{"a":[` + strings.Repeat(`"{{1}}",`, MaxExpressions) + `"{{ foo }}","{{ foo }}"]}}`, []string{"output.a[2000]|too many expressions"}},
		{"too large patterns", `{"steps":[],"output":{"a":[` + strings.Repeat(`"{{input.a matches '((a{10}){10}){10}'}}",`, 200) + `1]}}`, []string{"output.a[81]|regular expressions"}},
		{"step that is not there", `{"steps":[],"output":{"a":"{{ steps.x }}"}}`, []string{`output.a|there is no step "x"`}},
		{"steps alone", `{"steps":[],"output":{"a":"{{ keys(steps) }}"}}`, []string{"output.a|followed by the id"}},
		{"dynamic step", `{"steps":[{"id":"a","type":"set","values":{}}],"output":{"a":"{{ steps[input.x] }}"}}`, []string{"output.a|followed by the id"}},
		{
			"later step", `{"steps":[{"id":"a","type":"set","values":{"x":"{{ steps.b.y }}"}},{"id":"b","type":"set","values":{}}]` + ok,
			[]string{`steps[0].values.x|step "b" does not run before this`},
		},
		{
			"own step", `{"steps":[{"id":"a","type":"set","values":{"x":"{{ steps['a'] }}"}}]` + ok,
			[]string{`steps[0].values.x|step "a" does not run before this`},
		},
		{"search", `{"steps":[{"id":"a","type":"search","contextId":0,"topN":"x","scoreThreshold":2}]` + ok, []string{
			"steps[0].contextId|from 1", "steps[0].prompt|is required", "steps[0].topN|whole number, not a text", "steps[0].scoreThreshold|from 0 to 1",
		}},
		{"chat without a prompt", `{"steps":[{"id":"a","type":"chat","system":1}]` + ok, []string{"steps[0].system|must be a text", "steps[0].prompt|is required"}},
		{"chat with both", `{"steps":[{"id":"a","type":"chat","prompt":"x","messages":[{"role":"user","content":"x"}]}]` + ok, []string{"steps[0].prompt|together with messages"}},
		{"chat with a bad role", `{"steps":[{"id":"a","type":"chat","messages":[{"role":"user","content":"x"},{"role":"tool","content":"x"}]}]` + ok, []string{"steps[0].messages|[1].role"}},
		{"chat without messages", `{"steps":[{"id":"a","type":"chat","messages":[]}]` + ok, []string{"steps[0].messages|one or more"}},
		{"http", `{"steps":[{"id":"a","type":"http","method":"TRACE","url":"http://x","headers":[],"anyStatus":"no"}]` + ok, []string{
			"steps[0].method|GET, HEAD", "steps[0].url|https://", "steps[0].headers|must be an object", "steps[0].anyStatus|true or false",
		}},
		{"http without a URL", `{"steps":[{"id":"a","type":"http"}]` + ok, []string{"steps[0].url|is required"}},
		{"http with a scheme of the input", `{"steps":[{"id":"a","type":"http","url":"ftp{{ input.x }}"}]` + ok, []string{"steps[0].url|https://"}},
		{"http GET with a body", `{"steps":[{"id":"a","type":"http","url":"https://x","body":1}]` + ok, []string{"steps[0].body|with GET"}},
		{"http headers", `{"steps":[{"id":"a","type":"http","url":"https://x","headers":{"Host":"a","a b":"c","x-a":"1","X-A":"2","x-n":1}}]` + ok, []string{
			"steps[0].headers.Host|can't be set", "steps[0].headers.a b|not a valid", "steps[0].headers.x-a|twice", "steps[0].headers.x-n|must be a text",
		}},
		{"fail", `{"steps":[{"id":"a","type":"fail","code":"timeout"}]` + ok, []string{"steps[0].message|is required", "steps[0].code|platform's own"}},
		{"fail with a bad code", `{"steps":[{"id":"a","type":"fail","message":"x","code":"a b"}]` + ok, []string{"steps[0].code|letters"}},
		{"too many steps", `{"steps":[` + strings.Repeat(`{},`, 100) + `{}]` + ok, []string{"steps|101 steps"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, faults, _ := Parse(t.Context(), 1, []byte(tc.raw))
			if d != nil || len(faults) != len(tc.want) {
				t.Fatalf("diagram %v, faults %q, want %q", d, faults, tc.want)
			}
			for i, f := range faults {
				at, message, _ := strings.Cut(tc.want[i], "|")
				if f.Location != at || !strings.Contains(f.Message, message) || strings.Contains(f.Message, "\n") {
					t.Errorf("fault %q, want %q", f, tc.want[i])
				}
			}
		})
	}
}

func TestManyFaults(t *testing.T) {
	_, faults, _ := Parse(t.Context(), 1, []byte(`{"steps":[`+strings.Repeat(`{},`, 99)+`{}],"output":{}}`))
	if len(faults) != MaxFaults || faults[0].Location != "steps[0].id" {
		t.Errorf("%d faults, the first %v", len(faults), faults[0])
	}
}

func TestHundredSteps(t *testing.T) {
	var steps []string
	for i := range MaxSteps {
		from := "input.n"
		if i > 0 {
			from = fmt.Sprintf("steps.s%d.n", i-1)
		}
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","type":"set","values":{"n":"{{ %s + 1 }}"}}`, i, from))
	}
	d := mustParse(t, `{"steps":[`+strings.Join(steps, ",")+`],"output":{"n":"{{ steps.s99.n }}"}}`)
	if out, err := runAll(t.Context(), d, `{"n":0}`, nil); err != nil || out != `{"n":100}` {
		t.Errorf("%s, %v", out, err)
	}
}

// FuzzParse: whatever the text, Parse gives either a diagram or faults; a diagram's expressions run
// without a panic that gets out.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"steps":[],"output":{"a":"{{ input.a }} {{ {'b': '}}'} }}"}}`,
		`{"steps":[{"id":"a","type":"set","values":{"x":[1,"{{ map(1..3, # * 2) }}"]}}],"output":"{{ steps.a }}"}`,
		`{"steps":[{"id":"a","type":"fail","when":"{{ input.x > 1 }}","message":"{{ join(['a'], ',') }}"}],"output":{}}`,
		`{"steps":[{"id":"a","type":"http","url":"https://{{ input.h }}/","headers":{"a":"b"},"method":"POST","body":{}}],"output":{}}`,
		`{"steps":[{"id":"a","type":"chat","messages":"{{ input.m }}"}],"output":{}}`,
		`{"steps":[],"output":{"a":"{{ reduce(1..9, #acc + 1, 0) matches '^a' }}"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, faults, _ := Parse(t.Context(), 1, raw)
		if (d == nil) == (len(faults) == 0) {
			t.Fatalf("diagram %v and faults %v", d, faults)
		}
		if d != nil && len(d.Steps) == 0 {
			_, _ = runAll(t.Context(), d, `{"a":1}`, nil) // an error is as good as a value here
		}
	})
}
