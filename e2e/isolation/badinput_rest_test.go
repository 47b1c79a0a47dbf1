package isolation

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/secret"
	"canopy/rest"
)

// TestRESTBadBodies tries every member of every body with every hostile value: each is refused with
// its name and nothing written, or kept as it came.
func TestRESTBadBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &badInput{world: w, tables: newTables(t, w.DB)}
	_, registry := rest.New(w.App.Resolver, rest.Options{})
	tried := 0
	for _, e := range rest.Endpoints(registry) {
		if agentOperations()[e.OperationID] {
			continue // TestAgentBadBodies
		}
		members := bodyMembers(registry.OpenAPI(), e)
		rows := b.rows(e.OperationID)
		if len(members) > 0 && len(rows) == 0 {
			t.Errorf("%s has no good body to start from", e.OperationID)
			continue
		}
		for _, m := range members {
			tried++
			if (e.OperationID == "logIn" || e.OperationID == "openSession") && (m.name == "otp" || m.name == "passkey") {
				continue // not looked at without two-factor
			}
			t.Run(e.OperationID+"/"+m.name, func(t *testing.T) {
				b.T = t
				b.member(t, e, choose(rows, w, m.name), m)
			})
		}
	}
	if tried == 0 {
		t.Error("no operation has a body")
	}
	w.quiet(t)
}

// badInput tries inputs as the root company's owner.
type badInput struct {
	*world
	tables *tables
	device *platform.Authenticator
}

// rows are the good bodies of an operation: those of the isolation matrix, and those of operations
// that ask for no token.
func (b *badInput) rows(op string) []restRow {
	var list []restRow
	for _, row := range append(restRows(), b.publicRows()...) {
		if name, _, _ := strings.Cut(row.op, "/"); name == op && row.body != nil {
			list = append(list, row)
		}
	}
	return list
}

func (b *badInput) publicRows() []restRow {
	return []restRow{
		{op: "logIn", body: func(*ask) any { return object{"email": b.Demo.AdminEmail, "password": b.Demo.AdminPassword} }},
		{op: "openSession", body: func(*ask) any {
			return object{"email": b.Demo.AdminEmail, "password": b.Demo.AdminPassword, "cookie": false}
		}},
		{op: "openPasskeySession", body: func(*ask) any { return b.passkey() }},
		{op: "refreshSession", body: func(*ask) any { return object{"refreshToken": b.refreshToken()} }},
		{op: "endSession", body: func(*ask) any { return object{"refreshToken": b.refreshToken()} }},
		{op: "settleEmail", body: func(a *ask) any {
			link := secret.NewLinkToken()
			change := db.EmailChange{UserID: a.shared, Email: "new@elsewhere.example"}
			a.ok(a.App.Store.InsertEmailChange(a.ctx, change, db.ChangeHashes{Confirm: secret.HashSecret(link), Agree: secret.HashSecret(link + "?"), Stop: secret.HashSecret(link + "!")}, time.Now().Add(time.Hour)))
			return object{"token": link}
		}},
		{op: "signOut", body: func(*ask) any { return object{"refreshToken": b.refreshToken()} }},
		{op: "requestReset", body: func(*ask) any { return object{"email": "minh" + targetMail} }},
		{op: "setPassword", body: func(a *ask) any {
			link := secret.NewLinkToken()
			a.ok(a.App.Store.InsertLink(a.ctx, secret.HashSecret(link), db.Link{UserID: a.shared, CustomerID: a.target}, db.LinkInvitation, time.Now().Add(time.Hour)))
			return object{"token": link, "password": "a good long password"}
		}},
		{op: "showLink", body: func(a *ask) any {
			link := secret.NewLinkToken()
			a.ok(a.App.Store.InsertLink(a.ctx, secret.HashSecret(link), db.Link{UserID: a.shared, CustomerID: a.target}, db.LinkInvitation, time.Now().Add(time.Hour)))
			return object{"token": link}
		}},
	}
}

// passkey is a new answer of a passkey, of somebody who has nothing else to do.
func (b *badInput) passkey() object {
	const who = "greta@alpine.example"
	t := b.T.(*testing.T)
	if b.device == nil {
		b.SQL(`UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE email = $2`, b.Demo.AdminEmail, who)
		b.device, _ = b.AddPasskey(t, b.OpenSession(t, who, b.Demo.AdminPassword).Token, b.Demo.AdminPassword)
	}
	body := b.Passkey(t, b.device)
	body["cookie"] = false
	return body
}

// refreshToken is that of a new session of the root company's owner.
func (b *badInput) refreshToken() string {
	return b.OpenSession(b.T.(*testing.T), b.Demo.AdminEmail, b.Demo.AdminPassword).Refresh
}

// asker is the root company's owner, or for the assistant that of the company whose contexts are asked
// for.
func asker(w *world, assistant bool) *ask {
	if assistant {
		return &ask{world: w, as: asOwner}
	}
	return &ask{world: w, as: asRoot}
}

// choose gives the row whose body has the member, or else the first.
func choose(rows []restRow, w *world, name string) restRow {
	for _, row := range rows {
		if _, has := row.body(asker(w, row.assistant)).(object)[name]; has {
			return row
		}
	}
	return rows[0]
}

// bodyMembers lists the members of an operation's JSON body.
func bodyMembers(doc *huma.OpenAPI, e rest.Endpoint) []inputMember {
	op := operationOf(doc, e)
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	schema := op.RequestBody.Content["application/json"].Schema
	if schema.Ref != "" {
		schema = doc.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	var list []inputMember
	for name, s := range schema.Properties {
		m := inputMember{of: e.OperationID, name: name, kind: s.Type}
		for _, r := range schema.Required {
			m.required = m.required || r == name
		}
		list = append(list, m)
	}
	return list
}

func operationOf(doc *huma.OpenAPI, e rest.Endpoint) *huma.Operation {
	item := doc.Paths[e.Path]
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPut: item.Put, http.MethodPost: item.Post, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[e.Method]
}

// member tries one member with everything.
func (b *badInput) member(t *testing.T, e rest.Endpoint, row restRow, m inputMember) {
	a := asker(b.world, row.assistant)
	var path string
	var good object
	for _, v := range append(hostiles(m), hostile{name: "twice", must: refused}) {
		if good == nil {
			if path = e.Path; row.path != nil {
				path = fill(path, row.path(a))
			}
			good = row.body(a).(object)
		}
		body := with(t, good, m.name, v.raw)
		if v.name == "twice" {
			body = `{"` + m.name + `":null,"` + m.name + `":null}`
		}
		b.forgive()
		before := b.tables.state(t)
		got := b.Do(e.Method, path, a.token(row.assistant), body)
		if e.Rule == nil || spends(got) { // what comes without a token may use up more than the tables have
			good = nil
		}
		if now := b.tables.state(t); got.Status == http.StatusUnauthorized && strings.HasSuffix(now, ", in audit_events") {
			before = now // a failed login is told of
		}
		if e.OperationID == "createPermission" && (m.name == "email" || m.name == "userIdentityId") && v.must == accepted {
			v.must = refused // one of the two is needed
		}
		if personal(e.OperationID) && v.must == accepted {
			continue // it is no person's login
		}
		if e.OperationID == "refreshSession" && m.name == "refreshToken" && v.must == accepted {
			continue // without it there is no session
		}
		if e.OperationID == "createKey" && (m.name == "customerId" || m.name == "userId") && v.must == accepted {
			continue // the caller itself is no user of every company, nor the user one of the caller's
		}
		b.judge(t, fitting(e.OperationID, m.name, v), m.name, got, before)
	}
}

// fitting is a value as the members of some operations take it: longer than others, 0, or never kept; or as names don't.
func fitting(op, member string, v hostile) hostile {
	persons := member == "firstName" || member == "lastName" || member == "name" && (op == "createUser" || op == "createPermission")
	switch {
	case v.name == "turned" && (member == "name" || persons), v.name == "link" && persons:
		v.must = refused
	case v.name == "too long" && (strings.HasSuffix(op, "Context") || op == "searchContexts") && (member == "description" || member == "prompt"),
		v.name == "0" && (member == "shareState" || member == "graceSeconds"):
		v.must, v.text = accepted, ""
	case op == "updateDocument" && member == "attributes" && v.name == "object": // which they are
		v.must = accepted
	case strings.HasSuffix(op, "Secret") && member == "value", member == "clientSecret": // which is sealed
		v.text = ""
	case op == "requestReset", op == "endSession", op == "signOut", op == "searchContext", op == "searchContexts", op == "askContext": // which answer, and keep nothing
		v.text = ""
	case (op == "createUser" || op == "createPermission") && member == "name": // whose words are kept as two names
		v.text = strings.TrimSpace(v.text)
	}
	return v
}

// forgive has failed logins forgotten, which would slow the next ones down.
func (b *badInput) forgive() {
	const here = "127.0.0.0/24"
	b.App.Resolver.Throttle.Succeed(b.ctx, "account:"+b.Demo.AdminEmail+"|"+here)
	b.App.Resolver.Crowds.Succeed(b.ctx, "account:"+b.Demo.AdminEmail)
	b.App.Resolver.Addresses.Succeed(b.ctx, "address:"+here)
	b.App.Resolver.Addresses.Succeed(b.ctx, "passkey address:"+here)
}

// judge checks what came of a hostile value.
func (b *badInput) judge(t *testing.T, v hostile, name string, got platform.Answer, before string) {
	t.Helper()
	isRefused := classOf(got) != getsOK
	switch {
	case got.Status >= 500 || classOf(got) == "INTERNAL":
		t.Errorf("%s: %d %.300s", v.name, got.Status, got.Body)
	case v.must == refused && !isRefused, v.must == accepted && isRefused:
		t.Errorf("%s: %d %.300s", v.name, got.Status, got.Body)
	case isRefused:
		if b.tables.state(t) != before {
			t.Errorf("%s: the refused request has written something", v.name)
		}
		if c := classOf(got); (c == getsBad || c == "413" || c == "PAYLOAD_TOO_LARGE") && !strings.Contains(string(got.Body), name) {
			t.Errorf("%s: the refusal does not name the member: %.300s", v.name, got.Body)
		}
	case name == "password" && v.text != "":
		if opens, err := secret.CheckPassword(t.Context(), secret.Known(0), b.passwordHash(), v.text); err != nil || !opens {
			t.Errorf("%s: accepted, and opens nothing: %v", v.name, err)
		}
	case v.text != "" && !b.kept(v.text):
		t.Errorf("%s: accepted, and not kept as it came", v.name)
	}
}

// passwordHash is that of the shared user.
func (b *badInput) passwordHash() (hash string) {
	b.Look(&hash, `SELECT password_hash FROM users WHERE id = $1`, b.shared)
	return hash
}

// kept tells whether a text stands in the tables exactly as it came.
func (b *badInput) kept(text string) (found bool) {
	b.ok(b.tables.holds.Get(&found, text))
	return found
}

// TestRESTBadParameters tries every path and query parameter.
func TestRESTBadParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := newTables(t, w.DB)
	_, registry := rest.New(w.App.Resolver, rest.Options{})
	asker(w, false).aBranchBelow() // which a good body names
	before := x.state(t)
	for _, e := range rest.Endpoints(registry) {
		if agentOperations()[e.OperationID] {
			continue // TestAgentBadParameters
		}
		for _, p := range operationOf(registry.OpenAPI(), e).Parameters {
			if p.In != "path" && p.In != "query" {
				continue
			}
			t.Run(e.OperationID+"/"+p.Name, func(t *testing.T) { w.parameter(t, e, p) })
		}
	}
	if x.state(t) != before {
		t.Error("a refused request has written something")
	}
	w.quiet(t)
}

// badValues are wrong for any parameter that is not a cursor; what is a number may be out of range.
var badValues = []string{"x", "1.5", " 1", "0x10", "\x00", "\xff", "🙂", "-1", "0", "9223372036854775808", "-9223372036854775809", strings.Repeat("9", 4000)}

func (w *world) parameter(t *testing.T, e rest.Endpoint, p *huma.Param) {
	w.T = t
	for _, v := range badValues {
		numeric := v == "0" || v == "-1"
		if p.In == "query" && (numeric && p.Schema.Type == huma.TypeBoolean || v == "0" && (p.Name == "self" || p.Name == "level" || p.Name == "shareState")) {
			continue
		}
		if isSearched(p, v) {
			continue
		}
		path := place.ReplaceAllStringFunc(e.Path, func(at string) string {
			if at == "{"+p.Name+"}" {
				return url.PathEscape(v)
			}
			return "1"
		})
		if p.In == "query" {
			path += "?" + p.Name + "=" + url.QueryEscape(v)
		}
		a := asker(w, strings.HasPrefix(e.Path, "/context"))
		got := w.Do(e.Method, path, a.token(a.as == asOwner), goodBody(a, e))
		if got.Status < 400 || got.Status >= 500 {
			t.Errorf("%.30q: %d %.300s", v, got.Status, got.Body)
		}
		if e.OperationID == "finishSignOn" && strings.Contains(string(got.Body), "sso_state") {
			continue // what no browser has begun is refused as a whole
		}
		if got.Status == 400 && !strings.Contains(string(got.Body), p.In+"."+p.Name) {
			t.Errorf("%.30q: the refusal does not name the parameter: %.300s", v, got.Body)
		}
	}
}

// isSearched tells whether a value is a text that is looked for, so that it is not wrong.
func isSearched(p *huma.Param, v string) bool {
	return (p.Name == "text" || p.Name == "search") && len(v) < 1000 && v != "\x00" && v != "\xff"
}

// goodBody is a body whose only fault is that of the parameter.
func goodBody(a *ask, e rest.Endpoint) any {
	for _, row := range slices.Concat(contextRows(), passkeyRows(), limitRows(), permissionRows(), customerRows(), identityRESTRows()) {
		if row.op == e.OperationID && row.body != nil {
			return row.body(a)
		}
	}
	if e.Method != http.MethodPost && e.Method != http.MethodPut {
		return nil
	}
	return object{}
}
