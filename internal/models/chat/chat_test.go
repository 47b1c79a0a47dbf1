package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"canopy/internal/models/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	client, err := New(openai.Config{URL: server.URL + "/v1", Attempts: 2, Backoff: time.Millisecond}, "test-model")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Cleanup(client.Close)
	return client
}

var question = []Message{{System, "Be brief."}, {User, "Why?"}}

func TestComplete(t *testing.T) {
	var path, body string
	client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		path, body = r.URL.Path, string(content)
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"Because."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
	})
	cold := 0.0
	got, err := client.Complete(t.Context(), Request{Messages: question, Temperature: &cold, MaxTokens: 50, JSON: true})
	if want := (Answer{"Because.", "stop", 9, 2}); err != nil || got != want {
		t.Errorf("answer %+v, %v, want %+v", got, err, want)
	}
	want := `{"model":"test-model","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"}],"temperature":0,"max_tokens":50,"response_format":{"type":"json_object"}}`
	if path != "/v1/chat/completions" || body != want {
		t.Errorf("sent %s %s", path, body)
	}
}

func TestDefaultsAreLeftToTheServer(t *testing.T) {
	sent := map[string]any{}
	client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":"x"}}]}`)
	})
	if _, err := client.Complete(t.Context(), Request{Messages: question}); err != nil || len(sent) != 2 {
		t.Errorf("sent %v, %v", sent, err)
	}
}

func TestRetriesAndFails(t *testing.T) {
	n := 0
	client := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.WriteHeader(503)
	})
	_, err := client.Complete(t.Context(), Request{Messages: question})
	var status *openai.StatusError
	if !errors.As(err, &status) || n != 2 {
		t.Errorf("error %v after %d requests", err, n)
	}
}

func TestNoAnswer(t *testing.T) {
	tests := []struct {
		name, body string
		want       error
	}{
		{"no choices", `{"choices":[]}`, openai.ErrAnswer},
		{"tool call", `{"choices":[{"message":{"content":null},"finish_reason":"tool_calls"}]}`, ErrNoContent},
		{"refusal", `{"choices":[{"message":{"content":"","refusal":"I can't."}}]}`, ErrNoContent},
		{"not JSON", `busy`, openai.ErrAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := newClient(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tt.body) })
			if _, err := client.Complete(t.Context(), Request{Messages: question}); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("no messages", func(t *testing.T) {
		client := newClient(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
		if _, err := client.Complete(t.Context(), Request{}); !errors.Is(err, ErrNoMessages) {
			t.Errorf("error %v", err)
		}
	})
}
