package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"

	"canopy/internal/problem"
	"canopy/internal/token"
	"canopy/internal/web"
)

// subprotocol is the only one that is spoken
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).
const subprotocol = "graphql-transport-ws"

// The codes that a connection is closed with. graphql-ws, the usual client, takes most of 4400 and
// above for final; after 4403 and after those below it connects again, with a token that it asks for
// anew, and goes on with its operations.
const (
	closeRestarts        = websocket.CloseServiceRestart
	closeAway            = websocket.CloseTryAgainLater
	closeBadMessage      = 4400
	closeUnauthenticated = 4401
	closeForbidden       = 4403
	closeSubprotocol     = 4406
	closeInitTimeout     = 4408
	closeTaken           = 4409
	closeTwice           = 4429
	closeInternal        = 4500
)

// closing is how a connection ends.
type closing struct {
	code   int
	reason string
	// told is what each open operation hears of it; nil: nothing.
	told *problem.Error
	// resumed: the client is to connect again and go on. So its queries and mutations are finished
	// first, lest they are made twice, and its subscriptions are not ended.
	resumed bool
}

// closingFor ends a connection whose caller may not go on, or may not begin. A token that has run out
// is a matter of course: its client comes back with a fresh one.
func closingFor(p *problem.Error) closing {
	c := closing{code: closeInternal, reason: p.Detail, told: p}
	switch {
	case errors.Is(p, token.ErrExpired):
		c.code, c.resumed = closeForbidden, true
	case p.Code == problem.Unauthenticated:
		c.code = closeUnauthenticated
	case p.Code == problem.Forbidden:
		c.code = closeForbidden
	case p.Code == problem.RateLimited, p.Code == problem.Unavailable:
		c.code = closeAway
	}
	return c
}

// webSocket serves graphql-transport-ws.
type webSocket struct {
	door *endpoint
	// keepAlive is how often a client is asked for a sign of life, initTimeout how long it has for
	// connection_init.
	keepAlive, initTimeout time.Duration
}

var _ graphql.Transport = webSocket{}

// Supports takes requests for a WebSocket.
func (webSocket) Supports(r *http.Request) bool { return web.AsksForSocket(r) }

// Do serves one connection for as long as it is open.
func (t webSocket) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	upgrader := websocket.Upgrader{
		Subprotocols: []string{subprotocol}, CheckOrigin: t.door.originAllowed,
		Error: func(w http.ResponseWriter, r *http.Request, status int, _ error) {
			refuse(w, r, status, problem.Bad("a connection can be upgraded to a WebSocket of the subprotocol %s only", subprotocol))
		},
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	ctx, cancel := context.WithCancel(r.Context())
	s := &socket{webSocket: t, exec: exec, conn: conn, request: r, ctx: ctx, known: ctx, cancel: cancel, open: map[string]*operation{}}
	streaming, end := web.Stream(ctx)
	defer end()
	defer context.AfterFunc(streaming, func() {
		if errors.Is(context.Cause(streaming), web.ErrShutdown) {
			s.close(closing{code: closeRestarts, reason: "the server restarts", resumed: true})
		}
	})()
	s.serve()
}

// originAllowed keeps pages of other sites from opening a connection: browsers name the origin,
// other clients need not.
func (e *endpoint) originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || e.options.Origins.Has(origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(u.Host, r.Host) || e.options.PublicURL != nil && strings.EqualFold(u.Host, e.options.PublicURL.Host))
}
