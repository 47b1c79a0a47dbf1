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
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/access"
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

// faulty are operations with something wrong in their arguments, and the right that each needs.
var faulty = []struct {
	name, document string
	variables      map[string]any
	right          access.Features
}{
	{"an ID that is none", `{ customer(id: "nonsense!") { name } }`, nil, access.CompanyRead},
	{"an ID variable that is none", `query ($id: ID) { customer(id: $id) { name } }`, map[string]any{"id": "\u0000"}, access.CompanyRead},
	{"an Int out of range", `{ auditEvents(first: 99999999999999999999) { nodes { id } } }`, nil, access.AuditRead},
	{"an Int that is a text", `query ($n: Int) { auditEvents(first: $n) { nodes { id } } }`, map[string]any{"n": "ten"}, access.AuditRead},
	{"a literal of another type", `{ auditEvents(first: "ten") { nodes { id } } }`, nil, access.AuditRead},
	{"an unknown argument", `{ auditEvents(latest: 1) { nodes { id } } }`, nil, access.AuditRead},
	{"a variable that is missing", `query ($id: ID!) { user(id: $id) { name } }`, nil, access.UserRead},
	{"a member that is missing", `mutation { createRole(input: {name: "a"}) { role { id } } }`, nil, access.PermissionWrite},
	{"a member of another type", `mutation ($in: CreateRoleInput!) { createRole(input: $in) { role { id } } }`, map[string]any{"in": map[string]any{"applicationId": 1, "name": 7, "features": "x"}}, access.PermissionWrite},
	{"by a fragment", `{ ...f } fragment f on Query { ... { auditEvents(first: "ten") { nodes { id } } } }`, nil, access.AuditRead},
	{"beside what is right", `{ me { email } auditEvents(first: "ten") { nodes { id } } }`, nil, access.AuditRead},
	{"in a subscription", `subscription ($x: Int!) { auditEvent { id } }`, nil, access.AuditRead},
}

func TestArgumentsThatCannotBeRead(t *testing.T) {
	d := newTestDoor(t, nil).as(owner(time.Minute))
	for _, c := range faulty {
		t.Run(c.name, func(t *testing.T) {
			a := d.query(t, c.document, c.variables)
			if a.code() != "BAD_REQUEST" {
				t.Errorf("answered %d %.300s", a.Status, a.Raw)
			}
		})
	}
	if a := d.query(t, `{ auditEvents(after: "\u0000") { nodes { id } } }`, nil); a.code() != "BAD_REQUEST" {
		t.Errorf("a cursor that is none: %d %.300s", a.Status, a.Raw)
	}
}

// TestTheBarredHearNoFaults: who may not use what an operation begins with hears just that, by every
// transport, and so does who comes without a token.
func TestTheBarredHearNoFaults(t *testing.T) {
	d := newTestDoor(t, nil)
	for _, c := range faulty {
		t.Run(c.name, func(t *testing.T) {
			refused := func(t *testing.T, d *testDoor, code, message string) {
				t.Helper()
				a := d.query(t, c.document, c.variables)
				if a.code() != code || a.message() != message || strings.Contains(a.Raw, "BAD_REQUEST") {
					t.Errorf("answered %s, want %s %q", a.Raw, code, message)
				}
				if _, events := d.events(t, post(t.Context(), strings.NewReader(toText(map[string]any{"query": c.document, "variables": c.variables})))); len(events) == 0 ||
					!strings.Contains(strings.Join(events, ""), code) || strings.Contains(strings.Join(events, ""), "BAD_REQUEST") {
					t.Errorf("streamed %q", events)
				}
			}
			lacking := owner(time.Minute)
			lacking.Grants[access.Tenant].Features &^= c.right
			refused(t, d.as(lacking), "FORBIDDEN", `the API key, or the role "Owner" of its user, lacks the right `+c.right.Names()[0])
			refused(t, d, "UNAUTHENTICATED", "a bearer token is needed")
		})
	}
}

// TestTheBarredHearNoFaultsOfEdges: an edge's arguments are read once its object is there.
func TestTheBarredHearNoFaultsOfEdges(t *testing.T) {
	lacking := owner(time.Minute)
	lacking.Grants[access.Tenant].Features &^= access.UserRead
	for may, who := range map[bool]*access.Principal{true: owner(time.Minute), false: lacking} {
		ctx := graphql.WithResponseContext(access.WithPrincipal(t.Context(), who), (&endpoint{}).present, nil)
		field := &ast.Field{Name: "users", Definition: &ast.FieldDefinition{Name: "users", Arguments: ast.ArgumentDefinitionList{{Name: "first"}}}}
		ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Customer", Field: graphql.CollectedField{Field: field}})
		graphql.AddError(ctx, errors.New("first is no Int"))
		got := graphql.GetErrors(ctx)[0]
		if told := codeOf(got.Extensions) == "BAD_REQUEST"; told != may || !may && !strings.Contains(got.Message, "user.read") {
			t.Errorf("who may: %t, hears %v", may, got)
		}
	}
}

// TestHints: a hint names parts of the schema that the caller did not, so there are hints where introspection shows them, and
// none where it is off.
func TestHints(t *testing.T) {
	for name, c := range map[string]struct {
		document  string
		variables map[string]any
		meant     string
	}{
		"field":                   {`{ customr { name } }`, nil, `"customer"`},
		"argument":                {`{ customer(idd: 1) { name } }`, nil, `"id"`},
		"type":                    {`fragment f on Custome { name } { customer { ...f } }`, nil, `"Customer"`},
		"type of a part":          {`{ customer { ... on Custmer { name } } }`, nil, `"Customer"`},
		"type of a variable":      {`query($by: CustomerOrde!) { customer { customers(orderBy: [$by]) { totalCount } } }`, nil, `"CustomerOrder"`},
		"directive":               {`{ customer { name @skp(if: true) } }`, nil, `"@skip"`},
		"input":                   {`mutation { createRole(input: {nam: "a"}) { role { id } } }`, nil, `"name"`},
		"field of a variable":     {`query($by: [CustomerOrder!]) { customers(orderBy: $by) { totalCount } }`, map[string]any{"by": []any{map[string]any{"feld": "NAME"}}}, `"field"`},
		"value of a variable":     {`query($by: [CustomerOrder!]) { customers(orderBy: $by) { totalCount } }`, map[string]any{"by": []any{map[string]any{"field": "NAM"}}}, `"NAME"`},
		"value, as the whole one": {`query($by: CustomerOrderField!) { customers(orderBy: [{field: $by}]) { totalCount } }`, map[string]any{"by": "NAM"}, `"NAME"`},
	} {
		for _, on := range []bool{true, false} {
			d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Introspection = on }).as(owner(time.Minute))
			a := d.query(t, c.document, c.variables)
			if _, told, _ := strings.Cut(a.Raw, "Did you mean "); a.code() != "BAD_REQUEST" || strings.Contains(strings.ReplaceAll(told, `\"`, `"`), c.meant) != on || !on && told != "" {
				t.Errorf("%s, introspection %t: answered %s", name, on, a.Raw)
			}
		}
	}
	d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.Introspection = true }).as(owner(time.Minute))
	for _, far := range []string{`{ customer { ... on Xyz123456789 { name } } }`, `{ customer { name @quiteAnother } }`} {
		if a := d.query(t, far, nil); a.code() != "BAD_REQUEST" || strings.Contains(a.Raw, "Did you mean") {
			t.Errorf("answered %s", a.Raw)
		}
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
