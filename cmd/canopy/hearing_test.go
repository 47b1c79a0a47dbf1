package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const auditSubscription = `subscription { auditEvent { action objectId customer { name } } }`

// heard is what a subscriber is sent.
type heard struct {
	event map[string]any
	err   error
	over  bool
}

// hear reads one result of the subscription.
func hear(payload []byte) heard {
	var p struct {
		Data   struct{ AuditEvent map[string]any }
		Errors []struct{ Message string }
	}
	err := json.Unmarshal(payload, &p)
	if err == nil && len(p.Errors) > 0 {
		err = errors.New(p.Errors[0].Message)
	}
	return heard{event: p.Data.AuditEvent, err: err}
}

// dial subscribes by graphql-transport-ws.
func (s *stack) dial(t *testing.T, query string, init map[string]any, header http.Header) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: 5 * time.Second}
	conn, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/graphql", header)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	for _, m := range []object{
		{"type": "connection_init", "payload": init},
		{"type": "subscribe", "id": "1", "payload": object{"query": query}},
	} {
		if err := conn.WriteJSON(m); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// overSocket subscribes to the audit log by graphql-transport-ws.
func (s *stack) overSocket(t *testing.T, init map[string]any, header http.Header) <-chan heard {
	t.Helper()
	conn := s.dial(t, auditSubscription, init, header)
	out := make(chan heard, 100)
	go func() {
		defer close(out)
		for {
			var m struct {
				Type    string
				Payload json.RawMessage
			}
			if err := conn.ReadJSON(&m); err != nil {
				out <- heard{err: err}
				return
			}
			switch m.Type {
			case "next":
				out <- hear(m.Payload)
			case "error":
				out <- heard{err: fmt.Errorf("%s", m.Payload)}
			case "complete":
				out <- heard{over: true}
			}
		}
	}()
	return out
}

// stream gives the data lines of a subscription over SSE.
func (s *stack) stream(t *testing.T, query, token string) <-chan string {
	t.Helper()
	resp := s.overEvents(t.Context(), t, query, token)
	out := make(chan string, 1000)
	go func() {
		defer close(out)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "" {
				out <- data
			}
		}
	}()
	return out
}

// overEvents sends a subscription by server-sent events.
func (s *stack) overEvents(ctx context.Context, t *testing.T, query, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/graphql", bytes.NewReader(mustJSON(t, object{"query": query})))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// overSSE subscribes to the audit log by server-sent events.
func (s *stack) overSSE(t *testing.T, token string) <-chan heard {
	t.Helper()
	resp := s.overEvents(t.Context(), t, auditSubscription, token)
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	out := make(chan heard, 100)
	go func() {
		defer close(out)
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if lines.Text() == "event: complete" {
				out <- heard{over: true}
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok || data == "" {
				continue
			}
			out <- hear([]byte(data))
		}
	}()
	return out
}

// next waits for the next thing heard.
func next(t *testing.T, from <-chan heard, what string) heard {
	t.Helper()
	select {
	case h, open := <-from:
		if !open {
			t.Fatalf("%s: the stream is closed", what)
		}
		return h
	case <-time.After(15 * time.Second):
		t.Fatalf("%s: nothing is heard", what)
	}
	return heard{}
}

// until makes changes until a subscriber, whose subscription takes a moment to begin, hears one.
func (s *stack) until(t *testing.T, from <-chan heard, change func(n int)) map[string]any {
	t.Helper()
	for n := range 300 {
		change(n)
		select {
		case h := <-from:
			if h.err != nil || h.over {
				t.Fatalf("%+v", h)
			}
			return h.event
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("nothing is heard")
	return nil
}
