package graph

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"canopy/internal/access"
	"canopy/resolvers"
)

// frame is a message of graphql-transport-ws.
type frame struct {
	ID      string `json:"id,omitempty"`
	Type    string `json:"type"`
	Payload any    `json:"payload,omitempty"`
}

// dial opens a WebSocket to the endpoint; what it gives for a refusal is the HTTP answer.
func dial(t *testing.T, h http.Handler, header http.Header) (*websocket.Conn, *http.Response) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: 5 * time.Second}
	conn, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/graphql", header)
	if err != nil {
		if resp == nil {
			t.Fatal(err)
		}
		return nil, resp
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn, resp
}

func send(t *testing.T, conn *websocket.Conn, f frame) {
	t.Helper()
	if err := conn.WriteJSON(f); err != nil {
		t.Fatal(err)
	}
}

// receive gives the next message but pings; a zero frame is the end of the connection.
func receive(t *testing.T, conn *websocket.Conn) frame {
	t.Helper()
	for {
		var f frame
		if err := conn.ReadJSON(&f); err != nil {
			if websocket.IsUnexpectedCloseError(err) || websocket.IsCloseError(err, websocket.CloseNormalClosure) {
				return frame{}
			}
			t.Fatal(err)
		}
		if f.Type != "ping" && f.Type != "pong" && f.Type != "ka" {
			return f
		}
	}
}

func TestWebSocketOrigins(t *testing.T) {
	d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Origins = []string{"https://app.example.com"} })
	for origin, allowed := range map[string]bool{
		"": true, "https://app.example.com": true, "https://canopy.example": true,
		"https://evil.example": false, "https://app.example.com.evil.example": false, "http://app.example.com": false, "null": false,
	} {
		t.Run(origin, func(t *testing.T) {
			header := http.Header{}
			if origin != "" {
				header.Set("Origin", origin)
			}
			conn, resp := dial(t, d, header)
			if (conn != nil) != allowed {
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
}

func TestWebSocketNeedsAToken(t *testing.T) {
	for name, payload := range map[string]map[string]any{
		"none":        nil,
		"a bad one":   {"authorization": "Bearer x.y.z"},
		"a bad token": {"token": "x.y.z"},
		"no text":     {"Authorization": 5},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := dial(t, newTestDoor(t, nil), nil)
			send(t, conn, frame{Type: "connection_init", Payload: payload})
			if f := receive(t, conn); f.Type == "connection_ack" {
				t.Error("the connection was accepted")
			}
		})
	}
}

func TestWebSocketServesAndEndsWithTheToken(t *testing.T) {
	conn, _ := dial(t, newTestDoor(t, nil).as(owner(500*time.Millisecond)), nil)
	send(t, conn, frame{Type: "connection_init"})
	if f := receive(t, conn); f.Type != "connection_ack" {
		t.Fatalf("got %+v", f)
	}
	send(t, conn, frame{ID: "q", Type: "subscribe", Payload: map[string]any{"query": "{ __typename }"}})
	if f := receive(t, conn); f.Type != "next" || f.ID != "q" {
		t.Fatalf("got %+v", f)
	}
	if f := receive(t, conn); f.Type != "complete" || f.ID != "q" {
		t.Fatalf("got %+v", f)
	}
	send(t, conn, frame{ID: "s", Type: "subscribe", Payload: map[string]any{"query": "subscription { auditEvent { id } }"}})
	last := receive(t, conn)
	for last.Type == "next" {
		last = receive(t, conn)
	}
	if last.Type != "complete" && last.Type != "error" || last.ID != "s" {
		t.Errorf("the subscription ended with %+v", last)
	}
	// The connection outlives its token; the caller's rights don't.
	send(t, conn, frame{ID: "late", Type: "subscribe", Payload: map[string]any{"query": "{ me { email } }"}})
	f := receive(t, conn)
	if text := toText(f.Payload); f.Type != "" && !strings.Contains(text, "UNAUTHENTICATED") {
		t.Errorf("after the token's end: %+.200v", f)
	}
}

func TestWebSocketRefusesADocument(t *testing.T) {
	conn, _ := dial(t, newTestDoor(t, nil).as(owner(time.Minute)), nil)
	send(t, conn, frame{Type: "connection_init"})
	receive(t, conn)
	send(t, conn, frame{ID: "q", Type: "subscribe", Payload: map[string]any{"query": "{ nothing }"}})
	if f := receive(t, conn); !strings.Contains(toText(f.Payload), "BAD_REQUEST") {
		t.Errorf("got %+v", f)
	}
}

func TestWebSocketTellsTheBarredOfNoFaults(t *testing.T) {
	lacking := owner(time.Minute)
	lacking.Grants[access.Tenant].Features &^= access.AuditRead
	conn, _ := dial(t, newTestDoor(t, nil).as(lacking), nil)
	send(t, conn, frame{Type: "connection_init"})
	receive(t, conn)
	send(t, conn, frame{ID: "s", Type: "subscribe", Payload: map[string]any{"query": "subscription { auditEvent(first: 1) { id } }"}})
	f := receive(t, conn)
	if text := toText(f.Payload); !strings.Contains(text, "audit.read") || strings.Contains(text, "BAD_REQUEST") {
		t.Errorf("got %+v", f)
	}
}
