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

// maxListeners is how many subscriptions of one caller a process serves at a time, and maxBranchListeners of all
// callers of one branch, however many keys it has: each of them looks its caller up again and again for as long
// as it lives, which no other budget counts.
const (
	maxListeners       = 500
	maxBranchListeners = 10 * maxListeners
)

// listeners counts the open subscriptions of each caller and each branch.
type listeners struct {
	mu       sync.Mutex
	open     map[string]int
	branches map[int64]int
}

var (
	_ graphql.HandlerExtension     = (*listeners)(nil)
	_ graphql.OperationInterceptor = (*listeners)(nil)
)

func newListeners() *listeners { return &listeners{open: map[string]int{}, branches: map[int64]int{}} }

func (*listeners) ExtensionName() string                   { return "Listeners" }
func (*listeners) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptOperation refuses a subscription of a caller who has too many, or whose branch has.
func (l *listeners) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	p := access.PrincipalOf(ctx)
	if p == nil || graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	caller, branch := p.Credential(), p.Lineage.Branch()
	if most, whose := l.enter(caller, branch); most > 0 {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{face(ctx, problem.New(problem.RateLimited,
			"%d subscriptions of %s are open, and no more may be: end one first", most, whose))}})
	}
	context.AfterFunc(ctx, func() { l.leave(caller, branch) }) // which every transport cancels with the subscription
	return next(ctx)
}

// enter counts one more; where that is too many it counts nothing, and gives how many there may be, and whose.
func (l *listeners) enter(caller string, branch int64) (most int, whose string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.open[caller] >= maxListeners:
		return maxListeners, "this caller"
	case l.branches[branch] >= maxBranchListeners:
		return maxBranchListeners, "this branch of the tree"
	}
	l.open[caller]++
	l.branches[branch]++
	return 0, ""
}

func (l *listeners) leave(caller string, branch int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[caller]--; l.open[caller] == 0 {
		delete(l.open, caller)
	}
	if l.branches[branch]--; l.branches[branch] == 0 {
		delete(l.branches, branch)
	}
}
