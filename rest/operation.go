package rest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// operation describes one documented operation.
type operation struct {
	id, method, path     string
	tag                  string
	summary, description string
	// status is that of success; 0 stands for 200, or 204 without a body.
	status int
	// rule is that of the resolver behind the operation: who may use it.
	rule *rule.Rule
	// public: no token is asked for, and there is no rule.
	public bool
	// own: it takes the browser's cookie, and is not for pages of other origins.
	own bool
	// errors are the statuses of refusals beyond those that every operation of its kind has.
	errors []int
	// names are the REST names of the fields that the resolver calls otherwise: "accountId" →
	// "appAccountId". A name with a place ("path.cid") is taken as it is.
	names map[string]string
	// body: it takes a body that is read before it is called; where the input has a Body, add knows.
	body bool
	// conditions are those that it takes of If-None-Match or If-Match.
	conditions conditional
	// orders is the list whose fields the parameter orderBy takes, where the input has one.
	orders *db.List
	// upload documents a body that the operation reads by itself.
	upload *huma.RequestBody
	// list: it answers an array, of those that its parameters name.
	list bool
	// responses documents answers that the output type does not.
	responses map[string]*huma.Response
}

// add registers an operation. What the function refuses is answered as problem details whose
// locations have the names of the REST request, by the locator that it gives.
func add[I, O any](a *api, o operation, do func(context.Context, *I) (*O, error)) *locator {
	if _, ok := reflect.TypeFor[I]().FieldByName("Body"); ok {
		o.body = true
	}
	if o.conditions == byMatch {
		names := map[string]string{"ifVersion": ifMatchHeader}
		maps.Copy(names, o.names)
		o.names = names
	}
	op := o.document()
	faults := &locator{names: o.names}
	huma.Register(a.huma, *op, func(ctx context.Context, in *I) (*O, error) {
		endTurn(ctx)
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.refuse(ctx, err, faults)
		}
		return out, nil
	})
	faults.learn(a.huma.OpenAPI(), o.method, o.path)
	o.offerOrders(a.huma.OpenAPI())
	o.tellEmpty(a.huma.OpenAPI())
	return faults
}

// document gives the registry's form of an operation. One that does not say who may use it is a
// fault of the program, which does not start with it.
func (o operation) document() *huma.Operation {
	if o.public != (o.rule == nil) {
		panic("rest: the operation " + o.id + " needs a rule, or is public")
	}
	op := &huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.summary, Description: o.description,
		Tags: []string{o.tag}, DefaultStatus: o.status, Errors: o.refusals(), Responses: o.responses,
		// The body is in memory before the library reads it: no deadline, no limit of its own.
		BodyReadTimeout: -1, MaxBodyBytes: -1, Security: anonymous, Metadata: map[string]any{uploadKey: o.upload, ownKey: o.own},
	}
	if !o.public {
		n := needsOf(o.rule)
		op.Description += " " + o.rule.Sentence()
		op.Security = []map[string][]string{{bearerScheme: {}}, {oauthScheme: n.scopes()}}
		op.Extensions = map[string]any{"x-needs": n}
		op.Metadata[ruleKey], op.Metadata[namesKey] = o.rule, o.names
	}
	if o.list {
		op.Metadata[listKey] = true
	}
	if o.conditions != 0 {
		o.conditions.document(op)
	}
	if o.upload == nil && takesKey(o.method, o.rule) {
		op.Parameters = append(op.Parameters, keyParameter)
	}
	return op
}

// Where an operation's metadata has its rule, its names of fields, the body that it reads by itself, and whether it is for
// the platform's own pages, or a list.
const (
	ruleKey   = "rule"
	namesKey  = "names"
	uploadKey = "upload"
	ownKey    = "own"
	listKey   = "list"

	conditionsKey = "conditions"
)

func namesOf(op *huma.Operation) map[string]string {
	names, _ := op.Metadata[namesKey].(map[string]string)
	return names
}

// ruleOf gives an operation's rule; nil for a public one.
func ruleOf(op *huma.Operation) *rule.Rule {
	need, _ := op.Metadata[ruleKey].(*rule.Rule)
	return need
}

// needs is a rule as the documents have it, for programs.
type needs struct {
	App   []string `json:"app"`
	Right string   `json:"right,omitempty"`
}

func needsOf(r *rule.Rule) needs {
	n := needs{App: mapped(r.Apps, access.App.String)}
	if r.Right != 0 {
		n.Right = r.Right.Names()[0]
	}
	return n
}

// scopes are those that a token has to have: rights are the scopes of the platform's tokens.
func (n needs) scopes() []string {
	if n.Right == "" {
		return []string{}
	}
	return []string{n.Right}
}

// barred is the refusal of a caller who may not use the operation, whatever the request; nil where
// it may. A faulty request is asked for it before its faults are told: who may is a resolver's first
// line, but that comes after the request has been read.
func barred(hc huma.Context) *Problem {
	need := ruleOf(hc.Operation())
	if need == nil {
		return nil
	}
	if err := resolvers.May(hc.Context(), need); err != nil {
		return problemOf(hc.Context(), problem.From(err))
	}
	return nil
}

// refusals are the statuses of an operation's errors.
func (o operation) refusals() []int {
	list := append([]int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusServiceUnavailable}, o.errors...)
	if !o.public {
		list = append(list, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	}
	if o.rule != nil && o.rule.OfData() {
		list = append(list, http.StatusMisdirectedRequest)
	}
	if o.upload == nil && takesKey(o.method, o.rule) {
		list = append(list, http.StatusConflict)
	}
	if o.conditions == byMatch {
		list = append(list, http.StatusPreconditionFailed)
	}
	if o.body {
		list = append(list, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
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
	if resolvers.SaysWhere(e.Code, e) {
		if moved := a.r.Moved(ctx); moved != nil {
			e, err = problem.From(moved), moved
		}
	}
	switch e.Code {
	case problem.Internal:
		a.log.ErrorContext(ctx, "a REST operation failed", "error", err)
	case problem.Unavailable:
		if !passedOn(ctx, e) {
			a.log.WarnContext(ctx, "a REST operation could not be served", "error", err)
		}
	}
	return problemOf(ctx, e)
}
