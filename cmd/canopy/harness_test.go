package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/extract"
	"canopy/internal/globalid"
	"canopy/internal/mail"
	"canopy/resolvers"
)

// runVariable makes the test binary run as the program, with these arguments.
const runVariable = "CANOPY_TEST_RUN"

func TestMain(m *testing.M) {
	extract.MainIfChild()
	if args := os.Getenv(runVariable); args != "" {
		os.Exit(run(strings.Fields(args)))
	}
	devtest.Main(m)
}

const demoAdmin = app.DemoAdmin

// stack is a whole platform on a database of its own, with the demo data, behind a real listener.
type stack struct {
	t    testing.TB
	p    *app.Platform
	url  string
	info app.Demo
	// log is what the platform has said.
	log *devtest.Log
}

// newStack starts a platform; change may alter its settings first. The limits are off.
func newStack(t testing.TB, change ...func(*config.Config)) *stack {
	t.Helper()
	// The system's roots are read once, by whichever test needs them first.
	t.Setenv("SSL_CERT_FILE", certificateFile(t))
	s := &stack{t: t, log: &devtest.Log{}}
	env := map[string]string{"CANOPY_RATE_LIMIT": "0", "CANOPY_COST_LIMIT": "0"}
	cfg, err := config.Load(config.Dev, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	cfg.DatabaseURL = devtest.Database(t, db.Fingerprint(), db.Migrate)
	cfg.RedisURL = devtest.Redis(t)
	cfg.SecretKey = bytes.Repeat([]byte{7}, 32)
	cfg.BlobURL = "file://" + t.TempDir()
	for _, f := range change {
		f(cfg)
	}
	server := httptest.NewUnstartedServer(nil)
	s.url = "http://" + server.Listener.Addr().String()
	if cfg.PublicURL, err = url.Parse(s.url); err != nil {
		t.Fatal(err)
	}
	s.p, err = app.Open(context.Background(), cfg, app.Options{Version: "test", Log: slog.New(slog.NewTextHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.p.Close)
	err = s.p.MakeDemo(context.Background(), func(made app.Demo) error {
		s.info = made
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if server.Config.Handler, err = s.p.Handler(true); err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// work runs the platform's worker until the test ends, and gives what stops it earlier.
func (s *stack) work(sender mail.Sender) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.p.Worker(sender).Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// answerOf is what the platform answered.
type answerOf struct {
	Status int
	Header http.Header
	Body   []byte
}

// json decodes the answer.
func (a answerOf) json(t testing.TB) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatalf("status %d: not JSON: %v: %.200s", a.Status, err, a.Body)
	}
	return v
}

// do sends a request; body is a string, bytes or anything that marshals to JSON, nil for none.
func (s *stack) do(method, path, token string, body any) answerOf {
	s.t.Helper()
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
			s.t.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+path, r)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return s.answer(req)
}

// answer sends a request and reads the answer.
func (s *stack) answer(req *http.Request) answerOf {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answerOf{resp.StatusCode, resp.Header, raw}
	a.judge(s.t, req)
	return a
}

// gql sends a GraphQL request and gives data, and the codes of the errors.
func (s *stack) gql(token, query string, variables map[string]any) (data map[string]any, codes []string) {
	s.t.Helper()
	a := s.do("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
	var body struct {
		Data   map[string]any
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		s.t.Fatalf("status %d: %v: %.300s", a.Status, err, a.Body)
	}
	for _, e := range body.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	return body.Data, codes
}

// token exchanges an API key for an access token.
func (s *stack) token(clientID, clientSecret, app string) string {
	s.t.Helper()
	issued, err := s.p.Resolver.ExchangeToken(context.Background(), resolvers.TokenRequest{
		GrantType: "client_credentials", ClientID: clientID, ClientSecret: clientSecret, TargetApp: app,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return issued.AccessToken
}

// root is a token of the root company's owner.
func (s *stack) root() string {
	s.t.Helper()
	return s.rootAs("tenant")
}

// rootAs gives the root owner's token for another application.
func (s *stack) rootAs(app string) string {
	s.t.Helper()
	return s.token(s.info.ClientID, s.info.ClientSecret, app)
}

// tokenOf makes an API key for a user of a company and gives a token of it.
func (s *stack) tokenOf(companyID int64, email, app string) string {
	s.t.Helper()
	key, plain, err := s.p.Resolver.OperatorCreateKey(context.Background(), companyID, email, "test")
	if err != nil {
		s.t.Fatal(err)
	}
	return s.token(key.ClientID, plain, app)
}

// company gives the id of a company of the demo tree.
func (s *stack) company(name string) int64 {
	s.t.Helper()
	for _, row := range s.do("GET", "/tenant/customers?self=true", s.root(), nil).json(s.t).([]any) {
		if c := row.(map[string]any); c["name"] == name {
			return int64(c["id"].(float64))
		}
	}
	s.t.Fatalf("no company %q", name)
	return 0
}

// id is an id as the resolvers' inputs have it where they may have none.
func id(n int64) *globalid.ID { return &globalid.ID{Int: n} }
