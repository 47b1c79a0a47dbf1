package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/telemetry"
	"canopy/internal/web"
)

// traces tells of operations: to the log what they are called and cost, and by spans, where any are told. A subscription has one for each of its
// events. Of resolvers those that take long have spans of their own (inorder.ResolveField).
type traces struct{}

var (
	_ graphql.HandlerExtension    = traces{}
	_ graphql.ResponseInterceptor = traces{}
)

func (traces) ExtensionName() string                   { return "Traces" }
func (traces) Validate(graphql.ExecutableSchema) error { return nil }

func (traces) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if !graphql.HasOperationContext(ctx) {
		return next(ctx)
	}
	oc := graphql.GetOperationContext(ctx)
	kind := ast.Operation("document")
	if oc.Operation != nil {
		kind = oc.Operation.Operation
	}
	name := string(kind) + " " + operationNameOf(oc)
	web.TellOperation(ctx, name)
	report, counted := oc.Stats.GetExtension(costExtension).(*CostReport)
	if counted {
		web.TellCost(ctx, report.Requested)
	}
	ctx, span := telemetry.Begin(ctx, name, telemetry.Internal, telemetry.Text("graphql.operation.type", string(kind)))
	response := next(ctx)
	if span.Tells() && counted {
		span.Set(telemetry.Number("canopy.cost", int64(report.Requested)))
	}
	if response != nil && len(response.Errors) > 0 {
		span.Failed("")
	}
	span.End(nil)
	return response
}
