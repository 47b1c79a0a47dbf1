package isolation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/e2e/platform"
)

// clerk is a user of Alpine Energy with a role of its own in tenant management, whose rights the test
// sets; and what it could give.
type clerk struct {
	*platform.Platform
	token        string
	tables       *tables
	user, home   int64
	role         int64
	small, other int64 // roles in tenant management, within the clerk's rights and beyond
}

func newClerk(t *testing.T) *clerk {
	s := platform.Start(t)
	c := &clerk{Platform: s, home: s.Customer("Alpine Energy")}
	database, err := sqlx.Open("postgres", s.App.Config.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close() })
	c.tables = newTables(t, database)
	c.user = c.person("clerk@alpine.example")
	c.role = c.newRole("tenant", "Clerk", "permission.write", "key.write", "company.write", "company.read")
	c.grant(c.user, "tenant", c.role)
	c.small = c.newRole("tenant", "Small", "company.read")
	c.other = c.newRole("tenant", "Billing", "company.read", "billing.read", "billing.write")
	c.token = s.TokenOf(c.home, "clerk@alpine.example", "tenant")
	return c
}

func (c *clerk) person(email string) int64 {
	user := c.Number(`INSERT INTO users (email, first_name, last_name) VALUES ($1, '', '') RETURNING id`, email)
	c.SQL(`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) VALUES ($1, $2, $3, '', '')`, c.home, user, email)
	return user
}

func (c *clerk) newRole(app, name string, features ...string) int64 {
	return c.Number(`INSERT INTO roles (application_id, customer_id, name, features) SELECT a.id, $2, $3, $4 FROM applications a WHERE a.code = $1 RETURNING id`,
		app, c.home, name, pq.StringArray(features))
}

func (c *clerk) grant(user int64, app string, role int64) int64 {
	return c.Number(`INSERT INTO permissions (account_id, user_id, role_id) VALUES ($1, $2, $3) RETURNING id`, c.Account(c.home, app), user, role)
}

// beyond checks that an answer of either door refuses a gift for the right, and that nothing was written.
func (c *clerk) beyond(t *testing.T, right string, send func() platform.Answer) {
	t.Helper()
	before := c.tables.state(t)
	a := send()
	var rest struct{ Code, Detail string }
	var graph struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code, Reason string }
		}
	}
	if err := json.Unmarshal(a.Body, &rest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(a.Body, &graph); err != nil {
		t.Fatal(err)
	}
	if len(graph.Errors) == 1 && graph.Errors[0].Extensions.Code == "FORBIDDEN" {
		a.Status, rest.Code, rest.Detail = 403, graph.Errors[0].Extensions.Reason, graph.Errors[0].Message
	}
	if a.Status != 403 || rest.Code != "beyond_own_rights" || !strings.HasPrefix(rest.Detail, "the right "+right+" ") {
		t.Errorf("want a refusal for %s: %d %s", right, a.Status, a.Body)
	}
	if c.tables.state(t) != before {
		t.Error("the refused request has written something")
	}
}

// change is a mutation of the clerk's, to be sent.
func (c *clerk) change(name string, input object) func() platform.Answer {
	typ := strings.ToUpper(name[:1]) + name[1:] + "Input!"
	return func() platform.Answer {
		return c.Do("POST", "/graphql", c.token, object{"query": `mutation($in: ` + typ + `) { ` + name + `(input: $in) { __typename } }`, "variables": object{"in": input}})
	}
}

func (c *clerk) works(t *testing.T, send func() platform.Answer) {
	t.Helper()
	if a := send(); classOf(a) != getsOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestNobodyGivesRolesBeyondTheirOwn(t *testing.T) {
	t.Parallel()
	c := newClerk(t)
	role := func(features ...string) object {
		return object{"applicationId": 1, "customerId": c.home, "name": "New " + strings.Join(features, ""), "features": append([]string{}, features...)}
	}
	c.works(t, c.change("createRole", role("company.read", "key.write")))
	c.works(t, c.change("createRole", role()))
	c.beyond(t, "billing.read", c.change("createRole", role("company.read", "user.read", "billing.read")))
	ofBuilder := role("agent.run")
	ofBuilder["applicationId"] = 3
	c.beyond(t, "agent.run", c.change("createRole", ofBuilder))
	c.works(t, c.change("updateRole", object{"id": c.small, "features": []string{"key.write"}}))
	c.beyond(t, "company.create", c.change("updateRole", object{"id": c.small, "features": []string{"key.write", "company.create"}}))
	c.beyond(t, "user.write", c.change("updateRole", object{"id": c.role, "features": []string{"permission.write", "user.write"}}))
	// Its name gives nothing, and what is taken neither.
	c.works(t, c.change("updateRole", object{"id": c.other, "name": "Invoices"}))
	c.works(t, c.change("updateRole", object{"id": c.other, "features": []string{"company.read"}}))
}

func TestNobodyGivesPermissionsBeyondTheirOwn(t *testing.T) {
	t.Parallel()
	c := newClerk(t)
	account, user := c.Account(c.home, "tenant"), c.person("new@alpine.example")
	viewer := c.RoleID(c.home, "tenant", "Viewer")
	post := func(role int64) func() platform.Answer {
		return func() platform.Answer {
			return c.Do("POST", "/permission", c.token, object{"appAccountId": account, "appRoleId": role, "userIdentityId": user})
		}
	}
	c.beyond(t, "billing.read", post(viewer))
	c.beyond(t, "billing.read", c.change("createPermission", object{"accountId": account, "roleId": viewer, "userId": user, "disabled": true}))
	// The administration of a company below.
	below := c.Customer("Alpine Hydro")
	c.beyond(t, "company.create", c.change("createPermission", object{"accountId": c.Account(below, "tenant"), "roleId": c.RoleID(below, "tenant", "Admin"), "userId": c.user}))
	c.beyond(t, "billing.read", c.change("createPermission", object{"accountId": c.Account(below, "assistant"), "roleId": c.RoleID(below, "assistant", "Member"), "userId": c.user}))
	c.works(t, post(c.small))
	permission := c.Permission(user, account)
	put := func(role int64) func() platform.Answer {
		return func() platform.Answer {
			return c.Do("PUT", "/permission", c.token, object{"id": permission, "appRoleId": role})
		}
	}
	c.beyond(t, "billing.read", put(viewer))
	c.beyond(t, "billing.read", c.change("updatePermission", object{"id": permission, "roleId": c.other}))
	c.beyond(t, "company.create", c.change("updatePermission", object{"id": c.Permission(c.user, account), "roleId": c.RoleID(c.home, "tenant", "Admin")}))
	c.works(t, put(c.small))
	toggle := func() platform.Answer {
		return c.Do("PATCH", "/permission/"+platform.Decimal(permission), c.token, nil)
	}
	c.works(t, toggle)
	c.works(t, toggle)
	c.SQL(`UPDATE permissions SET role_id = $2 WHERE id = $1`, permission, c.other)
	c.works(t, toggle) // suspending gives nothing
	c.beyond(t, "billing.read", toggle)
	c.beyond(t, "billing.read", c.change("togglePermission", object{"id": permission}))
	c.works(t, c.change("deletePermission", object{"id": permission}))
}

func TestNobodyOpensAccountsBeyondTheirOwn(t *testing.T) {
	t.Parallel()
	c := newClerk(t)
	account := c.Account(c.home, "builder")
	set := func(disabled bool) func() platform.Answer {
		return c.change("setAccountDisabled", object{"id": account, "disabled": disabled})
	}
	c.works(t, set(false)) // it is open
	c.works(t, set(true))
	c.beyond(t, "company.create", set(false))
	c.SQL(`UPDATE permissions SET disabled = true WHERE account_id = $1`, account)
	c.works(t, set(false))
}

func TestNobodyGivesKeysBeyondTheirOwn(t *testing.T) {
	t.Parallel()
	c := newClerk(t)
	key := func(user int64) func() platform.Answer { return c.change("createApiKey", object{"userId": user}) }
	c.works(t, key(c.user))
	own := c.Number(`SELECT max(id) FROM api_keys`)
	// The key would act in the assistant, too.
	assistant := c.grant(c.user, "assistant", c.RoleID(c.home, "assistant", "Member"))
	c.beyond(t, "billing.read", key(c.user))
	c.works(t, c.change("rotateApiKeySecret", object{"id": own})) // which is the clerk's already
	c.SQL(`UPDATE permissions SET disabled = true WHERE id = $1`, assistant)
	c.works(t, key(c.user))
	// An owner's role may have few rights.
	c.SQL(`UPDATE roles SET is_owner = true WHERE id = $1`, c.role)
	user := c.person("new@alpine.example")
	c.grant(user, "tenant", c.small)
	c.works(t, key(user))
	greta := c.UserID("greta@alpine.example")
	c.beyond(t, "company.create", key(greta))
	theirs := c.Number(`INSERT INTO api_keys (client_id, customer_id, user_id, name) VALUES ('theirs', $1, $2, '') RETURNING id`, c.home, greta)
	c.beyond(t, "company.create", c.change("rotateApiKeySecret", object{"id": theirs}))
	c.works(t, c.change("revokeApiKey", object{"id": theirs}))
	// Below the key's company the user has more.
	below := c.Customer("Alpine Hydro")
	c.SQL(`INSERT INTO permissions (account_id, user_id, role_id) VALUES ($1, $2, $3)`, c.Account(below, "tenant"), user, c.RoleID(below, "tenant", "Viewer"))
	c.beyond(t, "billing.read", key(user))
}

// TestCreatorsOwn: company.create is the right to own what one creates, and nothing else.
func TestCreatorsOwn(t *testing.T) {
	t.Parallel()
	c := newClerk(t)
	c.SQL(`UPDATE roles SET features = $2 WHERE id = $1`, c.role, pq.StringArray{"company.create"})
	c.SQL(`UPDATE customers SET can_add_customers = true WHERE id = $1`, c.home)
	a := c.Must(200, "POST", "/tenant/customer", c.token, object{"name": "Alpine Tidal", "regionId": 1, "email": "clerk@alpine.example"})
	features := c.Number(`SELECT count(DISTINCT f) FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN roles r ON r.id = p.role_id CROSS JOIN unnest(r.features) f
		WHERE a.customer_id = $1 AND p.user_id = $2 AND r.is_owner`, a.ID(t, "id"), c.user)
	if features < 19 {
		t.Errorf("%d rights of an owner", features)
	}
	c.Must(403, "GET", "/tenant/billing", c.token, nil)
}

// TestNobodyBringsCompaniesBelowOthersWhoMayMore: a company that moves is given to those at its new place. So nobody gets it
// who may more than the mover, be it the mover as the owner of a company that it has made.
func TestNobodyBringsCompaniesBelowOthersWhoMayMore(t *testing.T) {
	t.Parallel()
	c := newClerk(t)
	hydro, solar := c.Customer("Alpine Hydro"), c.Customer("Alpine Solar")
	byGraph := func(parent int64) func() platform.Answer {
		return c.change("moveCustomer", object{"id": hydro, "parentId": parent})
	}
	byREST := func(parent int64) func() platform.Answer {
		return func() platform.Answer {
			return c.Do("POST", "/tenant/customer/"+platform.Decimal(hydro)+"/move", c.token, object{"parentId": parent})
		}
	}
	c.beyond(t, "company.create", byREST(solar))
	c.beyond(t, "company.create", byGraph(solar))
	empty := c.Number(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, 'Empty', 1) RETURNING id`, c.home)
	deeper := c.Number(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, 'Deeper', 1) RETURNING id`, solar)
	c.works(t, byREST(empty))
	c.beyond(t, "company.create", byREST(deeper))
	c.works(t, byGraph(c.home)) // upwards nobody gets it who has not had it
	// Who has all the rights, and is no owner, makes nobody its owner.
	c.SQL(`UPDATE roles SET features = (SELECT features FROM roles WHERE name = 'Owner' AND customer_id IS NULL AND application_id = 1) WHERE id = $1`, c.role)
	if a := byREST(solar)(); a.Status != 403 || !strings.Contains(string(a.Body), "only an owner") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	c.SQL(`UPDATE roles SET is_owner = true WHERE id = $1`, c.role)
	c.works(t, byREST(solar))
}
