// Package openai calls servers that speak OpenAI's HTTP interface: one JSON POST, tried again where
// that can help, answered at once or piece by piece. The embeddings and the chat client are built on it.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"canopy/internal/telemetry"
)

// Defaults of a Config.
const (
	DefaultTimeout       = 60 * time.Second
	DefaultAttempts      = 5
	DefaultBackoff       = 500 * time.Millisecond
	DefaultMaxBackoff    = 30 * time.Second
	DefaultMaxRetryAfter = 2 * time.Minute
)

// Limits of what is read from a server, in bytes.
const (
	maxErrorBody   = 8 << 10
	maxMessage     = 500
	maxHeaderBytes = 64 << 10
)

// Config of a client. Zero values mean the defaults.
type Config struct {
	URL           string        // of the server, with or without a version such as /v1 at its end
	Unversioned   bool          // the URL is taken as it is: no version is added to it
	Key           string        // sent as a bearer token when not empty; in no log and no error
	Timeout       time.Duration // of one attempt, its whole answer included
	Attempts      int
	Backoff       time.Duration // before the second attempt; doubles, with jitter
	MaxBackoff    time.Duration
	MaxRetryAfter time.Duration // the longest wait that a server can ask for
}

// ErrConfig is the error for a configuration that cannot work.
var ErrConfig = errors.New("openai: bad configuration")

// ErrAnswer is the error for an answer with status 200 that is not what was asked for.
var ErrAnswer = errors.New("openai: unusable answer")

// StatusError is an answer other than 200.
type StatusError struct {
	Status     int
	Message    string        // the server's own words, shortened; safe to log
	RetryAfter time.Duration // what the server asked for; 0 when it did not
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the model server answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Temporary tells whether the same request can succeed later.
func (e *StatusError) Temporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		529: // "overloaded", of some providers
		return true
	}
	return false
}

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	config Config
	base   string
	http   *http.Client
}

// version is a path's end that names a version of the interface.
var version = regexp.MustCompile(`/v[0-9]+[a-z0-9]*$`)

// New checks a configuration and makes a client; the error is ErrConfig.
func New(config Config) (*Client, error) {
	u, err := url.Parse(strings.TrimSpace(config.URL))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: the URL must be an http or https address", ErrConfig)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: the URL must not hold user, query or fragment", ErrConfig)
	}
	if strings.ContainsAny(config.Key, "\r\n") {
		return nil, fmt.Errorf("%w: the key holds a line break", ErrConfig)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !config.Unversioned && !version.MatchString(u.Path) {
		u.Path += "/v1"
	}
	return &Client{config: withDefaults(config), base: u.String(), http: newHTTPClient()}, nil
}

func withDefaults(c Config) Config {
	orDefault := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	orDefault(&c.Timeout, DefaultTimeout)
	orDefault(&c.Backoff, DefaultBackoff)
	orDefault(&c.MaxBackoff, DefaultMaxBackoff)
	orDefault(&c.MaxRetryAfter, DefaultMaxRetryAfter)
	if c.Attempts <= 0 {
		c.Attempts = DefaultAttempts
	}
	return c
}

// newHTTPClient follows no redirects, so the key goes to no other server.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxIdleConnsPerHost:    8,
			IdleConnTimeout:        90 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeaderBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CloseIdle closes connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Post sends a JSON document to a path below the version ("/embeddings") and decodes the answer, of
// at most limit bytes, into answer. Connection errors and temporary statuses are tried again with
// growing pauses, or after the time that the server asks for. The error is the context's, a
// *StatusError, ErrAnswer, or that of the network, of the last attempt.
func (c *Client) Post(ctx context.Context, path string, body []byte, answer any, limit int64) error {
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, path, body, answer, limit)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause, again := c.pause(err, attempt)
		if !again || attempt == c.config.Attempts {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// pause returns how long to wait before the next attempt, and whether one makes sense.
func (c *Client) pause(err error, attempt int) (time.Duration, bool) {
	backoff := min(c.config.Backoff<<min(attempt-1, 16), c.config.MaxBackoff)
	backoff = backoff/2 + rand.N(backoff/2+1)
	var status *StatusError
	switch {
	case errors.As(err, &status):
		return max(backoff, status.RetryAfter), status.Temporary() && status.RetryAfter <= c.config.MaxRetryAfter
	case errors.Is(err, ErrAnswer):
		return 0, false
	}
	return backoff, true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (c *Client) once(ctx context.Context, path string, body []byte, answer any, limit int64) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	response, err := c.send(ctx, path, body, "application/json")
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return decode(response.Body, answer, limit)
}

// send gives a server's answer of status 200, whose body is to be closed.
func (c *Client) send(ctx context.Context, path string, body []byte, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	if c.config.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	ctx, span := telemetry.Begin(ctx, "POST "+path, telemetry.Client)
	telemetry.Inject(ctx, request.Header)
	response, err := c.http.Do(request)
	if response != nil {
		span.Set(telemetry.Number("http.response.status_code", int64(response.StatusCode)))
	}
	span.End(err)
	if err != nil {
		return nil, fmt.Errorf("the model server cannot be reached: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		defer func() { _ = response.Body.Close() }()
		return nil, c.statusError(response)
	}
	return response, nil
}

func decode(body io.Reader, answer any, limit int64) error {
	content, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("the model server's answer broke off: %w", err)
	case int64(len(content)) > limit:
		return tooLong(limit)
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil
}

func (c *Client) statusError(response *http.Response) *StatusError {
	content, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody)) // what came is good enough for a message
	return &StatusError{
		Status:     response.StatusCode,
		Message:    c.redact(message(content)),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
}

// redact takes the key out of a message, as some servers repeat it.
func (c *Client) redact(text string) string {
	if c.config.Key != "" {
		text = strings.ReplaceAll(text, c.config.Key, "[key]")
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// message finds the sentence in an error body: OpenAI's {"error":{"message"}}, or the shapes
// {"error": ""}, {"message": ""} and {"detail": ""} of others, or plain text.
func message(content []byte) string {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(content, &body) != nil {
		return strings.Join(strings.Fields(strings.ToValidUTF8(string(content), "")), " ")
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body.Error, &inner) == nil && inner.Message != "" {
		return inner.Message
	}
	for _, raw := range []json.RawMessage{body.Error, body.Detail} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
	}
	return body.Message
}

// retryAfter reads a Retry-After header, seconds or a date (RFC 9110, 10.2.3); 0 for none.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
