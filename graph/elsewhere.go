package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/graph/inorder"
	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/share"
	"canopy/resolvers"
)

// hops has what lives in other cells of the platform answered by these, and put where it was asked for.
type hops struct {
	cells    *hop.Cells
	resolver *resolvers.Resolver
}

var (
	_ graphql.HandlerExtension     = hops{}
	_ graphql.OperationInterceptor = hops{}
	_ graphql.ResponseInterceptor  = hops{}
	_ graphql.RootFieldInterceptor = hops{}
)

func (hops) ExtensionName() string                   { return "Hops" }
func (hops) Validate(graphql.ExecutableSchema) error { return nil }

// tell writes down why another cell has not answered, unless it is the client who has gone.
func (h hops) tell(ctx context.Context, err error) {
	if ctx.Err() == nil {
		h.cells.Log.WarnContext(ctx, "another cell did not answer", "error", err)
	}
}

// InterceptResponse executes an operation, or makes the answer to an event.
func (h hops) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if !h.cells.Passes(ctx) || !graphql.HasOperationContext(ctx) {
		return next(ctx)
	}
	e := &elsewhere{hops: h, ctx: ctx, oc: graphql.GetOperationContext(ctx), under: keyIn(ctx)}
	resp := next(context.WithValue(inorder.WithElsewhere(ctx, e), elsewhereKey{}, e))
	if e.fields > 0 && e.replayed == e.fields {
		e.oc.Stats.SetExtension(replayedExtension, true)
	}
	if resp != nil {
		for _, path := range e.nulls {
			resp.Data = nulled(resp.Data, path)
		}
	}
	return resp
}

// elsewhere are the values of one answer that other cells have. They are asked for when all else is known and the first of them is to be written: once for each cell,
// and side by side.
type elsewhere struct {
	hops
	ctx context.Context // that of the answer
	oc  *graphql.OperationContext
	// under is the idempotency key of a mutation; empty where there is none. So many of its fields were begun, and so many of these were answered as before.
	under            keyed
	fields, replayed int

	mu      sync.Mutex
	waiting []*value
	// others is how often an answer came from elsewhere that is not to be kept here.
	others int
	// nulls are the places that become null, as what may not be null is missing below.
	nulls []ast.Path
}

// value is a field that another cell has, and stands for what that says of it.
type value struct {
	all *elsewhere
	// ctx is that of the field, and path its place in the answer.
	ctx  context.Context
	path ast.Path
	// place is the cell, and steps lead to the field from the root of the operation.
	place problem.Place
	steps []step
	// owner is the global id of the object that the field is of; "" where that has none. byID: it is asked for by that alone, and inList: with others of a list.
	owner        string
	byID, inList bool
	// nonNull: where there is no value, what is at nullable becomes null; nil is all of the data.
	nonNull  bool
	nullable ast.Path
	raw      json.RawMessage
}

// step is a field on the way from the root of an operation, and the type of the object that it is of.
type step struct {
	object string
	field  graphql.CollectedField
}

var null = json.RawMessage("null")

// known is a value that was asked for already.
func (v *value) known() graphql.Marshaler {
	if bytes.Equal(v.raw, null) {
		return graphql.Null
	}
	return v
}

// MarshalGQL writes the value, which the cell is asked for now at the latest.
func (v *value) MarshalGQL(w io.Writer) {
	v.all.ask()
	_, _ = w.Write(v.raw)
}

// Take implements inorder.Elsewhere. The fields of a mutation follow each other: each is asked for at once. What is below one, or below an event, is asked for by its id, as what is above is not done again;
// so is what is of one object among many, as the others may be none of the cell's, and what the other cell would be led back for.
func (e *elsewhere) Take(ctx context.Context, fc *graphql.FieldContext, of any, nonNull bool, err error) graphql.Marshaler {
	var p *problem.Error
	if !errors.As(err, &p) || p.Place == nil {
		return nil
	}
	v := &value{all: e, ctx: ctx, path: fc.Path(), place: *p.Place, nonNull: nonNull, raw: null}
	var owner globalid.ID
	if o, ok := of.(interface{ GlobalID() globalid.ID }); ok {
		owner = o.GlobalID()
		v.owner = owner.Global()
	}
	inList := false
	for at := fc; at != nil; at = at.Parent {
		if inList = inList || at.Index != nil; at.Field.Field != nil {
			v.steps = append(v.steps, step{at.Object, at.Field})
		}
	}
	slices.Reverse(v.steps)
	v.nullable = nullable(fc)
	above := len(v.steps) > 1
	query := e.oc.Operation.Operation == ast.Query
	switch {
	case above && v.owner == "" && (inList || !query):
		return nil // nobody could tell which one is meant
	case above:
		v.byID = !query || v.owner != "" && (inList || e.leadsBack(v.steps[0])) && mayAskByID(ctx, owner)
	case !query:
		e.fetch([]*value{v})
		return v.known()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, v)
	return v
}

// leadsBack tells whether another cell that is asked along the same way may not have where that begins: what a company has is in one place, and who is who in all.
func (e *elsewhere) leadsBack(first step) bool {
	need := rule.Of("Query." + first.field.Name)
	return need == nil || need.OfData() || need == rule.Node || hop.By(e.ctx) != ""
}

// nullable is the place of the nearest value above a field that may be null; nil where there is none.
func nullable(fc *graphql.FieldContext) ast.Path {
	for at := fc.Parent; at != nil; at = at.Parent {
		var typ *ast.Type
		switch {
		case at.Field.Field != nil:
			typ = at.Field.Definition.Type
		case at.Index != nil && at.Parent != nil && at.Parent.Field.Field != nil:
			typ = at.Parent.Field.Definition.Type.Elem
		}
		if typ != nil && !typ.NonNull {
			return at.Path()
		}
	}
	return nil
}

// ask asks for all that waits.
func (e *elsewhere) ask() {
	e.mu.Lock()
	waiting := e.waiting
	e.waiting = nil
	e.mu.Unlock()
	var places []problem.Place
	byPlace := map[problem.Place][]*value{}
	for _, v := range waiting {
		if byPlace[v.place] == nil {
			places = append(places, v.place)
		}
		byPlace[v.place] = append(byPlace[v.place], v)
	}
	if len(places) == 1 {
		e.fetch(waiting)
		return
	}
	var all sync.WaitGroup
	faults := make([]any, len(places))
	for i, place := range places {
		all.Go(func() {
			defer func() { faults[i] = recover() }()
			e.fetch(byPlace[place])
		})
	}
	all.Wait()
	for _, fault := range faults {
		if fault != nil {
			panic(fault) // where the operation's own are caught: here it would end the process
		}
	}
}

// fetch asks one cell for values, and notes what became of each.
func (e *elsewhere) fetch(values []*value) {
	share.LetGo(e.ctx)
	lead(values)
	for len(values) > 0 {
		root := &part{}
		later := root.take(values)
		said, err := e.patiently(root, values[0].place)
		if err != nil {
			e.tell(e.ctx, err)
		}
		for _, v := range values {
			if slices.Contains(later, v) {
				continue
			}
			if err == nil && v.inList && said.of(v) == nil && said.unknown(v) {
				v.alone()
				later = append(later, v)
				continue
			}
			e.settle(v, said, err)
		}
		values = later
	}
}

// patiently asks again where a cell does not know yet what leads to a value. A change is asked for once.
func (e *elsewhere) patiently(root *part, to problem.Place) (s *said, err error) {
	hop.Patiently(e.ctx, func() (known bool) {
		if s, err = e.send(root, to); err == nil {
			err = root.read(s)
		}
		return err != nil || root.changes() || !s.lacks
	})
	return s, err
}

// settle tells what is wrong with a value, and sees to what is null for it.
func (e *elsewhere) settle(v *value, said *said, err error) {
	errs := gqlerror.List{}
	switch f := said.of(v); {
	case err != nil:
		p := problem.From(err)
		if p.Code == problem.Internal { // an answer that is none of this platform's
			p = hop.Away(v.place, err)
		}
		errs = append(errs, face(e.ctx, p))
	case f == nil:
		errs = append(errs, said.whyMissing(e.ctx, v))
	default:
		v.raw = f.raw
		errs = f.errors
	}
	for _, err := range errs {
		err.Path = slices.Concat(v.path, err.Path)
		err.Locations = []gqlerror.Location{{Line: v.steps[len(v.steps)-1].field.Position.Line, Column: v.steps[len(v.steps)-1].field.Position.Column}}
		graphql.AddError(v.ctx, err)
	}
	if v.nonNull && bytes.Equal(v.raw, null) {
		e.mu.Lock()
		e.nulls = append(e.nulls, v.nullable)
		e.mu.Unlock()
	}
}
