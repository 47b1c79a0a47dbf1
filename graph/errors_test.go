package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/problem"
	"canopy/resolvers"
)

func TestPresent(t *testing.T) {
	for _, c := range []struct {
		name          string
		err           error
		code, message string
		logged        bool
	}{
		{"a problem", problem.Denied("the company 4 is not within reach"), "FORBIDDEN", "the company 4 is not within reach", false},
		{"a wrapped problem", fmt.Errorf("reading: %w", problem.Missing("there is no user 3")), "NOT_FOUND", "there is no user 3", false},
		{"a fault", problem.Invalid(problem.Fault{Location: "a", Message: "is bad"}), "BAD_REQUEST", "a: is bad", false},
		{"away", problem.Away("PostgreSQL", errors.New("dial tcp 10.0.0.3:5432")), "UNAVAILABLE", "PostgreSQL is not available at the moment", true},
		{"a foreign error", errors.New("pq: relation users_secret does not exist"), "INTERNAL", "internal server error", true},
		{"a timeout", context.DeadlineExceeded, "UNAVAILABLE", "the request took too long or was cancelled", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			e := &endpoint{options: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
			// As the executor does it, which wraps every error with its path.
			ctx := graphql.WithResponseContext(t.Context(), e.present, e.recovered)
			graphql.AddError(ctx, c.err)
			shown := graphql.GetErrors(ctx)
			if len(shown) != 1 || shown[0].Message != c.message || codeOf(shown[0].Extensions) != c.code {
				t.Errorf("shown as %v, want %s %q", shown, c.code, c.message)
			}
			if got := log.Len() > 0; got != c.logged {
				t.Errorf("logged: %q", log.String())
			}
		})
	}
}

func TestFaceCarriesFaultsAndRetry(t *testing.T) {
	p := problem.Invalid(problem.Fault{Location: "a", Message: "is bad"}, problem.Fault{Location: "b", Message: "is worse"}).With("finer")
	p.RetryAfter = 1500 * time.Millisecond
	ext := face(t.Context(), p).Extensions
	faults, _ := ext["errors"].([]problem.Fault)
	if len(faults) != 2 || faults[1].Location != "b" || ext["reason"] != "finer" || ext["retryAfter"] != 2 {
		t.Errorf("extensions %v", ext)
	}
}

// The resolver has no database here, so that `me` panics.
func TestPanicIsInternal(t *testing.T) {
	d := newTestDoor(t, nil).as(owner(time.Minute))
	a := d.query(t, `{ me { email } }`, nil)
	if a.code() != "INTERNAL" || a.message() != "internal server error" {
		t.Errorf("a panic is shown as %.200s", a.Raw)
	}
	if strings.Contains(a.Raw, "goroutine") || strings.Contains(a.Raw, ".go:") {
		t.Error("the stack is shown to the client")
	}
	if !strings.Contains(d.log.String(), "panic") {
		t.Errorf("the panic is not in the log: %.200s", d.log)
	}
}

func TestArgumentsThatCannotBeRead(t *testing.T) {
	d := newTestDoor(t, nil).as(owner(time.Minute))
	for _, c := range []struct {
		name, document string
		variables      map[string]any
	}{
		{"an ID that is none", `{ customer(id: "nonsense!") { name } }`, nil},
		{"an ID variable that is none", `query ($id: ID) { customer(id: $id) { name } }`, map[string]any{"id": "\u0000"}},
		{"an Int out of range", `{ auditEvents(first: 99999999999999999999) { nodes { id } } }`, nil},
		{"an Int that is a text", `query ($n: Int) { auditEvents(first: $n) { nodes { id } } }`, map[string]any{"n": "ten"}},
		{"a cursor that is none", `{ auditEvents(after: "\u0000") { nodes { id } } }`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := d.query(t, c.document, c.variables)
			if a.code() != "BAD_REQUEST" {
				t.Errorf("answered %d %.300s", a.Status, a.Raw)
			}
		})
	}
}

// A hint names parts of the schema that the caller did not, also where introspection is off.
func TestNoHints(t *testing.T) {
	d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Introspection = false })
	for name, document := range map[string]string{
		"field":    `{ customr { name } }`,
		"argument": `{ customer(idd: 1) { name } }`,
		"type":     `fragment f on Custome { name } { customer { ...f } }`,
		"input":    `mutation { createRole(input: {nam: "a"}) { role { id } } }`,
	} {
		t.Run(name, func(t *testing.T) {
			if a := d.query(t, document, nil); a.code() != "BAD_REQUEST" || strings.Contains(a.Raw, "Did you mean") {
				t.Errorf("answered %s", a.Raw)
			}
		})
	}
}

func TestIntrospectionSwitch(t *testing.T) {
	for _, on := range []bool{true, false} {
		d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Introspection = on })
		a := d.query(t, `{ __schema { queryType { name } } }`, nil)
		if got := len(a.Errors) == 0; got != on {
			t.Errorf("introspection %t: %s", on, a.Raw)
		}
		if b := d.query(t, `{ __type(name: "Query") { name } }`, nil); !on && (a.code() != "FORBIDDEN" || b.code() != "FORBIDDEN" || d.log.String() != "") {
			t.Errorf("refused by %s, %s; log: %s", a.Raw, b.Raw, d.log)
		}
	}
}
