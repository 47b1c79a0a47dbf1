package diagram

import (
	"context"
	"errors"
	"fmt"
)

// The codes of Error. A fail step may bring a code of its own.
const (
	CodeFailed      = "failed"       // a fail step, or an input that is not a JSON object
	CodeTimeout     = "timeout"      // a step or the run took too long
	CodeTooLarge    = "too_large"    // a result or the output
	CodeExpression  = "expression"   // an expression could not be evaluated, or gave a wrong type
	CodeHTTPBlocked = "http_blocked" // the destination is not allowed; nothing was sent
	CodeHTTPError   = "http_error"   // no answer, or a status other than 2xx
	CodeSearchError = "search_error"
	CodeChatError   = "chat_error"
	CodeCancelled   = "cancelled"
	CodeSecret      = "secret_error" // a secret that is not there, or can't be read
	CodeLimit       = "limit"        // an expression or the run used more than its share
)

var reservedCodes = map[string]bool{
	CodeTimeout: true, CodeTooLarge: true, CodeExpression: true, CodeHTTPBlocked: true, CodeHTTPError: true,
	CodeSearchError: true, CodeChatError: true, CodeCancelled: true, CodeLimit: true, CodeSecret: true,
}

// Error ends a run. Its JSON is what the run's owner sees.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Step is the id of the step that failed, or empty for the output and the run as a whole.
	Step string `json:"step,omitempty"`

	cause error
}

// Error is the sentence and where it happened.
func (e *Error) Error() string {
	if e.Step == "" {
		return e.Message
	}
	return "step " + e.Step + ": " + e.Message
}

// Unwrap gives the cause; for a cancelled run that is the context's, so that a caller can tell a
// user's cancellation from a worker that is shutting down.
func (e *Error) Unwrap() error { return e.cause }

func newError(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) because(cause error) *Error {
	e.cause = cause
	return e
}

// toolError turns what a tool said into an Error with that tool's code. An error that has a
// method Blocked() bool or Timeout() bool answering true, as those of outbound HTTP have, gets the
// finer code.
func toolError(code string, err error) *Error {
	var known *Error
	var blocked interface{ Blocked() bool }
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &known):
		return &Error{Code: known.Code, Message: known.Message, cause: err}
	case errors.As(err, &blocked) && blocked.Blocked():
		code = CodeHTTPBlocked
	case errors.As(err, &timeout) && timeout.Timeout():
		code = CodeTimeout
	}
	return newError(code, "%s", err).because(err)
}

// contextError is the Error of a run whose context has ended, or nil. parent is the caller's.
func contextError(parent, step context.Context) *Error {
	cause := context.Cause(step)
	switch {
	case errors.Is(parent.Err(), context.Canceled):
		return newError(CodeCancelled, "the run was cancelled").because(context.Cause(parent))
	case cause == nil:
		return nil
	case errors.Is(cause, errPatience):
		return newError(CodeTimeout, "the step took longer than %s", StepTimeout).because(cause)
	}
	return newError(CodeTimeout, "the run took longer than %s", RunTimeout).because(cause)
}
