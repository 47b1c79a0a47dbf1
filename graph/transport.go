package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/intake"
	"canopy/internal/problem"
)

// The media types of GraphQL over HTTP (GraphQL-over-HTTP draft, section 4).
const (
	typeJSON    = "application/json"
	typeGraphQL = "application/graphql-response+json"
)

// maxErrors is how many faults of a document an answer tells of.
const maxErrors = 20

// httpTransport serves queries by GET and everything by POST, as the GraphQL-over-HTTP draft has
// it.
type httpTransport struct{}

// Supports takes what the other transports leave.
func (httpTransport) Supports(r *http.Request) bool { return r.Header.Get("Upgrade") == "" }

func isJSON(r *http.Request) bool {
	mt, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	return err == nil && mt == typeJSON && (charset == "" || charset == "utf-8")
}

// accepted picks the media type of the answer; "" when the client takes none of ours.
func accepted(r *http.Request) string {
	header := strings.Join(r.Header.Values("Accept"), ",")
	if header == "" {
		return typeJSON
	}
	for part := range strings.SplitSeq(header, ",") {
		mt, _, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		switch mt {
		case typeGraphQL:
			return typeGraphQL
		case typeJSON, "*/*", "application/*":
			return typeJSON
		}
	}
	return ""
}

// refuse answers a request that did not get as far as GraphQL.
func refuse(w http.ResponseWriter, r *http.Request, status int, p *problem.Error) {
	media := accepted(r)
	if media == "" {
		media = typeJSON
	}
	head(w, p)
	write(w, media, status, &graphql.Response{Errors: gqlerror.List{face(r.Context(), p)}})
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
	body, err := encode(resp)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"errors":[{"message":"internal server error","extensions":{"code":"INTERNAL"}}]}`)
	}
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone, if anything
}

// encode writes an answer. The data is JSON already, and long: it is taken as it is. A request that
// was refused before it ran has no data, not even null.
func encode(resp *graphql.Response) ([]byte, error) {
	body := append(make([]byte, 0, len(resp.Data)+512), '{')
	member := func(name string, value []byte) {
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(append(append(append(body, '"'), name...), '"', ':'), value...)
	}
	if len(resp.Errors) > 0 {
		value, err := json.Marshal(resp.Errors)
		if err != nil {
			return nil, err
		}
		member("errors", value)
	}
	if len(resp.Data) > 0 {
		member("data", resp.Data)
	}
	if len(resp.Extensions) > 0 {
		value, err := json.Marshal(resp.Extensions)
		if err != nil {
			return nil, err
		}
		member("extensions", value)
	}
	return append(body, '}'), nil
}

// Do answers one request.
func (httpTransport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	media := accepted(r)
	if media == "" {
		refuse(w, r, http.StatusNotAcceptable, problem.Bad("the answer is %s or %s", typeGraphQL, typeJSON))
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
	if errs != nil {
		resp := exec.DispatchError(graphql.WithOperationContext(r.Context(), oc), errs[:min(len(errs), maxErrors)])
		status := http.StatusBadRequest
		if media == typeJSON {
			status = http.StatusOK // as the draft has it for clients of the time before
		}
		write(w, media, refusedStatus(w, resp, status), resp)
		return
	}
	if r.Method != http.MethodPost && oc.Operation.Operation != ast.Query {
		w.Header().Set("Allow", "POST")
		refuse(w, r, http.StatusMethodNotAllowed, problem.Bad("only queries go by GET: send this by POST"))
		return
	}
	if oc.Operation.Operation == ast.Subscription {
		refuse(w, r, http.StatusBadRequest, problem.Bad("subscriptions go over SSE (Accept: text/event-stream) or graphql-transport-ws"))
		return
	}
	next, ctx := exec.DispatchOperation(r.Context(), oc)
	resp := next(ctx)
	if resp == nil { // the client has gone
		p := problem.From(context.Canceled)
		refuse(w, r, p.Status(), p)
		return
	}
	write(w, media, refusedStatus(w, resp, http.StatusOK), resp)
}

// refusedStatus is the status of an answer that is nothing but a refusal for now: past a limit, or
// with the database away. Clients and proxies know what to do with those.
func refusedStatus(w http.ResponseWriter, resp *graphql.Response, otherwise int) int {
	if len(resp.Errors) == 0 || len(resp.Data) > 0 && string(resp.Data) != "null" {
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
	return otherwise
}

// request is the body of a POST, and what a GET has in its query.
type request struct {
	Query         *string         `json:"query"`
	OperationName *string         `json:"operationName"`
	Variables     json.RawMessage `json:"variables"`
	Extensions    json.RawMessage `json:"extensions"`
}

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
		if errors.As(err, &tooLarge) {
			return nil, http.StatusRequestEntityTooLarge, problem.New(problem.PayloadTooLarge, "%s: the request is larger than %d bytes", intake.OpenMember(body), intake.MaxBody)
		}
		return nil, http.StatusBadRequest, problem.Bad("the request could not be read")
	}
	return body, 0, nil
}

func (q *request) decode(body []byte) *problem.Error {
	if fault := intake.CheckJSON(body); fault != nil {
		return problem.Invalid(problem.Fault(*fault))
	}
	if err := json.Unmarshal(body, q); err != nil {
		return problem.Bad("the body must be an object with query, operationName, variables and extensions")
	}
	return nil
}

// sse is gqlgen's transport of server-sent events behind the checks of the other requests: by
// itself it reads a body of any size, and logs it when it is not JSON.
type sse struct{ transport.SSE }

// Do streams the answer to one request.
func (s sse) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	var q request
	body, status, p := readBody(w, r)
	if p == nil {
		status, p = http.StatusBadRequest, q.decode(body)
	}
	if p == nil {
		_, status, p = q.params()
	}
	if p != nil {
		refuse(w, r, status, p)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.SSE.Do(w, r, exec)
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
