package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/db"
	"canopy/graph/inorder"
)

// reads says of queries that they write nothing: replicas may answer them. What a mutation or an event shows is read where it was written. It also
// says where a query asks for nothing of where companies stand, and bounds what is read for one answer.
type reads struct{}

var (
	_ graphql.HandlerExtension    = reads{}
	_ graphql.ResponseInterceptor = reads{}
)

func (reads) ExtensionName() string                   { return "Reads" }
func (reads) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse executes an operation.
func (reads) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if graphql.HasOperationContext(ctx) {
		ctx = db.Within(ctx, inorder.MostAnswer)
		// What was refused before it was read has no operation.
		oc := graphql.GetOperationContext(ctx)
		if op := oc.Operation; op != nil && op.Operation == ast.Query {
			ctx = db.Reading(ctx)
			if !asksForPlaces(oc.Doc) {
				ctx = db.Unplaced(ctx)
			}
		}
	}
	return next(ctx)
}

// ofPlaces are the fields of a company that tell of those above it.
var ofPlaces = map[string]bool{"ancestors": true, "parent": true, "effectiveStatus": true}

// asksForPlaces tells whether a document has such a field anywhere.
func asksForPlaces(doc *ast.QueryDocument) bool {
	for _, op := range doc.Operations {
		if hasPlaces(op.SelectionSet) {
			return true
		}
	}
	for _, f := range doc.Fragments {
		if hasPlaces(f.SelectionSet) {
			return true
		}
	}
	return false
}

// hasPlaces tells it of a selection, whose fragments are looked at with the document.
func hasPlaces(set ast.SelectionSet) bool {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if ofPlaces[s.Name] || hasPlaces(s.SelectionSet) {
				return true
			}
		case *ast.InlineFragment:
			if hasPlaces(s.SelectionSet) {
				return true
			}
		}
	}
	return false
}
