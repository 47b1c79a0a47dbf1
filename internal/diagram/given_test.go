package diagram

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// givenTo executes the last step of a diagram, and tells what is kept of its input.
func givenTo(t *testing.T, steps, input string, tools Tools) (given string, err error) {
	t.Helper()
	d := mustParse(t, `{"steps":[`+steps+`],"output":{}}`)
	r := &Run{Diagram: d, Input: json.RawMessage(input)}
	for range d.Steps {
		given = ""
		r.Given = func(raw json.RawMessage) { given = string(raw) }
		result, failure := r.Step(t.Context(), tools)
		r.Results, err = append(r.Results, result), failure
	}
	return given, err
}

// TestWhatStepsAreGivenIsKept: each type of step has its input under the names of the diagram, worked out.
func TestWhatStepsAreGivenIsKept(t *testing.T) {
	tools := &recorder{
		search: func(context.Context, SearchRequest) ([]Hit, error) { return nil, nil },
		ask:    func(context.Context, AskRequest) (*Answer, error) { return &Answer{}, nil },
		chat:   func(context.Context, ChatRequest) (*ChatAnswer, error) { return &ChatAnswer{}, nil },
		http:   func(context.Context, HTTPRequest) (*HTTPAnswer, error) { return &HTTPAnswer{Status: 200}, nil },
	}
	for name, c := range map[string]struct{ step, given string }{
		"search":           {`"type":"search","contextId":"{{ input.c }}","prompt":"of {{ input.q }}","topN":3,"scoreThreshold":0.5`, `{"contextId":7,"prompt":"of \"Ada\"","scoreThreshold":0.5,"topN":3}`},
		"the least search": {`"type":"search","contextId":7,"prompt":"x"`, `{"contextId":7,"prompt":"x"}`},
		"ask":              {`"type":"ask","contextId":7,"prompt":"{{ input.q }}","minRelevance":0.25`, `{"contextId":7,"minRelevance":0.25,"prompt":"\"Ada\""}`},
		"chat":             {`"type":"chat","model":"m","system":"Be brief","prompt":"{{ input.n }}"`, `{"messages":[{"content":"Be brief","role":"system"},{"content":"5","role":"user"}],"model":"m"}`},
		"chat's messages":  {`"type":"chat","messages":[{"role":"user","content":"{{ input.q }}!"}]`, `{"messages":[{"content":"\"Ada\"!","role":"user"}]}`},
		"messages made":    {`"type":"chat","messages":"{{ [{\"role\": \"user\", \"content\": input.q}] }}"`, `{"messages":[{"content":"\"Ada\"","role":"user"}]}`},
		"http":             {`"type":"http","method":"PUT","url":"https://x.example/{{ input.c }}","headers":{"x-n":"{{ input.n }}"},"body":{"a":["{{ input.q }}", null]}`, `{"body":{"a":["\"Ada\"",null]},"headers":{"Content-Type":"application/json","X-N":"5"},"method":"PUT","url":"https://x.example/7"}`},
		"the least http":   {`"type":"http","url":"https://x.example/"`, `{"headers":{},"method":"GET","url":"https://x.example/"}`},
		"a text sent":      {`"type":"http","method":"POST","url":"https://x.example/","headers":{"Content-Type":"text/csv"},"body":"a,{{ input.n }}"`, `{"body":"a,5","headers":{"Content-Type":"text/csv"},"method":"POST","url":"https://x.example/"}`},
		"set":              {`"type":"set","values":{"a":1}`, ``},
		"fail":             {`"type":"fail","message":"No {{ input.q }}"`, `{"message":"No \"Ada\""}`},
		"passed over":      {`"type":"fail","when":false,"message":"No"`, ``},
		"one that fails":   {`"type":"search","contextId":7,"prompt":"{{ input.q + 1 }}"`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if given, _ := givenTo(t, `{"id":"a",`+c.step+`}`, `{"c":7,"q":"\"Ada\"","n":5}`, tools); given != c.given {
				t.Errorf("%s, want %s", given, c.given)
			}
		})
	}
}

// TestWhatAFailedStepWasGivenIsKept: it is known before the step does anything, also where what it asks never answers.
func TestWhatAFailedStepWasGivenIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tools := &recorder{http: func(ctx context.Context, _ HTTPRequest) (*HTTPAnswer, error) {
		cancel()
		<-ctx.Done()
		return nil, errors.New("no answer")
	}}
	r := &Run{Diagram: mustParse(t, `{"steps":[{"id":"a","type":"http","url":"https://x.example/"}],"output":{}}`)}
	var given string
	r.Given = func(raw json.RawMessage) { given = string(raw) }
	if result, err := r.Step(ctx, tools); err == nil || result != nil || given != `{"headers":{},"method":"GET","url":"https://x.example/"}` {
		t.Errorf("%s, %s, %v", given, result, err)
	}
}

// TestInputsHaveNamesInPlaceOfSecrets: whatever an expression makes of a secret, also what is too short to be known again; and where the run's input
// brings the value of one, in lists of whatever type.
func TestInputsHaveNamesInPlaceOfSecrets(t *testing.T) {
	tools := &recorder{secrets: map[string]string{"KEY": "s3cr3t-value", "PIN": "4711"}}
	tools.http = func(context.Context, HTTPRequest) (*HTTPAnswer, error) { return &HTTPAnswer{Status: 200}, nil }
	tools.chat = func(context.Context, ChatRequest) (*ChatAnswer, error) { return nil, errors.New("no") }
	const input = `{"brought":"a,s3cr3t-value,b"}`
	for name, c := range map[string]struct{ step, given string }{
		"parts": {
			`"type":"http","method":"POST","url":"https://x.example/{{ secrets.PIN[0:2] }}","headers":{"Authorization":"Basic {{ toBase64(secrets.PIN + ':' + secrets.KEY) }}","X-Len":"{{ len(secrets.PIN) }}"},"body":["{{ split(secrets.KEY, '-') }}", "{{ secrets.PIN == '4711' }}"]`,
			`{"body":["[secret KEY]","[secret PIN]"],"headers":{"Authorization":"Basic [secret KEY, PIN]","Content-Type":"application/json","X-Len":"[secret PIN]"},"method":"POST","url":"https://x.example/[secret PIN]"}`,
		},
		"brought by the run": {
			`"type":"http","method":"POST","url":"https://x.example/{{ input.brought }}","headers":{"Authorization":"{{ secrets.KEY }}"},"body":"{{ split(input.brought, ',') }}"`,
			`{"body":["a","[secret KEY]","b"],"headers":{"Authorization":"[secret KEY]","Content-Type":"application/json"},"method":"POST","url":"https://x.example/a,[secret KEY],b"}`,
		},
		"chat that fails": {
			`"type":"chat","model":"{{ secrets.PIN }}","system":"{{ secrets.KEY[0:3] }}","prompt":"{{ input.brought }}"`,
			`{"messages":[{"content":"[secret KEY]","role":"system"},{"content":"a,[secret KEY],b","role":"user"}],"model":"[secret PIN]"}`,
		},
		"messages": {
			`"type":"chat","messages":"{{ [{'role': 'user', 'content': secrets.PIN}] }}"`, `{"messages":"[secret PIN]"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if given, _ := givenTo(t, `{"id":"a",`+c.step+`}`, input, tools); given != c.given {
				t.Errorf("%s, want %s", given, c.given)
			}
		})
	}
}

// TestLongInputsAreCut: of texts the beginning is kept, by whole characters; what can't be cut is not kept, and the step goes on.
func TestLongInputsAreCut(t *testing.T) {
	tools := &recorder{
		chat: func(context.Context, ChatRequest) (*ChatAnswer, error) { return &ChatAnswer{}, nil },
		http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) { return &HTTPAnswer{Status: 200}, nil },
	}
	given, err := givenTo(t, `{"id":"a","type":"chat","system":"Be brief","prompt":"x{{ repeat('ü', 100000) }}"}`, `{}`, tools)
	if want := `{"messages":[{"content":"Be brief","role":"system"},{"content":"x` + strings.Repeat("ü", 8191) + `…","role":"user"}]}`; err != nil || given != want {
		t.Errorf("%d bytes, %v: %.100s", len(given), err, given)
	}
	given, err = givenTo(t, `{"id":"a","type":"http","method":"POST","url":"https://x.example/","body":"{{ map(1..100, repeat('y', 5000)) }}"}`, `{}`, tools)
	if err != nil || len(given) > MaxGiven || strings.Count(given, "y…") != 100 || !utf8.ValidString(given) {
		t.Errorf("%d bytes, %v: %.100s", len(given), err, given)
	}
	if given, err = givenTo(t, `{"id":"a","type":"http","method":"POST","url":"https://x.example/","body":"{{ 1..50000 }}"}`, `{}`, tools); err != nil || given != "" {
		t.Errorf("%d bytes, %v: %.100s", len(given), err, given)
	}
}
