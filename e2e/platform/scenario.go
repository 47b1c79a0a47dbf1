package platform

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	_ "github.com/lib/pq"
)

// Scenario is one request and what has to come of it.
type Scenario struct {
	Name   string
	Token  string
	Method string
	Path   string
	Body   any
	Status int
	// code and says are the problem's code and a part of its detail.
	Code, Says string
	// has are members of the answer with their values, by dotted path.
	Has map[string]any
	// not are texts that the answer must not hold.
	Not []string
}

// Play runs scenarios in order, each as a subtest.
func (s *Platform) Play(t *testing.T, list []Scenario) {
	t.Helper()
	for _, c := range list {
		t.Run(c.Name, func(t *testing.T) {
			t.Helper()
			a := s.Do(c.Method, c.Path, c.Token, c.Body)
			c.Judge(t, a)
		})
	}
}

func (c Scenario) Judge(t *testing.T, a Answer) {
	t.Helper()
	if a.Status != c.Status {
		t.Fatalf("%s %s: status %d, want %d: %.400s", c.Method, c.Path, a.Status, c.Status, a.Body)
	}
	if a.Header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
	if c.Status == http.StatusNoContent && len(a.Body) > 0 {
		t.Errorf("204 with a body: %q", a.Body)
	}
	if c.Status >= 400 {
		c.judgeProblem(t, a)
	}
	for path, want := range c.Has {
		if got := Member(t, a.JSON(t), path); !SameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for _, text := range c.Not {
		if strings.Contains(string(a.Body), text) {
			t.Errorf("the answer holds %q: %.400s", text, a.Body)
		}
	}
}

// judgeProblem checks the error body that every refusal has (RFC 9457).
func (c Scenario) judgeProblem(t *testing.T, a Answer) {
	t.Helper()
	var p struct {
		Status                  int
		Detail, Code, RequestID string
		Errors                  []any
	}
	if err := json.Unmarshal(a.Body, &p); err != nil {
		t.Fatal(err)
	}
	if ct := a.Header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("Content-Type %q", ct)
	}
	if p.Status != a.Status || p.Detail == "" || p.Errors == nil || p.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("incomplete problem: %s", a.Body)
	}
	if c.Code != "" && p.Code != c.Code {
		t.Errorf("code %q, want %q", p.Code, c.Code)
	}
	if !strings.Contains(p.Detail, c.Says) {
		t.Errorf("detail %q does not say %q", p.Detail, c.Says)
	}
}

// Member finds a value by its dotted path; "#" is a list's length.
func Member(t testing.TB, v any, path string) any {
	t.Helper()
	if path == "" {
		return v
	}
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			got, there := x[name]
			if !there {
				t.Fatalf("%s: no member %q in %v", path, name, x)
			}
			v = got
		case []any:
			if name == "#" {
				return len(x)
			}
			var i int
			if err := json.Unmarshal([]byte(name), &i); err != nil || i >= len(x) {
				t.Fatalf("%s: no entry %q of %d", path, name, len(x))
			}
			v = x[i]
		default:
			t.Fatalf("%s: nothing has a member %q", path, name)
		}
	}
	return v
}

// SameJSON compares two values as JSON has them.
func SameJSON(got, want any) bool {
	a, err1 := json.Marshal(got)
	b, err2 := json.Marshal(want)
	return err1 == nil && err2 == nil && string(a) == string(b)
}
