package egress

import (
	"context"
	"errors"
	"net"
)

// The classes of failure, for errors.Is. A failure of DNS or TLS is a connection error as well, so
// that a caller who retries connection errors needs to name only ErrConnection and ErrTimeout.
var (
	// ErrBlocked says that a rule about destinations forbids the request; nothing was sent.
	ErrBlocked = errors.New("destination not allowed")
	// ErrRequest says that the request itself can't be sent as it is (its method or a header).
	ErrRequest = errors.New("request not valid")
	// ErrTimeout says that the time of one attempt ran out, DNS and TLS included.
	ErrTimeout = errors.New("timed out")
	// ErrConnection says that no answer came over the connection.
	ErrConnection = errors.New("connection failed")
	// ErrDNS says that the host name could not be resolved; it is an ErrConnection too.
	ErrDNS = errors.New("host name not resolved")
	// ErrTLS says that no trusted TLS session came about; it is an ErrConnection too.
	ErrTLS = errors.New("TLS handshake failed")
	// ErrCancelled says that the caller gave the request up; it is a context.Canceled too.
	ErrCancelled = errors.New("cancelled")
)

// Error is a request that got no answer. Message is a sentence that may be shown to the owner of
// the destination: it never tells an address that a name resolved to, since private DNS answers
// are not theirs to see. Error() says the same; the cause is there for errors.Is and the log.
type Error struct {
	// Kind is one of the package's Err values.
	Kind error
	// Message is one sentence for a person.
	Message string
	// Cause is what happened underneath, for the log only; it may name private addresses.
	Cause error
}

// Error is the sentence that may be shown.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause, so that errors.Is finds context and network errors in it.
func (e *Error) Unwrap() error { return e.Cause }

// Is matches the kind, and ErrConnection for the kinds that are connection errors too.
func (e *Error) Is(target error) bool {
	if target == e.Kind {
		return true
	}
	return target == ErrConnection && (e.Kind == ErrDNS || e.Kind == ErrTLS)
}

// Blocked tells that the destination is forbidden, for packages that don't import this one.
func (e *Error) Blocked() bool { return errors.Is(e.Kind, ErrBlocked) }

// Timeout tells that the attempt's time ran out; it is the method of net.Error.
func (e *Error) Timeout() bool { return errors.Is(e.Kind, ErrTimeout) }

func blocked(message string, cause error) *Error {
	return &Error{Kind: ErrBlocked, Message: message, Cause: cause}
}

// classify turns what DNS, the dialer or the transport said into an Error. parent is the caller's
// context and attempt the one with the attempt's deadline: which of the two ended decides between
// "cancelled" and "timed out".
func classify(parent, attempt context.Context, err error) *Error {
	var known *Error
	var network net.Error
	switch {
	case errors.Is(parent.Err(), context.Canceled):
		return &Error{Kind: ErrCancelled, Message: "the request was cancelled", Cause: errors.Join(context.Canceled, err)}
	case errors.As(err, &known) && known.Blocked():
		return known
	case attempt.Err() != nil, errors.As(err, &network) && network.Timeout():
		return &Error{Kind: ErrTimeout, Message: "no answer within the time allowed", Cause: err}
	case known != nil:
		return known
	}
	return &Error{Kind: ErrConnection, Message: "the connection failed: " + reason(err), Cause: err}
}

// maxReason bounds what a message repeats of another's text, in bytes.
const maxReason = 300

// reason is the innermost text of a network error, without the addresses that net.OpError adds. The
// other side may have had a hand in it: a certificate's names are part of the text.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	text := err.Error()
	if len(text) > maxReason {
		text = text[:maxReason] + "…"
	}
	return printable(text)
}
