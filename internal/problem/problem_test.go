package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

var errCause = errors.New("password=hunter2 at 10.0.0.1")

func TestStatuses(t *testing.T) {
	for code, want := range map[Code]int{
		BadRequest: http.StatusBadRequest, Unauthenticated: http.StatusUnauthorized, Forbidden: http.StatusForbidden, NotFound: http.StatusNotFound,
		PayloadTooLarge: http.StatusRequestEntityTooLarge, RateLimited: http.StatusTooManyRequests, Unavailable: http.StatusServiceUnavailable,
		Internal: http.StatusInternalServerError,
	} {
		if got := New(code, "x").Status(); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
}

func TestFrom(t *testing.T) {
	own := Denied("no %s", "entry")
	for name, c := range map[string]struct {
		err  error
		code Code
	}{
		"its own":               {own, Forbidden},
		"wrapped":               {fmt.Errorf("at the door: %w", own), Forbidden},
		"joined":                {errors.Join(errCause, own), Forbidden},
		"foreign":               {errCause, Internal},
		"cancelled":             {fmt.Errorf("reading: %w", context.Canceled), Unavailable},
		"too late":              {context.DeadlineExceeded, Unavailable},
		"its own, of a timeout": {Bad("too slow").Because(context.DeadlineExceeded), BadRequest},
		"away":                  {Away("the database", errCause), Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			e := From(c.err)
			if e.Code != c.code {
				t.Errorf("%s, want %s", e.Code, c.code)
			}
			if strings.Contains(e.Detail, "hunter2") {
				t.Errorf("the caller is told %q", e.Detail)
			}
			if e.Code == Unavailable && e.RetryAfter <= 0 {
				t.Error("it does not say when to come back")
			}
			if !errors.Is(c.err, own) && !errors.Is(e, c.err) {
				t.Error("the cause is lost")
			}
		})
	}
	if From(nil) != nil {
		t.Error("no error became one")
	}
}

func TestInvalid(t *testing.T) {
	for name, c := range map[string]struct {
		faults []Fault
		want   string
	}{
		"none":     {nil, "the request is not valid"},
		"one":      {[]Fault{{"email", "is required"}}, "email: is required"},
		"several":  {[]Fault{{"email", "is required"}, {"name", "is required"}}, "email: is required"},
		"no place": {[]Fault{{"", "is not JSON"}}, "is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			e := Invalid(c.faults...)
			if e.Detail != c.want || e.Code != BadRequest || len(e.Faults) != len(c.faults) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestCauseIsForTheLogOnly(t *testing.T) {
	e := Away("the database", errCause).With("database_away")
	if !errors.Is(e, errCause) || !strings.Contains(e.Error(), "hunter2") {
		t.Error("the log does not see the cause")
	}
	if strings.Contains(e.Detail, "hunter2") || e.RetryAfter != time.Second {
		t.Errorf("the caller is told %q, %v", e.Detail, e.RetryAfter)
	}
	if e.PublicCode() != "database_away" || Bad("x").PublicCode() != "BAD_REQUEST" {
		t.Error("the reason is shown where there is one, else the code")
	}
	if got := Bad("100%% of %d", 7); got.Detail != "100% of 7" || got.Error() != "BAD_REQUEST: 100% of 7" {
		t.Errorf("got %v", got)
	}
}
