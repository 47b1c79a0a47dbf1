package canopy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostProblem is how much of a refusal is read, in bytes.
const mostProblem = 1 << 20

// Refusal is an answer other than 2xx.
type Refusal struct {
	Method, Path string
	Status       int
	// Detail is the platform's own sentence, Code what programs tell it by, where there is one.
	Detail, Code string
	// Region is whose cell did not answer, or has what was asked for; "home" is none's. Empty where it is not about that.
	Region string
	// RequestID finds the line in the platform's log.
	RequestID string
	// RetryAfter is when to come back; 0 where the platform does not say.
	RetryAfter time.Duration
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s (%s %s: %d)", r.Detail, r.Method, r.Path, r.Status)
}

// refusal reads one (RFC 9457; at the token exchange RFC 6749).
func refusal(req *http.Request, resp *http.Response) error {
	var problem struct {
		Detail, Code, Region, RequestID string
		Description                     string `json:"error_description"`
		Error                           any
		Errors                          []struct{ Location, Message string }
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostProblem))
	if err != nil {
		return &lost{err}
	}
	_ = json.Unmarshal(raw, &problem) // what is no problem of the platform's has its status alone
	r := &Refusal{Method: req.Method, Path: req.URL.Path, Status: resp.StatusCode, Detail: problem.Detail, Code: problem.Code, Region: problem.Region, RequestID: problem.RequestID}
	for _, e := range problem.Errors {
		r.Detail += fmt.Sprintf("; %s: %s", e.Location, e.Message)
	}
	if r.Detail == "" {
		r.Detail = problem.Description
	}
	if r.Detail == "" {
		r.Detail = resp.Status
	}
	if code, ok := problem.Error.(string); ok && r.Code == "" {
		r.Code = code
	}
	if r.RequestID == "" {
		r.RequestID = resp.Header.Get("X-Request-Id")
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // 0 where it says none
	r.RetryAfter = time.Duration(seconds) * time.Second
	return r
}

// Errors are those of a GraphQL answer.
type Errors []Error

// Error is one error of a GraphQL answer.
type Error struct {
	Message    string
	Path       []any
	Extensions struct {
		// Code is one of those of the graph, such as NOT_FOUND, and Reason tells more to programs, where there is more. Region is whose cell it is about.
		Code, Reason, Region, RequestID string
	}
}

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Message
	}
	return strings.Join(texts, "; ")
}

// lost is a request that was not answered.
type lost struct{ error }

func (l *lost) Unwrap() error { return l.error }

// The waits before a request is sent again where the platform does not say how long.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 30 * time.Second
)

// again does something until it is answered otherwise than by 429 or 503, or the retries are used up.
func (c *Client) again(ctx context.Context, do func() error) error {
	wait := firstWait
	for try := 0; ; try++ {
		err := do()
		var r *Refusal
		refused := errors.As(err, &r)
		later := refused && (r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable)
		if err == nil || try >= c.Retries || !later && (refused || !errors.As(err, new(*lost))) || ctx.Err() != nil {
			return err
		}
		pause := wait
		if later && r.RetryAfter > 0 {
			pause = r.RetryAfter
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(min(pause, longestWait)):
		}
		wait *= 2
	}
}
