package platform

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

const AuditSubscription = `subscription { auditEvent { action objectId customer { name } } }`

// Heard is what a subscriber is sent.
type Heard struct {
	Event map[string]any
	Err   error
	Over  bool
}

// hear reads one result of the subscription.
func hear(payload []byte) Heard {
	var p struct {
		Data   struct{ AuditEvent map[string]any }
		Errors []struct{ Message string }
	}
	err := json.Unmarshal(payload, &p)
	if err == nil && len(p.Errors) > 0 {
		err = errors.New(p.Errors[0].Message)
	}
	return Heard{Event: p.Data.AuditEvent, Err: err}
}

// Dial subscribes by graphql-transport-ws.
func (s *Platform) Dial(t *testing.T, query string, init map[string]any, header http.Header) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: Patience}
	conn, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/graphql", header)
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

// OverSocket subscribes to the audit log by graphql-transport-ws.
func (s *Platform) OverSocket(t *testing.T, init map[string]any, header http.Header) <-chan Heard {
	t.Helper()
	conn := s.Dial(t, AuditSubscription, init, header)
	out := make(chan Heard, 100)
	go func() {
		defer close(out)
		for {
			var m struct {
				Type    string
				Payload json.RawMessage
			}
			if err := conn.ReadJSON(&m); err != nil {
				out <- Heard{Err: err}
				return
			}
			switch m.Type {
			case "next":
				out <- hear(m.Payload)
			case "error":
				out <- Heard{Err: fmt.Errorf("%s", m.Payload)}
			case "complete":
				out <- Heard{Over: true}
			}
		}
	}()
	return out
}

// Stream gives the data lines of a subscription over SSE.
func (s *Platform) Stream(t *testing.T, query, token string) <-chan string {
	t.Helper()
	resp := s.OverEvents(t.Context(), t, query, token)
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

// OverEvents sends a subscription by server-sent events.
func (s *Platform) OverEvents(ctx context.Context, t *testing.T, query, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/graphql", bytes.NewReader(MustJSON(t, object{"query": query})))
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

// OverSSE subscribes to the audit log by server-sent events.
func (s *Platform) OverSSE(t *testing.T, token string) <-chan Heard {
	t.Helper()
	resp := s.OverEvents(t.Context(), t, AuditSubscription, token)
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	out := make(chan Heard, 100)
	go func() {
		defer close(out)
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if lines.Text() == "event: complete" {
				out <- Heard{Over: true}
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

// Next waits for the next thing heard.
func Next(t *testing.T, from <-chan Heard, what string) Heard {
	t.Helper()
	select {
	case h, open := <-from:
		if !open {
			t.Fatalf("%s: the stream is closed", what)
		}
		return h
	case <-time.After(Patience):
		t.Fatalf("%s: nothing is heard", what)
	}
	return Heard{}
}

// Until makes changes until a subscriber, whose subscription takes a moment to begin, hears one.
func (s *Platform) Until(t *testing.T, from <-chan Heard, change func(n int)) map[string]any {
	t.Helper()
	end := time.After(Patience)
	for n := 0; ; n++ {
		change(n)
		select {
		case h := <-from:
			if h.Err != nil || h.Over {
				t.Fatalf("%+v", h)
			}
			return h.Event
		case <-time.After(50 * time.Millisecond):
		case <-end:
			t.Fatal("nothing is heard")
		}
	}
}

func DataOf(t *testing.T, line string) object {
	t.Helper()
	var body struct {
		Data   object
		Errors []any
	}
	if err := json.Unmarshal([]byte(line), &body); err != nil || len(body.Errors) > 0 {
		t.Fatalf("%v: %s", err, line)
	}
	return body.Data
}

// Told gives the next object that a subscription sends; nil at its end.
func Told(t *testing.T, lines <-chan string, name string) object {
	t.Helper()
	select {
	case line, open := <-lines:
		if !open || !strings.Contains(line, `"data"`) {
			return nil
		}
		return DataOf(t, line)[name].(object)
	case <-time.After(Patience):
		t.Fatal("nothing is heard")
		return nil
	}
}
