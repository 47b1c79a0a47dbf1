package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/web"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// authenticate puts the caller into the context of an operation that asks for a token, and
// refuses who has none before anything else of the request is read.
func (a *api) authenticate(hc huma.Context, next func(huma.Context)) {
	web.TellOperation(hc.Context(), hc.Operation().OperationID)
	if ruleOf(hc.Operation()) == nil {
		next(huma.WithContext(hc, a.r.FromNetwork(hc.Context())))
		return
	}
	header := hc.Header("Authorization")
	ctx, err := a.r.Admit(hc.Context(), header)
	if err == nil && access.PrincipalOf(ctx) == nil {
		err = problem.Unauthorized("a bearer token is needed")
	}
	if err != nil {
		p := a.failure(hc.Context(), err)
		if p.Status == http.StatusUnauthorized && header != "" {
			p.headers.Set("WWW-Authenticate", fmt.Sprintf(`%s, error="invalid_token", error_description=%q`, realm, ascii(p.Detail)))
		}
		respond(hc, p)
		return
	}
	p := access.PrincipalOf(ctx)
	web.TellCaller(ctx, p.CustomerID, p.UserID, p.ClientID)
	ctx = hop.WithAuthorization(ctx, header)
	if hc.Method() == http.MethodGet {
		ctx = db.Reading(ctx)
	}
	next(huma.WithContext(hc, ctx))
}

// ascii keeps to the characters that RFC 6750, section 3, allows in error_description.
func ascii(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c < 0x20 || c > 0x7E || c == '"' || c == '\\' {
			out[i] = ' '
		}
	}
	return string(out)
}

// readBody reads the body of an operation that takes one, within its limits, and hands on only
// what is strict JSON, or a form.
func (a *api) readBody(hc huma.Context, next func(huma.Context)) {
	if p := queryFaults(hc); p != nil {
		tell(hc, p)
		return
	}
	rb := hc.Operation().RequestBody
	if rb == nil || rb.Content[intake.FormType] != nil {
		next(hc)
		return
	}
	mediaType := jsonType
	if rb.Content[formType] != nil {
		mediaType = formType
	}
	body, leave, p := takeBody(hc, mediaType, rb.Required)
	defer leave()
	hc = huma.WithValue(hc, turnKey{}, leave)
	switch {
	case p != nil:
		tell(hc, p)
	case mediaType == formType:
		next(huma.WithValue(hc, formKey{}, body))
	default:
		if faults := a.miscased(rb.Content[jsonType].Schema, body); len(faults) > 0 {
			tell(hc, badBody(hc.Context(), faults...))
			return
		}
		next(&withBody{humaContext: hc, body: body})
	}
}

// formKey is the context's key of a form, which the library does not read itself.
type formKey struct{}

// turnKey is the context's key of what ends the turn in which a body is read: the operation, as it begins.
type turnKey struct{}

// endTurn ends the turn in which a body was read, if there was any.
func endTurn(ctx context.Context) {
	if leave, ok := ctx.Value(turnKey{}).(func()); ok {
		leave()
	}
}

// unwrap gives the request behind an operation with the operation's context, which knows the caller.
func unwrap(hc huma.Context) (*http.Request, http.ResponseWriter) {
	r, w := humago.Unwrap(hc)
	return r.WithContext(hc.Context()), w
}

// takeBody reads a body of the wanted type, and waits for the turn to look at it, which leave ends.
func takeBody(hc huma.Context, wanted string, required bool) (body []byte, leave func(), p *Problem) {
	ctx := hc.Context()
	leave = func() {}
	if !isOfType(hc.Header("Content-Type"), wanted) {
		return nil, leave, statusProblem(ctx, http.StatusUnsupportedMediaType, "the body must be "+wanted)
	}
	r, w := unwrap(hc)
	body, err := intake.ReadBody(w, r)
	if err != nil {
		return nil, leave, bodyProblem(ctx, err, body, wanted)
	}
	turn, err := intake.Turn(ctx, len(body))
	if err != nil {
		return nil, leave, bodyProblem(ctx, err, body, wanted)
	}
	return checked(ctx, body, turn, wanted, required)
}

// checked refuses a body that is not what is wanted.
func checked(ctx context.Context, body []byte, leave func(), wanted string, required bool) ([]byte, func(), *Problem) {
	if wanted == jsonType {
		if len(bytes.TrimSpace(body)) == 0 {
			if !required {
				return nil, leave, nil
			}
			return nil, leave, badBody(ctx, Fault{"body", "is required"})
		}
		if f := intake.CheckJSON(body); f != nil {
			return nil, leave, badBody(ctx, Fault(*f))
		}
	}
	return body, leave, nil
}

// isOfType tells whether a Content-Type is the wanted one; a body without any is taken for it.
func isOfType(header, wanted string) bool {
	if header == "" {
		return true
	}
	ct, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	return err == nil && ct == wanted && (charset == "" || equalFoldASCII(charset, "utf-8") || equalFoldASCII(charset, "utf8"))
}

func equalFoldASCII(a, b string) bool { return bytes.EqualFold([]byte(a), []byte(b)) }

// bodyProblem tells why a body could not be read to its end.
func bodyProblem(ctx context.Context, err error, read []byte, mediaType string) *Problem {
	var large *http.MaxBytesError
	var netErr net.Error
	var refused *problem.Error
	switch {
	case errors.As(err, &refused):
		p := problemOf(ctx, refused)
		p.headers.Set("Connection", "close")
		return p
	case errors.As(err, &large):
		f := Fault{"body", fmt.Sprintf("is larger than %d bytes", large.Limit)}
		if mediaType == jsonType {
			if f.Location = intake.OpenMember(read); f.Location != "body" {
				f.Message = fmt.Sprintf("is where the body goes over its limit of %d bytes", large.Limit)
			}
		}
		p := statusProblem(ctx, http.StatusRequestEntityTooLarge, sentence(f))
		p.Errors = []Fault{f}
		p.headers = http.Header{"Connection": {"close"}}
		return p
	case errors.As(err, &netErr) && netErr.Timeout():
		p := statusProblem(ctx, http.StatusRequestTimeout, "the body took too long to arrive")
		p.headers = http.Header{"Connection": {"close"}}
		return p
	}
	p := badBody(ctx, Fault{"body", "could not be read to its end"})
	p.headers = http.Header{"Connection": {"close"}}
	return p
}

func badBody(ctx context.Context, faults ...Fault) *Problem {
	p := statusProblem(ctx, http.StatusBadRequest, sentence(faults[0]))
	p.Errors = faults
	return p
}

// queryFaults refuses a documented query parameter that is there more than once, or is empty where something has to be said. A list refuses others, too.
func queryFaults(hc huma.Context) *Problem {
	u := hc.URL()
	if u.RawQuery == "" {
		return nil
	}
	query := u.Query()
	for _, param := range hc.Operation().Parameters {
		values := query[param.Name]
		switch {
		case param.In != "query" || len(values) == 0:
		case len(values) > 1:
			return badBody(hc.Context(), Fault{"query." + param.Name, "is there more than once"})
		case values[0] == "" && saysSomething(hc.Operation(), param):
			return badBody(hc.Context(), Fault{"query." + param.Name, "must not be empty"})
		}
	}
	if hc.Operation().Metadata[listKey] != nil {
		return strangeParameter(hc, query)
	}
	return nil
}

// saysSomething tells whether a parameter has no empty value: one of a fixed set, a number, a yes or no, and what bounds a list, as somebody who has left a filter
// empty would take all that there is for what was asked for. A list of nothing is one, and a cursor may be that of the beginning.
func saysSomething(op *huma.Operation, param *huma.Param) bool {
	switch param.Schema.Type {
	case huma.TypeBoolean, huma.TypeInteger, huma.TypeNumber:
		return true
	}
	if len(param.Schema.Enum) > 0 {
		return true
	}
	return op.Metadata[listKey] != nil && param.Schema.Type != huma.TypeArray && param.Name != "after" && param.Name != "before"
}

// strangeParameter refuses what is none of an operation's parameters: somebody who misspells a filter would take all that there is for what was asked for.
func strangeParameter(hc huma.Context, query url.Values) *Problem {
	var known []string
	for _, param := range hc.Operation().Parameters {
		if param.In == "query" {
			known = append(known, param.Name)
		}
	}
	slices.Sort(known)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			return badBody(hc.Context(), Fault{"query." + intake.Clip(name), "is none of this list's parameters: " + strings.Join(known, ", ")})
		}
	}
	return nil
}

// tell answers with the fault of a request to whoever may use the operation.
func tell(hc huma.Context, p *Problem) {
	if b := barred(hc); b != nil {
		maps.Copy(b.headers, p.headers)
		p = b
	}
	respond(hc, p)
}

// respond answers with a problem in place of the operation.
func respond(hc huma.Context, p *Problem) {
	r, w := humago.Unwrap(hc)
	sendProblem(w, r, p)
}

type humaContext = huma.Context

// withBody is a request whose body has been read.
type withBody struct {
	humaContext
	body []byte
}

// Header gives a header; the body's type has been found to be JSON, however it was written.
func (c *withBody) Header(name string) string {
	if strings.EqualFold(name, "Content-Type") {
		return jsonType
	}
	return c.humaContext.Header(name)
}

// BodyReader gives the body from its start.
func (c *withBody) BodyReader() io.Reader { return bytes.NewReader(c.body) }

// Unwrap gives the context below.
func (c *withBody) Unwrap() huma.Context { return c.humaContext }
