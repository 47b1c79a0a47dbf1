package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq"
)

var nextLink = regexp.MustCompile(`^<([^>]+)>; rel="(?:next|prev)"$`)

// Follow reads a list page by page, by its Link headers, whichever way they lead.
func (s *Platform) Follow(t *testing.T, path, token string, lines func(*testing.T, Answer) []string) (list []string, pages int) {
	t.Helper()
	for {
		a := s.Must(200, "GET", path, token, nil)
		list = append(list, lines(t, a)...)
		pages++
		link := a.Header.Get("Link")
		if link == "" {
			return list, pages
		}
		found := nextLink.FindStringSubmatch(link)
		if found == nil || !strings.HasPrefix(found[1], s.URL) || pages > 100 {
			t.Fatalf("Link %q", link)
		}
		path = strings.TrimPrefix(found[1], s.URL)
	}
}

// Post posts a body of a type.
func (s *Platform) Post(path, token, contentType string, body []byte) Answer {
	s.T.Helper()
	return s.PostWith(path, token, contentType, body, nil)
}

// PostWith is send with further headers.
func (s *Platform) PostWith(path, token, contentType string, body []byte, header http.Header) Answer {
	s.T.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", contentType)
	return s.Send(req)
}

// MustJSON marshals a value.
func MustJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Answer is what the platform answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON decodes the answer.
func (a Answer) JSON(t testing.TB) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatalf("status %d: not JSON: %v: %.200s", a.Status, err, a.Body)
	}
	return v
}

// Do sends a request; body is a string, bytes or anything that marshals to JSON, nil for none.
func (s *Platform) Do(method, path, token string, body any) Answer {
	s.T.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case []byte:
		r = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			s.T.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, r)
	if err != nil {
		s.T.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return s.Send(req)
}

// Send sends a request and reads the answer.
func (s *Platform) Send(req *http.Request) Answer {
	s.T.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	a := Answer{resp.StatusCode, resp.Header, raw}
	a.Judge(s.T, req)
	return a
}

// GQL sends a GraphQL request and gives data, and the codes of the errors.
func (s *Platform) GQL(token, query string, variables map[string]any) (data map[string]any, codes []string) {
	s.T.Helper()
	a := s.Do("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
	var body struct {
		Data   map[string]any
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		s.T.Fatalf("status %d: %v: %.300s", a.Status, err, a.Body)
	}
	for _, e := range body.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	return body.Data, codes
}

type object = map[string]any

func Decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Raw sends a request without a body, with headers of its own.
func (s *Platform) Raw(t testing.TB, method, path string, headers map[string]string) Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{resp.StatusCode, resp.Header, raw}
}

// ID reads an integer member of an answer.
func (a Answer) ID(t testing.TB, path string) int64 {
	t.Helper()
	n, ok := Member(t, a.JSON(t), path).(float64)
	if !ok {
		t.Fatalf("%s is no number", path)
	}
	return int64(n)
}

// Must sends a request that has to have the status.
func (s *Platform) Must(status int, method, path, token string, body any) Answer {
	s.T.Helper()
	a := s.Do(method, path, token, body)
	// All platforms of a package share the places in which passwords are hashed: who finds none comes back, as every client does.
	for begun := time.Now(); status != http.StatusTooManyRequests && busy(a) && time.Since(begun) < Patience; a = s.Do(method, path, token, body) {
		time.Sleep(time.Second)
	}
	if a.Status != status {
		s.T.Fatalf("%s %s: status %d, want %d: %.400s", method, path, a.Status, status, a.Body)
	}
	return a
}

func busy(a Answer) bool {
	return a.Status == http.StatusTooManyRequests && bytes.Contains(a.Body, []byte("too many people sign in"))
}

// MustGQL sends a GraphQL request that has to succeed.
func (s *Platform) MustGQL(token, query string, variables map[string]any) map[string]any {
	s.T.Helper()
	a := s.Do("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
	var body struct {
		Data   map[string]any
		Errors []any
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != 200 || len(body.Errors) > 0 {
		s.T.Fatalf("status %d: %.500s", a.Status, a.Body)
	}
	return body.Data
}

// Refused sends a GraphQL request that has to fail with the code, and gives its message.
func (s *Platform) Refused(t *testing.T, code, token, query string, variables map[string]any) string {
	t.Helper()
	a := s.Do("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
	var body struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code, RequestID string }
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || len(body.Errors) == 0 {
		t.Fatalf("status %d, want the error %s: %.400s", a.Status, code, a.Body)
	}
	if e := body.Errors[0]; e.Extensions.Code != code || e.Extensions.RequestID == "" {
		t.Fatalf("%s (%s), want %s", e.Extensions.Code, e.Message, code)
	}
	return body.Errors[0].Message
}

// Exchange posts to the token endpoint; user and password, where set, go by HTTP Basic.
func (s *Platform) Exchange(values url.Values, basic ...string) Answer {
	s.T.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/connect/token", strings.NewReader(values.Encode()))
	if err != nil {
		s.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if len(basic) == 2 {
		req.SetBasicAuth(url.QueryEscape(basic[0]), url.QueryEscape(basic[1]))
	}
	return s.Send(req)
}

func (s *Platform) GrantForm(change map[string]string) url.Values {
	v := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {s.Demo.ClientID}, "client_secret": {s.Demo.ClientSecret}, "target_app": {"tenant"},
	}
	for name, value := range change {
		if value == "" {
			v.Del(name)
		} else {
			v.Set(name, value)
		}
	}
	return v
}

// Mutate runs one mutation and gives its payload.
func (s *Platform) Mutate(token, name, fields string, input map[string]any) map[string]any {
	s.T.Helper()
	data, codes := s.GQL(token, "mutation($in: "+strings.ToUpper(name[:1])+name[1:]+"Input!) { "+name+"(input: $in) { "+fields+" } }", map[string]any{"in": input})
	if len(codes) > 0 {
		s.T.Fatalf("%s: %v\n%s", name, codes, s.Log)
	}
	return data[name].(map[string]any)
}

// Keyed makes a request with an idempotency key and a JSON body, for the platform or another of its servers.
func Keyed(t testing.TB, method, url, token, key, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	return req
}
