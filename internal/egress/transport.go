package egress

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// maxSent is how much a library may send through a Transport, in bytes.
const maxSent = 64 << 10

var errLarge = errors.New("the body is larger than it may be")

// Transport is the client for libraries that send by themselves: each request is one attempt of Do, under all its rules and bounds. An
// answer whose body is longer than Options.MaxResponse, or breaks off, is an error.
func (c *Client) Transport() http.RoundTripper { return transport{c} }

type transport struct{ client *Client }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(io.LimitReader(req.Body, maxSent+1))
		if err := errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		if len(body) > maxSent {
			return nil, &Error{Kind: ErrRequest, Message: "the request is too large", Cause: errLarge}
		}
	}
	got, err := t.client.Do(req.Context(), Request{Method: req.Method, URL: req.URL.String(), Header: req.Header, Body: body})
	switch {
	case err != nil:
		return nil, err
	case got.BodyErr != nil:
		return nil, got.BodyErr
	case got.Truncated:
		return nil, &Error{Kind: ErrConnection, Message: "the answer is too long", Cause: errLarge}
	}
	return &http.Response{
		Status: strconv.Itoa(got.Status) + " " + http.StatusText(got.Status), StatusCode: got.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: got.Header, Body: io.NopCloser(bytes.NewReader(got.Body)), ContentLength: int64(len(got.Body)), Request: req,
	}, nil
}
