package platform

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"canopy/internal/config"
)

// ChatServer speaks OpenAI's interface of chats, and streams what Reply says.
type ChatServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	// Reply answers a request. What it says is sent at once, piece by piece; false ends the answer before its end.
	Reply func(r *http.Request, say func(piece string)) bool
}

func NewChatServer(t testing.TB, reply func(r *http.Request, say func(piece string)) bool) *ChatServer {
	t.Helper()
	c := &ChatServer{Reply: reply}
	c.Server = httptest.NewServer(http.HandlerFunc(c.chat))
	t.Cleanup(c.Close)
	return c
}

func (c *ChatServer) chat(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream   bool
		Messages []struct{ Role, Content string }
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil || r.URL.Path != "/v1/chat/completions" || !in.Stream || len(in.Messages) != 2 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.asked = append(c.asked, in.Messages[1].Content)
	c.mu.Unlock()
	send := func(data any) {
		body, _ := json.Marshal(data)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", body)
		_ = http.NewResponseController(w).Flush()
	}
	if r.Header.Get("Authorization") != "Bearer secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	begun := false
	whole := c.Reply(r, func(piece string) {
		if !begun {
			w.Header().Set("Content-Type", "text/event-stream")
			begun = true
		}
		send(object{"choices": []any{object{"delta": object{"content": piece}, "finish_reason": nil}}})
	})
	switch {
	case !begun:
		http.Error(w, `{"error":{"message":"the disk of host db-7 is full"}}`, http.StatusBadRequest)
	case whole:
		send(object{"choices": []any{object{"delta": object{}, "finish_reason": "stop"}}})
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// Asked are the last messages of what it was asked.
func (c *ChatServer) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

// Use has a platform ask the server.
func (c *ChatServer) Use(cfg *config.Config) {
	cfg.Chat = config.Provider{URL: c.URL, APIKey: "secret", Model: "talker-1"}
}
