package graph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/hop"
	"canopy/internal/web"
	"canopy/resolvers"
)

// Where there are cells, a field of a mutation is done in the one that has what it changes, whatever address it was sent to: it has a key and an identity of its own, by which it is found there,
// whoever asks. The request's own key, at the address that was asked, says what has come of the whole.

type onceKey struct{}

// withKey notes that a mutation is done under an idempotency key.
func withKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, onceKey{}, key)
}

func keyIn(ctx context.Context) string {
	key, _ := ctx.Value(onceKey{}).(string)
	return key
}

type elsewhereKey struct{}

// identity is what makes one field of a mutation this one and no other: what another cell would be asked.
func identity(oc *graphql.OperationContext, field graphql.CollectedField) []string {
	a := asksFor(oc, ast.Mutation, ast.SelectionSet{whole(field)})
	return requestOf(&graphql.RawParams{Query: a.query, Variables: a.variables})
}

// keyOf is the idempotency key of one field of a mutation. What has come from another cell has it already.
func (e *elsewhere) keyOf(field graphql.CollectedField) string {
	if hop.By(e.ctx) != "" {
		return e.key
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(e.key+" "+field.Alias)))
}

// notKept notes that what is answered is not kept here: it is another cell's, or was refused for now.
func (e *elsewhere) notKept() {
	e.mu.Lock() // several cells are asked at the same time
	defer e.mu.Unlock()
	e.others++
	e.oc.Stats.SetExtension(passedOnExtension, true)
}

// notKeptYet is how often that was noted.
func (e *elsewhere) notKeptYet() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.others
}

// passedOnExtension marks an operation of which another cell has done a part, and keeps the answer to it.
const passedOnExtension = "PassedOn"

// InterceptRootField has each field of a mutation with an idempotency key done once by itself.
func (h hops) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	e, is := ctx.Value(elsewhereKey{}).(*elsewhere)
	if !is || e.key == "" || hop.By(ctx) != "" {
		return next(ctx)
	}
	field := graphql.GetRootFieldContext(ctx).Field
	name := rootTypes[ast.Mutation]
	of := graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: name, Field: field})
	within, claim, kept, err := h.resolver.Once(ctx, e.keyOf(field), identity(e.oc, field), func() error { return mayAsk(ctx, name, field.Name) })
	switch {
	case err != nil:
		e.notKept()
		e.oc.Error(of, graphql.AddFieldLocationToError(of, err))
		return graphql.Null
	case kept != nil:
		return e.again(of, field, kept)
	}
	return e.record(within, field, claim, next)
}

// again gives what was answered for a field.
func (e *elsewhere) again(ctx context.Context, field graphql.CollectedField, kept *resolvers.Answer) graphql.Marshaler {
	v := &value{all: e, ctx: ctx, path: ast.Path{ast.PathName(field.Alias)}, steps: []step{{rootTypes[ast.Mutation], field}}, raw: null}
	root, s := &part{}, &said{}
	root.take([]*value{v})
	err := json.Unmarshal(kept.Body, s)
	if err == nil {
		err = root.read(s)
	}
	e.settle(v, s, err)
	return v.known()
}

// record does a field under a claim, and keeps what is answered if it is to be kept.
func (e *elsewhere) record(ctx context.Context, field graphql.CollectedField, claim *resolvers.Claim, next graphql.RootResolver) graphql.Marshaler {
	var answer *resolvers.Answer
	defer func() { claim.End(ctx, answer) }() // after a panic, too
	faults, others := len(graphql.GetErrors(ctx)), e.notKeptYet()
	var text bytes.Buffer
	next(ctx).MarshalGQL(&text)
	told := &outcome{passedOn: e.notKeptYet() > others}
	resp := told.note(&graphql.Response{Data: fmt.Appendf(nil, "{%q:%s}", field.Alias, text.Bytes()), Errors: graphql.GetErrors(ctx)[faults:]})
	if body, ok := encode(nil, resp); ok && len(body) <= web.MostRecorded && told.isKept(http.StatusOK, claim.Changed()) {
		answer = &resolvers.Answer{Status: http.StatusOK, Body: body}
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(text.Bytes()) })
}
