package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	_ "github.com/lib/pq"

	"canopy/internal/mail"
)

// scenario is one request and what has to come of it.
type scenario struct {
	name   string
	token  string
	method string
	path   string
	body   any
	status int
	// code and says are the problem's code and a part of its detail.
	code, says string
	// has are members of the answer with their values, by dotted path.
	has map[string]any
	// not are texts that the answer must not hold.
	not []string
}

// play runs scenarios in order, each as a subtest.
func (s *stack) play(t *testing.T, list []scenario) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			t.Helper()
			a := s.do(c.method, c.path, c.token, c.body)
			c.judge(t, a)
		})
	}
}

func (c scenario) judge(t *testing.T, a answerOf) {
	t.Helper()
	if a.Status != c.status {
		t.Fatalf("%s %s: status %d, want %d: %.400s", c.method, c.path, a.Status, c.status, a.Body)
	}
	if a.Header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
	if c.status == http.StatusNoContent && len(a.Body) > 0 {
		t.Errorf("204 with a body: %q", a.Body)
	}
	if c.status >= 400 {
		c.judgeProblem(t, a)
	}
	for path, want := range c.has {
		if got := member(t, a.json(t), path); !sameJSON(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for _, text := range c.not {
		if strings.Contains(string(a.Body), text) {
			t.Errorf("the answer holds %q: %.400s", text, a.Body)
		}
	}
}

// judgeProblem checks the error body that every refusal has (RFC 9457).
func (c scenario) judgeProblem(t *testing.T, a answerOf) {
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
	if c.code != "" && p.Code != c.code {
		t.Errorf("code %q, want %q", p.Code, c.code)
	}
	if !strings.Contains(p.Detail, c.says) {
		t.Errorf("detail %q does not say %q", p.Detail, c.says)
	}
}

// member finds a value by its dotted path; "#" is a list's length.
func member(t testing.TB, v any, path string) any {
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

// sameJSON compares two values as JSON has them.
func sameJSON(got, want any) bool {
	a, err1 := json.Marshal(got)
	b, err2 := json.Marshal(want)
	return err1 == nil && err2 == nil && string(a) == string(b)
}

// as gives a tenant token of a person of the demo tree.
func (s *stack) as(company, email string) string {
	s.t.Helper()
	return s.tokenOf(s.company(company), email, "tenant")
}

// id reads an integer member of an answer.
func (a answerOf) id(t testing.TB, path string) int64 {
	t.Helper()
	n, ok := member(t, a.json(t), path).(float64)
	if !ok {
		t.Fatalf("%s is no number", path)
	}
	return int64(n)
}

// must sends a request that has to have the status.
func (s *stack) must(status int, method, path, token string, body any) answerOf {
	s.t.Helper()
	a := s.do(method, path, token, body)
	if a.Status != status {
		s.t.Fatalf("%s %s: status %d, want %d: %.400s", method, path, a.Status, status, a.Body)
	}
	return a
}

// mustGQL sends a GraphQL request that has to succeed.
func (s *stack) mustGQL(token, query string, variables map[string]any) map[string]any {
	s.t.Helper()
	a := s.do("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
	var body struct {
		Data   map[string]any
		Errors []any
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != 200 || len(body.Errors) > 0 {
		s.t.Fatalf("status %d: %.500s", a.Status, a.Body)
	}
	return body.Data
}

// refused sends a GraphQL request that has to fail with the code, and gives its message.
func (s *stack) refused(t *testing.T, code, token, query string, variables map[string]any) string {
	t.Helper()
	a := s.do("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
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

// form posts to the token endpoint; user and password, where set, go by HTTP Basic.
func (s *stack) form(values url.Values, basic ...string) answerOf {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url+"/connect/token", strings.NewReader(values.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if len(basic) == 2 {
		req.SetBasicAuth(url.QueryEscape(basic[0]), url.QueryEscape(basic[1]))
	}
	return s.answer(req)
}

// database opens the platform's database past the platform.
func (s *stack) database() *sql.DB {
	s.t.Helper()
	c, err := sql.Open("postgres", s.p.Config.DatabaseURL)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// sql changes the database past the platform, to let time go by.
func (s *stack) sql(statement string, args ...any) {
	s.t.Helper()
	c := s.database()
	defer func() { _ = c.Close() }()
	if _, err := c.Exec(statement, args...); err != nil {
		s.t.Fatal(err)
	}
}

// look reads one value straight from the tables.
func (s *stack) look(into any, query string, args ...any) {
	s.t.Helper()
	c := s.database()
	defer func() { _ = c.Close() }()
	if err := c.QueryRow(query, args...).Scan(into); err != nil {
		s.t.Fatal(err)
	}
}

// number reads one number.
func (s *stack) number(query string, args ...any) (n int64) {
	s.t.Helper()
	s.look(&n, query, args...)
	return n
}

// mails are the mails to an address that wait in the outbox, oldest first.
func (s *stack) mails(to string) (list []mail.Message) {
	s.t.Helper()
	c := s.database()
	defer func() { _ = c.Close() }()
	rows, err := c.Query(`SELECT message FROM mail_outbox WHERE sent_at IS NULL ORDER BY id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var sealed []byte
		if err := rows.Scan(&sealed); err != nil {
			s.t.Fatal(err)
		}
		raw, err := s.p.Box.Open(sealed, "mail")
		if err != nil {
			s.t.Fatal(err)
		}
		var m mail.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			s.t.Fatal(err)
		}
		if strings.EqualFold(m.To, to) {
			list = append(list, m)
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return list
}

var linkPattern = regexp.MustCompile(`/setup#token=([0-9A-Za-z]+)`)

// link is the token of the last link that was mailed to an address.
func (s *stack) link(to string) string {
	s.t.Helper()
	list := s.mails(to)
	if len(list) == 0 {
		s.t.Fatalf("no mail to %s", to)
	}
	found := linkPattern.FindStringSubmatch(list[len(list)-1].Text)
	if found == nil {
		s.t.Fatalf("no link in %q", list[len(list)-1].Text)
	}
	return found[1]
}

const newPassword = "correct horse battery"

// setUp redeems the invitation of a user.
func (s *stack) setUp(email string) {
	s.t.Helper()
	s.must(204, "POST", "/auth/setup", "", map[string]any{"token": s.link(email), "password": newPassword})
}

// login logs a person in.
func (s *stack) login(email, password string) string {
	s.t.Helper()
	a := s.must(200, "POST", "/auth/token", "", map[string]any{"email": email, "password": password})
	return member(s.t, a.json(s.t), "token").(string)
}

// roleID finds a role that a company can give, by its name.
func (s *stack) roleID(company int64, app, name string) int64 {
	s.t.Helper()
	return s.number(`SELECT r.id FROM roles r JOIN applications p ON p.id = r.application_id
		WHERE COALESCE(r.customer_id, $1) = $1 AND p.code = $2 AND r.name = $3`, company, app, name)
}

// account finds a company's account by its application.
func (s *stack) account(company int64, app string) int64 {
	s.t.Helper()
	return s.number(`SELECT a.id FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id
		JOIN applications p ON p.id = i.application_id WHERE a.customer_id = $1 AND p.code = $2 ORDER BY a.id LIMIT 1`, company, app)
}

// userID finds a user by the address.
func (s *stack) userID(email string) int64 {
	s.t.Helper()
	return s.number(`SELECT id FROM users WHERE lower(email) = lower($1)`, email)
}

// permission finds a user's permission on an account.
func (s *stack) permission(user, account int64) int64 {
	s.t.Helper()
	return s.number(`SELECT id FROM permissions WHERE user_id = $1 AND account_id = $2`, user, account)
}
