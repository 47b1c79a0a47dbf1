package resolvers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"pgregory.net/rapid"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/globalid"
	"canopy/internal/limit"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/secret"
)

func TestMain(m *testing.M) { devtest.Main(m) }

// estate is a platform with a root company, and a look past the store.
type estate struct {
	Mutation
	sql    *sqlx.DB
	root   context.Context // of the root company's owner
	serial int
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	store, err := db.Open(t.Context(), address, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	e := &estate{sql: sqlx.MustOpen("postgres", address)}
	t.Cleanup(func() { _ = e.sql.Close() })
	log := slog.New(slog.DiscardHandler)
	messages := bus.New(nil, log)
	t.Cleanup(messages.Close)
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	e.Resolver = &Resolver{Store: store, Box: box, Bus: messages, Log: log, Rates: &Rates{Limiter: limit.New(nil, limit.Patience)}, PublicURL: &url.URL{Scheme: "https", Host: "canopy.example"}}
	founded, err := e.Found(t.Context(), Founding{Regions: DefaultRegions, Customer: "Root", Email: "root@root.example"})
	if err != nil {
		t.Fatal(err)
	}
	e.root = e.login(t.Context(), founded.Admin.ID, founded.Customer.ID)
	return e
}

// login is what a request of a user's login to a company comes with; nil where it has nothing there.
func (e *estate) login(ctx context.Context, userID, customerID int64) context.Context {
	c, err := e.Store.LoginCaller(ctx, db.LoginToken{UserID: userID, CustomerID: customerID, IssuedAt: time.Now()})
	if err != nil {
		panic(err)
	}
	for app, g := range c.Grants {
		c.Serves[app] = g != nil
	}
	return access.WithPrincipal(ctx, &c.Principal)
}

func (e *estate) unique(what string) string {
	e.serial++
	return fmt.Sprintf("%s%d", what, e.serial)
}

// numbers reads a list of numbers.
func (e *estate) numbers(query string, args ...any) []int64 {
	list := []int64{}
	if err := e.sql.Select(&list, query, args...); err != nil {
		panic(err)
	}
	return list
}

func (e *estate) number(query string, args ...any) int64 { return e.numbers(query, args...)[0] }

func idOf(n int64) globalid.ID { return globalid.ID{Int: n} }

// gang is who tries to get more than they have: the users who act together, and the keys whose
// secrets they hold.
type gang struct {
	*estate
	ctx   context.Context
	users []int64
	keys  []int64
	// companies are those of the case, the one on top first; founded those that the gang has made.
	customers, founded []int64
	// began is what the gang may at the beginning, by account; reign what it may with each company in tenant management, by its
	// roles there and above.
	began, reign map[int64]power
}

// power is what roles let do.
type power struct {
	rights access.Features
	owner  bool
}

func (p power) and(other power) power { return power{p.rights | other.rights, p.owner || other.owner} }

// beyond says what is more than another; nothing where nothing is.
func (p power) beyond(other power) string {
	if more := p.rights &^ other.rights; more != 0 {
		return fmt.Sprint(more.Names())
	}
	if p.owner && !other.owner {
		return "an owner role"
	}
	return ""
}

// standing is one permission that works, and where.
type standing struct {
	Account  int64          `db:"account"`
	Tenant   bool           `db:"tenant"`
	Owner    bool           `db:"owner"`
	Lineage  access.Lineage `db:"lineage"`
	Features pq.StringArray `db:"features"`
	// Bound are the features that a key names; nil is no bound.
	Bound pq.StringArray `db:"bound"`
}

const standingQuery = `SELECT a.id AS account, app.code = 'tenant' AS tenant, r.is_owner AS owner, c.lineage, r.features, of.bound
	FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id JOIN roles r ON r.id = p.role_id
	JOIN app_instances i ON i.id = a.app_instance_id JOIN applications app ON app.id = i.application_id
	JOIN (SELECT id AS user_id, NULL::bigint AS within, NULL::text[] AS bound FROM users WHERE id = ANY($1)
		UNION ALL SELECT user_id, customer_id, features FROM api_keys WHERE id = ANY($2)) of ON of.user_id = p.user_id AND (of.within IS NULL OR of.within = ANY(c.lineage))
	WHERE NOT p.disabled AND NOT a.disabled`

// standings are the permissions that work for the gang: those of its users, and those that its keys
// act with.
func (g *gang) standings() (list []standing) {
	must(g.sql.Select(&list, standingQuery, pq.Int64Array(g.users), pq.Int64Array(g.keys)))
	return list
}

func (s standing) power() power {
	rights := access.ParseFeatures(s.Features)
	if s.Bound != nil {
		rights &= access.ParseFeatures(s.Bound)
	}
	return power{rights, s.Owner}
}

func (s standing) customer() int64 { return s.Lineage[len(s.Lineage)-1] }

// reigning is what standings let do with each company, as the tree is now.
func (g *gang) reigning(standings []standing) map[int64]power {
	at := map[int64]power{}
	for _, s := range standings {
		if s.Tenant {
			at[s.customer()] = at[s.customer()].and(s.power())
		}
	}
	var places []struct {
		ID      int64          `db:"id"`
		Lineage access.Lineage `db:"lineage"`
	}
	must(g.sql.Select(&places, `SELECT id, lineage FROM customers WHERE id = ANY($1)`, pq.Int64Array(g.customers)))
	over := map[int64]power{}
	for _, place := range places {
		for _, above := range place.Lineage {
			over[place.ID] = over[place.ID].and(at[above])
		}
	}
	return over
}

// begin notes what the gang has.
func (g *gang) begin() {
	standings := g.standings()
	g.began, g.reign = map[int64]power{}, g.reigning(standings)
	for _, s := range standings {
		g.began[s.Account] = g.began[s.Account].and(s.power())
	}
}

// excess says what the gang has beyond what it began with: with a company more than its roles there and above let it do, and
// on an account more than that and what it had there. What it has made itself is its own.
func (g *gang) excess() string {
	standings := g.standings()
	for customer, now := range g.reigning(standings) {
		if more := now.beyond(g.reign[customer]); more != "" && !slices.Contains(g.founded, customer) {
			return fmt.Sprintf("company %d: %v", customer, more)
		}
	}
	for _, s := range standings {
		if more := s.power().beyond(g.began[s.Account].and(g.reign[s.customer()])); more != "" && !slices.Contains(g.founded, s.customer()) {
			return fmt.Sprintf("account %d of company %v: %v", s.Account, s.Lineage, more)
		}
	}
	return ""
}

// The rights that are drawn: those that let somebody give something, and some beside.
var drawnRights = pq.StringArray{"permission.write", "key.write", "company.write", "company.create", "user.write", "company.read", "context.write", "agent.run"}

func someFeatures(t *rapid.T) pq.StringArray {
	list := pq.StringArray{}
	for _, right := range drawnRights {
		if rapid.Bool().Draw(t, right) {
			list = append(list, right)
		}
	}
	return list
}

// mostFeatures are what somebody has who can do much, but not all.
func mostFeatures(t *rapid.T) pq.StringArray {
	list := slices.Clone(drawnRights)
	for range one(t, []int{1, 1, 2, 3}, "rights less") {
		at := slices.Index(list, one(t, list, "right less"))
		list = slices.Delete(list, at, at+1)
	}
	return list
}

// one draws each of a list as often as the others. SampledFrom prefers the first ones, which are here the companies on top,
// and the acts of the first letters.
func one[T any](t *rapid.T, list []T, label string) T {
	n := 0
	for _, bit := range rapid.SliceOfN(rapid.Bool(), 8, 8).Draw(t, label) {
		n *= 2
		if bit {
			n++
		}
	}
	return list[n%len(list)]
}

// perhaps is true once in four times.
func perhaps(t *rapid.T, label string) bool { return one(t, []bool{false, false, false, true}, label) }

// newGang makes a tree of companies with owners, members of all kinds of roles, keys of theirs, roles
// that nobody has, closed accounts and suspended permissions; and in it one who will try everything,
// or has no more than somebody's key.
func newGang(t *rapid.T, ctx context.Context, e *estate) *gang { // t first, as everywhere
	g := &gang{estate: e, ctx: ctx}
	for i := range one(t, []int{1, 2, 3, 4, 5}, "companies") {
		parent := e.number(`SELECT id FROM customers WHERE parent_id IS NULL`)
		if i > 0 {
			parent = one(t, g.customers, "parent")
		}
		above := idOf(parent)
		yes := true
		made, err := e.CreateCustomer(e.root, CreateCustomerInput{
			ParentID: &above, Name: e.unique("Company "), RegionID: idOf(1), Email: e.unique("owner") + "@x.example", CanAddCustomers: &yes, DescendantsCanAdd: &yes,
		})
		must(err)
		g.customers = append(g.customers, made.Customer.ID)
		_, _, err = NewAPIKey(ctx, e.Store, db.APIKey{CustomerID: made.Customer.ID, UserID: made.Admin.ID}, 0)
		must(err)
	}
	for range rapid.IntRange(3, 6).Draw(t, "unused roles") {
		g.role(t)
	}
	g.users = []int64{g.person(t)}
	for range one(t, []int{0, 1, 2}, "others") {
		user := g.person(t)
		must(ignore(e.sql.Exec(`INSERT INTO api_keys (client_id, customer_id, user_id, name) VALUES ($1, $2, $3, '')`, e.unique("key_"), one(t, g.customers, "company of a key"), user)))
	}
	if perhaps(t, "a key alone") {
		g.keys = g.numbers(`INSERT INTO api_keys (client_id, customer_id, user_id, name, features) VALUES ($1, $2, $3, '', $4) RETURNING id`,
			g.unique("key_"), one(t, g.customers, "company of the key"), g.users[0], someFeatures(t))
		g.users = nil
	}
	if rapid.Bool().Draw(t, "a closed account") {
		must(ignore(e.sql.Exec(`UPDATE accounts SET disabled = true WHERE id = $1`, one(t, g.accounts(), "closed"))))
	}
	g.begin()
	return g
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func ignore[T any](_ T, err error) error { return err }

func (g *gang) accounts() []int64 {
	return g.numbers(`SELECT id FROM accounts WHERE customer_id = ANY($1) ORDER BY id`, pq.Int64Array(g.customers))
}

// role makes a role of a company.
func (g *gang) role(t *rapid.T) int64 {
	return g.number(`INSERT INTO roles (application_id, customer_id, name, description, is_owner, features) VALUES ($1, $2, $3, '', $4, $5) RETURNING id`,
		one(t, []int64{1, 2, 3}, "application"), one(t, g.customers, "company of a role"), g.unique("Role "), perhaps(t, "an owner role"), someFeatures(t))
}

// person makes a user with permissions, at least one in tenant management.
func (g *gang) person(t *rapid.T) int64 {
	user := g.number(`INSERT INTO users (email, first_name, last_name) VALUES ($1, '', '') RETURNING id`, g.unique("person")+"@x.example")
	for i := range one(t, []int{1, 2, 3}, "permissions") {
		application := int64(1)
		if i > 0 {
			application = one(t, []int64{1, 1, 1, 2, 3}, "application")
		}
		customer := g.customers[0]
		if rapid.Bool().Draw(t, "elsewhere") {
			customer = one(t, g.customers, "company of a permission")
		}
		must(ignore(g.sql.Exec(`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name)
			SELECT $1, id, email, first_name, last_name FROM users WHERE id = $2 ON CONFLICT DO NOTHING`, customer, user)))
		must(ignore(g.sql.Exec(`WITH r AS (INSERT INTO roles (application_id, customer_id, name, description, is_owner, features)
				VALUES ($1, $2, $3, '', $4, $5) RETURNING id)
			INSERT INTO permissions (account_id, user_id, role_id, disabled)
			SELECT a.id, $6, r.id, $7 FROM r, accounts a JOIN app_instances i ON i.id = a.app_instance_id
			WHERE a.customer_id = $2 AND i.application_id = $1 ON CONFLICT DO NOTHING`,
			application, customer, g.unique("Role "), rapid.Bool().Draw(t, "an owner role"), mostFeatures(t), user, i > 0 && rapid.Bool().Draw(t, "suspended"))))
	}
	return user
}

// caller is one of the gang, with the right in tenant management if anybody has it: as a login, or with
// a key that the gang holds.
func (g *gang) caller(t *rapid.T, right access.Features) context.Context {
	const seats = `SELECT p.user_id AS userid, a.customer_id AS customerid FROM permissions p JOIN accounts a ON a.id = p.account_id
		JOIN app_instances i ON i.id = a.app_instance_id JOIN roles r ON r.id = p.role_id
		WHERE i.application_id = 1 AND NOT p.disabled AND NOT a.disabled AND p.user_id = ANY($1) AND $2 = ANY(r.features) ORDER BY p.id`
	var list []struct{ UserID, CustomerID int64 }
	must(g.sql.Select(&list, seats, pq.Int64Array(g.users), right.Names()[0]))
	if len(list) > 0 && !perhaps(t, "by a key") {
		seat := one(t, list, "seat")
		return g.login(g.ctx, seat.UserID, seat.CustomerID)
	}
	if len(g.keys) == 0 {
		return g.login(g.ctx, one(t, g.users, "user"), one(t, g.customers, "company"))
	}
	key := one(t, g.keys, "key")
	var clientID string
	must(g.sql.Get(&clientID, `SELECT client_id FROM api_keys WHERE id = $1`, key))
	account := int64(0)
	if rapid.Bool().Draw(t, "on an account") {
		account = one(t, g.accounts(), "account")
	}
	x, err := g.Store.FindExchange(g.ctx, clientID, access.Tenant, account)
	must(err)
	c, err := g.Store.KeyCaller(g.ctx, clientID, access.Tenant, x.AccountID, "")
	must(err)
	c.Serves[access.Tenant] = true
	return access.WithPrincipal(g.ctx, &c.Principal)
}

// permissions are all in the tree; the gang's own come more often.
func (g *gang) aPermission(t *rapid.T) globalid.ID {
	query := `SELECT p.id FROM permissions p JOIN accounts a ON a.id = p.account_id WHERE a.customer_id = ANY($1) AND (p.user_id = ANY($2) OR $3) ORDER BY p.id`
	list := g.numbers(query, pq.Int64Array(g.customers), pq.Int64Array(g.users), false)
	if len(list) == 0 || perhaps(t, "of anybody") {
		list = g.numbers(query, pq.Int64Array(g.customers), pq.Int64Array(g.users), true)
	}
	return idOf(one(t, list, "permission"))
}

// fitting is a role that an account could have, mostly, and otherwise any.
func (g *gang) fitting(t *rapid.T, account int64) globalid.ID {
	list := g.numbers(`SELECT r.id FROM roles r, accounts a JOIN app_instances i ON i.id = a.app_instance_id
		WHERE a.id = $1 AND r.application_id = i.application_id AND (r.customer_id IS NULL OR r.customer_id = a.customer_id) ORDER BY r.customer_id NULLS LAST, r.id`, account)
	if perhaps(t, "any role") {
		list = g.numbers(`SELECT id FROM roles WHERE customer_id IS NULL OR customer_id = ANY($1) ORDER BY id`, pq.Int64Array(g.customers))
	}
	return idOf(one(t, list, "role"))
}

// theirRole is a role of one of the companies.
func (g *gang) theirRole(t *rapid.T) globalid.ID {
	return idOf(one(t, g.numbers(`SELECT id FROM roles WHERE customer_id = ANY($1) ORDER BY id`, pq.Int64Array(g.customers)), "role"))
}

// aCustomer is a company within a caller's reach, mostly, and otherwise any.
func (g *gang) aCustomer(t *rapid.T, ctx context.Context) *globalid.ID {
	list := g.reach(ctx)
	if len(list) == 0 || perhaps(t, "any company") {
		list = g.customers
	}
	customer := idOf(one(t, list, "company"))
	return &customer
}

// account is one of aCustomer's, and most often of tenant management.
func (g *gang) account(t *rapid.T, ctx context.Context) int64 {
	accounts := g.numbers(`SELECT id FROM accounts WHERE customer_id = $1 ORDER BY id`, g.aCustomer(t, ctx).Int)
	return one(t, append(accounts, accounts[0], accounts[0]), "account")
}

// reach are the companies of a caller's token, which is the first: those that it can move are below.
func (g *gang) reach(ctx context.Context) []int64 {
	return g.numbers(`SELECT id FROM customers WHERE $1 = ANY (lineage) ORDER BY level, id`, access.PrincipalOf(ctx).CustomerID)
}

// move draws who moves what, and the companies that could come above it; none where there is nothing to move.
func (g *gang) move(t *rapid.T) (ctx context.Context, moved globalid.ID, reach []int64) {
	for range 3 {
		ctx = g.caller(t, access.CompanyWrite)
		if reach = g.reach(ctx); len(reach) > 1 {
			return ctx, idOf(one(t, reach[1:], "moved")), reach
		}
	}
	return nil, globalid.ID{}, nil
}

// anybody is one of the gang, mostly, or a user of the tree.
func (g *gang) anybody(t *rapid.T) *globalid.ID {
	list := g.users
	if len(list) == 0 || perhaps(t, "anybody") {
		list = g.numbers(`SELECT DISTINCT user_id FROM memberships WHERE customer_id = ANY($1) ORDER BY 1`, pq.Int64Array(g.customers))
	}
	user := idOf(one(t, list, "user"))
	return &user
}

// errNothing: there is nothing to try an act on.
var errNothing = errors.New("nothing to try it on")

// acts are the calls that give something, or could help to.
func (g *gang) acts() map[string]func(*rapid.T) error {
	return map[string]func(*rapid.T) error{
		"createRole": func(t *rapid.T) error {
			ctx, owner := g.caller(t, access.PermissionWrite), perhaps(t, "owner")
			return ignore(g.CreateRole(ctx, CreateRoleInput{
				ApplicationID: idOf(one(t, []int64{1, 2, 3}, "application")), CustomerID: g.aCustomer(t, ctx), Name: g.unique("Made "), IsOwner: &owner, Features: someFeatures(t),
			}))
		},
		"updateRole": func(t *rapid.T) error {
			return ignore(g.UpdateRole(g.caller(t, access.PermissionWrite), UpdateRoleInput{ID: g.theirRole(t), Features: someFeatures(t)}))
		},
		"createPermission": func(t *rapid.T) error {
			ctx := g.caller(t, access.PermissionWrite)
			account := g.account(t, ctx)
			return ignore(g.CreatePermission(ctx, CreatePermissionInput{AccountID: idOf(account), RoleID: g.fitting(t, account), UserID: g.anybody(t)}))
		},
		"createPermission for a new one": func(t *rapid.T) error {
			ctx, email := g.caller(t, access.PermissionWrite), g.unique("new")+"@x.example"
			account := g.account(t, ctx)
			made, err := g.CreatePermission(ctx, CreatePermissionInput{AccountID: idOf(account), RoleID: g.fitting(t, account), Email: &email})
			if err == nil {
				g.users = append(g.users, made.Permission.UserID)
			}
			return err
		},
		"createPermissions": func(t *rapid.T) error {
			ctx := g.caller(t, access.PermissionWrite)
			var in CreatePermissionsInput
			for range 2 {
				account := g.account(t, ctx)
				in.Permissions = append(in.Permissions, &CreatePermissionInput{AccountID: idOf(account), RoleID: g.fitting(t, account), UserID: g.anybody(t)})
			}
			return ignore(g.CreatePermissions(ctx, in))
		},
		"updatePermission": func(t *rapid.T) error {
			p := g.aPermission(t)
			account := g.number(`SELECT account_id FROM permissions WHERE id = $1`, p.Int)
			return ignore(g.UpdatePermission(g.caller(t, access.PermissionWrite), UpdatePermissionInput{ID: p, RoleID: g.fitting(t, account)}))
		},
		"togglePermission": func(t *rapid.T) error {
			return ignore(g.TogglePermission(g.caller(t, access.PermissionWrite), TogglePermissionInput{ID: g.aPermission(t)}))
		},
		"setPermissionDisabled": func(t *rapid.T) error {
			in := SetPermissionDisabledInput{ID: g.aPermission(t), Disabled: rapid.Bool().Draw(t, "disabled")}
			return ignore(g.SetPermissionDisabled(g.caller(t, access.PermissionWrite), in))
		},
		"deletePermission": func(t *rapid.T) error {
			return ignore(g.DeletePermission(g.caller(t, access.PermissionWrite), DeletePermissionInput{ID: g.aPermission(t)}))
		},
		"setAccountDisabled": func(t *rapid.T) error {
			ctx := g.caller(t, access.CompanyWrite)
			return ignore(g.SetAccountDisabled(ctx, SetAccountDisabledInput{ID: idOf(g.account(t, ctx)), Disabled: rapid.Bool().Draw(t, "close")}))
		},
		"createApiKey": func(t *rapid.T) error {
			ctx := g.caller(t, access.KeyWrite)
			in := CreateAPIKeyInput{CustomerID: g.aCustomer(t, ctx), UserID: g.anybody(t)}
			if rapid.Bool().Draw(t, "bounded") {
				in.Features = someFeatures(t)
			}
			made, err := g.CreateAPIKey(ctx, in)
			if err == nil {
				g.keys = append(g.keys, made.APIKey.ID)
			}
			return err
		},
		"rotateApiKeySecret": func(t *rapid.T) error {
			key := one(t, g.numbers(`SELECT id FROM api_keys WHERE customer_id = ANY($1) ORDER BY id`, pq.Int64Array(g.customers)), "key")
			_, err := g.RotateAPIKeySecret(g.caller(t, access.KeyWrite), RotateAPIKeySecretInput{ID: idOf(key)})
			if err == nil {
				g.keys = append(g.keys, key)
			}
			return err
		},
		"moveCustomer": func(t *rapid.T) error {
			ctx, moved, reach := g.move(t)
			if reach == nil {
				return errNothing
			}
			return ignore(g.MoveCustomer(ctx, MoveCustomerInput{ID: moved, ParentID: idOf(one(t, reach, "to"))}))
		},
		"moveCustomer below what was made": func(t *rapid.T) error {
			ctx, moved, reach := g.move(t)
			if reach == nil || len(g.founded) == 0 {
				return errNothing
			}
			return ignore(g.MoveCustomer(ctx, MoveCustomerInput{ID: moved, ParentID: idOf(g.founded[0])}))
		},
		"createUser": func(t *rapid.T) error {
			var email string
			must(g.sql.Get(&email, `SELECT email FROM users WHERE id = $1`, g.anybody(t).Int))
			ctx := g.caller(t, access.UserWrite)
			return ignore(g.CreateUser(ctx, CreateUserInput{CustomerID: g.aCustomer(t, ctx), Email: email}))
		},
		"createCustomer": func(t *rapid.T) error {
			if len(g.founded) > 0 {
				return errNothing // one is enough: in what they have made they may do everything
			}
			var email string
			must(g.sql.Get(&email, `SELECT email FROM users WHERE id = $1`, g.anybody(t).Int))
			ctx := g.caller(t, access.CompanyCreate)
			reach := g.reach(ctx)
			if len(reach) == 0 {
				return errNothing
			}
			above := idOf(one(t, reach, "above"))
			made, err := g.CreateCustomer(ctx, CreateCustomerInput{ParentID: &above, Name: g.unique("Founded "), RegionID: idOf(1), Email: email})
			if err == nil {
				g.customers, g.founded = append(g.customers, made.Customer.ID), append(g.founded, made.Customer.ID)
			}
			return err
		},
	}
}

// fewer sets a flag for one test, where the command line does not.
func fewer(t *testing.T, name, value string) {
	t.Helper()
	if f := flag.Lookup(name); f.Value.String() == f.DefValue {
		must(f.Value.Set(value))
		t.Cleanup(func() { must(f.Value.Set(f.DefValue)) })
	}
}

// someActs draws the acts of one case, mostly a few: a hole that takes several steps is met where nothing else is done much.
func someActs(t *rapid.T, acts map[string]func(*rapid.T) error) (names []string) {
	all := slices.Sorted(maps.Keys(acts))
	for _, name := range all {
		if perhaps(t, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return all
	}
	return names
}

// TestNobodyRises has those who work together call whatever gives something, in any order, as
// themselves and with the keys that they get: they never have more than they began with.
func TestNobodyRises(t *testing.T) {
	e := newEstate(t)
	fewer(t, "rapid.checks", "60")
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		g := newGang(rt, t.Context(), e)
		acts := g.acts()
		names := someActs(rt, acts)
		for range 40 {
			name := one(rt, names, "act")
			switch err := acts[name](rt); {
			case err == nil:
				done[name]++
				if more := g.excess(); more != "" {
					rt.Fatalf("%s: %s: began with %v, reigned with %v", name, more, g.began, g.reign)
				}
			case errors.Is(err, errNothing):
			case problem.From(err).Code == problem.Internal || problem.From(err).Code == problem.Unavailable:
				rt.Fatalf("%s: %v", name, err)
			case problem.From(err).Reason == beyondOwnRights:
				done[name+" beyond"]++
			}
		}
	})
	given, refused := 0, 0
	for name, n := range done {
		if strings.HasSuffix(name, " beyond") {
			refused += n
		} else {
			given += n
		}
	}
	if given < 50 || refused < 20 {
		t.Errorf("too little was tried: %v", done)
	}
}

// TestGiversServeTenantManagement: mayGive looks at the grant at hand, which is that in tenant
// management only where an operation takes no other tokens.
func TestGiversServeTenantManagement(t *testing.T) {
	for _, r := range []*rule.Rule{
		rule.CreateRole, rule.UpdateRole, rule.CreatePermission, rule.UpdatePermission, rule.TogglePermission, rule.SetPermissionDisabled,
		rule.CreateAPIKey, rule.RotateAPIKeySecret, rule.SetAccountDisabled, rule.MoveCustomer,
	} {
		if !slices.Equal(r.Apps, []access.App{access.Tenant}) {
			t.Errorf("%s takes tokens for %v", r.Field, r.Apps)
		}
	}
	c := &caller{Principal: &access.Principal{}, Grant: &access.Grant{Features: access.AllFeatures, Owner: true}}
	var p *problem.Error
	if err := c.mayGive(access.ContextRead); !errors.As(err, &p) || p.Reason != beyondOwnRights || !strings.Contains(p.Detail, "context.read") {
		t.Errorf("who has no role in tenant management gives: %v", err)
	}
}
