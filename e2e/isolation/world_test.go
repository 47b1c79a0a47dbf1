package isolation

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	_ "github.com/lib/pq"

	"canopy/e2e/platform"
	"canopy/internal/access"
	"canopy/internal/config"
	"canopy/internal/globalid"
	"canopy/internal/token"
	"canopy/resolvers"
)

// What nobody outside the target company may read.
const (
	targetName = "Coral Haven" // what Coral Ports is renamed to: its accounts keep the old name
	targetMail = "@coral-ports.example"
	secretMark = "Sealed-4711"
	accessMark = "2001-02-03T04:05:06" // when the shared user was last seen in the target company
)

// world is a platform with one company as the target of every operation, and callers all around it.
type world struct {
	*platform.Platform
	// data is where the target company's data are, and d makes them there.
	data   *platform.Platform
	d      resolvers.Mutation
	ctx    context.Context // of the root company's owner
	m      resolvers.Mutation
	q      resolvers.Query
	tokens map[who]string
	desk   map[who]string  // tokens for the assistant
	owner  context.Context // of the target company's owner, for the assistant
	homes  map[who]int64
	target int64
	branch int64 // a company right below the target, where nobody is at home
	shared int64 // a user who is in the target company and in every caller's own
	serial int
	// otherApp is the application that the tokens of asOtherApp are for, unless the assistant is asked.
	otherApp access.App
	// known waits until all cells know what the home has; nil where there is the home alone.
	known func()
	// inTurn is how many callers ask each row of the matrix, in turn; all of them where it is 0. What every caller gets is asked of one platform:
	// the others are to answer as that one does.
	inTurn int
	// copies: the vectors of what is searched are copied.
	copies bool
}

func newWorld(t *testing.T, change ...func(*config.Config)) *world {
	s := platform.Start(t, append(change, platform.NewDNS(t).Asked)...)
	return worldOf(t, s, s)
}

// anotherWorld is a world on a platform that is to answer as the one of newWorld does: some callers ask each row, in turn.
func anotherWorld(t *testing.T, change ...func(*config.Config)) *world {
	w := newWorld(t, change...)
	w.inTurn = 4
	return w
}

// worldOf puts the company and the callers into a platform. data is where the company's data are.
func worldOf(t *testing.T, s, data *platform.Platform) *world {
	w := &world{Platform: s, data: data, d: resolvers.Mutation{Resolver: data.App.Resolver}, homes: map[who]int64{}}
	w.m, w.q = resolvers.Mutation{Resolver: s.App.Resolver}, resolvers.Query{Resolver: s.App.Resolver}
	var err error
	if w.ctx, err = s.App.Resolver.Admit(t.Context(), "Bearer "+s.Root()); err != nil {
		t.Fatal(err)
	}
	w.target = s.Customer("Coral Ports")
	w.people()
	w.marks()
	w.desk, w.owner = w.serve("assistant")
	w.otherApp = access.Assistant
	w.desk[asOtherApp], w.tokens[asOtherApp] = w.tokens[asOwner], w.desk[asOwner]
	return w
}

// callers are those who ask, by their own company and address.
var callers = map[who]struct{ customer, email string }{
	asRoot:       {"Northwind Group", platform.DemoAdmin},
	asAncestor:   {"Coral Logistics", "wei@coral.example"},
	asOwner:      {"Coral Ports", "minh" + targetMail},
	asViewer:     {"Coral Ports", "vera" + targetMail},
	asDescendant: {"Harbour Robotics", "kenji@harbour.example"},
	asSibling:    {"Coral Air", "siti@coral-air.example"},
	asStranger:   {"Alpine Energy", "greta@alpine.example"},
	asDisabled:   {"Coral Ports", "dora" + targetMail},
	asLeftBehind: {"Coral Yards", "yuna@coral-yards.example"},
}

// people makes the callers that the demo data lack, and a token for each.
func (w *world) people() {
	w.moveThrough(callers[asLeftBehind].customer, callers[asLeftBehind].email)
	for as, c := range callers {
		w.homes[as] = w.Customer(c.customer)
	}
	for _, as := range []who{asOtherApp, asExpired, asNobody, asRemoved, asLeft} {
		w.homes[as] = w.target
	}
	w.member("vera" + targetMail)
	w.member("dora" + targetMail)
	var owner context.Context
	w.tokens, owner = w.serve("tenant")
	w.shareUser()
	w.actBelow(owner)
}

// serve gives every caller a token for an application, and the target company's owner a context of
// resolvers for it.
func (w *world) serve(app string) (tokens map[who]string, owner context.Context) {
	w.T.Helper()
	w.grant(w.target, w.UserID("vera"+targetMail), app, resolvers.ViewerRole)
	dora := w.grant(w.target, w.UserID("dora"+targetMail), app, resolvers.OwnerRole)
	tokens = map[who]string{}
	for as, c := range callers {
		tokens[as] = w.TokenOf(w.homes[as], c.email, app)
	}
	tokens[asExpired] = w.stale(tokens[asOwner])
	tokens[asRemoved], tokens[asLeft] = w.gone(app)
	_, err := w.m.TogglePermission(w.ctx, resolvers.TogglePermissionInput{ID: globalid.ID{Int: dora}})
	w.ok(err)
	place := w.data
	if app == "tenant" {
		place = w.Platform
	}
	owner, err = place.App.Resolver.Admit(context.Background(), "Bearer "+tokens[asOwner])
	w.ok(err)
	return tokens, owner
}

// moveThrough makes a company beside the target, with an owner, and has the target pass through it.
func (w *world) moveThrough(name, email string) {
	w.T.Helper()
	above := w.Customer("Coral Logistics")
	made, err := w.m.CreateCustomer(w.ctx, resolvers.CreateCustomerInput{ParentID: platform.ID(above), Name: name, RegionID: globalid.ID{Int: 1}, Email: email})
	w.ok(err)
	for _, place := range []int64{made.Customer.ID, above} {
		_, err := w.m.MoveCustomer(w.ctx, resolvers.MoveCustomerInput{ID: globalid.ID{Int: w.target}, ParentID: globalid.ID{Int: place}})
		w.ok(err)
	}
}

// gone gives tokens of two who were owners of the target company: of one who was removed from it, by a key, and of one who has left it, by a session.
func (w *world) gone(app string) (removed, left string) {
	w.T.Helper()
	const key, session = "%s-was-removed%s", "%s-has-left%s"
	var tokens []string
	for _, form := range []string{key, session} {
		email := fmt.Sprintf(form, app, targetMail)
		id := w.member(email)
		w.grant(w.target, id, app, resolvers.OwnerRole)
		if form == session {
			w.SQL(`UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE id = $2`, platform.DemoAdmin, id)
			own := w.OpenSession(w.T.(*testing.T), email, w.Demo.AdminPassword, "customerId", w.target)
			tokens = append(tokens, own.Token)
			as, err := w.App.Resolver.Admit(context.Background(), "Bearer "+own.Token)
			w.ok(err)
			_, err = w.m.LeaveCustomer(as, resolvers.LeaveCustomerInput{CustomerID: globalid.ID{Int: w.target}})
			w.ok(err)
			continue
		}
		tokens = append(tokens, w.TokenOf(w.target, email, app))
		_, err := w.m.RemoveUser(w.ctx, resolvers.RemoveUserInput{CustomerID: platform.ID(w.target), UserID: globalid.ID{Int: id}})
		w.ok(err)
	}
	return tokens[0], tokens[1]
}

// actBelow has the target company's owner leave a trace in the log of the descendant, which may
// not learn who it was.
func (w *world) actBelow(owner context.Context) {
	w.actIn(owner, w.homes[asDescendant])
}

// actIn leaves a trace in the log of a company: its flag is turned, and turned back.
func (w *world) actIn(who context.Context, customer int64) {
	var is bool
	w.Look(&is, `SELECT descendants_can_add FROM customers WHERE id = $1`, customer)
	for _, next := range []bool{!is, is} {
		_, err := w.m.UpdateCustomer(who, resolvers.UpdateCustomerInput{CustomerID: globalid.ID{Int: customer}, DescendantsCanAdd: &next})
		w.ok(err)
	}
}

// stale signs the claims of a token anew, as of an hour ago.
func (w *world) stale(raw string) string {
	c, err := w.App.Resolver.Verifier.Verify(raw)
	w.ok(err)
	old := *c
	old.IssuedAt, old.ExpiresAt = time.Now().Add(-time.Hour), time.Now().Add(-45*time.Minute)
	key, _ := w.App.Resolver.Keys.Signing(time.Now())
	signed, err := token.Sign(key, old)
	w.ok(err)
	return signed
}

// shareUser adds one user to the target company and to those of all outside.
func (w *world) shareUser() {
	for _, customer := range []int64{w.target, w.homes[asDescendant], w.homes[asSibling], w.homes[asStranger], w.homes[asLeftBehind]} {
		made, err := w.m.CreateUser(w.ctx, resolvers.CreateUserInput{CustomerID: platform.ID(customer), Email: "shared@elsewhere.example"})
		w.ok(err)
		w.shared = made.User.ID
		w.grant(customer, w.shared, "tenant", resolvers.MemberRole)
	}
	_, err := w.DB.Exec(`UPDATE permissions SET last_access = $1 WHERE user_id = $2 AND account_id = $3`, accessMark+"Z", w.shared, w.Account(w.target, "tenant"))
	w.ok(err)
}

// marks gives the target company what nobody outside may read.
func (w *world) marks() {
	name, mark := targetName, secretMark
	_, err := w.m.UpdateCustomer(w.ctx, resolvers.UpdateCustomerInput{CustomerID: globalid.ID{Int: w.target}, Name: &name})
	w.ok(err)
	_, err = w.m.SaveBilling(w.ctx, resolvers.SaveBillingInput{CustomerID: platform.ID(w.target), BillingName: &mark, TaxID: &mark})
	w.ok(err)
	w.SQL(`INSERT INTO mail_outbox (branch_id, user_id, kind, message, attempts, last_error, next_attempt_at)
		SELECT branch_of($1), $2, 'invitation', '', 1, $3, now() + interval '1 hour'`, w.target, w.UserID("vera"+targetMail), mark)
}

// hidden lists what an answer must not hold.
func (w *world) hidden(as who, refused bool) []string {
	marks := []string{targetMail, secretMark, accessMark, "Coral Ports", "cnpy_"}
	if as == asSibling || as == asStranger || as == asLeftBehind || refused {
		marks = append(marks, targetName)
	}
	return marks
}

// unique makes a text that was not there before, and that nobody outside may read.
func (w *world) unique() string {
	w.serial++
	return secretMark + "-" + strconv.Itoa(w.serial)
}

// region is where the target company's accounts are.
func (w *world) region() (region int64) {
	w.Look(&region, `SELECT region_id FROM customers WHERE id = $1`, w.target)
	return region
}

func (w *world) ok(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// member adds a user without a password to the target company.
func (w *world) member(email string) int64 {
	w.T.Helper()
	made, err := w.m.CreateUser(w.ctx, resolvers.CreateUserInput{CustomerID: platform.ID(w.target), Email: email})
	w.ok(err)
	return made.User.ID
}

// grant gives a user a system role on a company's account for an application.
func (w *world) grant(customer, user int64, app, role string) int64 {
	w.T.Helper()
	made, err := w.m.CreatePermission(w.ctx, resolvers.CreatePermissionInput{
		AccountID: globalid.ID{Int: w.Account(customer, app)}, RoleID: globalid.ID{Int: w.RoleID(customer, app, role)}, UserID: platform.ID(user),
	})
	w.ok(err)
	return made.Permission.ID
}

// ask is one request of one caller. Its ids are those of the target company, each one fresh where
// the operation uses it up; or, with absent, of nothing at all.
type ask struct {
	*world
	as     who
	absent bool
}

func (a *ask) or(made func() int64) int64 {
	if a.absent {
		return platform.AbsentID
	}
	return made()
}

func (a *ask) theCustomer() int64 { return a.or(func() int64 { return a.target }) }

// aChild is a company right below the target, where none of the callers is at home.
func (a *ask) aChild() int64 {
	return a.or(func() (id int64) {
		a.Look(&id, `INSERT INTO customers (parent_id, name, region_id) SELECT id, $2, region_id FROM customers WHERE id = $1 RETURNING id`, a.target, a.unique())
		return id
	})
}

// aBranchBelow is a company right below the target, always the same one.
func (a *ask) aBranchBelow() int64 {
	return a.or(func() int64 {
		if a.branch == 0 {
			a.branch = a.aChild()
		}
		return a.branch
	})
}

// aSuspended is a company right below the target that is suspended.
func (a *ask) aSuspended() int64 {
	id := a.aChild()
	a.SQL(`UPDATE customers SET suspended = true WHERE id = $1`, id)
	return id
}

// aDeleted is a company right below the target that is deleted.
func (a *ask) aDeleted() int64 {
	id := a.aChild()
	a.SQL(`UPDATE customers SET erase_at = now() + interval '1 day' WHERE id = $1`, id)
	return id
}

// freshExport is an export of a company right below the target.
func (a *ask) freshExport() int64 {
	return a.or(func() int64 {
		child := a.aChild()
		if a.apart() {
			a.known()
		}
		return a.data.Number(`INSERT INTO customer_exports (customer_id, asked_by, rights) VALUES ($1, 'user:1', '{}') RETURNING id`, child)
	})
}

// placeOfImport is a company below which an archive can be read in, as not too many others are.
func (a *ask) placeOfImport() int64 {
	a.SQL(`UPDATE import_requests SET status = 'CANCELLED', expires_at = now() + interval '1 day' WHERE expires_at IS NULL`)
	return a.aChild()
}

// freshImport is an import below a company right below the target.
func (a *ask) freshImport() int64 {
	return a.or(func() int64 {
		return a.Number(`INSERT INTO import_requests (parent_id, client_id, file, archive, size, dry_run)
			VALUES ($1, '', gen_random_uuid(), sha256('archive'), 7, false) RETURNING id`, a.aChild())
	})
}

func (a *ask) theAccount() int64 { return a.or(func() int64 { return a.Account(a.target, "tenant") }) }

func (a *ask) home() int64 { return a.homes[a.as] }

func (a *ask) viewerRole() int64 { return a.RoleID(a.target, "tenant", resolvers.ViewerRole) }

func (a *ask) freshMail() string {
	a.serial++
	return fmt.Sprintf("n%d%s", a.serial, targetMail)
}

func (a *ask) freshUser() int64 { return a.or(func() int64 { return a.member(a.freshMail()) }) }

func (a *ask) freshPermission() int64 {
	return a.or(func() int64 { return a.grant(a.target, a.member(a.freshMail()), "tenant", resolvers.MemberRole) })
}

// ownPermission gives a member of the caller's own company a permission there.
func (a *ask) ownPermission() int64 {
	made, err := a.m.CreateUser(a.ctx, resolvers.CreateUserInput{CustomerID: platform.ID(a.home()), Email: a.unique() + "@own.example"})
	a.ok(err)
	return a.grant(a.home(), made.User.ID, "tenant", resolvers.MemberRole)
}

func (a *ask) freshRole() int64 {
	return a.or(func() int64 {
		made, err := a.m.CreateRole(a.ctx, resolvers.CreateRoleInput{ApplicationID: globalid.ID{Int: 1}, CustomerID: platform.ID(a.target), Name: a.unique()})
		a.ok(err)
		return made.Role.ID
	})
}

func (a *ask) freshKey() int64 {
	return a.or(func() int64 {
		name := a.unique()
		made, err := a.m.CreateAPIKey(a.ctx, resolvers.CreateAPIKeyInput{CustomerID: platform.ID(a.target), UserID: platform.ID(a.shared), Name: &name})
		a.ok(err)
		return made.APIKey.ID
	})
}

func (a *ask) anEvent() int64 {
	return a.or(func() (event int64) {
		a.Look(&event, `SELECT min(id) FROM audit_events WHERE customer_id = $1`, a.target)
		return event
	})
}
