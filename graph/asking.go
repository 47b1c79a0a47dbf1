package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/intake"
	"canopy/internal/problem"
)

// asks is what a cell is asked: a part of an operation that a client has sent.
type asks struct {
	query     string
	name      string // of the operation, where there are several
	variables map[string]any
}

// asks makes the operation that asks for the values below a part.
func (e *elsewhere) asks(root *part) asks {
	op := ast.Query
	if root.changes() {
		op = ast.Mutation
	}
	return asksFor(e.oc, op, root.root())
}

// asksFor makes an operation of a part of a client's own, with what that takes of its fragments and variables.
func asksFor(oc *graphql.OperationContext, kind ast.Operation, set ast.SelectionSet) asks {
	op := &ast.OperationDefinition{Operation: kind, SelectionSet: set}
	doc := &ast.QueryDocument{Operations: ast.OperationList{op}}
	used := &uses{fragments: oc.Doc.Fragments, variables: map[string]bool{}}
	used.in(op.SelectionSet)
	doc.Fragments = used.list
	a := asks{variables: map[string]any{}}
	for _, v := range oc.Operation.VariableDefinitions {
		if !used.variables[v.Variable] {
			continue
		}
		op.VariableDefinitions = append(op.VariableDefinitions, v)
		if value, given := oc.Variables[v.Variable]; given {
			a.variables[v.Variable] = value
		}
	}
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithCompacted()).FormatQueryDocument(doc)
	a.query = text.String()
	return a
}

// uses are the fragments and variables that a selection needs.
type uses struct {
	fragments ast.FragmentDefinitionList
	list      ast.FragmentDefinitionList
	variables map[string]bool
}

func (u *uses) in(set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			u.arguments(s.Arguments)
			u.directives(s.Directives)
			u.in(s.SelectionSet)
		case *ast.InlineFragment:
			u.directives(s.Directives)
			u.in(s.SelectionSet)
		case *ast.FragmentSpread:
			u.directives(s.Directives)
			if f := u.fragments.ForName(s.Name); f != nil && u.list.ForName(s.Name) == nil {
				u.list = append(u.list, f)
				u.directives(f.Directives)
				u.in(f.SelectionSet)
			}
		}
	}
}

func (u *uses) directives(list ast.DirectiveList) {
	for _, d := range list {
		u.arguments(d.Arguments)
	}
}

func (u *uses) arguments(list ast.ArgumentList) {
	for _, a := range list {
		u.value(a.Value)
	}
}

func (u *uses) value(v *ast.Value) {
	if v.Kind == ast.Variable {
		u.variables[v.Raw] = true
	}
	for _, child := range v.Children {
		u.value(child.Value)
	}
}

// send asks a cell for the values below a part.
func (e *elsewhere) send(root *part, to problem.Place) (*said, error) {
	a := e.asks(root)
	r, done, err := a.request(e.ctx, typeJSON)
	if err != nil {
		return nil, err
	}
	defer done()
	changes := root.changes()
	keyed := e.under.key != ""
	if keyed {
		e.notKept()
		if changes {
			e.address(r, root.below[0].field)
		}
	}
	res, raw, err := e.cells.Whole(r, to, access.BranchOf(e.ctx))
	s := &said{}
	if err == nil && (json.Unmarshal(raw, s) != nil || len(s.Data) == 0 && len(s.Errors) == 0) {
		err = hop.Away(to, fmt.Errorf("it answers %d and no GraphQL", res.StatusCode))
	}
	if keyed && changes {
		e.heard(res, s)
	}
	if err != nil {
		return nil, err
	}
	if changes && !holdsNothing(s.Data) { // what was refused has changed nothing that would have to come here
		e.cells.Done(e.ctx, to)
	}
	return s, nil
}

// request makes the request, with what the caller has shown. A file goes as it comes; done waits until nobody reads it any more.
func (a asks) request(ctx context.Context, accept string) (r *http.Request, done func(), err error) {
	variables, file, place := withoutFile(a.variables, "variables")
	operations, err := json.Marshal(map[string]any{"query": a.query, "operationName": a.name, "variables": variables})
	if err != nil {
		return nil, nil, err
	}
	var body io.Reader = bytes.NewReader(operations)
	media, done := typeJSON, func() {}
	if file != nil {
		body, media, done = formOf(operations, file, place)
	}
	r, err = http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", body)
	if err != nil {
		done()
		return nil, nil, err
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Accept", accept)
	r.Header.Set("Graphql-Preflight", "1")
	if shown := hop.Authorization(ctx); shown != "" {
		r.Header.Set("Authorization", shown)
	}
	return r, done, nil
}

// withoutFile gives variables with null in place of the file, of which a request has at most one, and the file with its place.
func withoutFile(value any, at string) (without any, file *intake.File, place string) {
	switch v := value.(type) {
	case intake.File:
		return nil, &v, at
	case map[string]any:
		for name, member := range v {
			if member, file, place = withoutFile(member, at+"."+name); file != nil {
				v = maps.Clone(v)
				v[name] = member
				return v, file, place
			}
		}
		return v, nil, ""
	}
	return value, nil, ""
}

// formOf is a request with a file, by the GraphQL multipart request specification. The file is read while it is sent, and done has that end: what is left of a file that was refused
// is its client's own reader's. That takes no longer than the client may be silent.
func formOf(operations []byte, file *intake.File, place string) (body io.Reader, media string, done func()) {
	from, to := io.Pipe()
	form := multipart.NewWriter(to)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		write := func() error {
			places, err := json.Marshal(map[string][]string{"file": {place}})
			if err != nil {
				return err
			}
			for _, field := range []struct {
				name  string
				value []byte
			}{{"operations", operations}, {"map", places}} {
				if err := form.WriteField(field.name, string(field.value)); err != nil {
					return err
				}
			}
			part, err := form.CreateFormFile("file", file.Name)
			if err != nil {
				return err
			}
			if _, err := io.Copy(part, file.Content); err != nil {
				return err
			}
			return form.Close()
		}
		_ = to.CloseWithError(write()) // which the reader hears
	}()
	return from, form.FormDataContentType(), func() {
		_ = from.Close()
		<-ended
	}
}
