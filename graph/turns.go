package graph

import (
	"context"
	"runtime"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/share"
)

// heavyCost is the cost above which queries and mutations take turns. What costs less is done within milliseconds, or
// waits for others than this process, and goes ahead.
const heavyCost = 500

// turns has heavy operations take turns by branch: each keeps a processor busy for a while, and a branch that asks for many
// at the same time would have the others wait for all of them.
type turns struct{ places *share.Gate[int64] }

var (
	_ graphql.HandlerExtension    = (*turns)(nil)
	_ graphql.ResponseInterceptor = (*turns)(nil)
)

// newTurns makes room for two heavy operations of one branch alone on each processor: one waits for the database meanwhile.
func newTurns() *turns {
	return &turns{share.NewGate[int64](4 * max(2, runtime.GOMAXPROCS(0)))}
}

func (*turns) ExtensionName() string                   { return "Turns" }
func (*turns) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse executes a heavy operation when it has a place. What waits has read nothing yet, and the place is free
// again before the client takes the answer.
func (t *turns) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if !isHeavy(ctx) {
		return next(ctx)
	}
	var branch int64 // 0 is that of all who are unknown, and ask for the schema
	if p := access.PrincipalOf(ctx); p != nil {
		branch = p.Lineage.Branch()
	}
	if err := t.places.Enter(ctx, branch); err != nil {
		return &graphql.Response{Errors: gqlerror.List{face(ctx, problem.From(err))}}
	}
	ctx, leave := share.Holding(ctx, func() { t.places.Leave(branch) })
	defer leave()
	return next(ctx)
}

// isHeavy tells whether an operation takes turns. A subscription waits for its events inside, and pays for each.
func isHeavy(ctx context.Context) bool {
	if !graphql.HasOperationContext(ctx) {
		return false
	}
	oc := graphql.GetOperationContext(ctx)
	report, counted := oc.Stats.GetExtension(costExtension).(*CostReport)
	return counted && report.Requested > heavyCost && oc.Operation.Operation != ast.Subscription
}
