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
	r.Body = &previewed{body: body, err: err}
	return body, err
}

// previewed is a body that has been read.
type previewed struct {
	body []byte
	err  error
	at   int
}

func (p *previewed) Read(b []byte) (int, error) {
	n := copy(b, p.body[p.at:])
	switch p.at += n; {
	case p.at < len(p.body):
		return n, nil
	case p.err != nil:
		return n, p.err
	}
	return n, io.EOF
}

func (*previewed) Close() error { return nil }
