package graph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/hop"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/web"
	"canopy/resolvers"
)

// Where there are cells, a field of a mutation is done in the one that has what it changes, whatever address it was sent to: it has a key and an identity of its own, by which it is found there,
// whoever asks. The request's own key is that of the whole in each cell that does a part of it; at the address that was asked it says what has come of the whole.

// requestHeader tells another cell of what request a field is that it is asked to do: the hash of the whole, and its client's key.
const requestHeader = "Canopy-Request"

// keyed is what a mutation is done under: its idempotency key, and what requestHeader says of it.
type keyed struct{ key, request string }

type onceKey struct{}

// withKey notes what a mutation is done under: what has come from another cell is of that one's request.
func withKey(ctx context.Context, r *http.Request, key string, claim *resolvers.Claim) context.Context {
	k := keyed{key, fmt.Sprintf("%x %s", claim.Sum(), key)}
	if hop.By(ctx) != "" {
		k.request = r.Header.Get(requestHeader)
	}
	return context.WithValue(ctx, onceKey{}, k)
}

func keyIn(ctx context.Context) keyed {
	k, _ := ctx.Value(onceKey{}).(keyed)
	return k
}

// ofAnother notes of what request a field is that another cell has passed on, so that nothing of another one is done here under its client's key. giveBack is for when nothing came of it.
func (o once) ofAnother(ctx context.Context, r *http.Request) (of context.Context, giveBack func(context.Context), err error) {
	digest, key, _ := strings.Cut(r.Header.Get(requestHeader), " ")
	sum, err := hex.DecodeString(digest)
	if hop.By(ctx) == "" || key == "" || err != nil {
		return ctx, func(context.Context) {}, nil
	}
	of, claim, err := o.door.resolver.OnceFor(ctx, key, sum)
	if err != nil {
		return ctx, nil, err
	}
	return of, claim.GiveBack, nil
}

// byField tells whether each field of a mutation is done once by itself.
func (o once) byField(ctx context.Context) bool {
	return o.door.options.Cells != nil && hop.By(ctx) == ""
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
		return e.under.key
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(e.under.key+" "+field.Alias)))
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

const (
	// passedOnExtension marks an operation of which another cell has done a part, and keeps the answer to it.
	passedOnExtension = "PassedOn"
	// replayedExtension marks a mutation of which each field was answered as before.
	replayedExtension = "Replayed"
)

// address says what another cell is asked to do a field under.
func (e *elsewhere) address(r *http.Request, field graphql.CollectedField) {
	r.Header.Set("Idempotency-Key", e.keyOf(field))
	if e.under.request != "" {
		r.Header.Set(requestHeader, e.under.request)
	}
}

// heard notes what a cell has made of a field: one that was not refused may have been done, whatever was heard of it.
func (e *elsewhere) heard(res *http.Response, s *said) {
	if !s.isRefused() {
		resolvers.SpendClaim(e.ctx)
	}
	if res != nil && res.Header.Get(web.ReplayedHeader) != "" {
		e.replayed++
	}
}

// isRefused tells whether a cell has refused what it was asked for, and keeps no answer to that.
func (s *said) isRefused() bool {
	return len(s.Errors) > 0 && holdsNothing(s.Data) && !slices.ContainsFunc(s.Errors, func(err *gqlerror.Error) bool { return err == nil || !isRefusal(err) })
}

func isRefusal(err *gqlerror.Error) bool {
	switch err.Extensions["code"] {
	case string(problem.Unauthenticated), string(problem.Forbidden), string(problem.RateLimited):
		return true
	}
	return resolvers.SaysMismatch(err.Extensions["reason"])
}

// asksTotal tells whether a list is asked for how many rows it has.
func asksTotal(oc *graphql.OperationContext, list graphql.CollectedField) bool {
	selected := graphql.CollectFields(oc, list.Selections, []string{list.Definition.Type.Name()})
	return slices.ContainsFunc(selected, func(f graphql.CollectedField) bool { return f.Name == "totalCount" || f.Name == "totalCountCapped" })
}

// InterceptRootField has each field of a mutation with an idempotency key done once by itself, and a list know whether it is to be counted.
func (h hops) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	e, is := ctx.Value(elsewhereKey{}).(*elsewhere)
	if !is {
		return next(ctx)
	}
	field := graphql.GetRootFieldContext(ctx).Field
	if asksTotal(e.oc, field) {
		ctx = paging.WithTotal(ctx)
	}
	if e.under.key == "" {
		return next(ctx)
	}
	e.fields++
	if hop.By(ctx) != "" {
		return next(ctx)
	}
	name := rootTypes[ast.Mutation]
	of := graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: name, Field: field})
	within, claim, kept, err := h.resolver.Once(ctx, e.keyOf(field), identity(e.oc, field), func() error { return mayAsk(ctx, name, field.Name) })
	switch {
	case err != nil:
		e.notKept()
		e.oc.Error(of, graphql.AddFieldLocationToError(of, err))
		return graphql.Null
	case kept != nil:
		e.replayed++
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
