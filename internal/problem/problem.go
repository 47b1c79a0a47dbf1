// Package problem holds the one error type that leaves the product: what a caller may know of a
// failure, with its REST face (RFC 9457 problem details) and its GraphQL face (message and
// extensions.code). Everything else is an internal error, whose text never reaches a client.
package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code is the machine-readable class of a problem, the same through both doors.
type Code string

// The codes, as GraphQL shows them; REST shows the status of each.
const (
	BadRequest      Code = "BAD_REQUEST"
	Unauthenticated Code = "UNAUTHENTICATED"
	Forbidden       Code = "FORBIDDEN"
	NotFound        Code = "NOT_FOUND"
	PayloadTooLarge Code = "PAYLOAD_TOO_LARGE"
	RateLimited     Code = "RATE_LIMITED"
	Unavailable     Code = "UNAVAILABLE"
	Internal        Code = "INTERNAL"
)

var statuses = map[Code]int{
	BadRequest:      http.StatusBadRequest,
	Unauthenticated: http.StatusUnauthorized,
	Forbidden:       http.StatusForbidden,
	NotFound:        http.StatusNotFound,
	PayloadTooLarge: http.StatusRequestEntityTooLarge,
	RateLimited:     http.StatusTooManyRequests,
	Unavailable:     http.StatusServiceUnavailable,
	Internal:        http.StatusInternalServerError,
}

// Fault locates one thing that is wrong with a request: a member of the body ("body.email"), a
// path or query parameter ("path.cid"), or an argument of a GraphQL field ("first").
type Fault struct {
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
}

// Error is a failure that is safe to show. The cause, if any, is for the log only.
type Error struct {
	Code   Code
	Detail string
	// Reason is an optional finer, machine-readable word ("otp_required"); REST shows it as code.
	Reason string
	Faults []Fault
	// RetryAfter says how long to wait before another try; 0 says nothing.
	RetryAfter time.Duration
	// Limit is the limit that the request would go over; nil where there is none.
	Limit *Limit
	// Region is the code of the region that has what was asked for, where another answers; "" where none is named.
	Region string
	// Place is where another cell of the platform can do what was asked for; nil where none can.
	Place *Place
	// HTTP is the status of an answer that is nothing but this error, where it is not the code's own.
	HTTP int

	cause error
}

// Limit is how far something may go.
type Limit struct {
	Name string
	// Used is what there is already; nil for a rate.
	Used *int64
	Max  int64
}

// Place is a cell of the platform: that of a region, whose platform is reached at an address, or the home where both are "".
type Place struct {
	Region, Address string
	// OfRows: it is asked for what it has of rows that are known to be there, wherever what the caller's own company has is.
	OfRows bool
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Detail)
}

func (e *Error) Unwrap() error { return e.cause }

// Status is the HTTP status of the REST face.
func (e *Error) Status() int {
	if e.HTTP != 0 {
		return e.HTTP
	}
	return statuses[e.Code]
}

// PublicCode is the word that the REST face shows as code: the reason where there is one.
func (e *Error) PublicCode() string {
	if e.Reason != "" {
		return e.Reason
	}
	return string(e.Code)
}

// New makes an error of a code with a sentence for the caller.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Bad is a 400 about the request as a whole, or about a rule that it breaks.
func Bad(format string, args ...any) *Error { return New(BadRequest, format, args...) }

// Denied is a 403.
func Denied(format string, args ...any) *Error { return New(Forbidden, format, args...) }

// Missing is a 404.
func Missing(format string, args ...any) *Error { return New(NotFound, format, args...) }

// Unauthorized is a 401.
func Unauthorized(format string, args ...any) *Error { return New(Unauthenticated, format, args...) }

// Conflicting is a 409, for a request that stands against another; programs know it by its reason.
func Conflicting(reason, format string, args ...any) *Error {
	e := Bad(format, args...).With(reason)
	e.HTTP = http.StatusConflict
	return e
}

// Changed is for a change that was made from what is no longer so, as the faulty field says: a 400 whose REST face is 412.
func Changed(field, message string) *Error {
	e := Invalid(Fault{field, message}).With("changed")
	e.HTTP = http.StatusPreconditionFailed
	return e
}

// Away is a 503 for a part of the platform that does not answer; callers are told to come back.
func Away(what string, cause error) *Error {
	return &Error{Code: Unavailable, Detail: what + " is not available at the moment", RetryAfter: time.Second, cause: cause}
}

// Elsewhere is a 421 for what another cell of the platform has: that of a region, whose platform is reached at an address, or the home where both are "".
func Elsewhere(region, address string) *Error {
	e := Bad("this lives at the home of the platform, and is asked for there").With("elsewhere") // asking here again is of no use
	if region != "" {
		e.Detail, e.Region = fmt.Sprintf("this lives in the cell of the region %s, and is asked for at %s", region, address), region
	}
	e.HTTP, e.Place = http.StatusMisdirectedRequest, &Place{Region: region, Address: address}
	return e
}

// Invalid is a 400 that names each faulty field.
func Invalid(faults ...Fault) *Error {
	detail := "the request is not valid"
	if len(faults) > 0 {
		detail = faults[0].Message
		if faults[0].Location != "" {
			detail = faults[0].Location + ": " + detail
		}
	}
	return &Error{Code: BadRequest, Detail: detail, Faults: faults}
}

// LimitReached is a 403 for what there are as many of as there may be.
func LimitReached(name string, used, most int64) *Error {
	e := Denied("the limit %s is reached: of %d there are %d already", name, most, used)
	if used < most {
		e = Denied("the limit %s would be passed: of %d there are %d, and this is more than there is room for", name, most, used)
	}
	e = e.With("limit_reached")
	e.Limit = &Limit{Name: name, Used: &used, Max: most}
	return e
}

// OverRate is a 429 for what was done as often as it may be.
func OverRate(name string, most int64, wait time.Duration) *Error {
	e := New(RateLimited, "the limit %s of %d is reached", name, most).With("rate_limited")
	e.RetryAfter, e.Limit = wait, &Limit{Name: name, Max: most}
	return e
}

// With adds the machine-readable reason.
func (e *Error) With(reason string) *Error {
	e.Reason = reason
	return e
}

// Because adds the cause, which only the log shows.
func (e *Error) Because(err error) *Error {
	e.cause = err
	return e
}

// From gives the Error in err's chain. A foreign error becomes an internal one, and a cancelled
// or expired context an unavailable one, so that nothing of their text is shown.
func From(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Unavailable, Detail: "the request took too long or was cancelled", RetryAfter: time.Second, cause: err}
	}
	return &Error{Code: Internal, Detail: "internal server error", cause: err}
}
