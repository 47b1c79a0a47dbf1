package isolation

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lib/pq"

	"canopy/e2e/platform"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
	"canopy/rest"
)

// asDeputy has a role of its own in every application, with the rights that the test sets. Each is an
// owner's role, so that only rights stand in the way.
const asDeputy who = "deputy of the owner"

// asRootDeputy is one of the root company: for what its callers alone are let do.
const asRootDeputy who = "deputy of the root owner"

type deputy struct {
	*matrix
	as    who
	roles map[access.App]int64
	// passed are the rules that let the deputy in, and refused those that kept it out.
	passed, refused map[*rule.Rule]bool
}

func newDeputy(t *testing.T, m *matrix, as who, email string, company int64) *deputy {
	w := m.world
	d := &deputy{m, as, map[access.App]int64{}, map[*rule.Rule]bool{}, map[*rule.Rule]bool{}}
	made, err := w.m.CreateUser(w.ctx, resolvers.CreateUserInput{CustomerID: platform.ID(company), Email: email})
	w.ok(err)
	user := made.User.ID
	w.SQL(`UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE id = $2`, platform.DemoAdmin, user)
	for _, app := range access.Apps() {
		var role int64
		w.Look(&role, `INSERT INTO roles (application_id, customer_id, name, is_owner)
			SELECT id, $1, 'Deputy', true FROM applications WHERE code = $2 RETURNING id`, company, app.String())
		account := globalid.ID{Int: w.Account(company, app.String())}
		_, err := w.m.CreatePermission(w.ctx, resolvers.CreatePermissionInput{AccountID: account, RoleID: globalid.ID{Int: role}, UserID: platform.ID(user)})
		w.ok(err)
		d.roles[app] = role
	}
	// A person's login serves every application at once.
	token := w.OpenSession(t, email, w.Demo.AdminPassword, "customerId", company).Token
	w.tokens[as], w.desk[as], w.homes[as] = token, token, company
	return d
}

// may sets the rights.
func (d *deputy) may(rights map[access.App]access.Features) {
	for app, role := range d.roles {
		d.SQL(`UPDATE roles SET features = $2 WHERE id = $1`, role, pq.StringArray(rights[app].Names()))
	}
}

// exactly are the rights that rules ask for, each in one of its applications: the nth, as far as there
// are so many.
func exactly(rules []*rule.Rule, n int) map[access.App]access.Features {
	rights := map[access.App]access.Features{}
	for _, r := range rules {
		if r.Right != 0 {
			rights[r.Apps[min(n, len(r.Apps)-1)]] |= r.Right
		}
	}
	return rights
}

// allBut are all rights there are, without that of a rule where it counts.
func allBut(r *rule.Rule) map[access.App]access.Features {
	rights := map[access.App]access.Features{}
	for _, app := range access.Apps() {
		if rights[app] = access.AllFeatures; slices.Contains(r.Apps, app) {
			rights[app] &^= r.Right
		}
	}
	return rights
}

// request is what the deputy is asked to try.
type request struct {
	rules  []*rule.Rule
	send   func(*ask) func() platform.Answer
	writes bool
	gives  bool
	// want is what an owner gets, or the deputy where that differs.
	want class
}

// try makes a request from both sides of each of its rules.
func (d *deputy) try(t *testing.T, q request) {
	d.T = t
	for n := range access.Apps() {
		rights := exactly(q.rules, n)
		if n > 0 && maps.Equal(rights, exactly(q.rules, n-1)) {
			break
		}
		d.passes(t, q, rights)
	}
	for _, r := range q.rules {
		if r.Right != 0 {
			d.lacks(t, q, r)
		}
	}
}

func (d *deputy) passes(t *testing.T, q request, rights map[access.App]access.Features) {
	d.may(rights)
	got := q.send(&ask{world: d.world, as: d.as})()
	switch {
	case q.gives:
		if got.Status != http.StatusForbidden && classOf(got) != gets403 || !strings.Contains(string(got.Body), `beyond_own_rights`) {
			t.Errorf("with nothing to give, and the rights %v: %d %.300s", rights, got.Status, got.Body)
		}
	case classOf(got) != q.want:
		t.Errorf("with exactly the rights %v: got %s, want %s: %d %.300s", rights, classOf(got), q.want, got.Status, got.Body)
	case q.want == gets403:
		return // for a reason that is no right
	}
	for _, r := range q.rules {
		d.passed[r] = true
	}
}

func (d *deputy) lacks(t *testing.T, q request, r *rule.Rule) {
	d.may(allBut(r))
	ready := q.send(&ask{world: d.world, as: d.as})
	before := d.state(t)
	got := ready()
	if right := r.Right.Names()[0]; classOf(got) != gets403 || !strings.Contains(string(got.Body), right) {
		t.Errorf("with all rights but %s: %d %.300s", right, got.Status, got.Body)
	}
	if q.writes && d.state(t) != before {
		t.Errorf("%s: the refused request has written something", r.Field)
	}
	d.refused[r] = true
}

// TestRulesFromBothSides makes the request of every row of the matrices as somebody with exactly the rights
// that the declared rules ask for, who is let in, and as somebody who lacks one of them alone, who
// is told which.
func TestRulesFromBothSides(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	m := newMatrix(t, y.world)
	d := newDeputy(t, m, asDeputy, "rita"+targetMail, y.target)
	chief := newDeputy(t, m, asRootDeputy, "rita@northwind.example", y.homes[asRoot])
	chief.passed, chief.refused = d.passed, d.refused
	_, registry := rest.New(y.App.Resolver, rest.Options{})
	endpoints := map[string]rest.Endpoint{}
	for _, e := range rest.Endpoints(registry) {
		endpoints[e.OperationID] = e
	}
	for _, row := range slices.Concat(restRows(), y.restRows()) {
		if e := endpoints[plain(row.op)]; !row.public {
			rules := row.rules(e)
			want := y.answers(row.want, rules, row.assistant).deputys()
			t.Run(row.op, func(t *testing.T) {
				d.try(t, request{rules, row.sender(e), e.Method != http.MethodGet, row.gives, want})
			})
		}
	}
	for _, row := range slices.Concat(graphRows(), y.graphRows()) {
		rules := row.rules()
		answers := y.answers(row.want, rules, row.assistant)
		by, want := d, answers.deputys()
		if row.ofRoot {
			by, want = chief, answers.present[asRoot]
		}
		t.Run(row.fields, func(t *testing.T) { by.try(t, request{rules, row.sender(), row.writes(), row.gives, want}) })
	}
	d.subscribes(t, y)
	for _, r := range rule.All() {
		switch {
		case !d.passed[r]:
			t.Errorf("%s: nobody was let in", r.Field)
		case r.Right != 0 && !d.refused[r]:
			t.Errorf("%s: nobody was refused", r.Field)
		}
	}
	y.quiet(t)
}

// subscribes opens every subscription from both sides.
func (d *deputy) subscribes(t *testing.T, y *yard) {
	desk := &ask{world: y.world, as: asDeputy}
	inContext := desk.freshContext()
	for _, s := range append(y.subscriptions(),
		subscription{name: "auditEvent", query: `subscription { auditEvent { action } }`, tell: func() { subscriptionRows()[0].change(y.world, y.target) }},
		subscription{name: "meUpdated", query: `subscription { meUpdated { email } }`, tell: func() {}},
		subscription{name: "askContext", query: `subscription { askContext(contextId: ` + platform.Decimal(inContext) + `, prompt: "a word") { text } }`, tell: func() {}},
		subscription{name: "documentUpdated", query: `subscription { documentUpdated(contextId: ` + platform.Decimal(inContext) + `) { status } }`, tell: func() {
			y.Upload(y.desk[asOwner], inContext, y.unique()+".txt", []byte(y.unique()))
		}}) {
		t.Run("subscription/"+s.name, func(t *testing.T) {
			y.T = t
			for _, r := range rulesOf(s.query) {
				d.may(exactly([]*rule.Rule{r}, 0))
				y.hears(t, s, asDeputy)
				d.passed[r] = true
				if r.Right == 0 {
					continue
				}
				d.may(allBut(r))
				y.isRefused(t, s.query, y.tokens[asDeputy], r.Right.Names()[0])
				d.refused[r] = true
			}
		})
	}
}
