package graph

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/web"
	"canopy/resolvers"
)

// once is a transport by which a mutation with an idempotency key is done once: its answer is kept, and given again.
type once struct {
	graphql.Transport
	door *endpoint
}

// Do answers one request. Who has access to no application, as behind an API key whose user has left, can change nothing.
func (o once) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	p := access.PrincipalOf(r.Context())
	if r.Method != http.MethodPost || len(r.Header["Idempotency-Key"]) == 0 || p == nil || !p.HasAccess() {
		o.Transport.Do(w, r, exec)
		return
	}
	body, err := intake.Preview(w, r)
	raw := o.mutationIn(r.Context(), body)
	if err != nil || raw == nil {
		o.Transport.Do(w, r, exec)
		return
	}
	ctx, end := web.Carry(r.Context())
	defer end()
	key, err := intake.IdempotencyKey(r)
	var claim *resolvers.Claim
	var kept *resolvers.Answer
	if err == nil {
		var giveBack func(context.Context)
		if ctx, giveBack, err = o.ofAnother(ctx, r); err == nil {
			defer func() { giveBack(ctx) }()
		}
	}
	if err == nil {
		ctx, claim, kept, err = o.door.resolver.Once(ctx, key, requestOf(raw), func() error { return barred(ctx, raw) })
	} else if refusal := barred(ctx, raw); refusal != nil {
		err = refusal
	}
	switch {
	case err != nil:
		p := problem.From(err)
		o.door.logInternal(ctx, p)
		refuse(w, r, p.Status(), p)
	case kept != nil:
		resolvers.SpendClaim(ctx)
		w.Header().Set(web.ReplayedHeader, "true")
		_ = web.Send(w, kept.Status, kept.Header, kept.Body) // the client has gone, if anything
	default:
		o.record(w, r.WithContext(withKey(ctx, r, key, claim)), exec, claim)
	}
}

// mutationIn gives what a body asks for, where that is a mutation; nil where it is something else, or nobody can tell: then
// nothing is done.
func (o once) mutationIn(ctx context.Context, body []byte) *graphql.RawParams {
	leave, err := intake.Turn(ctx, len(body))
	if err != nil {
		return nil
	}
	defer leave()
	var q request
	if q.decode(body) != nil {
		return nil
	}
	raw, _, p := q.params()
	if p != nil {
		return nil
	}
	if given, ok := raw.Extensions["persistedQuery"].(map[string]any); ok && raw.Query == "" {
		hash, _ := given["sha256Hash"].(string)
		raw.Query, _ = o.door.persisted.Get(ctx, hash)
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: raw.Query}, maxTokens)
	if err != nil {
		return nil
	}
	if op := doc.Operations.ForName(raw.OperationName); op == nil || op.Operation != ast.Mutation {
		return nil
	}
	return raw
}

// requestOf gives what makes a request this one and no other: a client that first sends the hash of its query, and then all of
// it, asks for the same.
func requestOf(raw *graphql.RawParams) []string {
	variables, err := json.Marshal(raw.Variables)
	if err != nil {
		panic(err) // they came as JSON
	}
	return []string{"graphql", raw.Query, raw.OperationName, string(variables)}
}

// record does a request under a claim, keeps its answer if it is one to keep, and then sends it.
func (o once) record(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, claim *resolvers.Claim) {
	rec := web.Record(w)
	func() {
		var answer *resolvers.Answer
		defer func() { claim.End(r.Context(), answer) }() // after a panic, too
		told := &outcome{GraphExecutor: exec}
		o.Transport.Do(rec, r, told)
		status, header, body, whole := rec.Recorded()
		if told.replayed && whole {
			header.Set(web.ReplayedHeader, "true")
		}
		changed := claim.Changed() && !o.byField(r.Context()) // otherwise each field that was done is known to be, and what was not is done when it is sent again
		if whole && told.isKept(status, changed) {
			answer = &resolvers.Answer{Status: status, Header: header, Body: body}
		}
	}()
	_ = rec.Send() // the client has gone, if anything
}

// outcome notes what an operation came to.
type outcome struct {
	graphql.GraphExecutor
	// passing: an error is among its errors that may not come up when it is asked for again.
	passing bool
	// passedOn: another cell has done a part, and keeps what it has answered. It is its company's, and is not kept here.
	passedOn bool
	// replayed: all of its fields were answered as before.
	replayed bool
}

// DispatchOperation begins an operation.
func (o *outcome) DispatchOperation(ctx context.Context, oc *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	next, ctx := o.GraphExecutor.DispatchOperation(ctx, oc)
	return func(ctx context.Context) *graphql.Response {
		resp := o.note(next(ctx))
		o.passedOn = oc.Stats.GetExtension(passedOnExtension) != nil
		o.replayed = oc.Stats.GetExtension(replayedExtension) != nil
		return resp
	}, ctx
}

// DispatchError gives the answer to a document that does not do.
func (o *outcome) DispatchError(ctx context.Context, list gqlerror.List) *graphql.Response {
	return o.note(o.GraphExecutor.DispatchError(ctx, list))
}

func (o *outcome) note(resp *graphql.Response) *graphql.Response {
	if resp == nil {
		return nil
	}
	for _, e := range resp.Errors {
		switch e.Extensions["code"] {
		case string(problem.BadRequest), string(problem.NotFound):
		default:
			o.passing = true
		}
	}
	return resp
}

// isKept tells whether an answer is the same however often the request is sent: what was done, at least in part, or can't be.
// Refusals of who may not stand in answers of status 200, too.
func (o *outcome) isKept(status int, changed bool) bool {
	switch {
	case o.passedOn:
		return false
	case status < http.StatusMultipleChoices:
		return changed || !o.passing
	case status == http.StatusBadRequest:
		return !o.passing
	}
	return false
}
