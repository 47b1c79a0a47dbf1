package canopy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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

// spent is what a request ended with that was sent again as often as may be: who has asked for it to send another one does not begin anew.
type spent struct{ error }

func (s *spent) Unwrap() error { return s.error }

// notReached is why nobody has answered, as a person reads it.
func (c *Client) notReached(err error) error {
	if in := new(url.Error); errors.As(err, &in) {
		err = in.Err // without the request, which the person has not written
	}
	return fmt.Errorf("no platform answers at %s: %w", c.URL, err)
}

// Unreached tells of an error of a Client whether nobody could be asked: nothing listens at the address, or nobody is called so.
func Unreached(err error) bool {
	dialled := new(net.OpError)
	return errors.As(err, new(*lost)) && (errors.As(err, new(*net.DNSError)) || errors.As(err, &dialled) && dialled.Op == "dial")
}

// unknownName tells whether nobody is called as the address says, which no other try changes.
func unknownName(err error) bool {
	of := new(net.DNSError)
	return errors.As(err, &of) && of.IsNotFound
}

// The waits before a request is sent again where the platform does not say how long.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 30 * time.Second
)

// again does something until it is answered otherwise than by 429 or 503, or a proxy's 502 or 504, or the retries are used up.
func (c *Client) again(ctx context.Context, do func() error) error {
	wait := firstWait
	for try := 0; ; try++ {
		err := do()
		pause, may := pauseAfter(err, wait)
		switch {
		case err == nil || !may || ctx.Err() != nil:
			return err
		case try >= c.Retries:
			return &spent{err}
		}
		if c.Waits != nil {
			c.Waits(err, pause)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		wait *= 2
	}
}

// pauseAfter tells whether a request may be sent again after an error, and how long later: as the platform says, or else wait.
func pauseAfter(err error, wait time.Duration) (pause time.Duration, may bool) {
	if errors.As(err, new(*spent)) || unknownName(err) {
		return 0, false
	}
	r := new(Refusal)
	if !errors.As(err, &r) {
		return wait, errors.As(err, new(*lost))
	}
	switch r.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if r.RetryAfter > 0 {
			wait = r.RetryAfter
		}
		return min(wait, longestWait), true
	}
	return 0, false
}
