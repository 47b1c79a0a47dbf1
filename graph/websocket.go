package graph

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/gorilla/websocket"

	"canopy/internal/access"
	"canopy/internal/problem"
)

// websocket serves graphql-transport-ws. The token comes in connection_init or in the header,
// never in the URL, which ends up in logs.
func (e *endpoint) websocket() transport.Websocket {
	return transport.Websocket{
		KeepAlivePingInterval: keepAlive,
		PingPongInterval:      keepAlive,
		InitTimeout:           initTimeout,
		Upgrader:              websocket.Upgrader{CheckOrigin: e.originAllowed},
		InitFunc: func(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			if authorization := tokenOf(payload); authorization != "" {
				admitted, err := e.resolver.Admit(ctx, authorization)
				if err != nil {
					return ctx, nil, face(ctx, problem.From(err))
				}
				ctx = admitted
			}
			if p := access.PrincipalOf(ctx); p != nil {
				return ctx, nil, nil
			}
			return ctx, nil, face(ctx, problem.Unauthorized(`a bearer token is needed in connection_init: {"authorization": "Bearer …"}`))
		},
	}
}

// tokenOf reads the token of connection_init, under the names that clients use.
func tokenOf(payload transport.InitPayload) string {
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

// originAllowed keeps pages of other sites from opening a connection: browsers name the origin,
// other clients need not.
func (e *endpoint) originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(e.options.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(u.Host, r.Host) || e.options.PublicURL != nil && strings.EqualFold(u.Host, e.options.PublicURL.Host))
}
