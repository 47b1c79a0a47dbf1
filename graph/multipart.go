package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/intake"
	"canopy/internal/problem"
)

// multipartTransport takes requests with one file, by the GraphQL multipart request specification
// (https://github.com/jaydenseric/graphql-multipart-request-spec). The file is read while the
// mutation runs, and never held.
type multipartTransport struct{}

var _ graphql.Transport = multipartTransport{}

// Supports takes forms.
func (multipartTransport) Supports(r *http.Request) bool {
	return r.Method == http.MethodPost && intake.IsForm(r)
}

// preflighted tells whether a request has a header that a page of another site can't send without
// asking: a form by itself can be sent from anywhere.
func preflighted(r *http.Request) bool {
	for _, h := range []string{"Graphql-Preflight", "Apollo-Require-Preflight", "X-Requested-With"} {
		if r.Header.Get(h) != "" {
			return true
		}
	}
	return false
}

// Do answers one request.
func (multipartTransport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	if !preflighted(r) {
		refuse(w, r, http.StatusForbidden, problem.Denied("a request with a file needs the header GraphQL-Preflight"))
		return
	}
	media := acceptedBy(r).media
	if media == "" {
		refuse(w, r, http.StatusNotAcceptable, problem.Bad("the answer is %s or %s", typeGraphQL, typeJSON))
		return
	}
	if p := stranger(r.Context()); p != nil { // no operation takes a file from one
		refuse(w, r, p.Status(), p)
		return
	}
	if _, err := intake.IdempotencyKey(r); err != nil {
		p := problem.From(err)
		refuse(w, r, p.Status(), p)
		return
	}
	start := graphql.Now()
	form, err := intake.OpenForm(w, r)
	var raw *graphql.RawParams
	if err == nil {
		raw, err = formParams(r.Context(), form)
	}
	if err != nil {
		if raw != nil {
			err = cmp.Or(barred(r.Context(), raw), err)
		}
		p := problem.From(err)
		refuse(w, r, p.Status(), p)
		return
	}
	raw.Headers = r.Header
	raw.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	oc, errs := exec.CreateOperationContext(r.Context(), raw)
	if errs != nil {
		resp := exec.DispatchError(graphql.WithOperationContext(r.Context(), oc), errs)
		write(w, media, refusedStatus(w, resp, http.StatusBadRequest), resp)
		return
	}
	next, ctx := exec.DispatchOperation(r.Context(), oc)
	resp := next(ctx)
	if len(resp.Errors) > 0 {
		form.Drain()
	}
	write(w, media, refusedStatus(w, resp, http.StatusOK), resp)
}

// formParams reads the form up to its file, which takes the place that the map gives it. Where the form
// is faulty behind its operations, these are given beside the error.
func formParams(ctx context.Context, form *intake.Form) (*graphql.RawParams, error) {
	operations, err := formField(form, "operations")
	if err != nil {
		return nil, err
	}
	raw, p := operationOf(ctx, operations)
	if p != nil {
		return nil, p
	}
	return raw, placeFile(form, raw)
}

// placeFile reads what follows the operations.
func placeFile(form *intake.Form, raw *graphql.RawParams) error {
	places, err := formField(form, "map")
	if err != nil {
		return err
	}
	key, path, err := onlyPlace(places)
	if err != nil {
		return err
	}
	file, err := form.File(key)
	if err != nil {
		return err
	}
	if !put(raw.Variables, strings.Split(path, ".")[1:], *file) {
		return errPlace
	}
	return nil
}

// put puts the file into the variables; false where there is no null at its place.
func put(at map[string]any, path []string, file intake.File) bool {
	for len(path) > 1 {
		below, ok := at[path[0]].(map[string]any)
		if !ok {
			return false
		}
		at, path = below, path[1:]
	}
	if old, there := at[path[0]]; !there || old != nil {
		return false
	}
	at[path[0]] = file
	return true
}

// formField reads the next part, which must be a field of that name.
func formField(form *intake.Form, name string) ([]byte, error) {
	part, err := form.Named(name)
	if err != nil {
		return nil, err
	}
	content, err := form.Whole(io.LimitReader(part, intake.MaxBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > intake.MaxBody:
		return nil, problem.New(problem.PayloadTooLarge, "%s is larger than %d bytes", name, intake.MaxBody)
	}
	return content, nil
}

var errPlace = problem.Bad("map must give the file one place whose value is null, such as variables.input.file")

// onlyPlace reads the map: one file, for one place in the variables.
func onlyPlace(raw []byte) (key, path string, err error) {
	var places map[string][]string
	if err := json.Unmarshal(raw, &places); err != nil {
		return "", "", problem.Bad("map must be an object whose members are arrays of strings")
	}
	if len(places) != 1 {
		return "", "", problem.Bad("a request takes exactly one file")
	}
	for name, paths := range places {
		if len(paths) != 1 || !strings.HasPrefix(paths[0], "variables.") {
			return "", "", errPlace
		}
		key, path = name, paths[0]
	}
	return key, path, nil
}
