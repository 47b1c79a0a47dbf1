package graph

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/resolvers"
)

const (
	// leaveTime is how long a client has to hear why it is left, and to leave by itself.
	leaveTime = 3 * time.Second
	// maxReason is in bytes, of the 123 that a close frame holds.
	maxReason = 120
)

// socket is one connection. What is sent on it takes no longer than web allows each piece.
type socket struct {
	webSocket
	exec    graphql.GraphExecutor
	conn    *websocket.Conn
	request *http.Request
	ctx     context.Context // the connection's life
	cancel  context.CancelFunc

	// Only the reader knows these: the token, how far connection_init has come, and the time for it;
	// then the token's.
	authorization     string
	initiated, agreed bool
	// known is the context in which messages are read: that of the caller, once it is known.
	known   context.Context
	timeout *time.Timer

	writing sync.Mutex // for each message

	mu      sync.Mutex // for what follows
	open    map[string]*operation
	leaving bool
	// running counts the operations under way, finite those that end by themselves.
	running, finite sync.WaitGroup
}

// message is one of graphql-transport-ws.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// The types of messages.
const (
	typeInit      = "connection_init"
	typeAck       = "connection_ack"
	typePing      = "ping"
	typePong      = "pong"
	typeSubscribe = "subscribe"
	typeNext      = "next"
	typeError     = "error"
	typeComplete  = "complete"
)

// serve reads until the connection is closed, and then waits for what it began.
func (s *socket) serve() {
	defer s.running.Wait()
	defer s.cancel()
	defer func() { _ = s.conn.Close() }()
	s.timeout = time.AfterFunc(s.initTimeout, func() { s.close(closing{code: closeInitTimeout, reason: typeInit + " took too long"}) })
	defer func() { s.timeout.Stop() }()
	if s.conn.Subprotocol() != subprotocol {
		s.close(closing{code: closeSubprotocol, reason: "the subprotocol must be " + subprotocol})
	}
	s.running.Go(s.ping)
	s.conn.SetReadLimit(intake.MaxStrange)
	s.conn.SetPongHandler(func(string) error { return s.alive() })
	for s.alive() == nil && s.receive() == nil {
	}
}

// receive reads a message, and does what it asks for.
func (s *socket) receive() error {
	kind, from, err := s.conn.NextReader()
	if err != nil {
		return err
	}
	ctx, over := context.WithCancel(s.known)
	defer over()
	raw, err := intake.Whole(ctx, from)
	if err == nil {
		s.hear(kind, raw)
	}
	return err
}

// alive gives the client the time until its next sign of life.
func (s *socket) alive() error { return s.conn.SetReadDeadline(time.Now().Add(2 * s.keepAlive)) }

// ping asks for signs of life, by WebSocket's own pings, which every client answers by itself.
func (s *socket) ping() {
	tick := time.NewTicker(s.keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.keepAlive)) // the reader notices
		}
	}
}

// hear does what a message asks for. Whoever breaks the protocol is left.
func (s *socket) hear(kind int, raw []byte) {
	var m message
	if !s.read(kind, raw, &m) {
		s.close(closing{code: closeBadMessage, reason: "a message must be a JSON object with type, id and payload"})
		return
	}
	switch m.Type {
	case typeInit:
		s.init(m)
	case typePing:
		s.send(message{Type: typePong, Payload: m.Payload})
	case typePong:
	case typeSubscribe:
		s.subscribe(m)
	case typeComplete:
		s.drop(m.ID)
	default:
		s.close(closing{code: closeBadMessage, reason: "clients send no messages of this type"})
	}
}

// read reads a message when it is its turn, and tells whether it is one.
func (s *socket) read(kind int, raw []byte, m *message) bool {
	leave, err := intake.Turn(s.known, len(raw))
	if err != nil {
		return false
	}
	defer leave()
	return kind == websocket.TextMessage && intake.CheckJSON(raw) == nil && json.Unmarshal(raw, m) == nil
}

// init takes the token of connection_init, or else that of the request.
func (s *socket) init(m message) {
	payload, err := object(m.Payload)
	switch {
	case s.initiated:
		s.close(closing{code: closeTwice, reason: "too many initialisation requests"})
		return
	case err != nil:
		s.close(closing{code: closeBadMessage, reason: "the payload of " + typeInit + " must be an object"})
		return
	}
	s.initiated = true
	s.timeout.Stop()
	if s.authorization = tokenOf(payload); s.authorization == "" {
		s.authorization = s.request.Header.Get("Authorization")
	}
	ctx, p := s.admit(s.ctx)
	if p != nil {
		s.close(closingFor(p))
		return
	}
	s.agreed, s.known = true, ctx
	s.conn.SetReadLimit(intake.MaxBody)
	s.timeout = time.AfterFunc(time.Until(access.PrincipalOf(ctx).Expires), func() { s.close(closingFor(resolvers.Expired())) })
	s.send(message{Type: typeAck})
}

// tokenOf reads the token of connection_init, under the names that clients use.
func tokenOf(payload map[string]any) string {
	for key, value := range payload {
		s, ok := value.(string)
		switch {
		case !ok || s == "":
		case strings.EqualFold(key, "authorization"):
			return s
		case key == "token":
			return "Bearer " + s
		}
	}
	return ""
}

// admit looks the caller up. A connection may live longer than its token, its API key and the rights
// that it began with.
func (s *socket) admit(ctx context.Context) (context.Context, *problem.Error) {
	if s.authorization != "" {
		var err error
		if ctx, err = s.door.resolver.Admit(ctx, s.authorization); err != nil {
			return ctx, problem.From(err)
		}
		if s.door.options.Cells != nil {
			ctx = hop.WithAuthorization(ctx, s.authorization)
		}
	}
	switch p := access.PrincipalOf(ctx); {
	case p == nil:
		return ctx, problem.Unauthorized(`a bearer token is needed in connection_init: {"authorization": "Bearer …"}`)
	case !time.Now().Before(p.Expires):
		return ctx, resolvers.Expired()
	case !p.HasAccess():
		return ctx, problem.Denied("the access to every application of the token has been disabled")
	}
	return ctx, nil
}

// send writes a message. Where the client is gone the reader notices.
func (s *socket) send(m message) {
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // a payload that is no JSON: none is made
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.conn.WriteMessage(websocket.TextMessage, raw) != nil {
		_ = s.conn.Close()
	}
}

// close ends the connection for a reason. Only the first one counts.
func (s *socket) close(c closing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leaving {
		s.leaving = true
		go s.leave(c)
	}
}

// leave tells the open operations why, then the client, and waits for it to close the connection, so
// that what it was told arrives.
func (s *socket) leave(c closing) {
	if c.resumed {
		s.finite.Wait()
	}
	time.AfterFunc(leaveTime, func() { _ = s.conn.Close() })
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for id, op := range open {
		if c.told != nil {
			s.send(lastWords(s.ctx, id, c))
		}
		op.cancel()
	}
	reason := c.reason
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(c.code, reason), time.Now().Add(leaveTime))
	s.cancel()
}

// lastWords tell an operation why its connection ends. An error would end it for good; as a result it
// leaves the client to go on.
func lastWords(ctx context.Context, id string, c closing) message {
	errs := gqlerror.List{face(ctx, c.told)}
	if !c.resumed {
		return message{ID: id, Type: typeError, Payload: errorsJSON(errs)}
	}
	body, _ := encode(nil, &graphql.Response{Errors: errs})
	return message{ID: id, Type: typeNext, Payload: body}
}
