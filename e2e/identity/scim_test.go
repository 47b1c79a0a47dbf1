package identity

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// directory is a company's directory at work.
type directory struct {
	*platform.Platform
	alpine int64
	id     int64
	token  string
}

func newDirectory(t *testing.T) directory {
	t.Helper()
	s := platform.Start(t)
	for _, email := range []string{"greta@alpine.example", "mira@alpine.example"} {
		s.SetUp(email)
	}
	d := directory{Platform: s, alpine: s.Customer("Alpine Energy")}
	d.id, d.token = d.made(t, d.OpenSession(t, "greta@alpine.example", platform.NewPassword).Token)
	return d
}

// made makes a token as somebody.
func (d directory) made(t *testing.T, as string) (id int64, token string) {
	t.Helper()
	made := d.Must(http.StatusCreated, "POST", "/v1/scim-tokens", as, map[string]any{"customerId": d.alpine, "name": "Directory"})
	return made.ID(t, "id"), platform.Member(t, made.JSON(t), "token").(string)
}

func (d directory) ask(method, path string, body any) platform.Answer {
	d.T.Helper()
	return d.Do(method, "/scim/v2"+path, d.token, body)
}

func (d directory) must(t *testing.T, status int, method, path string, body any) any {
	t.Helper()
	a := d.ask(method, path, body)
	if a.Status != status {
		t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	if status == http.StatusNoContent {
		return nil
	}
	if kind := a.Header.Get("Content-Type"); kind != "application/scim+json" {
		t.Errorf("%s is %s", path, kind)
	}
	return a.JSON(t)
}

// refused checks an error's form (RFC 7644, section 3.12).
func (d directory) refused(t *testing.T, status int, kind, method, path string, body any) {
	t.Helper()
	a := d.ask(method, path, body)
	var have map[string]any
	if a.Status == status {
		have = a.JSON(t).(map[string]any)
	}
	if got, _ := have["scimType"].(string); a.Status != status || have["status"] != strconv.Itoa(status) || got != kind || have["detail"] == "" {
		t.Errorf("%s %s: want %d %s: %d %s", method, path, status, kind, a.Status, a.Body)
	}
}

func patchOf(operations ...map[string]any) map[string]any {
	return map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:PatchOp"}, "Operations": operations}
}

// TestScimDescribesItself: a directory finds out what there is.
func TestScimDescribesItself(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	config := d.must(t, 200, "GET", "/ServiceProviderConfig", nil)
	if platform.Member(t, config, "patch.supported") != true || platform.Member(t, config, "bulk.supported") != false || platform.Member(t, config, "filter.maxResults") != 200.0 {
		t.Errorf("%v", config)
	}
	for _, path := range []string{"/ResourceTypes", "/Schemas"} {
		list := d.must(t, 200, "GET", path, nil)
		if platform.Member(t, list, "totalResults") != 2.0 {
			t.Errorf("%s: %v", path, list)
		}
		for _, each := range platform.Member(t, list, "Resources").([]any) {
			if one := d.must(t, 200, "GET", path+"/"+platform.Member(t, each, "id").(string), nil); fmt.Sprint(one) != fmt.Sprint(each) {
				t.Errorf("%v is %v", each, one)
			}
		}
	}
	d.refused(t, 404, "", "GET", "/Schemas/none", nil)
	d.refused(t, 404, "", "GET", "/Bulk", nil)
	d.refused(t, 404, "", "POST", "/Users/.search", map[string]any{})
}

// TestScimUsers: people are added, found, changed, made inactive and active again, and taken out.
func TestScimUsers(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	made := d.ask("POST", "/Users", map[string]any{
		"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:User"}, "userName": "babs@alpine.example", "externalId": "701984", "name": map[string]any{"givenName": "Barbara", "familyName": "Jensen"},
	})
	if made.Status != http.StatusCreated {
		t.Fatalf("%d %s", made.Status, made.Body)
	}
	id := platform.Member(t, made.JSON(t), "id").(string)
	at := "/Users/" + id
	if where := made.Header.Get("Location"); where != d.URL+"/scim/v2"+at || platform.Member(t, made.JSON(t), "meta.location") != where {
		t.Errorf("it is at %s", where)
	}
	got := d.must(t, 200, "GET", at, nil)
	if platform.Member(t, got, "userName") != "babs@alpine.example" || platform.Member(t, got, "active") != true || platform.Member(t, got, "name.formatted") != "Barbara Jensen" || platform.Member(t, got, "externalId") != "701984" {
		t.Errorf("%v", got)
	}
	t.Run("found", func(t *testing.T) {
		for filter, want := range map[string]float64{
			`userName eq "BABS@alpine.example"`: 1, `externalId eq "701984"`: 1, `externalId eq "7"`: 0, `emails.value eq "babs@alpine.example"`: 1, `id eq "` + id + `"`: 1,
			`userName eq "olivia@brightwater.example"`: 0, `name.familyName sw "jen" and active eq true`: 1, `userName ew "@alpine.example"`: 5, `not (userName pr)`: 0,
		} {
			list := d.must(t, 200, "GET", "/Users?filter="+url.QueryEscape(filter), nil)
			if n := platform.Member(t, list, "totalResults"); n != want {
				t.Errorf("%s: %v, want %v", filter, n, want)
			}
		}
		page := d.must(t, 200, "GET", "/Users?startIndex=2&count=2&attributes=userName", nil)
		if platform.Member(t, page, "totalResults") != 5.0 || platform.Member(t, page, "itemsPerPage") != 2.0 || platform.Member(t, page, "startIndex") != 2.0 {
			t.Errorf("%v", page)
		}
		if first := platform.Member(t, page, "Resources.0").(map[string]any); first["userName"] == nil || first["name"] != nil {
			t.Errorf("%v", first)
		}
		if none := d.must(t, 200, "GET", "/Users?count=0", nil); platform.Member(t, none, "totalResults") != 5.0 || platform.Member(t, none, "Resources.#") != 0 {
			t.Errorf("%v", none)
		}
	})
	t.Run("changed", func(t *testing.T) {
		d.must(t, 200, "PUT", at, map[string]any{"userName": "babs@alpine.example", "name": map[string]any{"givenName": "Babs", "familyName": "Jensen"}, "externalId": "701985"})
		got := d.must(t, 200, "PATCH", at, patchOf(map[string]any{"op": "Replace", "path": "name.familyName", "value": "Jonas"}))
		if platform.Member(t, got, "name.formatted") != "Babs Jonas" || platform.Member(t, got, "externalId") != "701985" {
			t.Errorf("%v", got)
		}
		d.must(t, 200, "PATCH", at, patchOf(map[string]any{"op": "replace", "value": map[string]any{"active": false}}))
		got = d.must(t, 200, "PUT", at, map[string]any{"userName": "babs@alpine.example", "externalId": "701985"}) // what is left out stays
		if platform.Member(t, got, "name.formatted") != "Babs Jonas" || platform.Member(t, got, "active") != false {
			t.Errorf("%v", got)
		}
		// What is refused is refused whole: the name stays, too.
		d.must(t, 201, "POST", "/Users", map[string]any{"userName": "taken@alpine.example", "externalId": "taken"})
		d.refused(t, 409, "uniqueness", "PUT", at, map[string]any{"userName": "babs@alpine.example", "externalId": "taken", "name": map[string]any{"givenName": "X"}, "active": true})
		if got = d.must(t, 200, "GET", at, nil); platform.Member(t, got, "name.formatted") != "Babs Jonas" || platform.Member(t, got, "active") != false {
			t.Errorf("%v", got)
		}
	})
	t.Run("inactive", func(t *testing.T) {
		mira := strconv.FormatInt(d.UserID("mira@alpine.example"), 10)
		session := d.OpenSession(t, "mira@alpine.example", platform.NewPassword)
		d.must(t, 200, "PATCH", "/Users/"+mira, patchOf(map[string]any{"op": "replace", "value": map[string]any{"active": "False"}}))
		if works(d.Platform, session.Token) {
			t.Error("the session goes on")
		}
		if a := d.Do("POST", "/auth/session", "", map[string]any{"email": "mira@alpine.example", "password": platform.NewPassword}); a.Status != http.StatusForbidden {
			t.Errorf("a login: %d %s", a.Status, a.Body)
		}
		d.must(t, 200, "PATCH", "/Users/"+mira, patchOf(map[string]any{"op": "replace", "path": "active", "value": true}))
		if !works(d.Platform, d.OpenSession(t, "mira@alpine.example", platform.NewPassword).Token) {
			t.Error("the permissions are not given back")
		}
		// Somebody gives the permission to who is not active: the directory's word holds each time that it says so, and only then.
		set := func(operation map[string]any) { d.must(t, 200, "PATCH", "/Users/"+mira, patchOf(operation)) }
		off := map[string]any{"op": "replace", "path": "active", "value": false}
		set(off)
		var permission int64
		d.Look(&permission, `SELECT p.id FROM permissions p JOIN accounts a ON a.id = p.account_id WHERE p.user_id = $1 AND a.customer_id = $2 ORDER BY p.id LIMIT 1`, d.UserID("mira@alpine.example"), d.alpine)
		d.Must(204, "PATCH", fmt.Sprint("/permission/", permission), d.Root(), nil)
		given := d.OpenSession(t, "mira@alpine.example", platform.NewPassword).Token
		set(map[string]any{"op": "replace", "path": "name.givenName", "value": "Mirabel"})
		if !works(d.Platform, given) {
			t.Error("a name takes a permission away")
		}
		for range 2 {
			set(off)
		}
		if works(d.Platform, given) || d.Number(`SELECT count(*) FROM permissions WHERE id = $1 AND disabled`, permission) != 1 {
			t.Error("what the directory says again is not done")
		}
		set(map[string]any{"op": "replace", "path": "active", "value": true})
		if d.Number(`SELECT count(*) FROM permissions WHERE id = $1 AND NOT disabled`, permission) != 1 {
			t.Error("the permission is not given back the second time")
		}
		d.refused(t, 400, "invalidValue", "PATCH", "/Users/"+strconv.FormatInt(d.UserID("greta@alpine.example"), 10), patchOf(map[string]any{"op": "replace", "path": "active", "value": false})) // the last owner
	})
	t.Run("refused", func(t *testing.T) {
		user := func(name string) map[string]any { return map[string]any{"userName": name} }
		d.refused(t, 409, "uniqueness", "POST", "/Users", user("babs@alpine.example"))
		d.refused(t, 409, "uniqueness", "POST", "/Users", map[string]any{"userName": "new@alpine.example", "externalId": "701985"})
		d.refused(t, 400, "invalidValue", "POST", "/Users", user("babs"))
		d.refused(t, 400, "invalidValue", "POST", "/Users", map[string]any{})
		d.refused(t, 400, "invalidValue", "POST", "/Users", map[string]any{"userName": "n@alpine.example", "active": 1})
		d.refused(t, 400, "mutability", "PUT", at, user("other@alpine.example"))
		d.refused(t, 400, "invalidValue", "POST", "/Users", map[string]any{"userName": "n@alpine.example", "externalId": 42})
		d.refused(t, 400, "invalidValue", "PATCH", at, patchOf(map[string]any{"op": "replace", "path": "externalId", "value": 42}))
		d.refused(t, 400, "invalidValue", "PATCH", at, patchOf(map[string]any{"op": "replace", "path": "name", "value": "Babs Jonas"}))
		d.refused(t, 400, "invalidValue", "PUT", at, map[string]any{"userName": "babs@alpine.example", "externalId": "a\u0000b"})
		d.refused(t, 400, "invalidSyntax", "POST", "/Users", `{"userName": "n@alpine.example"} {}`)
		d.refused(t, 400, "invalidFilter", "GET", "/Users?filter="+url.QueryEscape(strings.Repeat("id pr or ", 40)+"id pr"), nil)
		for _, filter := range []string{`userName eq "\u0000"`, `externalId eq "\u0000"`, `externalId eq ""`, `userName eq 7`} {
			if list := d.must(t, 200, "GET", "/Users?filter="+url.QueryEscape(filter), nil); platform.Member(t, list, "totalResults") != 0.0 {
				t.Errorf("%s: %v", filter, list)
			}
		}
		far := d.must(t, 200, "GET", "/Users?startIndex=9223372036854775807&filter="+url.QueryEscape(`userName eq "babs@alpine.example"`), nil)
		if platform.Member(t, far, "totalResults") != 1.0 || platform.Member(t, far, "Resources.#") != 0 {
			t.Errorf("%v", far)
		}
		d.refused(t, 400, "invalidFilter", "GET", "/Users?filter=userName", nil)
		d.refused(t, 400, "invalidPath", "PATCH", at, patchOf(map[string]any{"op": "replace", "path": "a b", "value": 1}))
		d.refused(t, 400, "noTarget", "PATCH", at, patchOf(map[string]any{"op": "remove"}))
		d.refused(t, 400, "invalidSyntax", "PATCH", at, map[string]any{"Operations": []any{}})
		d.refused(t, 400, "invalidSyntax", "POST", "/Users", "{")
		d.refused(t, 413, "", "POST", "/Users", `{"userName": "`+strings.Repeat("x", 2<<20)+`"}`)
		for _, path := range []string{fmt.Sprint("/Users/", d.UserID("olivia@brightwater.example")), fmt.Sprint("/Users/", d.UserID("lukas@alpine-hydro.example")), "/Users/0", "/Users/x"} {
			d.refused(t, 404, "", "GET", path, nil) // of another company, and of one below
			d.refused(t, 404, "", "DELETE", path, nil)
		}
	})
	t.Run("taken out", func(t *testing.T) {
		d.must(t, 204, "DELETE", at, nil)
		d.refused(t, 404, "", "GET", at, nil)
	})
	var told string
	d.Look(&told, `SELECT string_agg(DISTINCT action, ' ' ORDER BY action) FROM audit_events WHERE client_id = $1`, fmt.Sprint("scim:", d.id))
	if told != "permission.toggled user.created user.provisioned user.removed user.updated" {
		t.Errorf("the log has %s", told)
	}
	if n := d.Number(`SELECT count(*) FROM scim_tokens WHERE id = $1 AND last_used_at IS NOT NULL AND last_changed_at IS NOT NULL`, d.id); n != 1 {
		t.Error("its last use is not known")
	}
}

// TestScimGroups: the roles on a company's accounts are groups, whose members have the role.
func TestScimGroups(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	list := d.must(t, 200, "GET", "/Groups", nil)
	if platform.Member(t, list, "totalResults") != 12.0 { // four roles of three applications
		t.Errorf("%v", platform.Member(t, list, "totalResults"))
	}
	find := func(name string) string {
		t.Helper()
		found := d.must(t, 200, "GET", "/Groups?filter="+url.QueryEscape(`displayName eq "`+name+`"`), nil)
		return "/Groups/" + platform.Member(t, found, "Resources.0.id").(string)
	}
	member, viewer := find("tenant: Member"), find("tenant: Viewer")
	mira := strconv.FormatInt(d.UserID("mira@alpine.example"), 10)
	members := func(group string) (list []string) {
		t.Helper()
		for _, m := range platform.Member(t, d.must(t, 200, "GET", group, nil), "members").([]any) {
			list = append(list, platform.Member(t, m, "value").(string))
		}
		return list
	}
	if got := fmt.Sprint(members(viewer)); got != "["+mira+"]" {
		t.Errorf("viewers are %s", got)
	}
	others := len(members(member))
	value := []map[string]any{{"value": mira}}
	d.must(t, 204, "PATCH", member, patchOf(map[string]any{"op": "add", "path": "members", "value": value})) // in place of the role that there was
	if len(members(viewer)) != 0 || !slices.Contains(members(member), mira) || len(members(member)) != others+1 {
		t.Errorf("%v %v", members(viewer), members(member))
	}
	d.must(t, 204, "PATCH", member, patchOf(map[string]any{"op": "remove", "path": `members[value eq "` + mira + `"]`}))
	d.must(t, 200, "PUT", viewer, map[string]any{"displayName": "tenant: Viewer", "members": value})
	if len(members(member)) != others || len(members(viewer)) != 1 {
		t.Errorf("%v %v", members(viewer), members(member))
	}
	if own := d.must(t, 200, "GET", "/Groups?filter="+url.QueryEscape(`members.value eq "`+mira+`"`), nil); platform.Member(t, own, "totalResults") != 3.0 {
		t.Errorf("mira is in %v", own)
	}
	d.refused(t, 403, "", "POST", "/Groups", map[string]any{"displayName": "New"})
	d.refused(t, 403, "", "DELETE", viewer, nil)
	d.refused(t, 404, "", "GET", "/Groups/1-1", nil)
	d.refused(t, 400, "mutability", "PUT", viewer, map[string]any{"displayName": "Other", "members": value})
	outsider := []map[string]any{{"value": strconv.FormatInt(d.UserID("olivia@brightwater.example"), 10)}}
	d.refused(t, 400, "invalidValue", "PATCH", viewer, patchOf(map[string]any{"op": "add", "path": "members", "value": outsider}))
}

// TestScimChangesGroupsWhole: all of a request's members or none, the last owner stays, and who is not active gets what waits.
func TestScimChangesGroupsWhole(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	group := func(application, role string) string {
		return fmt.Sprintf("/Groups/%d-%d", d.Account(d.alpine, application), d.RoleID(0, application, role))
	}
	member := func(emails ...string) (list []map[string]any) {
		for _, email := range emails {
			list = append(list, map[string]any{"value": strconv.FormatInt(d.UserID(email), 10)})
		}
		return list
	}
	roles := func() (text string) {
		d.Look(&text, `SELECT string_agg(user_id || ' ' || account_id || ' ' || role_id || ' ' || disabled, ', ' ORDER BY user_id, account_id)
			FROM permissions WHERE account_id IN (SELECT id FROM accounts WHERE customer_id = $1)`, d.alpine)
		return text
	}
	before, events := roles(), d.Number(`SELECT count(*) FROM audit_events`)
	owners, viewers := group("tenant", "Owner"), group("tenant", "Viewer")
	d.refused(t, 400, "invalidValue", "PATCH", viewers, patchOf(map[string]any{"op": "add", "path": "members", "value": append(member("jonas@alpine.example"), map[string]any{"value": "1"})}))
	d.refused(t, 400, "invalidValue", "PUT", owners, map[string]any{"members": []any{}}) // the last owner
	d.refused(t, 400, "invalidValue", "PATCH", viewers, patchOf(
		map[string]any{"op": "add", "path": "members", "value": member("jonas@alpine.example")}, map[string]any{"op": "add", "path": "members", "value": member("greta@alpine.example")})) // who is the last owner
	d.refused(t, 400, "invalidValue", "PATCH", viewers, patchOf(map[string]any{"op": "add", "path": "members", "value": []string{"1"}}))
	d.refused(t, 400, "invalidPath", "PATCH", viewers, patchOf(map[string]any{"op": "remove", "path": `members[display eq "x"]`}))
	d.refused(t, 400, "invalidFilter", "GET", "/Groups?filter="+url.QueryEscape(`members pr`), nil)
	if now := roles(); now != before || d.Number(`SELECT count(*) FROM audit_events`) != events {
		t.Errorf("%s has become %s", before, now)
	}

	mira := "/Users/" + strconv.FormatInt(d.UserID("mira@alpine.example"), 10)
	d.must(t, 200, "PATCH", mira, patchOf(map[string]any{"op": "replace", "path": "active", "value": false}))
	d.SQL(`DELETE FROM permissions WHERE user_id = $1 AND account_id = $2`, d.UserID("mira@alpine.example"), d.Account(d.alpine, "tenant"))
	d.must(t, 204, "PATCH", viewers, patchOf(map[string]any{"op": "add", "value": map[string]any{"members": member("mira@alpine.example")}}))
	open := `SELECT count(*) FROM permissions WHERE user_id = $1 AND NOT disabled`
	if n := d.Number(open, d.UserID("mira@alpine.example")); n != 0 {
		t.Errorf("who is not active has %d permissions", n)
	}
	d.must(t, 200, "PATCH", mira, patchOf(map[string]any{"op": "replace", "path": "active", "value": true}))
	if n := d.Number(open, d.UserID("mira@alpine.example")); n != 3 {
		t.Errorf("who is active again has %d permissions", n)
	}
	// All groups with all of their members are a few statements, and one without members is another.
	list := d.must(t, 200, "GET", "/Groups?count=200", nil)
	for _, g := range platform.Member(t, list, "Resources").([]any) {
		id := platform.Member(t, g, "id").(string)
		if one := d.must(t, 200, "GET", "/Groups/"+id, nil); fmt.Sprint(one) != fmt.Sprint(g) {
			t.Errorf("%v is %v", g, one)
		}
		if one := d.must(t, 200, "GET", "/Groups/"+id+"?excludedAttributes=members", nil).(map[string]any); one["members"] != nil || one["displayName"] == nil {
			t.Errorf("%v", one)
		}
	}
}

// TestScimLeavesOthersAlone: a token of a company sees and changes nothing of another, below it or beside it, whoever has made it, and
// nothing of the person that somebody is elsewhere.
func TestScimLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.id, d.token = d.made(t, d.Root())
	rows := func() (text string) {
		d.Look(&text, `SELECT md5(string_agg(x, '' ORDER BY x)) FROM (
			SELECT m::text FROM memberships m WHERE customer_id <> $1 UNION ALL
			SELECT p.id || ' ' || p.role_id || ' ' || p.disabled FROM permissions p JOIN accounts a ON a.id = p.account_id WHERE a.customer_id <> $1 UNION ALL
			SELECT u.id || u.email || u.first_name || u.last_name FROM users u WHERE id IN (SELECT user_id FROM memberships WHERE customer_id <> $1)) t(x)`, d.alpine)
		return text
	}
	// Olivia is known elsewhere, and has a password.
	d.SetUp("olivia@brightwater.example")
	before := rows()
	olivia := d.must(t, 201, "POST", "/Users", map[string]any{"userName": "olivia@brightwater.example", "name": map[string]any{"givenName": "As", "familyName": "Entered"}})
	at := "/Users/" + platform.Member(t, olivia, "id").(string)
	if platform.Member(t, olivia, "name.formatted") != "As Entered" {
		t.Errorf("it is told of her %v", olivia)
	}
	renamed := map[string]any{"op": "replace", "path": "name.givenName", "value": "Other"}
	got := d.must(t, 200, "PATCH", at, patchOf(renamed))
	if platform.Member(t, got, "name.givenName") != "Other" {
		t.Errorf("what the company has entered is its own: %v", got)
	}
	d.SQL(`UPDATE memberships SET accepted_at = now() WHERE customer_id = $1 AND user_id = $2`, d.alpine, d.UserID("olivia@brightwater.example"))
	own := platform.Member(t, d.must(t, 200, "GET", at, nil), "name.formatted")
	if got := d.must(t, 200, "PATCH", at, patchOf(renamed)); platform.Member(t, got, "name.formatted") != own {
		t.Errorf("a name that is hers: %v", got)
	}
	d.must(t, 204, "PATCH", fmt.Sprintf("/Groups/%d-%d", d.Account(d.alpine, "tenant"), d.RoleID(0, "tenant", "Viewer")), patchOf(map[string]any{
		"op": "add", "path": "members", "value": []map[string]any{{"value": strconv.FormatInt(d.UserID("olivia@brightwater.example"), 10)}},
	}))
	d.must(t, 200, "PATCH", at, patchOf(map[string]any{"op": "replace", "path": "active", "value": false}))
	if !works(d.Platform, d.OpenSession(t, "olivia@brightwater.example", platform.NewPassword).Token) {
		t.Error("she can't sign in to her own company any more")
	}
	d.must(t, 204, "DELETE", at, nil)
	for _, other := range []string{"Alpine Hydro", "Brightwater Health"} {
		d.refused(t, 404, "", "GET", fmt.Sprintf("/Groups/%d-%d", d.Account(d.Customer(other), "tenant"), d.RoleID(0, "tenant", "Viewer")), nil)
		d.refused(t, 404, "", "PUT", fmt.Sprintf("/Groups/%d-%d", d.Account(d.Customer(other), "tenant"), d.RoleID(0, "tenant", "Viewer")), map[string]any{"members": []any{}})
	}
	if rows() != before {
		t.Error("other companies have other rows")
	}
	// The last owner stays, although one from above could take it away.
	d.refused(t, 400, "invalidValue", "DELETE", fmt.Sprint("/Users/", d.UserID("greta@alpine.example")), nil)
}

// TestScimFindsWhatItShows: who has another address by now, and has not accepted the company, is found by the one that it goes on seeing, and is not added a second time.
func TestScimFindsWhatItShows(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	const old, now = "olivia@brightwater.example", "olivia.married@brightwater.example"
	d.SetUp(old)
	id := platform.Member(t, d.must(t, 201, "POST", "/Users", map[string]any{"userName": old}), "id")
	d.SQL(`UPDATE users SET email = $2 WHERE email = $1`, old, now)
	find := func(filter string) (ids []any) {
		for _, each := range platform.Member(t, d.must(t, 200, "GET", "/Users?filter="+url.QueryEscape(filter), nil), "Resources").([]any) {
			ids = append(ids, platform.Member(t, each, "id"))
		}
		return ids
	}
	for filter, want := range map[string][]any{
		`userName eq "OLIVIA@brightwater.example"`: {id}, `emails.value eq "` + old + `"`: {id}, `userName sw "` + old + `"`: {id}, `userName eq "` + now + `"`: nil,
		`userName eq "_@_"`: nil, `userName eq "'"`: nil, `userName eq "brightwater.example"`: nil,
	} {
		if got := find(filter); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
	d.refused(t, 409, "uniqueness", "POST", "/Users", map[string]any{"userName": old})
	d.SQL(`UPDATE memberships SET accepted_at = now() WHERE customer_id = $1 AND user_id = $2`, d.alpine, d.UserID(now))
	if got := find(`userName eq "` + now + `"`); !slices.Equal(got, []any{id}) {
		t.Errorf("who has accepted is found by the own address: %v", got)
	}
	if got := find(`userName eq "` + old + `"`); got != nil {
		t.Errorf("and not by the former one: %v", got)
	}
}

// TestScimTokensMayWhatTheirMakersMay: a token reaches its company alone, may no more than who has made it, then and now, and ends with them.
func TestScimTokensMayWhatTheirMakersMay(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	admin := d
	admin.id, admin.token = d.made(t, d.As("Alpine Energy", "jonas@alpine.example"))
	owners := admin.must(t, 200, "GET", "/Groups?filter="+url.QueryEscape(`displayName eq "tenant: Owner"`), nil)
	mira := []map[string]any{{"value": strconv.FormatInt(d.UserID("mira@alpine.example"), 10)}}
	admin.refused(t, 403, "", "PATCH", "/Groups/"+platform.Member(t, owners, "Resources.0.id").(string), patchOf(map[string]any{"op": "add", "path": "members", "value": mira}))
	d.SQL(`UPDATE permissions SET role_id = $1 WHERE user_id = $2 AND account_id = $3`, d.RoleID(0, "tenant", "Viewer"), d.UserID("jonas@alpine.example"), d.Account(d.alpine, "tenant"))
	admin.must(t, 200, "GET", "/Users", nil)
	admin.refused(t, 403, "", "POST", "/Users", map[string]any{"userName": "new@alpine.example"})
	d.SQL(`UPDATE permissions SET disabled = true WHERE user_id = $1`, d.UserID("jonas@alpine.example"))
	admin.refused(t, 403, "", "GET", "/Users", nil)
	d.Must(204, "DELETE", fmt.Sprintf("/tenant/user/%d", d.UserID("jonas@alpine.example")), d.As("Alpine Energy", "greta@alpine.example"), nil)
	admin.refused(t, 401, "", "GET", "/Users", nil)

	last := "0"
	if strings.HasSuffix(d.token, last) {
		last = "1"
	}
	for _, token := range []string{"", "x", d.token + "x", d.token[:len(d.token)-1] + last, d.Root()} {
		other := d
		other.token = token
		other.refused(t, 401, "", "GET", "/Users", nil)
	}
	if a := d.Do("GET", "/tenant", d.token, nil); a.Status != http.StatusUnauthorized {
		t.Errorf("elsewhere: %d", a.Status)
	}
	if n := d.Number(`SELECT count(*) FROM scim_tokens WHERE scim_tokens::text LIKE '%' || $1 || '%'`, d.token[6:]); n != 0 {
		t.Error("the token lies open")
	}
	d.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/suspend", d.alpine), d.Root(), nil)
	d.refused(t, 403, "", "GET", "/Users", nil)
	d.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/resume", d.alpine), d.Root(), nil)
	d.must(t, 200, "GET", "/Users", nil)
	d.Must(204, "DELETE", fmt.Sprint("/v1/scim-tokens/", d.id), d.Root(), nil)
	d.refused(t, 401, "", "GET", "/Users", nil)
}

// TestScimTokensAreBound: a token ends when it is to, lives no longer than keys may and than the key that it is made with, and ends
// with what acts as who has made it.
func TestScimTokensAreBound(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	greta := d.OpenSession(t, "greta@alpine.example", platform.NewPassword).Token
	make := func(token string, life time.Duration, status int) int64 {
		t.Helper()
		a := d.Do("POST", "/v1/scim-tokens", token, map[string]any{"customerId": d.alpine, "expiresAt": time.Now().Add(life)})
		if a.Status != status {
			t.Fatalf("%s: %d %s", life, a.Status, a.Body)
		}
		if status != http.StatusCreated {
			return 0
		}
		return a.ID(t, "id")
	}
	make(greta, -time.Hour, 400)
	const beyond = "9999-12-31T23:59:59-14:00" // the year 10000 in UTC, which the database does not tell
	d.Must(400, "POST", "/v1/scim-tokens", greta, map[string]any{"customerId": d.alpine, "expiresAt": beyond})
	d.Must(400, "POST", "/v1/keys", greta, map[string]any{"features": []string{"user.read"}, "expiresAt": beyond})
	far := time.Now().Add(time.Hour).In(time.FixedZone("", 23*60*60)) // a zone that the database does not know
	d.Must(201, "POST", "/v1/keys", greta, map[string]any{"features": []string{"user.read"}, "expiresAt": far})
	d.SQL(`UPDATE scim_tokens SET expires_at = now() WHERE id = $1`, d.id)
	d.refused(t, 401, "", "GET", "/Users", nil)

	d.SQL(`UPDATE customers SET max_key_days = 10 WHERE id = $1`, d.alpine)
	make(greta, 11*24*time.Hour, 400)
	if a := d.Do("POST", "/v1/scim-tokens", greta, map[string]any{"customerId": d.alpine}); a.Status != http.StatusBadRequest {
		t.Errorf("one without an end: %d %s", a.Status, a.Body)
	}
	mine := make(greta, time.Hour, 201)
	admins := make(d.As("Alpine Energy", "jonas@alpine.example"), time.Hour, 201)
	if a := d.Do("DELETE", fmt.Sprint("/v1/scim-tokens/", mine), d.As("Alpine Energy", "jonas@alpine.example"), nil); a.Status != http.StatusForbidden {
		t.Errorf("an owner's is ended by an admin: %d", a.Status)
	}
	d.Must(204, "DELETE", fmt.Sprint("/v1/scim-tokens/", admins), greta, nil)

	key := d.Must(201, "POST", "/v1/keys", greta, map[string]any{"features": []string{"key.write", "user.read"}, "expiresAt": time.Now().Add(2 * time.Hour)}).JSON(t)
	token := d.Token(platform.Member(t, key, "clientId").(string), platform.Member(t, key, "clientSecret").(string), "tenant")
	make(token, 3*time.Hour, 400)
	bound := make(token, time.Hour, 201)
	if features := platform.Member(t, d.Must(200, "GET", fmt.Sprint("/v1/scim-tokens/", bound), greta, nil).JSON(t), "features"); fmt.Sprint(features) != "[user.read key.write]" {
		t.Errorf("it may %v", features)
	}
	d.SQL(`UPDATE api_keys SET allowed_addresses = '{127.0.0.0/8}' WHERE client_id = $1`, platform.Member(t, key, "clientId"))
	make(token, time.Hour, 403)

	d.Must(200, "POST", "/graphql", greta, map[string]any{"query": `mutation { changePassword(input: {current: "` + platform.NewPassword + `", new: "another long password"}) { user { id } } }`})
	if n := d.Number(`SELECT count(*) FROM scim_tokens`); n != 0 {
		t.Errorf("%d tokens live on with a new password", n)
	}
}

// TestScimLosesNothing: what a directory says of a person at the same time is all done, whichever comes first, and nobody who is deactivated
// keeps what is given at the same time.
func TestScimLosesNothing(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	const email = "mira@alpine.example"
	mira := d.UserID(email)
	at := fmt.Sprint("/Users/", mira)
	patch := func(path string, value any) func() platform.Answer {
		return func() platform.Answer {
			return d.ask("PATCH", at, patchOf(map[string]any{"op": "replace", "path": path, "value": value}))
		}
	}
	both := func(calls ...func() platform.Answer) {
		t.Helper()
		for i, a := range inTurn(t, d.Platform, email, calls...) {
			if a.Status != http.StatusOK && a.Status != http.StatusNoContent {
				t.Errorf("call %d: %d %s", i, a.Status, a.Body)
			}
		}
	}
	is := func(name, external string, active bool) {
		t.Helper()
		got := d.must(t, 200, "GET", at, nil)
		if platform.Member(t, got, "name.familyName") != name || platform.Member(t, got, "externalId") != external || platform.Member(t, got, "active") != active {
			t.Errorf("want %s %s %v: %v", name, external, active, got)
		}
		if n := d.Number(`SELECT count(*) FROM permissions WHERE user_id = $1 AND NOT disabled`, mira); (n > 0) != active {
			t.Errorf("active %v with %d permissions", active, n)
		}
	}
	both(patch("name.familyName", "One"), patch("externalId", "x1"), patch("active", false))
	is("One", "x1", false)
	both(patch("active", true), patch("name.familyName", "Two"))
	is("Two", "x1", true)
	both(patch("active", false), patch("externalId", "x2"))
	is("Two", "x2", false)
	d.must(t, 200, "PATCH", at, patchOf(map[string]any{"op": "replace", "path": "active", "value": true}))

	// Two groups and the end, at once: all wait, and come back with the person.
	groups := make([]string, 2)
	for i, app := range []string{"assistant", "builder"} {
		account := d.Account(d.alpine, app)
		d.SQL(`DELETE FROM permissions WHERE user_id = $1 AND account_id = $2`, mira, account)
		groups[i] = fmt.Sprintf("/Groups/%d-%d", account, d.RoleID(0, app, "Viewer"))
	}
	join := func(group string) func() platform.Answer {
		return func() platform.Answer {
			return d.ask("PATCH", group, patchOf(map[string]any{"op": "add", "path": "members", "value": []map[string]any{{"value": strconv.FormatInt(mira, 10)}}}))
		}
	}
	both(patch("active", false), join(groups[0]), join(groups[1]))
	is("Two", "x2", false)
	d.must(t, 200, "PATCH", at, patchOf(map[string]any{"op": "replace", "path": "active", "value": true}))
	if n := d.Number(`SELECT count(*) FROM permissions WHERE user_id = $1 AND NOT disabled`, mira); n != 3 {
		t.Errorf("who is active again has %d permissions", n)
	}
}

// TestScimManyGroups: a company of many roles has all of them as groups.
func TestScimManyGroups(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.SQL(`INSERT INTO roles (customer_id, application_id, name, features)
		SELECT $1, p.id, 'role ' || n, '{}' FROM applications p, generate_series(1, 2100) n WHERE p.code = 'tenant'`, d.alpine)
	list := d.must(t, 200, "GET", "/Groups?count=1&startIndex=2112&excludedAttributes=members", nil)
	if platform.Member(t, list, "totalResults") != 2112.0 || platform.Member(t, list, "Resources.#") != 1 {
		t.Errorf("%v", list)
	}
	found := d.must(t, 200, "GET", "/Groups?filter="+url.QueryEscape(`displayName eq "tenant: role 2100"`), nil)
	d.must(t, 200, "GET", "/Groups/"+platform.Member(t, found, "Resources.0.id").(string), nil)
	d.SQL(`INSERT INTO roles (customer_id, application_id, name, features)
		SELECT $1, p.id, 'more ' || n, '{}' FROM applications p, generate_series(1, 18000) n WHERE p.code = 'tenant'`, d.alpine)
	d.refused(t, 400, "tooMany", "GET", "/Groups", nil)
	d.must(t, 200, "GET", "/Groups/"+platform.Member(t, found, "Resources.0.id").(string), nil)
}

// TestScimFiltersCount: a filter that looks through the users counts as a request for each 500 of them.
func TestScimFiltersCount(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.App.Resolver.RequestsPerMinute = 20
	d.SQL(`WITH u AS (INSERT INTO users (email, first_name, last_name) SELECT 'many' || n || '@alpine.example', 'M', 'N' FROM generate_series(1, 5000) n RETURNING id, email)
		INSERT INTO memberships (customer_id, user_id, added, email, first_name, last_name) SELECT $1, id, true, email, 'M', 'N' FROM u`, d.alpine)
	find := func(filter string) int {
		return d.ask("GET", "/Users?filter="+url.QueryEscape(filter), nil).Status
	}
	if got := find(`name.familyName eq "nobody"`); got != http.StatusOK {
		t.Fatalf("the first one: %d", got)
	}
	refused := false
	for range 4 { // as a minute of the clock may end between two
		refused = refused || find(`name.familyName eq "nobody"`) == http.StatusTooManyRequests
	}
	if !refused {
		t.Error("five of eleven requests each, in two minutes at most, are none too many")
	}
}
