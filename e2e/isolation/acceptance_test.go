package isolation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
)

// old is a time before every test, at which the people of these tests began.
const old = "2001-02-03T04:05:06Z"

// settled has people of the demo data set up, with two-factor, a login and a long history, and takes their mails away.
func settled(s *platform.Platform, emails ...string) {
	s.T.Helper()
	for _, email := range emails {
		s.SetUp(email)
		s.Login(email, platform.NewPassword)
		s.SQL(`UPDATE users SET otp_method = 'totp', otp_secret = 'x', created_at = $2 WHERE email = $1`, email, old)
		s.SQL(`UPDATE memberships m SET created_at = $2 FROM users u WHERE u.id = m.user_id AND u.email = $1`, email, old)
	}
	s.NoDemoMails()
}

// adding is a way to bring a person into a company by address; it gives what was answered.
type adding struct {
	name string
	add  func(s *platform.Platform, token string, as map[string]any) []byte
}

// addings are the ways of both doors.
func addings(s *platform.Platform, alpine int64) []adding {
	account, role := s.Account(alpine, "tenant"), s.RoleID(alpine, "tenant", "Viewer")
	with := func(as map[string]any, more map[string]any) map[string]any {
		for k, v := range as {
			more[k] = v
		}
		return more
	}
	const person = `user { databaseId email firstName lastName name createdAt hasPassword otpMethod lastAccess }`
	graph := func(name, fields string) func(*platform.Platform, string, map[string]any) []byte {
		return func(s *platform.Platform, token string, in map[string]any) []byte {
			return platform.MustJSON(s.T, s.Mutate(token, name, fields, in))
		}
	}
	return []adding{
		{"POST /tenant/user", func(s *platform.Platform, token string, as map[string]any) []byte {
			return s.Must(201, "POST", "/tenant/user", token, as).Body
		}},
		{"createUser", graph("createUser", person)},
		{"POST /permission", func(s *platform.Platform, token string, as map[string]any) []byte {
			return s.Must(200, "POST", "/permission", token, with(as, map[string]any{"appAccountId": account, "appRoleId": role})).Body
		}},
		{"createPermission", func(s *platform.Platform, token string, as map[string]any) []byte {
			return graph("createPermission", `permission { lastAccess `+person+` }`)(s, token, with(as, map[string]any{"accountId": account, "roleId": role}))
		}},
		{"createCustomer", func(s *platform.Platform, token string, as map[string]any) []byte {
			in := with(as, map[string]any{"name": "Below " + as["firstName"].(string), "regionId": s.RegionID("eu-central")})
			return platform.MustJSON(s.T, s.Mutate(token, "createCustomer", `admin { `+strings.TrimSuffix(strings.TrimPrefix(person, "user { "), " }")+` }`, in))
		}},
	}
}

// sights is everything that a caller can see of a user by either door, one line for each place. Ids and the times since the
// test began are taken out, for they differ from one new person to the next.
func sights(s *platform.Platform, token string, alpine, user int64) (list []string) {
	s.T.Helper()
	see := func(where string, body []byte) { list = append(list, where+": "+string(body)) }
	entry := func(where string, rows any, key string) {
		i := slices.IndexFunc(rows.([]any), func(u any) bool { return u.(map[string]any)[key] == float64(user) })
		if i < 0 {
			see(where, []byte("not there"))
			return
		}
		see(where, platform.MustJSON(s.T, rows.([]any)[i]))
	}
	const person = `email firstName lastName name createdAt hasPassword otpMethod lastAccess customers { totalCount nodes { name } }
		permissions { totalCount nodes { lastAccess createdAt user { email name createdAt hasPassword otpMethod lastAccess } createdBy { email } } }`
	see("user", platform.MustJSON(s.T, s.MustGQL(token, `query($id: ID!) { user(id: $id) { `+person+` } }`, map[string]any{"id": user})))
	see("node", platform.MustJSON(s.T, s.MustGQL(token, `query($gid: ID!) { node(id: $gid) { ... on User { `+person+` } } }`, map[string]any{"gid": globalid.ID{Type: "User", Int: user}.Global()})))
	users := s.MustGQL(token, `{ customer { users(first: 200) { nodes { databaseId `+person+` } } } }`, nil)
	entry("customer.users", platform.Member(s.T, users, "customer.users.nodes"), "databaseId")
	accounts := s.MustGQL(token, `{ customer { accounts { nodes { permissions(first: 200) { nodes { lastAccess user { databaseId email name createdAt hasPassword otpMethod } } } } } } }`, nil)
	for _, a := range platform.Member(s.T, accounts, "customer.accounts.nodes").([]any) {
		for _, p := range platform.Member(s.T, a, "permissions.nodes").([]any) {
			if platform.Member(s.T, p, "user.databaseId") == float64(user) {
				see("account.permissions", platform.MustJSON(s.T, p))
			}
		}
	}
	entry("GET /tenant/users", s.Must(200, "GET", "/tenant/users", token, nil).JSON(s.T), "id")
	for _, a := range s.Must(200, "GET", "/tenant/accounts", token, nil).JSON(s.T).([]any) {
		for _, p := range platform.Member(s.T, a, "permissions").([]any) {
			if platform.Member(s.T, p, "userIdentity.id") == float64(user) {
				see("GET /tenant/accounts", platform.MustJSON(s.T, p))
			}
		}
	}
	options := s.Must(200, "GET", fmt.Sprintf("/permission/options/1/%d/%d", s.RegionID("eu-central"), s.Account(alpine, "tenant")), token, nil).JSON(s.T)
	entry("GET /permission/options", platform.Member(s.T, options, "users"), "value")
	for _, e := range s.Must(200, "GET", "/v1/audit?objectType=User&objectId="+platform.Decimal(user), token, nil).JSON(s.T).([]any) {
		see("GET /v1/audit", platform.MustJSON(s.T, []any{platform.Member(s.T, e, "action"), platform.Member(s.T, e, "details")}))
	}
	return list
}

var (
	anyID   = regexp.MustCompile(`"(databaseId|id|value|userIdentityId|objectId)":\s*\d+`)
	anyTime = regexp.MustCompile(`"20[1-9]\d-[^"]+Z"`)
)

// likeAnyNew takes out what tells one new person from the next.
func likeAnyNew(text, email, name string) string {
	text = anyTime.ReplaceAllString(anyID.ReplaceAllString(text, `"$1":0`), `"now"`)
	return strings.ReplaceAll(strings.ReplaceAll(text, email, "EMAIL"), name, "NAME")
}

// TestAddedPersonIsLikeANewOne: a company that adds somebody who is known elsewhere sees nothing else than of somebody new,
// whichever way it adds and wherever it looks, and has sent no mail.
func TestAddedPersonIsLikeANewOne(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine := s.Customer("Alpine Energy")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	ways := addings(s, alpine)
	known := []string{"hana@dune.example", "wei@coral.example", "olivia@brightwater.example", "marcus@brightwater.example", "sofia@brightwater.example"}
	settled(s, known...)
	for i, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			var seen [2][]string
			// The address in other letters than it has: whoever adds it sees what it has entered.
			for n, email := range []string{strings.ToUpper(known[i]), fmt.Sprintf("NEW%d@NOWHERE.example", i)} {
				name := []string{"Knownperson", "Newperson"}[n] + strings.Repeat("x", i)
				answer := w.add(s, greta, map[string]any{"email": email, "firstName": name, "lastName": "Given"})
				user := s.Number(`SELECT id FROM users WHERE lower(email) = lower($1)`, email)
				for _, line := range append([]string{"the answer: " + string(answer)}, sights(s, greta, alpine, user)...) {
					seen[n] = append(seen[n], likeAnyNew(line, email, name))
				}
			}
			if len(seen[0]) != len(seen[1]) || len(seen[0]) < 6 {
				t.Fatalf("%d places and %d:\n%s", len(seen[0]), len(seen[1]), strings.Join(append(seen[0], seen[1]...), "\n"))
			}
			for j := range seen[0] {
				if seen[0][j] != seen[1][j] {
					t.Errorf("known\n%s\nnew\n%s", seen[0][j], seen[1][j])
				}
			}
			if mails := s.Mails(known[i]); len(mails) > 0 {
				t.Errorf("%d mails to one who is known", len(mails))
			}
		})
	}
	t.Run("without permissions both stay", func(t *testing.T) {
		s.SQL(`DELETE FROM audit_events`)
		for _, email := range []string{"marcus@brightwater.example", "NEW3@NOWHERE.example"} {
			user := s.Number(`SELECT id FROM users WHERE lower(email) = lower($1)`, email)
			s.Must(204, "DELETE", fmt.Sprintf("/permission/%d", s.Permission(user, s.Account(alpine, "tenant"))), greta, nil)
			if list := sights(s, greta, alpine, user); strings.HasSuffix(list[2], "not there") {
				t.Errorf("%s is gone", email)
			}
		}
	})
}

const createKey = `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { clientSecret } }`

// refusedKey asks both doors for a key that acts as a user.
func refusedKey(t *testing.T, s *platform.Platform, token string, user int64) {
	t.Helper()
	before := s.Number(`SELECT count(*) FROM api_keys`)
	a := s.Do("POST", "/graphql", token, map[string]any{"query": createKey, "variables": map[string]any{"in": map[string]any{"userId": user}}})
	if got := platform.Member(t, a.JSON(t), "errors.0.extensions"); platform.Member(t, got, "code") != "BAD_REQUEST" || platform.Member(t, got, "reason") != "not_accepted" {
		t.Errorf("%v", got)
	}
	platform.Scenario{Status: 400, Code: "not_accepted"}.Judge(t, s.Do("POST", "/v1/keys", token, map[string]any{"userId": user}))
	if n := s.Number(`SELECT count(*) FROM api_keys`); n != before {
		t.Errorf("%d keys were made", n-before)
	}
}

// company is the one that a login's token is for.
func company(t *testing.T, s *platform.Platform, body map[string]any) int64 {
	t.Helper()
	raw := platform.Member(t, s.Must(200, "POST", "/auth/token", "", body).JSON(t), "token").(string)
	c, err := s.App.Resolver.Verifier.Verify(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c.CustomerID
}

// TestSigningInAccepts: what a company may see and do of a person who is known elsewhere begins with a login to it.
func TestSigningInAccepts(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, dune := s.Customer("Alpine Energy"), s.Customer("Dune Retail")
	greta := s.As("Alpine Energy", "greta@alpine.example")
	settled(s, "hana@dune.example")
	s.SQL(`UPDATE users SET otp_method = 'none' WHERE email = 'hana@dune.example'`)
	hana := s.UserID("hana@dune.example")
	// An earlier membership than her own company's would come first in the list of her companies.
	s.Must(200, "POST", "/permission", greta, map[string]any{
		"appAccountId": s.Account(alpine, "tenant"), "appRoleId": s.RoleID(alpine, "tenant", "Owner"), "email": "hana@dune.example", "firstName": "Anna",
	})
	s.SQL(`UPDATE memberships SET created_at = $1::timestamptz - interval '1 year' WHERE customer_id = $2 AND user_id = $3`, old, alpine, hana)
	login := map[string]any{"email": "hana@dune.example", "password": platform.NewPassword}
	if got := company(t, s, login); got != dune {
		t.Errorf("her login is for %d, want her own company %d", got, dune)
	}
	refusedKey(t, s, greta, hana)
	s.Must(400, "POST", "/tenant/user/init", greta, map[string]any{"id": hana}) // as the documentation of it says
	const person = `query($id: ID!) { user(id: $id) { firstName createdAt hasPassword } }`
	before := s.MustGQL(greta, person, map[string]any{"id": hana})["user"]
	if platform.Member(t, before, "firstName") != "Anna" || platform.Member(t, before, "hasPassword") != false {
		t.Errorf("%v", before)
	}
	t.Run("a login accepts", func(t *testing.T) {
		login["customerId"] = alpine
		if got := company(t, s, login); got != alpine {
			t.Errorf("the login is for %d", got)
		}
		after := s.MustGQL(greta, person, map[string]any{"id": hana})["user"]
		if want := map[string]any{"firstName": "Hana", "createdAt": old, "hasPassword": true}; !platform.SameJSON(after, want) {
			t.Errorf("%v, want %v", after, want)
		}
		s.MustGQL(greta, createKey, map[string]any{"in": map[string]any{"userId": hana}})
		at := s.Number(`SELECT (extract(epoch FROM accepted_at) * 1000000)::bigint FROM memberships WHERE customer_id = $1 AND user_id = $2`, alpine, hana)
		company(t, s, login)
		if now := s.Number(`SELECT (extract(epoch FROM accepted_at) * 1000000)::bigint FROM memberships WHERE customer_id = $1 AND user_id = $2`, alpine, hana); now != at {
			t.Error("a second login accepts again")
		}
	})
	if mails := s.Mails("hana@dune.example"); len(mails) > 0 {
		t.Errorf("%d mails", len(mails))
	}
}

// TestEachCompanyInvites: an invitation is its company's own. It ends no other's, and accepts no other.
func TestEachCompanyInvites(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, dune := s.Customer("Alpine Energy"), s.Customer("Dune Retail")
	greta, hana := s.As("Alpine Energy", "greta@alpine.example"), s.As("Dune Retail", "hana@dune.example")
	s.NoDemoMails()
	// One company enters the address first, under a name that nobody would choose.
	s.Must(201, "POST", "/tenant/user", hana, map[string]any{"email": "Chief@Big.example", "name": "Bad Joke"})
	squatted := s.Link("chief@big.example")
	s.Must(200, "POST", "/permission", greta, map[string]any{
		"appAccountId": s.Account(alpine, "tenant"), "appRoleId": s.RoleID(alpine, "tenant", "Viewer"), "email": "chief@big.example", "name": "Jane Doe",
	})
	chief := s.UserID("Chief@Big.example")
	mails := s.Mails("chief@big.example")
	if len(mails) != 2 || !strings.Contains(mails[1].Text, "Alpine Energy") || !strings.Contains(mails[1].Text, "Jane Doe") || mails[1].To != "chief@big.example" {
		t.Fatalf("%+v", mails)
	}
	refusedKey(t, s, greta, chief)
	s.MustGQL(hana, createKey, map[string]any{"in": map[string]any{"userId": chief}}) // new to the platform when it was added
	if n := s.Number(`SELECT count(*) FROM link_tokens WHERE user_id = $1 AND used_at IS NULL`, chief); n != 2 {
		t.Errorf("%d links live", n)
	}
	s.Must(204, "POST", "/tenant/user/init", greta, map[string]any{"id": chief})
	if n := s.Number(`SELECT count(*) FROM link_tokens WHERE user_id = $1 AND used_at IS NULL`, chief); n != 2 {
		t.Errorf("%d links live after another invitation of the same company", n)
	}
	s.SetUp("chief@big.example")
	s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": squatted, "password": platform.NewPassword})
	for token, want := range map[string]map[string]any{
		greta: {"name": "Jane Doe", "email": "chief@big.example", "hasPassword": true},
		hana:  {"name": "Bad Joke", "email": "Chief@Big.example", "hasPassword": false},
	} {
		if got := s.MustGQL(token, `query($id: ID!) { user(id: $id) { name email hasPassword } }`, map[string]any{"id": chief})["user"]; !platform.SameJSON(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	refusedKey(t, s, hana, chief)
	s.MustGQL(greta, createKey, map[string]any{"in": map[string]any{"userId": chief}})
	s.Must(200, "POST", "/permission", hana, map[string]any{
		"appAccountId": s.Account(dune, "tenant"), "appRoleId": s.RoleID(dune, "tenant", "Owner"), "userIdentityId": chief,
	})
	if got := company(t, s, map[string]any{"email": "chief@big.example", "password": platform.NewPassword}); got != alpine {
		t.Errorf("the login is for %d, want %d", got, alpine)
	}
}

// TestAcceptanceReachesUpwards: companies above see what one below may, and the other way round it tells nothing.
func TestAcceptanceReachesUpwards(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	hydro := s.Customer("Alpine Hydro")
	greta, lukas := s.As("Alpine Energy", "greta@alpine.example"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	settled(s, "jonas@alpine.example", "eva@alpine-hydro.example")
	jonas, eva := s.UserID("jonas@alpine.example"), s.UserID("eva@alpine-hydro.example")
	s.SQL(`UPDATE users SET first_name = 'Renamed' WHERE id IN ($1, $2)`, jonas, eva)
	s.Must(200, "POST", "/permission", greta, map[string]any{
		"appAccountId": s.Account(hydro, "tenant"), "appRoleId": s.RoleID(hydro, "tenant", "Viewer"), "userIdentityId": jonas,
	})
	s.SQL(`UPDATE users SET last_name = 'Since' WHERE id IN ($1, $2)`, jonas, eva)
	s.Must(201, "POST", "/tenant/user", greta, map[string]any{"email": "eva@alpine-hydro.example", "name": "Other Name"})
	for _, c := range []struct {
		who, token string
		user       int64
		name       string
		password   bool
	}{
		{"the company above, of its own", greta, jonas, "Renamed Since", true},
		{"the one below, what it was given", lukas, jonas, "Renamed Keller", false},
		{"the company above, by the one below", greta, eva, "Renamed Since", true},
		{"root, by any", s.Root(), jonas, "Renamed Since", true},
	} {
		got := s.MustGQL(c.token, `query($id: ID!) { user(id: $id) { name hasPassword } }`, map[string]any{"id": c.user})["user"]
		if want := map[string]any{"name": c.name, "hasPassword": c.password}; !platform.SameJSON(got, want) {
			t.Errorf("%s sees %v, want %v", c.who, got, want)
		}
	}
	refusedKey(t, s, lukas, jonas)
	// A key of the company above reaches the one below anyway.
	s.MustGQL(greta, createKey, map[string]any{"in": map[string]any{"userId": jonas, "customerId": hydro}})
}
