package rest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"canopy/internal/problem"
	"canopy/internal/web"
)

const (
	problemType    = "application/problem+json"
	internalDetail = "internal server error"
	realm          = `Bearer realm="canopy"`
)

// Problem is the body of every error of the documented paths, as RFC 9457 defines it, with
// members of this platform.
type Problem struct {
	Type      string  `json:"type" format:"uri-reference" example:"about:blank" doc:"Always about:blank: title and code tell the kind"`
	Title     string  `json:"title" example:"Bad Request" doc:"The status in words"`
	Status    int     `json:"status" example:"400" doc:"The HTTP status"`
	Detail    string  `json:"detail" example:"body.email: is not an e-mail address" doc:"What is wrong, for a person"`
	Code      string  `json:"code" example:"BAD_REQUEST" doc:"What is wrong, for a program: the class of the status, or a finer word such as otp_required"`
	Errors    []Fault `json:"errors" doc:"Each single fault of the request, where there are any"`
	RequestID string  `json:"requestId" example:"01JD3QW8K5" doc:"The id of the request, which also finds its line in the log"`
	Limit     string  `json:"limit,omitempty" example:"users" doc:"Of a 403 limit_reached and a 429 rate_limited: the limit"`
	Used      *int64  `json:"used,omitempty" example:"100" doc:"Of a 403 limit_reached: what there is already"`
	Max       *int64  `json:"max,omitempty" example:"100" doc:"Of a 403 limit_reached and a 429 rate_limited: the most that there may be"`

	Region string `json:"region,omitempty" example:"eu-central" doc:"Of a 421 elsewhere and a 503: the region whose cell has what was asked for; the home has it where none is named"`

	headers http.Header
}

// Fault locates one thing that is wrong with a request.
type Fault struct {
	Location string `json:"location" example:"body.email" doc:"The member of the body (body.…) or the parameter (path.…, query.…) that is wrong; empty for the request as a whole"`
	Message  string `json:"message" example:"is not an e-mail address" doc:"What is wrong with it"`
}

// Error is the sentence for a person.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are the headers that go with the problem.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType names the media type of RFC 9457.
func (p *Problem) ContentType(string) string { return problemType }

// The library's own errors take the form of this package's: these are its documented hooks, and
// hold for the whole process.
func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return refusal(context.Background(), status, msg, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		if status < http.StatusInternalServerError {
			if p := barred(ctx); p != nil {
				return p
			}
		}
		return refusal(ctx.Context(), status, msg, errs)
	}
}

// refusal is the problem of what the library found wrong: a request that breaks its schema.
func refusal(ctx context.Context, status int, msg string, errs []error) *Problem {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	p := statusProblem(ctx, status, msg)
	if status >= http.StatusInternalServerError {
		return p
	}
	for _, err := range errs {
		if d, ok := err.(huma.ErrorDetailer); ok {
			p.Errors = append(p.Errors, schemaFault(d.ErrorDetail()))
		}
	}
	if len(p.Errors) > 0 {
		p.Detail = sentence(p.Errors[0])
	}
	return p
}

// schemaFault moves the fault of a missing member from its parent to the member itself.
func schemaFault(d *huma.ErrorDetail) Fault {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	if name, ok := strings.CutPrefix(d.Message, before); ok {
		if name, ok = strings.CutSuffix(name, after); ok {
			return Fault{d.Location + "." + name, "is required"}
		}
	}
	if strings.HasPrefix(d.Message, "invalid date/time for format ") { // which would be a layout of Go's
		return Fault{d.Location, "must be a date and time such as 2026-07-01T12:00:00Z"}
	}
	return Fault{d.Location, d.Message}
}

func sentence(f Fault) string {
	if f.Location == "" {
		return f.Message
	}
	return f.Location + ": " + f.Message
}

// statusProblem is a problem that says no more than its status, and a sentence.
func statusProblem(ctx context.Context, status int, detail string) *Problem {
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		detail = internalDetail
	}
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail,
		Code: statusCode(status), Errors: []Fault{}, RequestID: web.RequestID(ctx),
	}
}

// statusCode is the machine-readable form of a status: NOT_FOUND for Not Found. The codes of the
// package problem follow the same rule but for four, which are named here.
func statusCode(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return string(problem.Unauthenticated)
	case http.StatusRequestEntityTooLarge:
		return string(problem.PayloadTooLarge)
	case http.StatusTooManyRequests:
		return string(problem.RateLimited)
	case http.StatusServiceUnavailable:
		return string(problem.Unavailable)
	case http.StatusInternalServerError:
		return string(problem.Internal)
	}
	return strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))
}

// problemOf is the REST face of what a resolver refused.
func problemOf(ctx context.Context, e *problem.Error) *Problem {
	passedOn(ctx, e)
	p := statusProblem(ctx, e.Status(), e.Detail)
	p.Code, p.Region = e.PublicCode(), e.Region
	p.headers = http.Header{}
	for _, f := range e.Faults {
		p.Errors = append(p.Errors, Fault(f))
	}
	if l := e.Limit; l != nil {
		p.Limit, p.Used, p.Max = l.Name, l.Used, &l.Max
	}
	if p.Status == http.StatusUnauthorized {
		p.headers.Set("WWW-Authenticate", realm)
	}
	switch {
	case e.RetryAfter > 0:
		p.headers.Set("Retry-After", seconds(e.RetryAfter))
	case p.Status == http.StatusTooManyRequests, p.Status == http.StatusServiceUnavailable:
		p.headers.Set("Retry-After", "1")
	}
	return p
}

// seconds is a time to wait in whole seconds, rounded up (RFC 9110, section 10.2.3).
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// sendProblem answers with a problem outside of an operation's own answer.
func sendProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	body, err := marshal(p)
	if err != nil {
		panic(err)
	}
	h := w.Header()
	for name, values := range p.headers {
		h[name] = values
	}
	h.Set("Content-Type", problemType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// clip keeps what a caller sent short where an error quotes it.
func clip(s string) string {
	const limit = 100
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
