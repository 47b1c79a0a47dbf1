package main

import (
	"io"
	"net/http"
	"testing"
)

// raw sends a request without a body, with headers of its own.
func (s *stack) raw(t testing.TB, method, path string, headers map[string]string) answerOf {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, http.NoBody)
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
	return answerOf{resp.StatusCode, resp.Header, raw}
}
