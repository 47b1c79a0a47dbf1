package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"canopy/graph/generated"
	"canopy/internal/limit"
	"canopy/resolvers"
)

func costOf(t testing.TB, document string, variables map[string]any) int {
	t.Helper()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	doc, errs := gqlparser.LoadQueryWithRules(schema, document, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	values, err := validator.VariableValues(schema, doc.Operations[0], variables)
	if err != nil {
		t.Fatal(err)
	}
	w := newCostWalk(values)
	return w.set(doc.Operations[0].SelectionSet)
}

func TestCost(t *testing.T) {
	const byVariable = `query ($n: Int = 3) { customer { children(first: $n) { nodes { name } } } }`
	for _, c := range []struct {
		name, document string
		variables      map[string]any
		want           int
	}{
		{"scalars are free", `{ __typename }`, nil, 0},
		{"introspection", `{ __schema { types { fields { name } } } }`, nil, 1 + 1 + 10*1},
		{"an object", `{ customer { name level } }`, nil, 1},
		{"objects in objects", `{ customer { region { name } parent { customer { name } } } }`, nil, 4},
		{"rows", `{ customer { children(first: 10) { nodes { name } } } }`, nil, 1 + 1 + 10},
		{"rows with their cursors", `{ customer { children(first: 10) { pageInfo { hasNextPage } edges { cursor node { name } } } } }`, nil, 1 + 1 + 10},
		{"rows without first", `{ customer { children { nodes { name } } } }`, nil, 1 + 1 + 50},
		{"first is null", `{ customer { children(first: null) { nodes { name } } } }`, nil, 1 + 1 + 50},
		{"more than a page has", `{ customer { children(first: 5000) { nodes { name } } } }`, nil, 1 + 1 + 200},
		{"less than nothing", `{ customer { children(first: -5) { nodes { name } } } }`, nil, 1 + 1},
		{"a variable", byVariable, map[string]any{"n": 7}, 1 + 1 + 7},
		{"a variable's default", byVariable, nil, 1 + 1 + 3},
		{"a variable that is null", byVariable, map[string]any{"n": nil}, 1 + 1 + 50},
		{"objects of rows", `{ customer { children(first: 10) { nodes { region { name } } } } }`, nil, 1 + 1 + 10*2},
		{"rows of rows", `{ customer { children(first: 10) { nodes { users(first: 5) { nodes { name } } } } } }`, nil, 1 + 1 + 10*(1+1+5)},
		{"a short list", `{ customer { ancestors { name } } }`, nil, 1 + 1},
		{"objects of a short list", `{ customer { ancestors { customer { region { name } } } } }`, nil, 1 + 1 + 10*2},
		{"a fragment twice", `{ a: customer { ...f } b: customer { ...f } } fragment f on Customer { region { name } }`, nil, 4},
		{"a fragment of a connection", `{ customer { children(first: 4) { ...f } } } fragment f on CustomerConnection { nodes { name } }`, nil, 1 + 1 + 4},
		{"a count", `{ customer { children(first: 4) { totalCount totalCountCapped nodes { name } } } }`, nil, 1 + 1 + 4 + 20},
		{"a count alone", `{ customer { children(first: 4) { ...f } } } fragment f on CustomerConnection { ... { totalCountCapped } }`, nil, 1 + 1 + 4 + 20},
		{"counts of rows", `{ customer { children(first: 4) { nodes { users(first: 2) { totalCount } } } } }`, nil, 1 + 1 + 4*(1+1+2+20)},
		{"an inline fragment", `{ node(id: "x") { ... on Customer { region { name } } } }`, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := costOf(t, c.document, c.variables); got != c.want {
				t.Errorf("cost %d, want %d", got, c.want)
			}
		})
	}
}

func TestCostSaturates(t *testing.T) {
	deep := `{ customer { ` + strings.Repeat("children(first: 200) { nodes { ", 30) + "name" + strings.Repeat(" } }", 30) + ` } }`
	if got := costOf(t, deep, nil); got < 1<<30 || got > maxCounted {
		t.Errorf("200³⁰ rows cost %d", got)
	}
	start := time.Now()
	if got := costOf(t, `{ customer { ...f0 } } `+wide(40), nil); got < 1<<30 || got > maxCounted {
		t.Errorf("2⁴⁰ objects cost %d", got)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// wide doubles the objects with each fragment, through another edge so that validation stays quick.
func wide(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "fragment f%d on Customer { parent { customer { ...f%d } } ancestors { customer { ...f%d } } } ", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "fragment f%d on Customer { region { name } }", n)
	return b.String()
}

// refusedRows costs 1 + 1 + 200 and asks for what no row is read for: the cursor is not one.
const refusedRows = `{ customer(id: "no id") { children(first: 200) { nodes { name } } } }`

func TestCostLimit(t *testing.T) {
	d := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.MaxCost = 202 }).as(owner(time.Minute))
	a := d.query(t, refusedRows, nil)
	if c := a.Extensions.Cost; c == nil || c.Requested != 202 || c.Limit != 202 {
		t.Errorf("at the limit: %s", a.Raw)
	}
	a = d.query(t, strings.Replace(refusedRows, "name", "region { name }", 1), nil)
	if a.code() != "BAD_REQUEST" || !strings.Contains(a.message(), "402") || !strings.Contains(a.message(), "202") {
		t.Errorf("over the limit: %s", a.Raw)
	}
	off := newTestDoor(t, func(_ *resolvers.Resolver, o *Options) { o.MaxCost = 0 }).as(owner(time.Minute))
	if a := off.query(t, refusedRows, nil); strings.Contains(a.message(), "cost") {
		t.Errorf("without a limit: %s", a.Raw)
	}
}

func TestCostPerMinute(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	d := newTestDoor(t, func(r *resolvers.Resolver, o *Options) {
		r.Rates, o.Redis, o.CostPerMinute = &resolvers.Rates{Limiter: limit.New(client, time.Minute)}, client, 500
	})
	// Three tries within one minute of the clock: the budget is counted by it.
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 10*time.Second {
		time.Sleep(left)
	}
	mine := d.as(owner(time.Minute))
	for _, remaining := range []int{298, 96} {
		if a := mine.query(t, refusedRows, nil); a.Extensions.Cost == nil || a.Extensions.Cost.Remaining != remaining || a.Extensions.Cost.PerMinute != 500 {
			t.Fatalf("want %d left: %s", remaining, a.Raw)
		}
	}
	a := mine.query(t, refusedRows, nil)
	if a.Status != 429 || a.code() != "RATE_LIMITED" || a.Header.Get("Retry-After") == "" {
		t.Errorf("past the budget: %d %s", a.Status, a.Raw)
	}
	person := owner(time.Minute)
	person.KeyID = 0
	if a := d.as(person).query(t, refusedRows, nil); a.Status != 200 {
		t.Errorf("a login has a budget of its own: %d %s", a.Status, a.Raw)
	}
	server.Close()
	if a := mine.query(t, refusedRows, nil); a.Status != 200 {
		t.Errorf("without Redis the budget is open: %d %s", a.Status, a.Raw)
	}
}

// TestEventsCost: each event of a subscription costs what it asks for, the first by having begun; one that its caller can't
// pay for is the end.
func TestEventsCost(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	// Within one minute of the clock: the budget is counted by it.
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 10*time.Second {
		time.Sleep(left)
	}
	c := &costs{perMinute: 500, rates: &resolvers.Rates{Limiter: limit.New(client, time.Minute)}}
	ctx, executed := costing(t.Context(), 7, ast.Subscription, 200), 0
	events := c.InterceptOperation(ctx, func(context.Context) graphql.ResponseHandler {
		return func(context.Context) *graphql.Response {
			executed++
			return &graphql.Response{Data: []byte("{}")}
		}
	})
	for n, want := range []string{"", "", "", "RATE_LIMITED"} {
		resp := events(ctx)
		if got := (&answer{Errors: resp.Errors}).code(); got != want || want == "" && len(resp.Data) == 0 {
			t.Errorf("event %d: %q, %s", n, got, resp.Data)
		}
	}
	if resp := events(ctx); resp != nil || executed != 4 {
		t.Errorf("after the end: %+v, %d were executed", resp, executed)
	}
}

// TestIntrospectionIsBounded: tools can ask for the whole schema, in turns with others, and nobody for it many times at once.
func TestIntrospectionIsBounded(t *testing.T) {
	if got := costOf(t, introspection.Query, nil); got <= heavyCost || got > 50_000/2 {
		t.Errorf("the query of tools costs %d", got)
	}
	many := `{ __schema { ` + aliases(50, `types { fields { name args { name type { name kind } } type { name kind } } }`) + ` } }`
	if got := costOf(t, many, nil); got <= 50_000 {
		t.Errorf("the types 50 times cost %d", got)
	}
}

func aliases(n int, field string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d: %s ", i, field)
	}
	return b.String()
}

// TestCostsAreWrittenAsTheyAre: what is written by hand of what a request cost is what the standard library writes.
func TestCostsAreWrittenAsTheyAre(t *testing.T) {
	for _, all := range []map[string]any{
		{costExtension: &CostReport{Requested: 2, Limit: 1000, PerMinute: 50_000, Remaining: -3}},
		{costExtension: &CostReport{}},
		{costExtension: &CostReport{Requested: 1}, "other": true},
		{"other": "x"},
	} {
		want, err := json.Marshal(all)
		if got, fault := extensions(all); err != nil || fault != nil || string(got) != string(want) {
			t.Errorf("%s, %v, want %s, %v", got, fault, want, err)
		}
	}
}
