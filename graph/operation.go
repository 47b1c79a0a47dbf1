package graph

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/resolvers"
)

// maxOperations is how many operations are open on one connection at a time.
const maxOperations = 2 * maxListeners

// operation is a query, a mutation or a subscription on a WebSocket.
type operation struct {
	id     string
	cancel context.CancelFunc
}

// subscribe begins an operation, for the caller as of now.
func (s *socket) subscribe(m message) {
	switch {
	case m.ID == "":
		s.close(closing{code: closeBadMessage, reason: "an operation needs an id"})
		return
	case !s.agreed:
		s.close(closing{code: closeUnauthenticated, reason: "the connection is not acknowledged"})
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	op := &operation{m.ID, cancel}
	if !s.add(op) {
		cancel()
		return
	}
	ctx, p := s.admit(ctx)
	var raw *graphql.RawParams
	if p == nil {
		raw, p = operationOf(ctx, m.Payload)
	}
	switch {
	case p == nil:
	case nothingAllowed(access.PrincipalOf(ctx), p):
		s.close(closingFor(p))
		return
	default:
		s.fail(op, gqlerror.List{face(ctx, p)})
		return
	}
	raw.Headers = s.request.Header
	ctx = graphql.StartOperationTrace(ctx)
	oc, errs := s.exec.CreateOperationContext(ctx, raw)
	if errs != nil {
		s.fail(op, s.exec.DispatchError(graphql.WithOperationContext(ctx, oc), errs[:min(len(errs), maxErrors)]).Errors)
		return
	}
	s.start(ctx, op, oc)
}

// operationOf reads the payload of subscribe, which is what the body of a POST is.
func operationOf(ctx context.Context, payload json.RawMessage) (*graphql.RawParams, *problem.Error) {
	leave, err := intake.Turn(ctx, len(payload))
	if err != nil {
		return nil, problem.From(err)
	}
	defer leave()
	var q request
	if p := q.decode(payload); p != nil {
		return nil, p
	}
	raw, _, p := q.params()
	return raw, p
}

// add makes an operation known by its id.
func (s *socket) add(op *operation) bool {
	s.mu.Lock()
	_, taken := s.open[op.id]
	full, leaving := len(s.open) >= maxOperations, s.leaving
	if !taken && !full && !leaving {
		s.open[op.id] = op
	}
	s.mu.Unlock()
	switch {
	case leaving:
		return false
	case taken:
		s.close(closing{code: closeTaken, reason: "an operation of this id is open already"})
		return false
	case full:
		p := problem.New(problem.RateLimited, "%d operations are open on this connection, and no more may be: end one first", maxOperations)
		s.send(message{ID: op.id, Type: typeError, Payload: errorsJSON(gqlerror.List{face(s.ctx, p)})})
		return false
	}
	return true
}

// start has an operation run beside the reader, unless its turn comes on the client's next connection.
func (s *socket) start(ctx context.Context, op *operation, oc *graphql.OperationContext) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		return
	}
	ends := func() {}
	if oc.Operation.Operation != ast.Subscription {
		s.finite.Add(1)
		ends = s.finite.Done
	}
	s.running.Go(func() {
		defer ends()
		defer op.cancel()
		s.run(ctx, op, oc)
	})
}

// run sends the results of an operation, and how it ended, unless the client has ended it.
func (s *socket) run(ctx context.Context, op *operation, oc *graphql.OperationContext) {
	ctx, listener := resolvers.Listen(graphql.WithOperationContext(ctx, oc))
	tell := func(err error) { s.fail(op, s.exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)}).Errors) }
	defer func() {
		if cause := recover(); cause != nil {
			tell(oc.Recover(ctx, cause))
		}
	}()
	next, ctx := s.exec.DispatchOperation(ctx, oc)
	for resp := next(ctx); resp != nil; resp = next(ctx) {
		if len(resp.Data) == 0 {
			s.fail(op, resp.Errors)
			return
		}
		s.next(op, resp)
	}
	switch err := listener.End(); {
	case ctx.Err() != nil:
	case err == nil:
		s.last(op, message{ID: op.id, Type: typeComplete})
	case nothingAllowed(listener.Caller(), err):
		s.close(closingFor(problem.From(err)))
	default:
		tell(err)
	}
}

// nothingAllowed tells whether a refusal is not of one operation but of everything that the caller
// could ask for.
func nothingAllowed(caller *access.Principal, err error) bool {
	return problem.From(err).Code == problem.Unauthenticated || caller != nil && !caller.HasAccess()
}

// next sends a result.
func (s *socket) next(op *operation, resp *graphql.Response) {
	s.mu.Lock()
	open := s.open[op.id] == op
	s.mu.Unlock()
	if open {
		body, _ := encode(nil, resp)
		s.send(message{ID: op.id, Type: typeNext, Payload: body})
	}
}

// fail ends an operation with errors.
func (s *socket) fail(op *operation, errs gqlerror.List) {
	s.last(op, message{ID: op.id, Type: typeError, Payload: errorsJSON(errs)})
}

// last sends the message that ends an operation.
func (s *socket) last(op *operation, m message) {
	s.mu.Lock()
	open := s.open[op.id] == op
	if open {
		delete(s.open, op.id)
	}
	s.mu.Unlock()
	op.cancel()
	if open {
		s.send(m)
	}
}

// drop ends an operation that the client has had enough of.
func (s *socket) drop(id string) {
	s.mu.Lock()
	op := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if op != nil {
		op.cancel()
	}
}

func errorsJSON(errs gqlerror.List) json.RawMessage {
	raw, err := json.Marshal(errs)
	if err != nil { // no extension of ours makes that
		raw = []byte(`[{"message":"internal server error","extensions":{"code":"INTERNAL"}}]`)
	}
	return raw
}
