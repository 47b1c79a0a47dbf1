package intake

import (
	"bytes"
	"io"
	"net/http"

	"canopy/internal/problem"
)

// keyHeader has the key under which a request is done once, however often it is sent
// (draft-ietf-httpapi-idempotency-key-header).
const keyHeader = "Idempotency-Key"

// maxKey is the longest key, in bytes.
const maxKey = 255

// IdempotencyKey gives the idempotency key of a request; "" where it has none. The error is a problem.
func IdempotencyKey(r *http.Request) (string, error) {
	values := r.Header[keyHeader]
	if len(values) == 0 {
		return "", nil
	}
	fault := func(message string) (string, error) {
		return "", problem.Invalid(problem.Fault{Location: "header." + keyHeader, Message: message})
	}
	switch key := values[0]; {
	case len(values) > 1:
		return fault("is there more than once")
	case IsForm(r):
		return fault("is not taken with forms")
	case key == "" || len(key) > maxKey || bytes.ContainsFunc([]byte(key), func(c rune) bool { return c < '!' || c > '~' }):
		return fault("must be 1 to 255 visible ASCII characters")
	default:
		return key, nil
	}
}

// Preview reads a body as ReadBody does, and leaves it to be read again: as far as it came, and with the error that it ended with.
func Preview(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := ReadBody(w, r)
	var again io.Reader = bytes.NewReader(body)
	if err != nil {
		again = io.MultiReader(again, failed{err})
	}
	r.Body = io.NopCloser(again)
	return body, err
}

// failed is a reader that was at its end with an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
