package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/problem"
)

// maxListeners is how many subscriptions of one caller a process serves at a time: each of them
// looks its caller up again and again for as long as it lives, which no other budget counts.
const maxListeners = 500

// listeners counts the open subscriptions of each caller.
type listeners struct {
	mu   sync.Mutex
	open map[string]int
}

var (
	_ graphql.HandlerExtension     = (*listeners)(nil)
	_ graphql.OperationInterceptor = (*listeners)(nil)
)

func newListeners() *listeners { return &listeners{open: map[string]int{}} }

func (*listeners) ExtensionName() string                   { return "Listeners" }
func (*listeners) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptOperation refuses a subscription of a caller who has too many.
func (l *listeners) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	p := access.PrincipalOf(ctx)
	if p == nil || graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	key := p.Credential()
	if !l.enter(key) {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{face(ctx, problem.New(problem.RateLimited,
			"%d subscriptions of this caller are open, and no more may be: end one first", maxListeners))}})
	}
	context.AfterFunc(ctx, func() { l.leave(key) }) // which every transport cancels with the subscription
	return next(ctx)
}

func (l *listeners) enter(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[key] >= maxListeners {
		return false
	}
	l.open[key]++
	return true
}

func (l *listeners) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[key]--; l.open[key] == 0 {
		delete(l.open, key)
	}
}
