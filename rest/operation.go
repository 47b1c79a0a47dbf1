package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/resolvers"
)

// operation describes one documented operation.
type operation struct {
	id, method, path     string
	tag                  string
	summary, description string
	// status is that of success; 0 stands for 200, or 204 without a body.
	status int
	// public: no token is asked for.
	public bool
	// errors are the statuses of refusals beyond those that every operation of its kind has.
	errors []int
	// names are the REST names of the fields that the resolver calls otherwise: "accountId" →
	// "appAccountId". A name with a place ("path.cid") is taken as it is.
	names map[string]string
	// upload documents a body that the operation reads by itself.
	upload *huma.RequestBody
	// responses documents answers that the output type does not.
	responses map[string]*huma.Response
	// ask calls the operation with an empty request, for a caller who only asks; nil where the
	// function of add is fit for that.
	ask func(context.Context) error
}

// add registers an operation. What the function refuses is answered as problem details whose
// locations have the names of the REST request, by the locator that it gives.
func add[I, O any](a *api, o operation, do func(context.Context, *I) (*O, error)) *locator {
	if o.ask == nil && o.upload == nil {
		o.ask = func(ctx context.Context) error {
			_, err := do(ctx, new(I))
			return err
		}
	}
	op := o.document()
	faults := &locator{names: o.names}
	huma.Register(a.huma, *op, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.refuse(ctx, err, faults)
		}
		return out, nil
	})
	faults.learn(a.huma.OpenAPI(), o.method, o.path)
	return faults
}

// document gives the registry's form of an operation.
func (o operation) document() *huma.Operation {
	op := &huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.summary, Description: o.description,
		Tags: []string{o.tag}, DefaultStatus: o.status, Errors: o.refusals(), Responses: o.responses,
		// The body is in memory before the library reads it: no deadline, no limit of its own.
		BodyReadTimeout: -1, MaxBodyBytes: -1, Security: anonymous,
	}
	if !o.public {
		op.Security = []map[string][]string{{bearerScheme: {}}, {oauthScheme: {}}}
		op.Metadata = map[string]any{askKey: o.ask}
	}
	return op
}

// askKey is where an operation's metadata has its ask.
const askKey = "ask"

// barred is the refusal of a caller who may not use the operation, whatever the request; nil where
// it may. A faulty request is asked for it before its faults are told: who may is an operation's
// first line, but that comes after the request has been read.
func barred(hc huma.Context) *Problem {
	ask, _ := hc.Operation().Metadata[askKey].(func(context.Context) error)
	if ask == nil {
		return nil
	}
	err := ask(access.Asking(hc.Context()))
	if errors.Is(err, resolvers.ErrAllowed) {
		return nil
	}
	if e := problem.From(err); e.Code == problem.Forbidden || e.Code == problem.Unauthenticated {
		return problemOf(hc.Context(), e)
	}
	return nil
}

// refusals are the statuses of an operation's errors.
func (o operation) refusals() []int {
	list := append([]int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusServiceUnavailable}, o.errors...)
	if !o.public {
		list = append(list, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	}
	if o.upload == nil && (o.method == http.MethodPost || o.method == http.MethodPut) {
		list = append(list, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	// What has a form of its own is not a problem.
	list = slices.DeleteFunc(list, func(status int) bool { return o.responses[strconv.Itoa(status)] != nil })
	slices.Sort(list)
	return slices.Compact(list)
}

// refuse is an error's REST face with the faults under their REST names. An error that has a
// face of its own, as those of OAuth do, keeps it.
func (a *api) refuse(ctx context.Context, err error, faults *locator) error {
	var own huma.StatusError
	if errors.As(err, &own) {
		return err
	}
	return a.failure(ctx, faults.rename(err))
}

// failure is an error's REST face. What is the platform's own fault goes to the log.
func (a *api) failure(ctx context.Context, err error) *Problem {
	e := problem.From(err)
	switch e.Code {
	case problem.Internal:
		a.log.ErrorContext(ctx, "a REST operation failed", "error", err)
	case problem.Unavailable:
		a.log.WarnContext(ctx, "a REST operation could not be served", "error", err)
	}
	return problemOf(ctx, e)
}
