package agents

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestHalfAnAnswerFailsTheStep: an http step whose answer is too long, or breaks off, is no success with
// half of it.
func TestHalfAnAnswerFailsTheStep(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			_, _ = w.Write(make([]byte, 1<<20+1))
		case "/broken":
			_, _ = w.Write([]byte(`{"half":`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		default:
			_, _ = w.Write([]byte("whole"))
		}
	}))
	t.Cleanup(server.Close)
	s := platform.StartDelivering(t)
	builder := s.RootAs("builder")
	for path, want := range map[string]struct {
		status       int
		code, detail string
	}{
		"/whole":  {200, "", ""},
		"/long":   {400, "too_large", "too large"},
		"/broken": {400, "http_error", "broke off before its end"},
	} {
		agent := s.Publish(builder, `{"steps":[{"id":"a","type":"http","url":"`+server.URL+path+`","anyStatus":true}],"output":{"got":"{{ steps.a.body }}"}}`)
		a := s.Poll(builder, s.Start(builder, agent, object{}))
		got := a.JSON(t).(object)
		failure, _ := got["errorData"].(object)
		code, _ := failure["code"].(string)
		detail, _ := got["detail"].(string)
		if a.Status != want.status || code != want.code || !strings.Contains(detail, want.detail) {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
