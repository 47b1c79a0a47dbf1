package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/internal/access"
	"canopy/internal/intake"
	"canopy/internal/rule"
	"canopy/internal/web"
	"canopy/resolvers"
)

// keyParameter documents the idempotency key.
var keyParameter = &huma.Param{
	Name: "Idempotency-Key", In: "header",
	Description: "Has the request done once, however often it is sent within 24 hours: the same one is given the same answer, with Idempotency-Replayed: true",
	Schema:      &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(255), Pattern: "^[!-~]+$"},
}

// takesKey tells whether an operation takes an idempotency key: what changes something, and has a caller. Of a POST that only reads no answer is
// kept: it would go on telling what its caller can't read any more.
func takesKey(method string, need *rule.Rule) bool {
	return need != nil && need.Changes() && (method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch)
}

// once has a request with an idempotency key done once: its answer is kept, and given again. Who has access to no application, as
// behind an API key whose user has left, is refused by the operation.
func (a *api) once(hc huma.Context, next func(huma.Context)) {
	if !takesKey(hc.Method(), ruleOf(hc.Operation())) || !access.PrincipalOf(hc.Context()).HasAccess() {
		next(hc)
		return
	}
	r, w := unwrap(hc)
	key, err := intake.IdempotencyKey(r)
	if err != nil {
		tell(hc, a.failure(hc.Context(), err))
		return
	}
	if key == "" {
		next(hc)
		return
	}
	body, err := intake.Preview(w, r)
	if err != nil {
		next(humago.NewContext(hc.Operation(), r, w)) // which tells what is wrong with it
		return
	}
	ctx, end := web.Carry(hc.Context())
	defer end()
	request := []string{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("If-Match"), string(body)}
	ctx, claim, kept, err := a.r.Once(ctx, key, request, func() error { return resolvers.May(ctx, ruleOf(hc.Operation())) })
	switch {
	case err != nil:
		respond(hc, a.failure(ctx, err))
	case kept != nil:
		w.Header().Set(web.ReplayedHeader, "true")
		_ = web.Send(w, kept.Status, kept.Header, kept.Body) // the client has gone, if anything
	default:
		a.record(hc.Operation(), w, r.WithContext(ctx), claim, next)
	}
}

// record does a request under a claim, keeps its answer if it is one to keep, and then sends it.
func (a *api) record(op *huma.Operation, w http.ResponseWriter, r *http.Request, claim *resolvers.Claim, next func(huma.Context)) {
	rec := web.Record(w)
	func() {
		var answer *resolvers.Answer
		defer func() { claim.End(r.Context(), answer) }() // after a panic, too
		next(humago.NewContext(op, r, rec))
		if at, _ := r.Context().Value(elsewhereKey{}).(*elsewhere); at != nil && at.to != nil {
			at.claim = claim
			claim.Leave()
		}
		if status, header, body, whole := rec.Recorded(); whole && isKept(status) {
			answer = &resolvers.Answer{Status: status, Header: header, Body: body}
		}
	}()
	_ = rec.Send() // the client has gone, if anything
}

// isKept tells whether an answer is the same however often the request is sent: what was done, or can't be.
func isKept(status int) bool {
	return status < http.StatusMultipleChoices || status == http.StatusBadRequest || status == http.StatusNotFound
}
