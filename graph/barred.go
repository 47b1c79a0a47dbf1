package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// discreet is a transport by which nobody hears of faults in what is not theirs to ask for: of a
// document, or of variables, that are found faulty before anything is executed. What is asked for is read by turns.
type discreet struct{ graphql.Transport }

// Do answers one request.
func (d discreet) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	d.Transport.Do(w, r, judge{exec})
}

// judge asks for the rules of a faulty operation before its faults are told.
type judge struct{ graphql.GraphExecutor }

// CreateOperationContext reads an operation, when it is its turn.
func (j judge) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	size := len(params.Query)
	if size == 0 { // named by its hash, it may be as long as any
		size = maxQuery
	}
	leave, err := intake.Turn(ctx, size)
	if err != nil {
		return &graphql.OperationContext{}, gqlerror.List{face(ctx, problem.From(err))}
	}
	defer leave()
	oc, faults := j.GraphExecutor.CreateOperationContext(ctx, params)
	if len(faults) == 0 || hasFace(faults[0]) { // what has a face is our own word on limits
		return oc, faults
	}
	if e := unchosen(ctx, oc, params.OperationName); e != nil {
		return oc, gqlerror.List{e}
	}
	if err := barred(ctx, params); err != nil {
		return oc, gqlerror.List{face(ctx, problem.From(err))}
	}
	return oc, faults
}

// barred is the refusal of a caller who may not use one of the fields that an operation begins with;
// nil where they may use all of them, and where nobody can tell what is asked for.
func barred(ctx context.Context, params *graphql.RawParams) error {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, maxTokens)
	if err != nil {
		return nil // what is no GraphQL asks for nothing
	}
	op := doc.Operations.ForName(params.OperationName)
	if op == nil {
		return nil
	}
	for field := range rootFields(doc, op) {
		if err := mayAsk(ctx, rootTypes[op.Operation], field); err != nil {
			return err
		}
	}
	return nil
}

// stranger is the refusal of a caller without a token; nil for another.
func stranger(ctx context.Context) *problem.Error {
	if access.PrincipalOf(ctx) != nil {
		return nil
	}
	return problem.Unauthorized("a bearer token is needed")
}

var rootTypes = map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}

// rootFields gives the names of the fields that an operation begins with, those of its fragments
// among them.
func rootFields(doc *ast.QueryDocument, op *ast.OperationDefinition) map[string]bool {
	fields, spread := map[string]bool{}, map[string]bool{}
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				fields[s.Name] = true
			case *ast.InlineFragment:
				walk(s.SelectionSet)
			case *ast.FragmentSpread:
				if f := doc.Fragments.ForName(s.Name); f != nil && !spread[s.Name] {
					spread[s.Name] = true
					walk(f.SelectionSet)
				}
			}
		}
	}
	walk(op.SelectionSet)
	return fields
}

// mayAsk tells whether the rule of a field, where it has one, lets the caller.
func mayAsk(ctx context.Context, typ, field string) error {
	need := rule.Of(typ + "." + field)
	if need == nil {
		return nil
	}
	return resolvers.May(ctx, need)
}
