package graph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	exact "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/graph/inorder"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/resolvers"
)

// maxErrors is how many faults of a document an answer tells of.
const maxErrors = 20

// httpTransport serves queries by GET and everything by POST, as the GraphQL-over-HTTP draft has
// it.
type httpTransport struct{}

// Supports takes what the other transports leave.
func (httpTransport) Supports(*http.Request) bool { return true }

func isJSON(r *http.Request) bool {
	content := r.Header.Get("Content-Type")
	if content == typeJSON {
		return true
	}
	mt, params, err := mime.ParseMediaType(content)
	charset := strings.ToLower(params["charset"])
	return err == nil && mt == typeJSON && (charset == "" || charset == "utf-8")
}

// refuse answers a request that did not get as far as GraphQL.
func refuse(w http.ResponseWriter, r *http.Request, status int, p *problem.Error) {
	head(w, p)
	write(w, cmp.Or(acceptedBy(r).media, typeJSON), status, &graphql.Response{Errors: gqlerror.List{face(r.Context(), p)}})
}

// head sets the headers that go with a refusal.
func head(w http.ResponseWriter, p *problem.Error) {
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((p.RetryAfter+999_999_999)/1_000_000_000)))
	}
	if p.Code == problem.Unauthenticated {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	}
}

func write(w http.ResponseWriter, media string, status int, resp *graphql.Response) {
	room := rooms.Get().(*[]byte)
	body, ok := encode((*room)[:0], resp)
	if !ok {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone, if anything
	if cap(body) <= inorder.MostKept {
		*room = body
		rooms.Put(room)
	}
}

// rooms are the memory that answers are put together in, used again for the next one.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// unspeakable stands for an answer that is no JSON.
var unspeakable = []byte(`{"errors":[{"message":"internal server error","extensions":{"code":"INTERNAL"}}]}`)

// encode appends an answer. The data is JSON already, and long: it is taken as it is. A request that
// was refused before it ran has no data, not even null. false: the answer is an internal error.
func encode(to []byte, resp *graphql.Response) ([]byte, bool) {
	begin := len(to)
	body := append(slices.Grow(to, len(resp.Data)+512), '{')
	member := func(name string, value []byte) {
		if len(body) > begin+1 {
			body = append(body, ',')
		}
		body = append(append(append(append(body, '"'), name...), '"', ':'), value...)
	}
	if len(resp.Errors) > 0 {
		value, err := json.Marshal(resp.Errors)
		if err != nil {
			return append(body[:begin], unspeakable...), false
		}
		member("errors", value)
	}
	if len(resp.Data) > 0 {
		member("data", resp.Data)
	}
	if len(resp.Extensions) > 0 {
		value, err := extensions(resp.Extensions)
		if err != nil {
			return append(body[:begin], unspeakable...), false
		}
		member("extensions", value)
	}
	return append(body, '}'), true
}

// extensions writes what stands beside the data: mostly what it cost, and nothing else.
func extensions(all map[string]any) ([]byte, error) {
	report, is := all[costExtension].(*CostReport)
	if !is || len(all) > 1 {
		return json.Marshal(all)
	}
	value := append(make([]byte, 0, 128), `{"`+costExtension+`":{"requested":`...)
	value = append(strconv.AppendInt(value, int64(report.Requested), 10), `,"limit":`...)
	value = append(strconv.AppendInt(value, int64(report.Limit), 10), `,"perMinute":`...)
	value = append(strconv.AppendInt(value, int64(report.PerMinute), 10), `,"remaining":`...)
	return append(strconv.AppendInt(value, int64(report.Remaining), 10), `}}`...), nil
}

// Do answers one request: a query or a mutation by JSON wherever the client takes that, a subscription
// by a stream.
func (httpTransport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	accept := acceptedBy(r)
	if accept.media == "" && !accept.events {
		refuse(w, r, http.StatusNotAcceptable, problem.Bad("the answer is %s, %s or %s", typeGraphQL, typeJSON, typeEvents))
		return
	}
	start := graphql.Now()
	raw, status, p := params(w, r)
	if p != nil {
		refuse(w, r, status, p)
		return
	}
	raw.Headers = r.Header
	raw.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	oc, errs := exec.CreateOperationContext(r.Context(), raw)
	switch {
	case errs != nil:
		refuseDocument(w, accept, exec.DispatchError(graphql.WithOperationContext(r.Context(), oc), errs[:min(len(errs), maxErrors)]))
	case r.Method != http.MethodPost && oc.Operation.Operation != ast.Query:
		w.Header().Set("Allow", "POST")
		refuse(w, r, http.StatusMethodNotAllowed, problem.Bad("only queries go by GET: send this by POST"))
	case oc.Operation.Operation == ast.Subscription && !accept.events:
		refuse(w, r, http.StatusBadRequest, problem.Bad("subscriptions go over SSE (Accept: text/event-stream) or graphql-transport-ws"))
	case oc.Operation.Operation == ast.Subscription || accept.media == "":
		stream(w, r, exec, oc)
	default:
		respond(w, r, exec, oc, accept.media)
	}
}

// refuseDocument answers a request whose document or variables don't do.
func refuseDocument(w http.ResponseWriter, accept accepted, resp *graphql.Response) {
	switch accept.media {
	case "":
		s := openEvents(w)
		defer s.Close()
		s.next(resp)
		s.complete()
	case typeJSON: // as the draft has it for clients of the time before
		write(w, typeJSON, refusedStatus(w, resp, http.StatusOK), resp)
	default:
		write(w, accept.media, refusedStatus(w, resp, http.StatusBadRequest), resp)
	}
}

func respond(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, oc *graphql.OperationContext, media string) {
	next, ctx := exec.DispatchOperation(r.Context(), oc)
	resp := next(ctx)
	if resp == nil { // the client has gone
		p := problem.From(context.Canceled)
		refuse(w, r, p.Status(), p)
		return
	}
	write(w, media, refusedStatus(w, resp, http.StatusOK), resp)
}

// refusedStatus is the status of an answer that is nothing but a refusal for now: past a limit, for what
// was done under an idempotency key, or with the database away. Clients and proxies know what to do with those.
func refusedStatus(w http.ResponseWriter, resp *graphql.Response, otherwise int) int {
	if len(resp.Errors) == 0 || !holdsNothing(resp.Data) {
		return otherwise
	}
	p := &problem.Error{}
	code, _ := resp.Errors[0].Extensions["code"].(string)
	p.Code = problem.Code(code)
	if after, ok := resp.Errors[0].Extensions["retryAfter"].(int); ok {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	switch p.Code {
	case problem.RateLimited, problem.Unavailable:
		return p.Status()
	}
	if resolvers.SaysOnce(resp.Errors[0].Extensions["reason"]) {
		return http.StatusConflict
	}
	return otherwise
}

// holdsNothing tells whether there is no data, or nothing but root fields that are null.
func holdsNothing(data json.RawMessage) bool {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return true
	}
	for d.PeekKind() == '"' {
		if _, err := d.ReadToken(); err != nil || d.PeekKind() != 'n' {
			return false
		}
		if _, err := d.ReadToken(); err != nil {
			return false
		}
	}
	return true
}

// request is the body of a POST, and what a GET has in its query.
type request struct {
	Query         *string         `json:"query"`
	OperationName *string         `json:"operationName"`
	Variables     json.RawMessage `json:"variables"`
	Extensions    json.RawMessage `json:"extensions"`
	// Others are members of other names.
	Others map[string]jsontext.Value `json:",embed"` //nolint:staticcheck // an option of the library that decodes it
}

// members are the names of a request's members.
var members = []string{"query", "operationName", "variables", "extensions"}

// params reads a request; the status goes with the problem.
func params(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, int, *problem.Error) {
	var q request
	if r.Method != http.MethodPost {
		q = fromQuery(r)
		if !sound(q.Variables) || !sound(q.Extensions) {
			return nil, http.StatusBadRequest, notObjects()
		}
	} else {
		body, status, p := readBody(w, r)
		if p != nil {
			return nil, status, p
		}
		leave, err := intake.Turn(r.Context(), len(body))
		if err != nil {
			p := problem.From(err)
			return nil, p.Status(), p
		}
		defer leave()
		if p := q.decode(body); p != nil {
			return nil, http.StatusBadRequest, p
		}
	}
	return q.params()
}

func (q *request) params() (*graphql.RawParams, int, *problem.Error) {
	raw := &graphql.RawParams{}
	var err1, err2 error
	raw.Variables, err1 = object(q.Variables)
	raw.Extensions, err2 = object(q.Extensions)
	if err1 != nil || err2 != nil {
		return nil, http.StatusBadRequest, notObjects()
	}
	if q.Query != nil {
		raw.Query = *q.Query
	}
	if !utf8.ValidString(raw.Query) {
		return nil, http.StatusBadRequest, problem.Bad("query is not valid UTF-8")
	}
	if raw.Query == "" && raw.Extensions["persistedQuery"] == nil {
		return nil, http.StatusBadRequest, problem.Bad("query is required")
	}
	if q.OperationName != nil {
		raw.OperationName = *q.OperationName
	}
	return raw, 0, nil
}

func notObjects() *problem.Error {
	return problem.Bad("variables and extensions must be JSON objects")
}

// sound tells whether what came in an address is JSON as bodies have to be.
func sound(raw json.RawMessage) bool { return len(raw) == 0 || intake.CheckJSON(raw) == nil }

func fromQuery(r *http.Request) request {
	var q request
	values := r.URL.Query()
	if values.Has("query") {
		s := values.Get("query")
		q.Query = &s
	}
	if s := values.Get("operationName"); s != "" {
		q.OperationName = &s
	}
	q.Variables, q.Extensions = json.RawMessage(values.Get("variables")), json.RawMessage(values.Get("extensions"))
	return q
}

// readBody reads the body of a POST; the status goes with the problem.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, int, *problem.Error) {
	if !isJSON(r) {
		return nil, http.StatusUnsupportedMediaType, problem.Bad("the Content-Type must be application/json in UTF-8")
	}
	body, err := intake.ReadBody(w, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		var tooLarge *http.MaxBytesError
		var refused *problem.Error
		if errors.As(err, &refused) {
			return nil, refused.Status(), refused
		}
		if errors.As(err, &tooLarge) {
			if p := stranger(r.Context()); p != nil { // what may be asked without a token is short
				return nil, p.Status(), p
			}
			return nil, http.StatusRequestEntityTooLarge, problem.New(problem.PayloadTooLarge, "%s: the request is larger than %d bytes", intake.OpenMember(body), tooLarge.Limit)
		}
		return nil, http.StatusBadRequest, problem.Bad("the request could not be read")
	}
	return body, 0, nil
}

// decode reads a request, whose members are known by their exact names.
func (q *request) decode(body []byte) *problem.Error {
	if fault := intake.CheckJSON(body); fault != nil {
		return problem.Invalid(problem.Fault(*fault))
	}
	if err := exact.Unmarshal(body, q); err != nil {
		return problem.Bad("the body must be an object with query, operationName, variables and extensions")
	}
	for name := range q.Others {
		if known := intake.LikeName(name, slices.Values(members)); known != "" {
			return problem.Invalid(problem.Fault{Location: "body." + name, Message: fmt.Sprintf(intake.Miscased, known)})
		}
	}
	return nil
}

// object reads a JSON object that has been checked, keeping numbers as they are written.
func object(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	return m, d.Decode(&m)
}
