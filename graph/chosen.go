package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/intake"
	"canopy/internal/problem"
)

// namedAtMost is how many operations of a document a refusal names.
const namedAtMost = 10

// unchosen is the refusal of a request that does not say which operation of its document is meant, or names one that is not there; nil of any
// other request.
func unchosen(ctx context.Context, oc *graphql.OperationContext, name string) *gqlerror.Error {
	if oc.Doc == nil || oc.Operation != nil {
		return nil
	}
	all := oc.Doc.Operations
	switch {
	case name == "":
		return face(ctx, problem.Bad("the document has %d operations, and operationName has to name one of them: %s", len(all), namesOf(all)))
	case all[0].Name == "": // which has no other beside it
		return face(ctx, problem.Bad("operationName is %q, and the document's one operation has no name: leave operationName out", intake.Clip(name)))
	}
	return face(ctx, problem.Bad("operationName is %q, and the document has no such operation, but %s", intake.Clip(name), namesOf(all)))
}

// namesOf lists operations.
func namesOf(all ast.OperationList) string {
	var names []string
	for _, op := range all[:min(len(all), namedAtMost)] {
		names = append(names, intake.Clip(op.Name))
	}
	if more := len(all) - namedAtMost; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
