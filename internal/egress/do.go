package egress

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"
)

// excerptBytes is how much of a body Excerpt keeps for the log.
const excerptBytes = 1 << 10

// ownHeaders belong to the connection, which is the client's, not the caller's.
var ownHeaders = []string{
	"Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// Request is one request. Its body is held in memory, so that it can be sent as exact bytes.
type Request struct {
	// Method is GET when empty.
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// Response is what came back: any status, redirects included, since none is followed.
type Response struct {
	Status int
	Header http.Header
	// Body is as sent (no decompression), up to Options.MaxResponse bytes.
	Body []byte
	// Truncated tells that there was more than MaxResponse.
	Truncated bool
	// BodyErr is set where the status came but the body broke off before its end or the limit.
	// Whoever needs only the status, as webhook deliveries do, passes over it.
	BodyErr error
	// Duration runs from the start of the lookup to the last byte read.
	Duration time.Duration
}

// Excerpt is the first KiB of the body for a log, as valid UTF-8 without NUL.
func (r *Response) Excerpt() string {
	text := r.Body
	if len(text) > excerptBytes {
		text = text[:excerptBytes]
		for i := 0; i < utf8.UTFMax && len(text) > 0 && !utf8.RuneStart(r.Body[len(text)]); i++ {
			text = text[:len(text)-1]
		}
	}
	return printable(string(text))
}

// printable makes a stranger's text fit to be stored and shown: valid UTF-8 without NUL, which
// PostgreSQL takes in no text.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Post sends body to the URL as application/json, with further headers.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (*Response, error) {
	h := header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	return c.Do(ctx, Request{Method: http.MethodPost, URL: url, Header: h, Body: body})
}

// Do makes one attempt: it judges the destination, sends the request and reads the answer, all
// within Options.Timeout. The error is an *Error; an HTTP status, whichever, is not an error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	start := time.Now()
	t, err := parseTarget(r.URL)
	if err != nil {
		return nil, err
	}
	attempt, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	addrs, err := c.resolve(attempt, t)
	if err != nil {
		return nil, classify(ctx, attempt, err)
	}
	req, err := c.build(context.WithValue(attempt, destinationKey{}, destination{t, addrs}), r, t)
	if err != nil {
		return nil, err
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, classify(ctx, attempt, err)
	}
	out := c.read(ctx, attempt, resp)
	out.Duration = time.Since(start)
	return out, nil
}

func (c *Client) build(ctx context.Context, r Request, t *target) (*http.Request, error) {
	method := orDefault(r.Method, http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, t.url.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, &Error{Kind: ErrRequest, Message: "the method is not valid", Cause: err}
	}
	if method == http.MethodConnect {
		return nil, &Error{Kind: ErrRequest, Message: "the method CONNECT is not allowed"}
	}
	if len(r.Body) == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	}
	for name, values := range r.Header {
		if err := checkHeader(name, values); err != nil {
			return nil, err
		}
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.agent)
	}
	return req, nil
}

func checkHeader(name string, values []string) error {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return &Error{Kind: ErrRequest, Message: "a header's name is not valid"}
	case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
		return &Error{Kind: ErrRequest, Message: "the header " + name + " can't be set"}
	case slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }):
		return &Error{Kind: ErrRequest, Message: "the value of the header " + name + " is not valid"}
	}
	return nil
}

// read takes the body up to the limit. Reading to its end is what lets the connection be reused;
// a body that is longer costs its connection.
func (c *Client) read(ctx, attempt context.Context, resp *http.Response) *Response {
	defer func() { _ = resp.Body.Close() }() // an unread rest is dropped on purpose
	out := &Response{Status: resp.StatusCode, Header: resp.Header}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the connection, which no deadline ends any more: a receiver could keep it, and who waits, for ever.
		return out
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.maxResponse+1))
	if err != nil {
		out.BodyErr = classify(ctx, attempt, err)
	}
	if int64(len(body)) > c.maxResponse {
		body, out.Truncated = body[:c.maxResponse], true
	}
	out.Body = body
	return out
}
