package diagram

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSecretsAreForWhatIsSent: what http and chat steps send may hold secrets; what is kept may not, and
// the fault says where it stands.
func TestSecretsAreForWhatIsSent(t *testing.T) {
	const used = `{{ secrets.TOKEN }}`
	for name, c := range map[string]struct{ step, at string }{
		"http url":         {`"type":"http","url":"https://x.example/` + used + `"`, ""},
		"http header":      {`"type":"http","url":"https://x.example/","headers":{"Authorization":"Bearer ` + used + `"}`, ""},
		"http body":        {`"type":"http","method":"POST","url":"https://x.example/","body":{"a":["` + used + `"]}`, ""},
		"by index":         {`"type":"http","url":"https://x.example/{{ secrets['1_x'] }}"`, ""},
		"chat prompt":      {`"type":"chat","prompt":"` + used + `","system":"` + used + `"`, ""},
		"chat messages":    {`"type":"chat","messages":[{"role":"user","content":"` + used + `"}]`, ""},
		"http when":        {`"type":"http","when":"{{ secrets.TOKEN == 'x' }}","url":"https://x.example/"`, "steps[0].when"},
		"set":              {`"type":"set","values":{"a":"` + used + `"}`, "steps[0].values.a"},
		"search":           {`"type":"search","contextId":1,"prompt":"` + used + `"`, "steps[0].prompt"},
		"fail":             {`"type":"fail","message":"` + used + `"`, "steps[0].message"},
		"all of them":      {`"type":"chat","prompt":"{{ secrets }}"`, "steps[0].prompt"},
		"a computed name":  {`"type":"chat","prompt":"{{ secrets[input.name] }}"`, "steps[0].prompt"},
		"no name":          {`"type":"chat","prompt":"{{ secrets['a b'] }}"`, "steps[0].prompt"},
		"under a new name": {`"type":"chat","prompt":"{{ let s = secrets; s.TOKEN }}"`, "steps[0].prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults, _ := Parse(t.Context(), 1, []byte(`{"steps":[{"id":"a",`+c.step+`}],"output":{}}`))
			switch {
			case c.at == "" && faults != nil:
				t.Error(faults)
			case c.at != "" && (len(faults) != 1 || faults[0].Location != c.at || !strings.Contains(faults[0].Message, "secret")):
				t.Errorf("%v, want a fault at %s", faults, c.at)
			}
		})
	}
	if _, faults, _ := Parse(t.Context(), 1, []byte(`{"steps":[],"output":{"a":"`+used+`"}}`)); len(faults) != 1 || faults[0].Location != "output.a" {
		t.Errorf("in the output: %v", faults)
	}
}

// key is a secret with everything in it that some form escapes.
const key = `s3Cr/t+ "quö<ted>" & 100%\`

// TestSecretsAreSentAndNotKept: a remote that sends a secret back, in whatever form, has it taken out of
// what is kept.
func TestSecretsAreSentAndNotKept(t *testing.T) {
	d := mustParse(t, `{"steps":[
		{"id":"a","type":"http","method":"POST","url":"https://x.example/","headers":{"Authorization":"Basic {{ toBase64('me:' + secrets.KEY) }}"},"body":"{{ secrets.KEY }}"},
		{"id":"b","type":"chat","prompt":"{{ secrets.OTHER }} and {{ secrets.PIN }}"},
		{"id":"c","type":"http","url":"https://x.example/list"}],
		"output":{"a":"{{ steps.a }}","b":"{{ steps.b.content }}","c":"{{ steps.c }}"}}`)
	echoes := map[string]string{
		"plain": key, "capitals": strings.ToUpper(key), "no capitals": strings.ToLower(key), "in a sentence": "the key " + key + " is wrong", "query": url.QueryEscape(key), "path": url.PathEscape(key), "lower": "s3Cr%2ft%2b+%22qu%c3%b6%3cted%3e%22+%26+100%25%5c",
		"component": "s3Cr%2Ft%2B%20%22qu%C3%B6%3Cted%3E%22%20%26%20100%25%5C", "html": html.EscapeString(key), "python's": "s3Cr/t%2B%20%22qu%C3%B6%3Cted%3E%22%20%26%20100%25%5C", "uri": "s3Cr/t+%20%22qu%C3%B6%3Cted%3E%22%20&%20100%25%5C", "go": fmt.Sprintf("%q", key),
		"base64": base64.StdEncoding.EncodeToString([]byte(key)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(key)),
		"basic": base64.StdEncoding.EncodeToString([]byte("me:" + key)), "within": base64.StdEncoding.EncodeToString([]byte("x" + key + "yz")),
		"within 2": base64.StdEncoding.EncodeToString([]byte("xy" + key + "z")), "hex": fmt.Sprintf("%x", key),
		"json": string(must(json.Marshal(key))), "python": `"s3Cr/t+ \"qu\u00f6<ted>\" & 100%\\"`, "php": `"s3Cr\/t+ \"quö<ted>\" & 100%\\"`, key: "a name",
	}
	tools := &recorder{secrets: map[string]string{"KEY": key, "OTHER": "another-one", "PIN": "20260101"}}
	tools.http = func(_ context.Context, r HTTPRequest) (*HTTPAnswer, error) {
		h := http.Header{"Content-Type": {"application/json"}, "X-Echo": {r.Header.Get("Authorization")}}
		return &HTTPAnswer{Status: 200, Header: h, Body: must(json.Marshal(map[string]any{"echoes": echoes, "pin": 20260101, "pins": []any{20260101.0, 1, 1.5}}))}, nil
	}
	tools.chat = func(_ context.Context, r ChatRequest) (*ChatAnswer, error) {
		return &ChatAnswer{Content: "You said: " + r.Messages[0].Content + ". Before: " + key}, nil
	}
	out, err := runAll(t.Context(), d, `{}`, tools)
	if err != nil {
		t.Fatal(err)
	}
	sent := tools.asked[0].(HTTPRequest)
	if string(sent.Body) != key || sent.Header.Get("Authorization") != "Basic "+echoes["basic"] {
		t.Errorf("sent was %s, %v", sent.Body, sent.Header)
	}
	if asked := tools.asked[1].(ChatRequest).Messages[0].Content; asked != "another-one and 20260101" {
		t.Errorf("asked was %q", asked)
	}
	var kept struct {
		A, C struct {
			Headers map[string]string
			Body    struct {
				Echoes map[string]string
				Pin    any
				Pins   []any
			}
		}
		B string
	}
	if err := json.Unmarshal([]byte(out), &kept); err != nil {
		t.Fatal(err)
	}
	for _, part := range []map[string]string{kept.A.Body.Echoes, kept.C.Body.Echoes} {
		for name, echo := range part {
			whole := name != "in a sentence" && !strings.HasPrefix(name, "within") && name != "[secret KEY]"
			if trimmed := strings.Trim(echo, `"`); whole && trimmed != "[secret KEY]" && !strings.HasPrefix(name, "basic") {
				t.Errorf("%s is kept as %q", name, echo)
			}
		}
	}
	if kept.A.Body.Pin != "[secret PIN]" || fmt.Sprint(kept.A.Body.Pins) != "[[secret PIN] 1 1.5]" {
		t.Errorf("numbers are kept as %v, %v", kept.A.Body.Pin, kept.A.Body.Pins)
	}
	if want := "You said: [secret OTHER] and [secret PIN]. Before: [secret KEY]"; kept.B != want {
		t.Errorf("the answer is kept as %q, want %q", kept.B, want)
	}
	if got := kept.A.Headers["x-echo"]; got != "Basic [secret KEY]" {
		t.Errorf("a header is kept as %q", got)
	}
	for name, form := range echoes {
		if len(form) > 8 && name != key && strings.Contains(out, string(must(json.Marshal(form)))) {
			t.Errorf("%s is kept", name)
		}
	}
	if strings.Contains(strings.ToLower(out), "s3cr") || strings.Contains(out, "czNDc") {
		t.Errorf("a part is kept: %s", out)
	}
}

// TestSecretsStayOutOfErrors: whatever fails, its message has no secrets.
func TestSecretsStayOutOfErrors(t *testing.T) {
	tools := &recorder{secrets: map[string]string{"KEY": "s3cr3t-value"}}
	tools.http = func(_ context.Context, r HTTPRequest) (*HTTPAnswer, error) {
		return nil, errors.New("dial " + r.URL + ": refused")
	}
	for name, c := range map[string]struct{ url, code, says string }{
		"a tool":               {"https://x.example/{{ secrets.KEY }}", CodeHTTPError, "dial https://x.example/[secret KEY]: refused"},
		"an escaped one":       {"https://x.example/{{ urlEncode(secrets.KEY + ' /') }}", CodeHTTPError, "dial https://x.example/[secret KEY]: refused"},
		"an expression":        {"https://x.example/{{ int(secrets.KEY) }}", CodeExpression, "[secret KEY]"},
		"a name that is not":   {"https://x.example/{{ secrets.NONE }}", CodeSecret, "there is no secret NONE"},
		"nothing is wrong yet": {"https://x.example/{{ secrets.KEY ?? 'x' }}", CodeHTTPError, "[secret KEY]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","url":%q}],"output":{}}`, c.url))
			_, err := runAll(t.Context(), d, `{}`, tools)
			var failure *Error
			if !errors.As(err, &failure) || failure.Code != c.code || failure.Step != "a" || !strings.Contains(failure.Message, c.says) || strings.Contains(failure.Message, "s3cr3t") {
				t.Errorf("%+v", err)
			}
		})
	}
}

// TestBase64WithinATextIsFound: wherever a secret stands in a text, no four digits of it are left.
func TestBase64WithinATextIsFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9]{12,40}`).Draw(rt, "secret")
		before, after := rapid.StringMatching(`[ -~]{0,5}`).Draw(rt, "before"), rapid.StringMatching(`[ -~]{0,5}`).Draw(rt, "after")
		r := newRedactor(map[string]string{"K": secret})
		got := r.text(base64.StdEncoding.EncodeToString([]byte(before + secret + after)))
		if !strings.Contains(got, "[secret K]") {
			rt.Fatalf("%q", got)
		}
		left := strings.Replace(got, "[secret K]", "", 1)
		if most := (len(before)+len(after))*8/6 + 8; len(left) > most {
			rt.Fatalf("%d digits are left: %q", len(left), got)
		}
	})
}

// TestSecretsFromFilesAreFound: the line break at the end of a file belongs to the secret and to no echo.
func TestSecretsFromFilesAreFound(t *testing.T) {
	r := newRedactor(map[string]string{"K": " s3cr3t-value\r\n"})
	for _, echo := range []string{"s3cr3t-value", "(S3CR3T-VALUE)", base64.StdEncoding.EncodeToString([]byte("s3cr3t-value")), "s3cr3t-value\n"} {
		if got := r.text(echo); !strings.Contains(got, "[secret K]") || strings.Contains(strings.ToLower(got), "s3cr3t") {
			t.Errorf("%q is kept as %q", echo, got)
		}
	}
}

// TestSecretsAreFoundAsNumbers: digits that a remote sends back as a number are a secret still, though only 17 of them are left.
func TestSecretsAreFoundAsNumbers(t *testing.T) {
	for secret, echo := range map[string]string{
		"12345678901234567890": `12345678901234567890`, "4111111111111111": `4111111111111111`, "00491701234567": `491701234567`,
		"98765432109876543210987654321": `9.8765432109876543210987654321e28`, "1234567890.5": `1234567890.50`, "-123456789012345678901": `-123456789012345678901`,
	} {
		d := mustParse(t, `{"steps":[{"id":"a","type":"http","url":"https://x.example/{{ secrets.PIN }}"}],"output":{"a":"{{ steps.a.body }}","b":"{{ string(steps.a.body) }}"}}`)
		tools := &recorder{secrets: map[string]string{"PIN": secret}}
		tools.http = func(context.Context, HTTPRequest) (*HTTPAnswer, error) {
			return &HTTPAnswer{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"n":` + echo + `}`)}, nil
		}
		out, err := runAll(t.Context(), d, `{}`, tools)
		if err != nil || strings.Contains(out, echo[2:8]) || !strings.Contains(out, "[secret PIN]") {
			t.Errorf("%s is kept as %s (%v)", secret, out, err)
		}
	}
	if out := newRedactor(map[string]string{"PIN": "0042"}).text("42 of 0042"); out != "42 of [secret PIN]" {
		t.Errorf("a short number: %s", out)
	}
}

// TestLongSecretsAreRefused: each step has to know every form of all secrets of the diagram, so that together they are bounded.
func TestLongSecretsAreRefused(t *testing.T) {
	tools := &recorder{secrets: map[string]string{}}
	prompt := ""
	for i := range 9 {
		name := fmt.Sprint("S", i)
		tools.secrets[name], prompt = strings.Repeat("'", 8<<10-i), prompt+"{{ secrets."+name+" }}"
	}
	tools.chat = func(context.Context, ChatRequest) (*ChatAnswer, error) { return &ChatAnswer{Content: "fine"}, nil }
	d := mustParse(t, `{"steps":[{"id":"a","type":"chat","prompt":"`+prompt+`"}],"output":{"a":"{{ steps.a.content }}"}}`)
	_, err := runAll(t.Context(), d, `{}`, tools)
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != CodeSecret || !strings.Contains(failure.Message, "longer than 64 KiB together") || len(tools.asked) != 0 {
		t.Errorf("%v, and %d were asked", err, len(tools.asked))
	}
	tools.secrets["S8"] = "short"
	if out, err := runAll(t.Context(), d, `{}`, tools); err != nil || !strings.Contains(out, "fine") {
		t.Errorf("%s %v", out, err)
	}
}

// TestWhatIsMadeOfSecretsIsFound: whatever an expression has made of a secret, its parts from 8 characters on are not kept.
func TestWhatIsMadeOfSecretsIsFound(t *testing.T) {
	for _, body := range []string{
		`split(secrets.KEY, ".")`, `groupBy(split(secrets.KEY, "."), #)`, `{"x": 1, (secrets.KEY[9:17]): 2}`, `toPairs({"a": secrets.KEY[9:17]})`,
		`[split(secrets.KEY, ".")[1]]`,
	} {
		d := mustParse(t, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","method":"POST","url":"https://x.example/","body":%q}],"output":{"a":"{{ steps.a.body }}"}}`, "{{ "+body+" }}"))
		tools := &recorder{secrets: map[string]string{"KEY": "aaaabbbb.ccccdddd.eeeeffff"}}
		tools.http = func(_ context.Context, r HTTPRequest) (*HTTPAnswer, error) {
			if !strings.Contains(string(r.Body), "ccccdddd") {
				t.Errorf("%s: sent was %s", body, r.Body)
			}
			return &HTTPAnswer{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: r.Body}, nil
		}
		if out, err := runAll(t.Context(), d, `{}`, tools); err != nil || strings.Contains(out, "ccccdddd") {
			t.Errorf("%s is kept as %s (%v)", body, out, err)
		}
	}
}

// TestMuchMadeOfSecretsIsRefused: each text that is made of a secret has to be known again, so that together they are bounded. The same one
// counts once.
func TestMuchMadeOfSecretsIsRefused(t *testing.T) {
	for body, fits := range map[string]bool{
		`map(1..1000, secrets.KEY + string(#))`:                   true,
		`map(1..1001, secrets.KEY + string(#))`:                   false,
		`map(1..50, secrets.KEY + string(#) + repeat("x", 9000))`: false,
		`map(1..5000, "Bearer " + secrets.KEY)`:                   true,
	} {
		d := mustParse(t, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","method":"POST","url":"https://x.example/","body":%q}],"output":{}}`, "{{ "+body+" }}"))
		tools := &recorder{secrets: map[string]string{"KEY": "s3cr3t-value"}}
		tools.http = func(context.Context, HTTPRequest) (*HTTPAnswer, error) { return &HTTPAnswer{Status: 200}, nil }
		_, err := runAll(t.Context(), d, `{}`, tools)
		var failure *Error
		switch {
		case fits && err != nil, fits != (len(tools.asked) == 1):
			t.Errorf("%s: %v, and %d were asked", body, err, len(tools.asked))
		case !fits && (!errors.As(err, &failure) || failure.Code != CodeLimit || strings.Contains(failure.Message, "s3cr3t")):
			t.Errorf("%s: %+v", body, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
