package webhook

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"canopy/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var newSecret = secret.NewSigningSecret

const job = "0198c0de-0000-7000-8000-000000000001"

// TestPayloads pins the bytes of each event but for its id.
func TestPayloads(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 4, 5, 678_912_345, time.FixedZone("", 3600))
	for _, tc := range []struct {
		data       Data
		kind, want string
	}{
		{RunStarted{job}, "run.started", `{"jobKey":"` + job + `"}`},
		{NewRunCompleted(job), "run.completed", `{"jobKey":"` + job + `","success":true}`},
		{NewRunFailed(job), "run.failed", `{"jobKey":"` + job + `","success":false}`},
		{AgentCreated{5, "A & <b>"}, "agent.created", `{"agentId":5,"name":"A \u0026 \u003cb\u003e"}`},
		{AgentPublished{5, 6}, "agent.published", `{"agentId":5,"revisionId":6}`},
		{AgentUnpublished{5}, "agent.unpublished", `{"agentId":5}`},
		{NewAgentEnabled(5, true), "agent.enabled", `{"agentId":5,"enabled":true,"runnable":true}`},
		{NewAgentEnabled(5, false), "agent.enabled", `{"agentId":5,"enabled":true,"runnable":false}`},
		{NewAgentDisabled(5), "agent.disabled", `{"agentId":5,"enabled":false,"runnable":false}`},
		{AgentDeleted{5}, "agent.deleted", `{"agentId":5}`},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			e, err := New(at, tc.data)
			if err != nil {
				t.Fatal(err)
			}
			category := strings.Split(tc.kind, ".")[0]
			want := `{"id":"` + e.ID + `","version":"v1","type":"` + tc.kind + `","event_category":"` + category +
				`","timestamp":"2026-03-01T12:04:05.678Z","data":` + tc.want + `}`
			if string(e.Payload) != want {
				t.Errorf("payload\n%s, want\n%s", e.Payload, want)
			}
			if e.Type != tc.kind || e.Category != category || !e.Time.Equal(at.Truncate(time.Millisecond)) {
				t.Errorf("event %+v", e)
			}
		})
	}
}

var idPattern = regexp.MustCompile(`^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestEventIDs(t *testing.T) {
	last := ""
	for range 1000 {
		e, err := New(time.Now(), AgentDeleted{1})
		if err != nil {
			t.Fatal(err)
		}
		if !idPattern.MatchString(e.ID) || e.ID <= last {
			t.Fatalf("id %s after %s", e.ID, last)
		}
		last = e.ID
	}
}

// TestCatalog: the entries are the documented ones, and each example obeys its own schema, which
// refuses data that lacks a property or has one of another type.
func TestCatalog(t *testing.T) {
	want := []string{
		"run.started", "run.completed", "run.failed", "agent.created", "agent.published",
		"agent.unpublished", "agent.enabled", "agent.disabled", "agent.deleted",
	}
	if got := strings.Join(Types(), " "); got != strings.Join(want, " ") {
		t.Errorf("types %s", got)
	}
	for _, entry := range Catalog() {
		t.Run(entry.Type, func(t *testing.T) {
			if entry.Description == "" || entry.Category != Category(entry.Type) {
				t.Errorf("entry %+v", entry)
			}
			var example map[string]any
			if err := json.Unmarshal(entry.Example, &example); err != nil {
				t.Fatal(err)
			}
			if errs := violations(t, entry.Schema, example); len(errs) > 0 {
				t.Errorf("the example breaks the schema: %v", errs)
			}
			for name := range example {
				kept := example[name]
				example[name] = []any{}
				if len(violations(t, entry.Schema, example)) == 0 {
					t.Errorf("the schema takes any type for %s", name)
				}
				delete(example, name)
				if len(violations(t, entry.Schema, example)) == 0 {
					t.Errorf("the schema does not ask for %s", name)
				}
				example[name] = kept
			}
			example["later"] = "added"
			if len(violations(t, entry.Schema, example)) > 0 {
				t.Error("the schema forbids what a later version may add")
			}
		})
	}
}

func violations(t *testing.T, schema json.RawMessage, v any) []error {
	t.Helper()
	var s huma.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	s.PrecomputeMessages()
	var result huma.ValidateResult
	registry := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	huma.Validate(registry, &s, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, &result)
	return result.Errors
}

func TestExample(t *testing.T) {
	for _, entry := range Catalog() {
		e, err := Example(time.Now(), entry.Type)
		if err != nil {
			t.Fatal(err)
		}
		var envelope Envelope
		if err := json.Unmarshal(e.Payload, &envelope); err != nil || string(envelope.Data) != string(entry.Example) || envelope.Type != entry.Type {
			t.Errorf("%s: %s, %v", entry.Type, e.Payload, err)
		}
	}
	if _, err := Example(time.Now(), "agent.updated"); !errors.Is(err, ErrUnknownType) {
		t.Errorf("unknown type: %v", err)
	}
}

// TestSignKnownAnswer is the second test case of RFC 4231.
func TestSignKnownAnswer(t *testing.T) {
	got := Sign("Jefe", []byte("what do ya want for nothing?"))
	if want := "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestVerify(t *testing.T) {
	secret, body := newSecret(), []byte(`{"a":1}`)
	good := Sign(secret, body)
	for _, tc := range []struct {
		name, secret, body, signature string
		want                          bool
	}{
		{"good", secret, `{"a":1}`, good, true},
		{"upper-case hex", secret, `{"a":1}`, "sha256=" + strings.ToUpper(good[7:]), true},
		{"another body", secret, `{"a":2}`, good, false},
		{"another secret", secret + "x", `{"a":1}`, good, false},
		{"no prefix", secret, `{"a":1}`, good[7:], false},
		{"another algorithm", secret, `{"a":1}`, "sha1=" + good[7:], false},
		{"cut off", secret, `{"a":1}`, good[:20], false},
		{"longer", secret, `{"a":1}`, good + "00", false},
		{"empty", secret, `{"a":1}`, "", false},
		{"empty digest", secret, `{"a":1}`, "sha256=", false},
		{"empty secret", "", `{"a":1}`, Sign("", body), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Verify(tc.secret, []byte(tc.body), tc.signature); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestRotation: with an overlap, receivers with the old, the new or both secrets are all content.
func TestRotation(t *testing.T) {
	old, next, stranger := newSecret(), newSecret(), newSecret()
	body := []byte("x")
	during, after := http.Header{}, http.Header{}
	SetHeaders(during, "run.started", body, old, next)
	SetHeaders(after, "run.started", body, next, "")
	if during.Get("X-Service-Event") != "run.started" || during.Get("Content-Type") != "application/json" || after.Get(HeaderSignatureNext) != "" {
		t.Errorf("headers %v, %v", during, after)
	}
	for _, tc := range []struct {
		name    string
		header  http.Header
		secrets []string
		want    bool
	}{
		{"during, old", during, []string{old}, true},
		{"during, new", during, []string{next}, true},
		{"during, both", during, []string{old, next}, true},
		{"during, neither", during, []string{stranger}, false},
		{"after, old", after, []string{old}, false},
		{"after, new", after, []string{next}, true},
		{"after, both", after, []string{old, next}, true},
		{"no secrets", after, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := VerifyHeader(tc.header, body, tc.secrets...); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
	SetHeaders(during, "run.started", body, next, "")
	if during.Get(HeaderSignatureNext) != "" {
		t.Error("the overlap's header stayed behind")
	}
}

// TestSignatureBindsBody: any change of the body or the secret breaks the signature.
func TestSignatureBindsBody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secret := rapid.StringN(1, 40, -1).Draw(rt, "secret")
		body := rapid.SliceOf(rapid.Byte()).Draw(rt, "body")
		signature := Sign(secret, body)
		if !Verify(secret, body, signature) {
			rt.Fatal("the signature does not verify")
		}
		other := append(rapid.SliceOf(rapid.Byte()).Draw(rt, "prefix"), body...)
		if string(other) != string(body) && Verify(secret, other, signature) {
			rt.Fatalf("%q verifies for %q", signature, other)
		}
	})
}

// FuzzVerify: no header's value panics, and only the true signature verifies.
func FuzzVerify(f *testing.F) {
	f.Add("sha256=", "x")
	f.Add(Sign("secret", []byte("x")), "x")
	f.Add("sha256=zz", "")
	f.Fuzz(func(t *testing.T, signature, body string) {
		got := Verify("secret", []byte(body), signature)
		want := strings.HasPrefix(signature, "sha256=") && strings.EqualFold(signature, Sign("secret", []byte(body)))
		if got != want {
			t.Errorf("Verify(%q, %q) = %v", body, signature, got)
		}
	})
}
