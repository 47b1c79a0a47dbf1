package agents

import (
	"fmt"
	"net/http"
	"testing"

	"canopy/e2e/platform"
	"canopy/resolvers"
)

// office is a company whose people start runs that search its contexts.
type office struct {
	*platform.Platform
	customer, agent int64
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{Platform: platform.Start(t)}
	o.NoDemoMails()
	o.customer = o.Customer("Alpine Energy")
	o.agent = o.Publish(o.TokenOf(o.customer, "greta@alpine.example", "builder"), platform.Lookup)
	return o
}

// hire gives a person a role on the company's accounts for the applications.
func (o *office) hire(email, role string, apps ...string) {
	o.T.Helper()
	for _, app := range apps {
		o.Must(http.StatusOK, "POST", "/permission", o.Root(), object{
			"appAccountId": o.Account(o.customer, app), "appRoleId": o.RoleID(o.customer, app, role), "email": email,
		})
	}
}

// signIn logs a person in to the company.
func (o *office) signIn(email string) string {
	o.T.Helper()
	o.SQL(`UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE email = $2`, platform.DemoAdmin, email)
	a := o.Must(http.StatusOK, "POST", "/auth/token", "", object{"email": email, "password": o.Demo.AdminPassword, "customerId": o.customer})
	return platform.Member(o.T, a.JSON(o.T), "token").(string)
}

// key gives a token of an API key that is a person's in the company.
func (o *office) key(email string) string {
	o.T.Helper()
	return o.TokenOf(o.customer, email, "builder")
}

// desk makes a context in a person's name, private or shared.
func (o *office) desk(email string, share int) int64 {
	o.T.Helper()
	token := o.TokenOf(o.customer, email, "assistant")
	id := o.NewContext(token, "Diary")
	o.Must(http.StatusNoContent, "PUT", fmt.Sprintf("/context/share/%d", id), token, object{"shareState": share})
	return id
}

// sees tells whether the search of a run found the context.
func (o *office) sees(t *testing.T, job string, context int64) bool {
	t.Helper()
	a := o.Poll(o.RootAs("builder"), job)
	if a.Status == http.StatusOK {
		return true
	}
	searchFails(t, a, "there is no context "+platform.Decimal(context))
	return false
}

// TestRunsSeeContextsAsTheirStarters: a run sees the contexts that its starter sees at the moment of the
// search. No worker is there until every run is started and the rights have changed.
func TestRunsSeeContextsAsTheirStarters(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	both := []string{"assistant", "builder"}
	member := func(email string) string { o.hire(email, resolvers.MemberRole, both...); return email }
	author, reader := member("author@alpine.example"), member("reader@alpine.example")
	private, shared := o.desk(author, 0), o.desk(author, 1)
	o.hire("builder@alpine.example", resolvers.MemberRole, "builder")
	o.hire(platform.DemoAdmin, resolvers.ViewerRole, "assistant") // a person of the company above with a permission in this one
	rootLogin, rootKey := o.Login(platform.DemoAdmin, o.Demo.AdminPassword), o.RootAs("builder")
	stranger := o.TokenOf(o.Customer("Northwind Group"), platform.DemoAdmin, "builder")

	// blind is a role that runs agents and reads no contexts.
	blind := func(email string) string {
		o.hire(email, resolvers.MemberRole, both...)
		o.SQL(`WITH made AS (INSERT INTO roles (application_id, customer_id, name, features)
				SELECT i.application_id, a.customer_id, $1, '{agent.run}' FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id WHERE a.id = $2 RETURNING id)
			UPDATE permissions SET role_id = (SELECT id FROM made) WHERE account_id = $2 AND user_id = $3`,
			"Blind "+email, o.Account(o.customer, "assistant"), o.UserID(email))
		return email
	}
	suspend := func(email string) func() {
		return func() {
			o.SQL(`UPDATE permissions SET disabled = true WHERE user_id = $1 AND account_id = $2`, o.UserID(email), o.Account(o.customer, "assistant"))
		}
	}
	ofKeys := func(statement, email string) func() {
		return func() { o.SQL(statement+` WHERE user_id = $1`, o.UserID(email)) }
	}
	moved := o.desk(author, 1)
	type sight struct {
		token     string
		context   int64
		meanwhile func()
		want      bool
		job       string
	}
	cases := map[string]*sight{
		"the author's login, private":                {token: o.signIn(author), context: private, want: true},
		"another person's login, private":            {token: o.signIn(reader), context: private},
		"another person's login, shared":             {token: o.signIn(reader), context: shared, want: true},
		"an owner's login, private":                  {token: o.signIn("greta@alpine.example"), context: private, want: true},
		"an admin's login, private":                  {token: o.signIn("jonas@alpine.example"), context: private},
		"a login without the assistant, shared":      {token: o.signIn("builder@alpine.example"), context: shared},
		"a login without context.read, shared":       {token: o.signIn(blind("blind@alpine.example")), context: shared},
		"another person's key, private":              {token: o.key(reader), context: private, want: true},
		"a key without the assistant, shared":        {token: o.key("builder@alpine.example"), context: shared},
		"a key without context.read, shared":         {token: o.key(blind("blindkey@alpine.example")), context: shared},
		"a login from above, with a permission here": {token: rootLogin, context: shared, want: true},
		"a login from above, private":                {token: rootLogin, context: private},
		"a key from above, with a permission here":   {token: rootKey, context: private, want: true},
		"a permission disabled meanwhile, login":     {token: o.signIn(member("a@alpine.example")), context: shared, meanwhile: suspend("a@alpine.example")},
		"a permission disabled meanwhile, key":       {token: o.key(member("b@alpine.example")), context: shared, meanwhile: suspend("b@alpine.example")},
		"a key revoked meanwhile":                    {token: o.key(member("c@alpine.example")), context: shared, meanwhile: ofKeys(`UPDATE api_keys SET revoked_at = now()`, "c@alpine.example")},
		"a key expired meanwhile":                    {token: o.key(member("d@alpine.example")), context: shared, meanwhile: ofKeys(`UPDATE api_keys SET expires_at = now()`, "d@alpine.example")},
		"a key gone meanwhile, its person's own":     {token: o.key(member("e@alpine.example")), context: o.desk("e@alpine.example", 0), meanwhile: ofKeys(`DELETE FROM api_keys`, "e@alpine.example")},
		"a context that is made private meanwhile":   {token: o.signIn(reader), context: moved, meanwhile: func() { o.SQL(`UPDATE contexts SET share_state = 0 WHERE id = $1`, moved) }},
		"a login that may read contexts meanwhile": {token: o.signIn(blind("late@alpine.example")), context: shared, want: true, meanwhile: func() {
			o.SQL(`UPDATE permissions SET role_id = $1 WHERE user_id = $2 AND account_id = $3`,
				o.RoleID(o.customer, "assistant", resolvers.ViewerRole), o.UserID("late@alpine.example"), o.Account(o.customer, "assistant"))
		}},
	}
	for _, c := range cases {
		c.job = o.Start(c.token, o.agent, object{"context": c.context, "question": "x"})
	}
	for _, c := range cases {
		if c.meanwhile != nil {
			c.meanwhile()
		}
	}
	o.Work(nil)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := o.sees(t, c.job, c.context); got != c.want {
				t.Errorf("the run sees the context: %v", got)
			}
		})
	}
	t.Run("a permission above is none below", func(t *testing.T) {
		o.SQL(`DELETE FROM permissions WHERE user_id = $1 AND account_id = $2`, o.UserID(platform.DemoAdmin), o.Account(o.customer, "assistant"))
		for _, token := range []string{stranger, rootLogin} {
			if o.sees(t, o.Start(token, o.agent, object{"context": shared, "question": "x"}), shared) {
				t.Error("the run of a company above sees the context")
			}
		}
	})
	t.Run("a disabled account", func(t *testing.T) {
		o.SQL(`UPDATE accounts SET disabled = true WHERE id = $1`, o.Account(o.customer, "assistant"))
		for _, token := range []string{o.key(author), o.signIn(author)} {
			if o.sees(t, o.Start(token, o.agent, object{"context": shared, "question": "x"}), shared) {
				t.Error("the run sees a context of a disabled account")
			}
		}
	})
}
