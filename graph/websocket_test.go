package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/web"
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
	return dialTo(t, server.Listener.Addr(), header, subprotocol)
}

func dialTo(t *testing.T, server net.Addr, header http.Header, subprotocols ...string) (*websocket.Conn, *http.Response) {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: subprotocols, HandshakeTimeout: 5 * time.Second}
	conn, resp, err := dialer.DialContext(t.Context(), "ws://"+server.String()+"/graphql", header)
	if err != nil {
		if resp == nil {
			t.Fatal(err)
		}
		return nil, resp
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
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
	d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Origins.Listed = []string{"https://app.example.com"} })
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

// closed reads on to the end of a connection, and gives its code.
func closed(t *testing.T, conn *websocket.Conn) int {
	t.Helper()
	for {
		_, _, err := conn.ReadMessage()
		var end *websocket.CloseError
		switch {
		case errors.As(err, &end):
			return end.Code
		case err != nil:
			t.Fatal(err)
		}
	}
}

// agreed opens a connection whose connection_init was accepted.
func agreed(t *testing.T, h http.Handler) *websocket.Conn {
	t.Helper()
	conn, _ := dial(t, h, nil)
	send(t, conn, frame{Type: "connection_init"})
	if f := receive(t, conn); f.Type != "connection_ack" {
		t.Fatalf("got %+v", f)
	}
	return conn
}

func query(id, document string) frame {
	return frame{ID: id, Type: "subscribe", Payload: map[string]any{"query": document}}
}

// codeIn is the code of the first error that a message tells of.
func codeIn(f frame) string {
	var errs []struct{ Extensions map[string]any }
	raw, _ := json.Marshal(f.Payload)
	if json.Unmarshal(raw, &errs) != nil {
		var result struct{ Errors json.RawMessage }
		_ = json.Unmarshal(raw, &result)
		_ = json.Unmarshal(result.Errors, &errs)
	}
	if len(errs) == 0 {
		return ""
	}
	return codeOf(errs[0].Extensions)
}

func TestWebSocketNeedsACaller(t *testing.T) {
	barred := owner(time.Minute)
	barred.Grants = [len(barred.Grants)]*access.Grant{}
	for name, c := range map[string]struct {
		caller  *access.Principal
		payload any
		code    int
	}{
		"no token":             {nil, nil, closeUnauthenticated},
		"a bad one":            {nil, map[string]any{"authorization": "Bearer x.y.z"}, closeUnauthenticated},
		"a bad token":          {nil, map[string]any{"token": "x.y.z"}, closeUnauthenticated},
		"no text":              {nil, map[string]any{"Authorization": 5}, closeUnauthenticated},
		"one that has run out": {owner(-time.Second), nil, closeForbidden},
		"no access any more":   {barred, nil, closeForbidden},
		"no object":            {owner(time.Minute), "Bearer x.y.z", closeBadMessage},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestDoor(t, nil)
			if c.caller != nil {
				d = d.as(c.caller)
			}
			conn, _ := dial(t, d, nil)
			send(t, conn, frame{Type: "connection_init", Payload: c.payload})
			if code := closed(t, conn); code != c.code {
				t.Errorf("closed with %d, want %d", code, c.code)
			}
		})
	}
}

// Whoever breaks the protocol is left, with the code that it has for that.
func TestWebSocketProtocol(t *testing.T) {
	const watch = "subscription { auditEvent { id } }"
	begin := frame{Type: "connection_init"}
	for name, c := range map[string]struct {
		frames []any
		code   int
	}{
		"connection_init twice":       {[]any{begin, begin}, closeTwice},
		"subscribe without it":        {[]any{query("1", "{ __typename }")}, closeUnauthenticated},
		"an id twice":                 {[]any{begin, query("1", watch), query("1", watch)}, closeTaken},
		"no id":                       {[]any{begin, query("", watch)}, closeBadMessage},
		"an unknown type":             {[]any{begin, frame{Type: "start"}}, closeBadMessage},
		"a type of servers":           {[]any{begin, frame{ID: "1", Type: "next"}}, closeBadMessage},
		"a list":                      {[]any{[]frame{begin}}, closeBadMessage},
		"a type that is no text":      {[]any{map[string]any{"type": 5}}, closeBadMessage},
		"a message that is too large": {[]any{begin, query("1", strings.Repeat("x", intake.MaxBody))}, websocket.CloseMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := dial(t, newTestDoor(t, nil).as(owner(time.Minute)), nil)
			for _, f := range c.frames {
				if err := conn.WriteJSON(f); err != nil {
					t.Fatal(err)
				}
			}
			if code := closed(t, conn); code != c.code {
				t.Errorf("closed with %d, want %d", code, c.code)
			}
		})
	}
	for name, text := range map[string]string{"no JSON": "hello", "a member twice": `{"type":"ping","type":"pong"}`, "no UTF-8": "{\"type\":\"\xff\"}"} {
		t.Run(name, func(t *testing.T) {
			conn, _ := dial(t, newTestDoor(t, nil).as(owner(time.Minute)), nil)
			if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if code := closed(t, conn); code != closeBadMessage {
				t.Errorf("closed with %d", code)
			}
		})
	}
	t.Run("bytes", func(t *testing.T) {
		conn, _ := dial(t, newTestDoor(t, nil).as(owner(time.Minute)), nil)
		if err := conn.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"ping"}`)); err != nil {
			t.Fatal(err)
		}
		if code := closed(t, conn); code != closeBadMessage {
			t.Errorf("closed with %d", code)
		}
	})
	for _, spoken := range [][]string{nil, {"graphql-ws"}} {
		t.Run(fmt.Sprint("the subprotocols ", spoken), func(t *testing.T) {
			server := httptest.NewServer(newTestDoor(t, nil))
			defer server.Close()
			conn, _ := dialTo(t, server.Listener.Addr(), nil, spoken...)
			if code := closed(t, conn); code != closeSubprotocol {
				t.Errorf("closed with %d", code)
			}
		})
	}
	// As Java's HttpClient and curl --http2 send each request on a plain connection.
	t.Run("an offer of HTTP/2", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ __typename }"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Upgrade", "h2c")
		r.Header.Set("Connection", "Upgrade, HTTP2-Settings")
		if a := newTestDoor(t, nil).do(t, r); a.Status != http.StatusOK || !strings.Contains(a.Raw, `"__typename":"Query"`) {
			t.Errorf("%d %s", a.Status, a.Raw)
		}
	})
}

func TestWebSocketOperations(t *testing.T) {
	conn := agreed(t, newTestDoor(t, nil).as(owner(time.Minute)))
	t.Run("a query", func(t *testing.T) {
		send(t, conn, query("q", "{ __typename }"))
		if f := receive(t, conn); f.Type != "next" || f.ID != "q" || !strings.Contains(toText(f.Payload), `"__typename":"Query"`) {
			t.Errorf("got %+v", f)
		}
		if f := receive(t, conn); f.Type != "complete" || f.ID != "q" {
			t.Errorf("got %+v", f)
		}
	})
	for name, document := range map[string]string{"a document that is not valid": "{ nothing }", "one that does not parse": "{", "none": ""} {
		t.Run(name, func(t *testing.T) {
			send(t, conn, query("bad", document))
			if f := receive(t, conn); f.Type != "error" || f.ID != "bad" || codeIn(f) != "BAD_REQUEST" {
				t.Errorf("got %+v", f)
			}
		})
	}
	t.Run("a ping", func(t *testing.T) {
		send(t, conn, frame{Type: "ping", Payload: map[string]any{"n": 1}})
		f := frame{}
		if err := conn.ReadJSON(&f); err != nil || f.Type != "pong" || toText(f.Payload) != `{"n":1}` {
			t.Errorf("got %+v %v", f, err)
		}
	})
	t.Run("an id that is free again", func(t *testing.T) {
		for range 3 {
			send(t, conn, query("s", "subscription { auditEvent { id } }"))
			send(t, conn, frame{ID: "s", Type: "complete"})
		}
		send(t, conn, query("s", "{ __typename }"))
		if f := receive(t, conn); f.Type != "next" || f.ID != "s" {
			t.Errorf("got %+v", f)
		}
	})
}

// A token's end is told to what is open; the client is to come back with a fresh one and go on, so
// nothing is ended for good.
func TestWebSocketEndsWithTheToken(t *testing.T) {
	conn := agreed(t, newTestDoor(t, nil).as(owner(300*time.Millisecond)))
	send(t, conn, query("s", "subscription { auditEvent { id } }"))
	if f := receive(t, conn); f.Type != "next" || f.ID != "s" || codeIn(f) != "UNAUTHENTICATED" {
		t.Errorf("the subscription ended with %+v", f)
	}
	if code := closed(t, conn); code != closeForbidden {
		t.Errorf("closed with %d", code)
	}
}

// held answers queries when they are let go, and subscriptions with nothing.
type held struct{ let chan struct{} }

// CreateOperationContext takes the document for the word that it begins with.
func (held) CreateOperationContext(_ context.Context, raw *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	return &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: ast.Operation(raw.Query)}}, nil
}

// DispatchOperation answers.
func (h held) DispatchOperation(ctx context.Context, oc *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	if oc.Operation.Operation == ast.Subscription {
		return func(ctx context.Context) *graphql.Response { <-ctx.Done(); return nil }, ctx
	}
	left := 1
	return func(ctx context.Context) *graphql.Response {
		select {
		case <-ctx.Done():
		case <-h.let:
			if left--; left == 0 {
				return &graphql.Response{Data: json.RawMessage(`{"done":true}`)}
			}
		}
		return nil
	}, ctx
}

// DispatchError gives the errors.
func (held) DispatchError(_ context.Context, errs gqlerror.List) *graphql.Response {
	return &graphql.Response{Errors: errs}
}

// serve serves WebSockets with operations that are held.
func (h held) serve(t *testing.T, transport webSocket) http.Handler {
	t.Helper()
	transport.door = newTestDoor(t, nil).Handler.(*endpoint)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		transport.Do(w, r.WithContext(access.WithPrincipal(r.Context(), owner(time.Minute))), h)
	})
}

func TestWebSocketTimes(t *testing.T) {
	t.Run("connection_init is waited for", func(t *testing.T) {
		conn, _ := dial(t, held{}.serve(t, webSocket{keepAlive: time.Minute, initTimeout: 10 * time.Millisecond}), nil)
		if code := closed(t, conn); code != closeInitTimeout {
			t.Errorf("closed with %d", code)
		}
	})
	t.Run("a quiet client is asked for a sign of life", func(t *testing.T) {
		t.Parallel()
		conn, _ := dial(t, held{}.serve(t, webSocket{keepAlive: 500 * time.Millisecond, initTimeout: time.Minute}), nil)
		asked, answer := 0, conn.PingHandler()
		conn.SetPingHandler(func(data string) error {
			if asked++; asked == 5 { // long after the time that it has without an answer
				send(t, conn, frame{Type: "connection_init"})
			}
			return answer(data)
		})
		if f := receive(t, conn); f.Type != "connection_ack" {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("a dead one is left", func(t *testing.T) {
		conn, _ := dial(t, held{}.serve(t, webSocket{keepAlive: 10 * time.Millisecond, initTimeout: time.Minute}), nil)
		conn.SetPingHandler(func(string) error { return nil })
		if _, _, err := conn.ReadMessage(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection is open: %v", err)
		}
	})
}

// TestWebSocketShutdown: what is under way is finished, and the client is told to come back.
func TestWebSocketShutdown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	h := held{make(chan struct{})}
	go func() {
		ended <- web.Serve(ctx, listener, h.serve(t, webSocket{keepAlive: time.Minute, initTimeout: time.Minute}),
			web.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	}()
	conn, _ := dialTo(t, listener.Addr(), nil, subprotocol)
	for _, f := range []frame{{Type: "connection_init"}, query("s", "subscription"), query("q", "query"), {Type: "ping"}} {
		send(t, conn, f)
	}
	for f := (frame{}); f.Type != "pong"; { // then the operations have begun
		if err := conn.ReadJSON(&f); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	close(h.let)
	for _, want := range []string{"next", "complete"} {
		if f := receive(t, conn); f.Type != want || f.ID != "q" {
			t.Errorf("got %+v, want the %s of the query", f, want)
		}
	}
	if code := closed(t, conn); code != websocket.CloseServiceRestart {
		t.Errorf("closed with %d", code)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWebSocketHoldsSoMany(t *testing.T) {
	conn := agreed(t, held{}.serve(t, webSocket{keepAlive: time.Minute, initTimeout: time.Minute}))
	for i := range maxOperations + 1 {
		send(t, conn, query(strconv.Itoa(i), "query"))
	}
	if f := receive(t, conn); f.ID != strconv.Itoa(maxOperations) || codeIn(f) != "RATE_LIMITED" {
		t.Errorf("got %+v", f)
	}
	send(t, conn, frame{ID: "0", Type: "complete"})
	send(t, conn, query("again", "query"))
	send(t, conn, query("again", "query"))
	if code := closed(t, conn); code != closeTaken {
		t.Errorf("there was no room again: closed with %d", code)
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

// TestSubscriptionsAskForOneField: what asks for none, or several, is the client's fault, however it comes about.
func TestSubscriptionsAskForOneField(t *testing.T) {
	door := newTestDoor(t, nil).as(owner(time.Minute))
	const said = "a subscription must ask for exactly one field, and this asks for "
	for document, want := range map[string]string{
		"subscription { auditEvent { id } again: auditEvent { id } }":                                         said + "2",
		"subscription { ...Two } fragment Two on Subscription { auditEvent { id } again: auditEvent { id } }": said + "2",
		"subscription { auditEvent @skip(if: true) { id } }":                                                  said + "0",
		"subscription ($no: Boolean = false) { auditEvent @include(if: $no) { id } }":                         said + "0",
	} {
		r := post(t.Context(), strings.NewReader(toText(map[string]any{"query": document})))
		r.Header.Set("Accept", "text/event-stream, application/json")
		if a := door.do(t, r); a.code() != "BAD_REQUEST" || a.message() != want {
			t.Errorf("%s: %s", document, a.Raw)
		}
	}
}
