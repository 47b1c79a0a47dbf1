package platform

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"canopy/internal/app"
)

// Twin is another process of the same platform, behind a listener of its own.
func (s *Platform) Twin(t *testing.T) *Platform {
	t.Helper()
	twin := *s
	cfg := *s.App.Config
	var err error
	twin.App, err = app.Open(context.Background(), &cfg, app.Options{Version: "test", Log: slog.New(slog.NewTextHandler(s.Log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(twin.forget)
	t.Cleanup(func() { twin.App.Close() })
	handler, err := twin.App.Handler(true)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	twin.URL, twin.StopServing = server.URL, server.Close
	t.Cleanup(func() { twin.StopServing() })
	return &twin
}

// Session is what a program has of a session.
type Session struct{ Token, Refresh string }

// OpenSession signs a person in, as a program does.
func (s *Platform) OpenSession(t *testing.T, email, password string, more ...any) Session {
	t.Helper()
	body := object{"email": email, "password": password, "cookie": false}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return SessionOf(t, s.Must(200, "POST", "/auth/session", "", body))
}

// SessionOf reads the answer to a program.
func SessionOf(t *testing.T, a Answer) Session {
	t.Helper()
	v := a.JSON(t)
	return Session{Member(t, v, "token").(string), Member(t, v, "refreshToken").(string)}
}

// Refresh renews a session, as a program does.
func (s *Platform) Refresh(refresh string, more ...any) Answer {
	body := object{"refreshToken": refresh}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return s.Do("POST", "/auth/session/refresh", "", body)
}

// AsPage sends a request as a browser does from a page of an origin, with a cookie; "" leaves them out.
func (s *Platform) AsPage(t *testing.T, method, path, origin, cookie string, body any) Answer {
	t.Helper()
	var raw []byte
	if body != nil {
		raw = MustJSON(t, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Origin": origin, "Cookie": cookie} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return s.Send(req)
}
