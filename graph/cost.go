package graph

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/resolvers"
)

// maxCounted is where costs stop growing.
const maxCounted = 1 << 40

// shortList is what a list that is short by nature multiplies the objects below its rows by.
const shortList = 10

// countCost is what it costs to count a list: as many rows are looked at as there are, up to db.MaxCount, and nothing of
// them is read.
const countCost = 20

// Of a variable, freeValues are free, and so many as valuesCost of the others cost 1 wherever the variable stands: each field that takes it
// reads all of it.
const (
	freeValues = 1000
	valuesCost = 10
)

// costs bounds what a request, and a caller in a minute, may ask for. The cost is known before
// anything is read: each object counts 1, and a connection multiplies what is below it by the rows
// that it may give, and costs more where it is counted. A list that is short by nature counts 1, and what its rows lead to tenfold; one that takes a number of rows, as often as they are.
// A large variable costs more wherever it stands.
type costs struct {
	max, perMinute int
	rates          *resolvers.Rates
}

var (
	_ graphql.HandlerExtension        = (*costs)(nil)
	_ graphql.OperationContextMutator = (*costs)(nil)
	_ graphql.OperationInterceptor    = (*costs)(nil)
	_ graphql.ResponseInterceptor     = (*costs)(nil)
)

const costExtension = "cost"

// CostReport is what extensions.cost says.
type CostReport struct {
	Requested int `json:"requested"`
	// Limit is that of one request, PerMinute that of the caller; 0 is none.
	Limit     int `json:"limit"`
	PerMinute int `json:"perMinute"`
	// Remaining is what is left of the caller's minute.
	Remaining int `json:"remaining"`
}

func (*costs) ExtensionName() string                   { return "Costs" }
func (*costs) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext refuses an operation that costs too much.
func (c *costs) MutateOperationContext(ctx context.Context, oc *graphql.OperationContext) *gqlerror.Error {
	w := newCostWalk(oc.Variables)
	report := &CostReport{Requested: w.set(oc.Operation.SelectionSet), Limit: c.max, PerMinute: c.perMinute}
	oc.Stats.SetExtension(costExtension, report)
	if c.max > 0 && report.Requested > c.max {
		return face(ctx, problem.Bad("the request costs %d, more than the %d that one request may: ask for fewer rows", report.Requested, c.max).With("cost_limit"))
	}
	return c.spend(ctx, report)
}

// spend counts what an operation costs against the caller's minute.
func (c *costs) spend(ctx context.Context, report *CostReport) *gqlerror.Error {
	p := access.PrincipalOf(ctx)
	if p == nil || hop.Counted(ctx) {
		return nil
	}
	left, err := c.rates.Spend(ctx, p, quota.CostPerMinute, report.Requested, c.perMinute)
	report.Remaining = left
	if err != nil {
		refused := problem.From(err)
		refused.Detail = "the request costs " + strconv.Itoa(report.Requested) + ": " + refused.Detail
		return face(ctx, refused)
	}
	return nil
}

// InterceptOperation has each event of a subscription but the first, which was paid for when it began, cost as much
// again: it is as much work. A subscription that its caller can't pay for ends.
func (c *costs) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	events := next(ctx)
	oc := graphql.GetOperationContext(ctx)
	report, counted := oc.Stats.GetExtension(costExtension).(*CostReport)
	if !counted || oc.Operation.Operation != ast.Subscription {
		return events
	}
	return c.paid(report, events)
}

// paid gives the events of a subscription for as long as they are paid for.
func (c *costs) paid(report *CostReport, events graphql.ResponseHandler) graphql.ResponseHandler {
	begun, over := false, false
	return func(ctx context.Context) *graphql.Response {
		if over {
			return nil
		}
		event := events(ctx)
		if event != nil && begun {
			if refused := c.spend(ctx, report); refused != nil {
				over = true
				return &graphql.Response{Errors: gqlerror.List{refused}}
			}
		}
		begun = true
		return event
	}
}

// InterceptResponse tells what the request cost.
func (c *costs) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if graphql.HasOperationContext(ctx) {
		if report := graphql.GetOperationContext(ctx).Stats.GetExtension(costExtension); report != nil {
			graphql.RegisterExtension(ctx, costExtension, report)
		}
	}
	return next(ctx)
}

// costWalk adds up a validated document, each fragment once.
type costWalk struct {
	variables map[string]any
	// sizes are what the variables that were met cost.
	sizes     map[string]int
	fragments map[string]int
	// counting tells which fragments have their connection counted.
	counting map[string]bool
}

func newCostWalk(variables map[string]any) *costWalk {
	return &costWalk{variables: variables, sizes: map[string]int{}, fragments: map[string]int{}, counting: map[string]bool{}}
}

func (w *costWalk) set(set ast.SelectionSet) (total int) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			total += w.field(s)
		case *ast.InlineFragment:
			total += w.set(s.SelectionSet)
		case *ast.FragmentSpread:
			cost, known := w.fragments[s.Name]
			if !known {
				cost = w.set(s.Definition.SelectionSet)
				w.fragments[s.Name] = cost
			}
			total += cost
		}
		total = min(total, maxCounted)
	}
	return total
}

// field: a scalar is free, an object costs 1 and what is asked of it, be it of the schema itself. A connection's own edges and
// nodes are the same rows, so its parts count once each for every row.
func (w *costWalk) field(f *ast.Field) int {
	return min(w.given(f.Arguments)+w.object(f), maxCounted)
}

// given is what the arguments of a field cost.
func (w *costWalk) given(list ast.ArgumentList) (total int) {
	for _, a := range list {
		total += w.value(a.Value)
	}
	return total
}

func (w *costWalk) value(v *ast.Value) (total int) {
	if v.Kind == ast.Variable {
		cost, known := w.sizes[v.Raw]
		if !known {
			cost = max(0, valuesIn(w.variables[v.Raw])-freeValues) / valuesCost
			w.sizes[v.Raw] = cost
		}
		return cost
	}
	for _, c := range v.Children {
		total += w.value(c.Value)
	}
	return total
}

// valuesIn is how many values a variable has. A long text counts as several.
func valuesIn(v any) (n int) {
	const text = 64
	switch v := v.(type) {
	case string:
		return 1 + len(v)/text
	case []any:
		for _, item := range v {
			n += valuesIn(item)
		}
	case map[string]any:
		for name, item := range v {
			n += 1 + len(name)/text + valuesIn(item)
		}
	}
	return n + 1
}

// object is what a field with objects costs.
func (w *costWalk) object(f *ast.Field) int {
	if len(f.SelectionSet) == 0 {
		return 0
	}
	below := w.set(f.SelectionSet)
	switch {
	case f.Name == "edges" || f.Name == "pageInfo":
		return below
	case f.Definition != nil && strings.HasSuffix(f.Definition.Type.Name(), "Connection"):
		rows := w.rows(f)
		return min(1+rows*max(below, 1)+w.count(f.SelectionSet), maxCounted)
	case f.Definition != nil && f.Definition.Type.Elem != nil && f.Name != "nodes":
		if f.Definition.Arguments.ForName("first") != nil {
			return min(1+w.rows(f)*max(below, 1), maxCounted)
		}
		return min(1+shortList*below, maxCounted)
	}
	return min(1+below, maxCounted)
}

// count is what it costs to count a connection, if that is asked for.
func (w *costWalk) count(set ast.SelectionSet) int {
	if w.counts(set) {
		return countCost
	}
	return 0
}

// counts tells whether a connection's own fields have it counted.
func (w *costWalk) counts(set ast.SelectionSet) bool {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Name == "totalCount" || s.Name == "totalCountCapped" {
				return true
			}
		case *ast.InlineFragment:
			if w.counts(s.SelectionSet) {
				return true
			}
		case *ast.FragmentSpread:
			found, known := w.counting[s.Name]
			if !known {
				found = w.counts(s.Definition.SelectionSet)
				w.counting[s.Name] = found
			}
			if found {
				return true
			}
		}
	}
	return false
}

// rows is how many rows a connection may give.
func (w *costWalk) rows(f *ast.Field) int {
	args := f.ArgumentMap(w.variables)
	first := args["first"]
	if first == nil {
		first = args["last"]
	}
	if first == nil {
		return paging.DefaultFirst
	}
	n := int64(paging.MaxFirst)
	switch v := first.(type) {
	case int64:
		n = v
	case int:
		n = int64(v)
	case json.Number:
		if parsed, err := v.Int64(); err == nil {
			n = parsed
		}
	}
	// What is out of bounds is refused by the field itself.
	return int(min(max(n, 0), paging.MaxFirst))
}
