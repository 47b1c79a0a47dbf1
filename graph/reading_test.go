package graph

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"canopy/internal/access"
	"canopy/internal/intake"
)

// fill takes all turns to read that a context may have at the same time.
func fill(ctx context.Context, t *testing.T) {
	t.Helper()
	for {
		soon, cancel := context.WithTimeout(ctx, time.Second)
		leave, err := intake.Turn(soon, intake.MaxBody)
		cancel()
		if err != nil {
			return
		}
		t.Cleanup(leave)
	}
}

// TestLongRequestsAreReadByTurns: however many a branch has read, others' are read meanwhile, and so is all that is short.
func TestLongRequestsAreReadByTurns(t *testing.T) {
	d := newTestDoor(t, nil)
	padding := strings.Repeat("x", 4<<10)
	document, variables := `{"query": "{ __typename } #`+padding+`"}`, `{"query": "{ __typename }", "variables": {"x": "`+padding+`"}}`
	mine := access.WithPrincipal(t.Context(), &access.Principal{KeyID: 9, Lineage: access.Lineage{1, 7}})
	other := access.WithPrincipal(t.Context(), &access.Principal{KeyID: 8, Lineage: access.Lineage{1, 8}})
	fill(mine, t)
	ask := func(ctx context.Context, body string) string {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		a := d.do(t, post(ctx, strings.NewReader(body)))
		if a.Status == http.StatusOK && a.code() == "" {
			return "read"
		}
		return "waits"
	}
	for _, c := range []struct {
		name       string
		ctx        context.Context
		body, want string
	}{
		{"one more document of the branch", mine, document, "waits"},
		{"more variables of it", mine, variables, "waits"},
		{"a short one of it", mine, `{"query": "{ __typename }"}`, "read"},
		{"another branch's document", other, document, "read"},
		{"a stranger's variables", t.Context(), variables, "read"},
	} {
		if got := ask(c.ctx, c.body); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLargeVariablesCost: what is read wherever a variable stands costs as often.
func TestLargeVariablesCost(t *testing.T) {
	list := strings.TrimSuffix(strings.Repeat(`"1",`, 21_000), ",")
	d := newTestDoor(t, nil).as(owner(time.Minute))
	query := func(fields int, of string) string {
		var b strings.Builder
		for i := range fields {
			b.WriteString(" a" + strings.Repeat("a", i) + `: users(filter: {ids: $i}, first: 1) { nodes { id } }`)
		}
		return `{"query": "query($i: [ID!]) {` + b.String() + `}", "variables": {"i": [` + of + `]}}`
	}
	a := d.do(t, post(t.Context(), strings.NewReader(query(26, list))))
	if a.code() != "BAD_REQUEST" || !strings.HasPrefix(a.message(), "the request costs 52") {
		t.Errorf("%.300s", a.Raw)
	}
}
