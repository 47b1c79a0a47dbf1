package diagram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWholeRun(t *testing.T) {
	d := mustParse(t, `{"steps":[
		{"id":"in","type":"set","values":{"q":"{{ input.question }}","limits":[1,"{{ 1 + 1 }}",{"x":null}]}},
		{"id":"hits","type":"search","contextId":"{{ input.context }}","prompt":"{{ steps.in.q }}","topN":3,"scoreThreshold":0.2},
		{"id":"said","type":"ask","contextId":7,"prompt":"{{ steps.in.q }}","topN":3,"minRelevance":0.2},
		{"id":"none","type":"fail","when":"{{ len(steps.hits) == 0 }}","message":"Nothing found.","code":"nothing"},
		{"id":"answer","type":"chat","model":"m","system":"Be brief.","prompt":"{{ steps.in.q }}: {{ steps.hits[0].content }}"},
		{"id":"talk","type":"chat","messages":[{"role":"user","content":"{{ steps.answer.content }}"}]},
		{"id":"post","type":"http","method":"POST","url":"https://api.example/{{ urlEncode(steps.in.q) }}","headers":{"X-Key":"k {{ 1 }}"},"body":{"a":"{{ steps.answer }}"}}],
		"output":{"answer":"{{ steps.answer.content }}","posted":"{{ steps.post.body.id }}","skipped":"{{ steps.none }}","first":"{{ steps.hits[0] }}","said":"{{ steps.said }}"}}`)
	tools := &recorder{
		search: func(context.Context, SearchRequest) ([]Hit, error) { return []Hit{{1, 2, "found", 0.5}}, nil },
		ask: func(context.Context, AskRequest) (*Answer, error) {
			return &Answer{Text: "So.", Citations: []Citation{{0, 3, "so", 1, 2}}, Warnings: []string{"uncited"}}, nil
		},
		chat: func(_ context.Context, r ChatRequest) (*ChatAnswer, error) {
			return &ChatAnswer{Content: fmt.Sprintf("%d messages", len(r.Messages)), Model: "m1"}, nil
		},
		http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
			h := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
			return &HTTPAnswer{Status: 201, Header: h, Body: []byte(`{"id": 9007199254740993}`)}, nil
		},
	}
	out, err := runAll(t.Context(), d, `{"question":"why & how?","context":7}`, tools)
	want := `{"answer":"2 messages","first":{"content":"found","docId":2,"id":1,"similarity":0.5},"posted":9007199254740993,` +
		`"said":{"citations":[{"docId":2,"end":3,"id":1,"quote":"so","start":0}],"nothingFound":false,"text":"So.","warnings":["uncited"]},"skipped":null}`
	if err != nil || out != want {
		t.Errorf("output %s, %v, want %s", out, err, want)
	}
	three, threshold := 3, 0.2
	wantAsked := []any{
		SearchRequest{Lookup{7, "why & how?", &three}, &threshold},
		AskRequest{Lookup{7, "why & how?", &three}, &threshold},
		ChatRequest{"m", []Message{{"system", "Be brief."}, {"user", "why & how?: found"}}},
		ChatRequest{"", []Message{{"user", "2 messages"}}},
		HTTPRequest{
			"POST", "https://api.example/why%20%26%20how%3F",
			http.Header{"X-Key": {"k 1"}, "Content-Type": {"application/json"}},
			[]byte(`{"a":{"content":"2 messages","model":"m1"}}`),
		},
	}
	if !reflect.DeepEqual(tools.asked, wantAsked) {
		t.Errorf("asked\n%+v, want\n%+v", tools.asked, wantAsked)
	}
}

func TestStepIsPure(t *testing.T) {
	d := mustParse(t, `{"steps":[{"id":"a","type":"set","values":{"b":"{{ input.x }}","a":1}}],"output":{}}`)
	r := &Run{Diagram: d, Input: json.RawMessage(`{"x":{"z":1,"y":2}}`)}
	first, err1 := r.Step(t.Context(), nil)
	second, err2 := r.Step(t.Context(), nil)
	if err1 != nil || err2 != nil || string(first) != string(second) || string(first) != `{"a":1,"b":{"y":2,"z":1}}` {
		t.Errorf("%s, %v; %s, %v", first, err1, second, err2)
	}
	if next, ok := r.Next(); !ok || next.ID != "a" || next.Type != Set {
		t.Errorf("next is %v, %v", next, ok)
	}
	r.Results = append(r.Results, first)
	if _, err := r.Step(t.Context(), nil); !errors.Is(err, ErrFinished) {
		t.Errorf("after the last step: %v", err)
	}
	if _, ok := r.Next(); ok {
		t.Error("there is a next step after the last")
	}
}

// outcome is an error as tests compare it.
func outcome(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	raw, _ := json.Marshal(e)
	return string(raw)
}

type classified struct{ blocked, timeout bool }

func (c classified) Error() string { return "no way" }
func (c classified) Blocked() bool { return c.blocked }
func (c classified) Timeout() bool { return c.timeout }

func TestStepErrors(t *testing.T) {
	plain := errors.New("it broke")
	answer := func(status int, contentType, body string) func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
		return func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
			return &HTTPAnswer{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)}, nil
		}
	}
	httpErr := func(err error) *recorder {
		return &recorder{http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) { return nil, err }}
	}
	const get = `{"id":"a","type":"http","url":"https://x.example/"}`
	for _, tc := range []struct {
		name, step, input string
		tools             Tools
		want              string
	}{
		{"fail", `{"id":"a","type":"fail","message":"No {{ input.x }}."}`, `{"x":"luck"}`, nil, `{"code":"failed","message":"No luck.","step":"a"}`},
		{"fail with a code", `{"id":"a","type":"fail","message":"m","code":"mine"}`, `{}`, nil, `{"code":"mine","message":"m","step":"a"}`},
		{"when not boolean", `{"id":"a","type":"set","values":{},"when":"{{ input.x }}"}`, `{"x":1}`, nil, `{"code":"expression","message":"when: must be true or false, not a number","step":"a"}`},
		{"input not an object", `{"id":"a","type":"set","values":{"x":"{{ input.x }}"}}`, `[1]`, nil, `{"code":"failed","message":"the input is not a JSON object of at most 1 MiB","step":"a"}`},
		{"field in depth", `{"id":"a","type":"set","values":{"x":[1,{"y":"{{ 1 % 0 }}"}]}}`, `{}`, nil, `{"code":"expression","message":"values.x[1].y: integer divide by zero (line 1, column 4)","step":"a"}`},
		{"blocked", get, `{}`, httpErr(fmt.Errorf("wrapped: %w", classified{blocked: true})), `{"code":"http_blocked","message":"wrapped: no way","step":"a"}`},
		{"timeout of the tool", get, `{}`, httpErr(classified{timeout: true}), `{"code":"timeout","message":"no way","step":"a"}`},
		{"connection", get, `{}`, httpErr(plain), `{"code":"http_error","message":"it broke","step":"a"}`},
		{"the tool's own", get, `{}`, httpErr(&Error{Code: CodeLimit, Message: "quota"}), `{"code":"limit","message":"quota","step":"a"}`},
		{"status", get, `{}`, &recorder{http: answer(503, "", "busy")}, `{"code":"http_error","message":"the server answered with status 503","step":"a"}`},
		{"redirect", get, `{}`, &recorder{http: answer(302, "", "")}, `{"code":"http_error","message":"the server answered with status 302","step":"a"}`},
		{"answer cut off", get, `{}`, &recorder{http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
			return &HTTPAnswer{Status: 200, Truncated: true}, nil
		}}, `{"code":"too_large","message":"the server's answer is too large","step":"a"}`},
		{"answer broken off", get, `{}`, &recorder{http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
			return &HTTPAnswer{Status: 200, Body: []byte("half"), Broken: plain}, nil
		}}, `{"code":"http_error","message":"the server's answer broke off before its end: it broke","step":"a"}`},
		{"answer not ended in time", get, `{}`, &recorder{http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
			return &HTTPAnswer{Status: 200, Broken: classified{timeout: true}}, nil
		}}, `{"code":"timeout","message":"the server's answer broke off before its end: no way","step":"a"}`},
		{"answer too large", get, `{}`, &recorder{http: answer(200, "", strings.Repeat("a", MaxOutput))}, `{"code":"too_large","message":"the result is larger than 1024 KiB","step":"a"}`},
		{"URL not a text", `{"id":"a","type":"http","url":"{{ input.u }}"}`, `{"u":[]}`, nil, `{"code":"expression","message":"url: must be a text, not an array","step":"a"}`},
		{"line break in a header", `{"id":"a","type":"http","url":"https://x","headers":{"x-a":"{{ input.h }}"}}`, `{"h":"a\r\nb"}`, nil, `{"code":"expression","message":"headers.X-A: must not hold control characters","step":"a"}`},
		{"search", `{"id":"a","type":"search","contextId":1,"prompt":"x"}`, `{}`, &recorder{search: func(context.Context, SearchRequest) ([]Hit, error) { return nil, plain }}, `{"code":"search_error","message":"it broke","step":"a"}`},
		{"ask", `{"id":"a","type":"ask","contextId":1,"prompt":"x"}`, `{}`, &recorder{ask: func(context.Context, AskRequest) (*Answer, error) { return nil, plain }}, `{"code":"search_error","message":"it broke","step":"a"}`},
		{"minRelevance out of range", `{"id":"a","type":"ask","contextId":1,"prompt":"x","minRelevance":"{{ input.n }}"}`, `{"n":2}`, nil, `{"code":"expression","message":"minRelevance: must be from 0 to 1","step":"a"}`},
		{"context not a number", `{"id":"a","type":"search","contextId":"{{ input.c }}","prompt":"x"}`, `{"c":"7"}`, nil, `{"code":"expression","message":"contextId: must be a whole number, not a text","step":"a"}`},
		{"topN out of range", `{"id":"a","type":"search","contextId":1,"prompt":"x","topN":"{{ input.n }}"}`, `{"n":0}`, nil, `{"code":"expression","message":"topN: must be from 1 to 100","step":"a"}`},
		{"chat", `{"id":"a","type":"chat","prompt":"x"}`, `{}`, &recorder{chat: func(context.Context, ChatRequest) (*ChatAnswer, error) { return nil, plain }}, `{"code":"chat_error","message":"it broke","step":"a"}`},
		{"messages of a wrong form", `{"id":"a","type":"chat","messages":"{{ input.m }}"}`, `{"m":[{"role":"robot","content":"x"}]}`, nil, `{"code":"expression","message":"messages: [0].role must be system, user or assistant","step":"a"}`},
		{"budget", `{"id":"a","type":"set","values":{"x":"{{ let a = 1..1000; count(a, count(a, count(a, true) \u003e 0) \u003e 0) }}"}}`, `{}`, nil, `{"code":"limit","message":"values.x: the expressions of this step do too much work (line 1, column 46)","step":"a"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := mustParse(t, `{"steps":[`+tc.step+`],"output":{}}`)
			_, err := (&Run{Diagram: d, Input: json.RawMessage(tc.input)}).Step(t.Context(), tc.tools)
			if got := outcome(err); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestHTTPAnswers(t *testing.T) {
	for _, tc := range []struct {
		name, contentType, body, want string
		status                        int
	}{
		{"JSON", "application/json", `{"b":1,"a":[]}`, `{"a":[],"b":1}`, 200},
		{"JSON of a kind", "application/problem+json", `1.0`, `1`, 404},
		{"no JSON after all", "application/json", `<html>`, `"<html>"`, 200},
		{"text", "text/plain", `{"a":1}`, `"{\"a\":1}"`, 500},
		{"nothing", "", ``, `""`, 204},
		{"bytes", "application/octet-stream", "a\xffb", `"a` + "\uFFFD" + `b"`, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := mustParse(t, `{"steps":[{"id":"a","type":"http","url":"https://x","anyStatus":true}],"output":{}}`)
			tools := &recorder{http: func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
				return &HTTPAnswer{Status: tc.status, Header: http.Header{"Content-Type": {tc.contentType}, "X-A": {"1", "2"}}, Body: []byte(tc.body)}, nil
			}}
			got, err := (&Run{Diagram: d}).Step(t.Context(), tools)
			want := fmt.Sprintf(`{"body":%s,"headers":{"content-type":%q,"x-a":"1, 2"},"status":%d}`, tc.want, tc.contentType, tc.status)
			if err != nil || string(got) != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

func TestOutput(t *testing.T) {
	for _, tc := range []struct{ name, output, want string }{
		{"empty", `{}`, `{}`},
		{"one expression", `"{{ input }}"`, `{"x":[1]}`},
		{"not an object", `"{{ input.x }}"`, `{"code":"expression","message":"output: must be an object, not an array"}`},
		{"too large", `{"a":"{{ repeat('a', 600000) }}","b":"{{ repeat('a', 600000) }}"}`, `{"code":"too_large","message":"the result is larger than 1024 KiB"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := runAll(t.Context(), mustParse(t, `{"steps":[],"output":`+tc.output+`}`), `{"x":[1]}`, nil)
			if err != nil {
				out = outcome(err)
			}
			if out != tc.want {
				t.Errorf("got %s, want %s", out, tc.want)
			}
		})
	}
}

func TestStateLimit(t *testing.T) {
	var steps []string
	for i := range 20 {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","type":"set","values":{"a":"{{ repeat('a', 1000000) }}"}}`, i))
	}
	_, err := runAll(t.Context(), mustParse(t, `{"steps":[`+strings.Join(steps, ",")+`],"output":{}}`), `{}`, nil)
	if want := `{"code":"limit","message":"the results of all steps together are larger than 16 MiB","step":"s16"}`; outcome(err) != want {
		t.Errorf("got %s", outcome(err))
	}
}

// TestBrokenStore: a stored result that can't be read ends the run, and only if it is needed.
func TestBrokenStore(t *testing.T) {
	d := mustParse(t, `{"steps":[{"id":"a","type":"set","values":{}},{"id":"b","type":"set","values":{"x":"{{ steps.a }}"}}],"output":{}}`)
	r := &Run{Diagram: d, Results: []json.RawMessage{json.RawMessage(`{`)}}
	if _, err := r.Step(t.Context(), nil); outcome(err) != `{"code":"failed","message":"the stored result of step a can't be read","step":"b"}` {
		t.Errorf("got %s", outcome(err))
	}
	if _, err := r.Output(t.Context()); err != nil {
		t.Errorf("the output, which does not read it: %v", err)
	}
}

func TestTimeLimits(t *testing.T) {
	d := mustParse(t, `{"steps":[{"id":"a","type":"chat","prompt":"x"}],"output":{"x":"{{ 1 }}"}}`)
	hang := &recorder{chat: func(ctx context.Context, _ ChatRequest) (*ChatAnswer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	t.Run("step", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := (&Run{Diagram: d, Started: start}).Step(t.Context(), hang)
			if outcome(err) != `{"code":"timeout","message":"the step took longer than 1m0s","step":"a"}` || time.Since(start) != StepTimeout {
				t.Errorf("got %s after %s", outcome(err), time.Since(start))
			}
		})
	})
	t.Run("run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := (&Run{Diagram: d, Started: start.Add(-RunTimeout + time.Second)}).Step(t.Context(), hang)
			if outcome(err) != `{"code":"timeout","message":"the run took longer than 10m0s","step":"a"}` || time.Since(start) != time.Second {
				t.Errorf("got %s after %s", outcome(err), time.Since(start))
			}
		})
	})
	t.Run("run over before the step", func(t *testing.T) {
		r := &Run{Diagram: d, Started: time.Now().Add(-RunTimeout)}
		tools := &recorder{}
		if _, err := r.Step(t.Context(), tools); outcome(err) != `{"code":"timeout","message":"the run took longer than 10m0s","step":"a"}` || tools.asked != nil {
			t.Errorf("got %s", outcome(err))
		}
		if _, err := r.Output(t.Context()); outcome(err) != `{"code":"timeout","message":"the run took longer than 10m0s"}` {
			t.Errorf("output: %s", outcome(err))
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		reason := errors.New("worker stops")
		ctx, cancel := context.WithCancelCause(t.Context())
		tools := &recorder{chat: func(ctx context.Context, _ ChatRequest) (*ChatAnswer, error) {
			cancel(reason)
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		_, err := (&Run{Diagram: d}).Step(ctx, tools)
		if outcome(err) != `{"code":"cancelled","message":"the run was cancelled","step":"a"}` || !errors.Is(err, reason) {
			t.Errorf("got %s, %v", outcome(err), errors.Unwrap(err))
		}
	})
	t.Run("cancelled within an expression", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := newMeter(ctx, 1, nil)
		cancel()
		e, err := compile("map(1..100000, #)", nil, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.run(map[string]any{meterName: m}); !errors.Is(err, context.Canceled) || m.left < stepBudget-2*checkEvery {
			t.Errorf("got %v with %d units spent", err, stepBudget-m.left)
		}
	})
}

func TestConcurrentRuns(t *testing.T) {
	d := mustParse(t, `{"steps":[{"id":"a","type":"set","values":{"x":"{{ map(1..50, # * input.n) | sum() }}"}}],"output":{"x":"{{ steps.a.x }}"}}`)
	done := make(chan string)
	for n := range 8 {
		go func() {
			out, err := runAll(t.Context(), d, fmt.Sprintf(`{"n":%d}`, n), nil)
			done <- fmt.Sprint(out, err)
		}()
	}
	var got, want []string
	for n := range 8 {
		got, want = append(got, <-done), append(want, fmt.Sprintf(`{"x":%d}<nil>`, n*1275))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
