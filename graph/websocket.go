package graph

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/resolvers"
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
					return refusedSocket(ctx, problem.From(err))
				}
				ctx = context.WithValue(admitted, socketTokenKey{}, authorization)
			}
			if p := access.PrincipalOf(ctx); p != nil {
				return ctx, nil, nil
			}
			return refusedSocket(ctx, problem.Unauthorized(`a bearer token is needed in connection_init: {"authorization": "Bearer …"}`))
		},
	}
}

// The close codes of graphql-transport-ws for a connection that is refused.
const (
	closeForbidden = 4403
	maxReason      = 120
)

// refusedSocket ends a connection with the protocol's code, so that a client does not take it for
// a subscription that is over.
func refusedSocket(ctx context.Context, p *problem.Error) (context.Context, *transport.InitPayload, error) {
	reason := p.Detail
	if len(reason) > maxReason { // of the 123 bytes that a close frame holds
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	return transport.AppendCloseReason(transport.WithWebsocketCloseCode(ctx, closeForbidden), reason), nil, face(ctx, p)
}

// socketTokenKey is where the token of a connection is in the context of its operations.
type socketTokenKey struct{}

// freshCaller looks the caller up again for each operation of a WebSocket, which may live longer
// than its token, its API key and the rights that it began with.
type freshCaller struct{ resolver *resolvers.Resolver }

var (
	_ graphql.HandlerExtension     = freshCaller{}
	_ graphql.OperationInterceptor = freshCaller{}
)

func (freshCaller) ExtensionName() string                   { return "FreshCaller" }
func (freshCaller) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptOperation refuses the operation when the caller's token no longer works.
func (f freshCaller) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	var err error
	if authorization, ok := ctx.Value(socketTokenKey{}).(string); ok {
		ctx, err = f.resolver.Admit(ctx, authorization)
	}
	if p := access.PrincipalOf(ctx); err == nil && p != nil && !time.Now().Before(p.Expires) {
		err = problem.Unauthorized("the access token has expired").With("invalid_token")
	}
	if err != nil {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{face(ctx, problem.From(err))}})
	}
	return next(ctx)
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
