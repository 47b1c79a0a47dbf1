package tenancy

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/quota"
	"canopy/rest"
)

// The fields of GraphQL under the names that REST gives them.
const (
	parityRegion      = `id: databaseId name description`
	parityApplication = `id: databaseId name description appType authUrl createdAt`
	parityRole        = `id: databaseId applicationId customerId name description isOwner features createdAt`
	parityCustomer    = `id: databaseId parentId name regionId canAddCustomers descendantsCanAdd createdAt`
	parityPermission  = `id: databaseId lastAccess disabled createdAt createdBy { id: databaseId email } instanceActive
		role { ` + parityRole + ` } application { ` + parityApplication + ` }`
	parityDetails = `query($c: ID) { customer(id: $c) { ` + parityCustomer + ` region { ` + parityRegion + ` }
		parent { id: databaseId name regionId } ancestors { id: databaseId name regionId level } } }`
	parityList = `query($c: ID) { customer(id: $c) { descendants(self: true, first: 50) { nodes { ` + parityCustomer + ` path level } } } }`
	parityUser = `query($c: ID) { customer(id: $c) { users(first: 50) { nodes { id: databaseId firstName lastName name email createdAt hasPassword otpMethod lastAccess
		permissions(first: 50) { nodes { ` + parityPermission + ` account { id: databaseId name customerId disabled } region { ` + parityRegion + ` } } } } } } }`
	parityAccounts = `query($c: ID) { customer(id: $c) { accounts(first: 50) { nodes { id: databaseId name customerId appInstanceId instanceAccountId disabled createdAt
		application { ` + parityApplication + ` } region { ` + parityRegion + ` createdAt } instanceActive domain
		permissions(first: 50) { nodes { ` + parityPermission + ` region { ` + parityRegion + ` createdAt }
			userIdentity: user { id: databaseId firstName lastName email createdAt name } } } } } } }`
	parityBilling = `query($c: ID) { customer(id: $c) { billing { customerId billingName businessId taxId createdAt locationId
		addressLine1 addressLine2 city state zipCode countryCode } } }`
	parityOptions = `query($c: ID, $t: ID, $r: ID, $a: ID) { permissionOptions(customerId: $c, type: $t, region: $r, account: $a) {
		applications { value title selected } regions { value title selected } accounts { value title selected } roles { value title selected } users { value title selected } } }`
	parityKeys = `query($c: ID) { customer(id: $c) { apiKeys(first: 200) { nodes { id: databaseId clientId name features allowedAddresses
		createdAt expiresAt revokedAt lastUsedAt user { databaseId } customer { databaseId } } } } }`
	parityUsage       = `query($c: ID) { customer(id: $c) { usage { name used limit own limitedBy { id: databaseId name regionId level } asOf } } }`
	parityInvitations = `query($c: ID) { customer(id: $c) { invitations { id: databaseId email status createdAt expiresAt invitedBy customer { databaseId } } } }`
	parityRoles       = `query($c: ID) { roles(customerId: $c) { ` + parityRole + ` } }`
	parityProviders   = `query($c: ID) { customer(id: $c) { identityProviders { id: databaseId name issuer clientId domains
		claims { domain status recordName recordValue provenAt checkedAt missingSince } defaultRole { databaseId } required enabled features redirectUri backchannelLogoutUri createdAt updatedAt customer { databaseId } } } }`
	parityIdentities = `query($c: ID) { customer(id: $c) { users(first: 50) { nodes { databaseId identities { id: databaseId subject email createdAt lastUsedAt provider { databaseId } user { databaseId } } } } } }`
	parityScimTokens = `query($c: ID) { customer(id: $c) { scimTokens { id: databaseId name features expiresAt createdAt lastUsedAt lastChangedAt createdBy { databaseId } customer { databaseId } } } }`
	parityDeleted    = `fragment gone on Deleted { id: databaseId name deletedAt restorableUntil }
		query($c: ID) { customer(id: $c) { deletedSecrets { ...gone } deletedWebhookDestinations { ...gone } } }`
	paritySecrets = `query($c: ID) { customer(id: $c) { secrets { id: databaseId name createdAt updatedAt customer { databaseId } } } }`
)

// doors asks both doors for the same.
type doors struct {
	*platform.Platform
	// compared are the documented paths that were asked for.
	compared map[string]bool
	// told are the members of their answers, by path, and whether any had a value.
	told map[string]bool
}

// rest reads a documented path; values are pairs of a place and what stands there.
func (d *doors) rest(t *testing.T, token, path, query string, values ...string) platform.Answer {
	t.Helper()
	d.compared[path] = true
	return d.Do(http.MethodGet, strings.NewReplacer(values...).Replace(path)+query, token, nil)
}

// same compares what REST reads with what the graph shows.
func (d *doors) same(t *testing.T, token, path, query string, graph any, values ...string) any {
	t.Helper()
	got := d.rest(t, token, path, query, values...)
	if got.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, got.Status, got.Body)
	}
	own := got.JSON(t)
	platform.SameAnswers(t, path, own, graph)
	place, _, _ := strings.Cut(path, "/{") // behind which are more or fewer of the same
	d.note(place, own)
	return own
}

// note takes down the members of an answer. One that is nothing at both doors could be forgotten at either.
func (d *doors) note(place string, v any) {
	has := v != nil && !reflect.ValueOf(v).IsZero()
	switch x := v.(type) {
	case []any:
		has = len(x) > 0
		for _, row := range x {
			d.note(place, row)
		}
	case map[string]any:
		for name, member := range x {
			if name != "details" { // which have other members for each action
				d.note(place+" "+name, member)
			}
		}
	}
	d.told[place] = d.told[place] || has
}

// TestParity asks both doors for the same over the whole demo data, by each documented read of this area.
func TestParity(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	customers := map[string]int64{}
	for _, row := range s.Do("GET", "/tenant/customers?self=true", s.Root(), nil).JSON(t).([]any) {
		customers[platform.Member(t, row, "name").(string)] = int64(platform.Member(t, row, "id").(float64))
	}
	if len(customers) != 12 {
		t.Fatalf("%d companies", len(customers))
	}
	furnish(s, customers)
	reach := map[string][]string{
		s.As("Alpine Energy", "greta@alpine.example"):   {"Alpine Energy", "Alpine Hydro", "Alpine Solar"},
		s.As("Coral Ports", "minh@coral-ports.example"): {"Coral Ports", "Harbour Robotics"},
		s.Root(): slices.Sorted(maps.Keys(customers)),
	}
	d := &doors{s, map[string]bool{}, map[string]bool{}}
	for token, names := range reach {
		s.Must(200, "GET", "/tenant", token, nil)
		for _, name := range names {
			t.Run(fmt.Sprintf("%d companies/%s", len(names), name), func(t *testing.T) { d.compare(t, token, customers[name]) })
		}
	}
	s.SQL(`INSERT INTO webhook_destinations (customer_id, url, name, secret) VALUES ($1, 'https://hooks.example/alpine', 'Alpine', '')`, customers["Alpine Hydro"])
	s.SQL(`WITH c AS (INSERT INTO contexts (account_id, name, description, caption, embedding_model) VALUES ($1, 'Alpine', '', '', 'm') RETURNING id)
		INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, model, chunk_size, overlap)
		SELECT id, gen_random_uuid(), 'a', 'Alpine.txt', 0, 'txt', 'text/plain', 'h', 1, 'm', 100, 0 FROM c`, s.Account(s.Number(`SELECT id FROM customers WHERE parent_id IS NULL`), "assistant"))
	reach[s.Login(s.Demo.AdminEmail, s.Demo.AdminPassword)] = nil
	for token := range reach {
		for _, text := range []string{"Alpine", "mira@alpine.example", "coral po", "Alpnie"} {
			t.Run("search "+text, func(t *testing.T) { d.compareSearch(t, token, text) })
		}
	}
	t.Run("regions", func(t *testing.T) { d.compareRegions(t) })
	t.Run("caller", func(t *testing.T) { d.compareCaller(t) })
	t.Run("sessions", func(t *testing.T) { d.compareSessions(t) })
	t.Run("passkeys", func(t *testing.T) { d.comparePasskeys(t) })
	t.Run("exports", func(t *testing.T) { d.compareExports(t) })
	t.Run("imports", func(t *testing.T) { d.compareImports(t) })
	d.whole(t)
	for member, has := range d.told {
		if !has && !strings.HasSuffix(member, " selected") { // of all choices or of none: they are one type
			t.Errorf("%s has a value nowhere here: a door that forgets it is not found out", member)
		}
	}
}

// furnish gives the demo data something of everything: a used permission, a company's own role, a creator, a flag, secrets, a bound
// key, a limit.
func furnish(s *platform.Platform, customers map[string]int64) {
	s.SQL(`INSERT INTO roles (application_id, customer_id, name, description, features) VALUES (1, $1, 'Own "role"', 'Ünder', '{user.read}')`, customers["Alpine Hydro"])
	s.Must(200, "POST", "/permission", s.Root(), map[string]any{
		"appAccountId": s.Account(customers["Alpine Hydro"], "tenant"), "appRoleId": s.RoleID(customers["Alpine Hydro"], "tenant", `Own "role"`), "userIdentityId": s.UserID("mira@alpine.example"),
	})
	s.Must(204, "POST", fmt.Sprintf("/tenant/billing/%d", customers["Alpine Hydro"]), s.Root(), map[string]any{
		"businessId": "FN 1 x", "taxId": "ATU1", "addressLine1": "Bahnhofstraße 1", "addressLine2": "Tür 2", "city": "Wörgl", "state": "Tirol", "countryCode": "AT",
	})
	s.SQL(`INSERT INTO secrets (customer_id, name, value) VALUES ($1, 'ONE', ''), ($1, 'TWO', '')`, customers["Alpine Hydro"])
	s.SQL(`INSERT INTO counts_elsewhere (customer_id, name, cell, n, as_of) VALUES ($1, 'secrets', 899, 1, now())`, customers["Alpine Hydro"])
	s.SQL(`INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
		VALUES (1001, $1, 'OLD', '', now(), now(), 1, now() + interval '1 day'), (1002, $1, 'OLDER', '', now(), now(), 1, now() + interval '1 day')`, customers["Alpine Hydro"])
	s.SQL(`INSERT INTO webhook_destinations (customer_id, url, name, secret, deleted_at) VALUES ($1, $2, 'Gone', 'sealed', now()), ($1, $2, '', 'sealed', now() - interval '1 day')`,
		customers["Alpine Hydro"], platform.PublicURL)
	provider := s.Must(201, "POST", "/v1/identity-providers", s.Root(), map[string]any{
		"customerId": customers["Alpine Hydro"], "name": "Hydro's", "issuer": "https://93.184.216.34/hydro", "clientId": "hydro", "clientSecret": "x",
		"domains": []string{"hydro.example"}, "defaultRoleId": s.RoleID(0, "tenant", "Viewer"), "required": true,
	}).ID(s.T, "id")
	s.SQL(`UPDATE domain_claims SET proven_at = now(), checked_at = now(), missing_since = now()`)
	s.SQL(`UPDATE identity_providers SET features = '{company.read}' WHERE id = $1`, provider)
	s.SQL(`INSERT INTO user_identities (user_id, provider_id, subject, email) VALUES ($1, $2, 'mira', 'mira@hydro.example')`, s.UserID("mira@alpine.example"), provider)
	s.Must(201, "POST", "/v1/scim-tokens", s.Root(), map[string]any{"customerId": customers["Alpine Hydro"]})
	s.SQL(`UPDATE scim_tokens SET last_used_at = now(), last_changed_at = now(), expires_at = now() + interval '1 day'`)
	s.SQL(`UPDATE accounts SET disabled = true WHERE id = $1`, s.Account(customers["Alpine Solar"], "assistant"))
	s.Must(200, "PUT", fmt.Sprintf("/tenant/limits/%d", customers["Alpine Hydro"]), s.Root(), map[string]any{"limits": map[string]any{"users": 100}})
	key := s.Must(201, "POST", "/v1/keys", s.Root(), map[string]any{
		"userId": s.UserID(platform.DemoAdmin), "name": "Bound", "features": []string{"company.read"}, "allowedAddresses": []string{"192.0.2.0/24"}, "expiresAt": time.Now().Add(time.Hour),
	}).ID(s.T, "id")
	s.Must(204, "DELETE", "/v1/keys/"+platform.Decimal(key), s.Root(), nil)
}

// whole names the documented reads that were not compared. The form of a path that leaves out the
// company is the same as the other.
func (d *doors) whole(t *testing.T) {
	_, registry := rest.New(d.App.Resolver, rest.Options{})
	for _, e := range rest.Endpoints(registry) {
		elsewhere := slices.ContainsFunc([]string{"/context", "/job/", platform.Hooks, "/v1/agents", "/v1/contexts", "/v1/documents", "/v1/runs"},
			func(area string) bool { return strings.HasPrefix(e.Path, area) })
		if e.Method == http.MethodGet && e.Rule != nil && !elsewhere && !d.compared[e.Path] && !d.compared[e.Path+"/{cid}"] {
			t.Errorf("%s is documented, and compared with nothing", e.Path)
		}
	}
}

// compareExports compares one whose archive is there. Each link to it is another one.
func (d *doors) compareExports(t *testing.T) {
	const path = "/tenant/export/{id}"
	token := d.As("Alpine Hydro", "lukas@alpine-hydro.example")
	id := platform.Decimal(d.Must(202, "POST", fmt.Sprintf("/tenant/customer/%d/export", d.Customer("Alpine Hydro")), token, nil).ID(t, "id"))
	d.SQL(`UPDATE customer_exports SET status = 'READY', progress = .5, expires_at = now() + interval '1 day'`)
	own := d.rest(t, token, path, "", "{id}", id).JSON(t).(map[string]any)
	graph := d.MustGQL(token, `query($id: ID!) { customerExport(id: $id) { id: databaseId status progress url createdAt expiresAt } }`, map[string]any{"id": id})["customerExport"].(map[string]any)
	for _, shown := range []map[string]any{own, graph} {
		if link, _ := shown["url"].(string); !strings.Contains(link, "/tenant/export/"+id+"/archive?token=") {
			t.Errorf("the link is %q", link)
		}
		shown["url"], shown["status"] = "", strings.ToLower(shown["status"].(string))
	}
	platform.SameAnswers(t, path, own, graph)
}

// compareImports compares one that has made a company, and tells of an error as well, so that each member has a value.
func (d *doors) compareImports(t *testing.T) {
	const path = "/tenant/import/{id}"
	hydro := d.Customer("Alpine Hydro")
	form, contentType := platform.Form(t, platform.Part{Field: "file", Name: "a.tar.gz", Content: []byte("an archive")})
	id := platform.Decimal(d.Post(fmt.Sprintf("/tenant/customer/%d/import?dryRun=true", hydro), d.Root(), contentType, form).ID(t, "id"))
	d.SQL(`UPDATE import_requests SET status = 'FAILED', progress = .5, made_id = parent_id, report = '{"made": {"customers": 1}, "notes": ["some"]}', error = 'wrong',
		expires_at = now() + interval '1 day'`)
	own := d.rest(t, d.Root(), path, "", "{id}", id).JSON(t).(map[string]any)
	graph := d.MustGQL(d.Root(), `query($id: ID!) { customerImport(id: $id) { id: databaseId parent { databaseId } dryRun size status progress customer { databaseId } report error createdAt expiresAt } }`,
		map[string]any{"id": id})["customerImport"].(map[string]any)
	graph["parentId"], graph["customerId"] = platform.Member(t, graph, "parent.databaseId"), platform.Member(t, graph, "customer.databaseId")
	delete(graph, "parent")
	delete(graph, "customer")
	graph["status"] = strings.ToLower(graph["status"].(string))
	platform.SameAnswers(t, path, own, graph)
}

// compareSessions compares a person's own, of which one is that of the token.
func (d *doors) compareSessions(t *testing.T) {
	d.OpenSession(t, d.Demo.AdminEmail, d.Demo.AdminPassword)
	token := d.OpenSession(t, d.Demo.AdminEmail, d.Demo.AdminPassword).Token
	list := platform.Member(t, d.MustGQL(token, `{ me { sessions { id: databaseId createdAt lastUsedAt userAgent address current } } }`, nil), "me.sessions").([]any)
	d.same(t, token, "/v1/sessions", "", list)
	for _, s := range list {
		d.same(t, token, "/v1/sessions/{id}", "", s, "{id}", platform.Decimal(int64(platform.Member(t, s, "id").(float64))))
	}
}

// comparePasskeys compares a person's own, one of which was used.
func (d *doors) comparePasskeys(t *testing.T) {
	d.SetUp("greta@alpine.example")
	token := d.OpenSession(t, "greta@alpine.example", platform.NewPassword).Token
	a, _ := d.AddPasskey(t, token, platform.NewPassword)
	if got := d.SignInBy(d.Passkey(t, a)); got.Status != http.StatusOK {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	d.AddPasskey(t, token, platform.NewPassword)
	list := platform.Member(t, d.MustGQL(token, `{ me { passkeys { id: databaseId name synced backedUp createdAt lastUsedAt } } }`, nil), "me.passkeys").([]any)
	d.same(t, token, "/v1/passkeys", "", list)
	for _, p := range list {
		d.same(t, token, "/v1/passkeys/{id}", "", p, "{id}", platform.Decimal(int64(platform.Member(t, p, "id").(float64))))
	}
}

func (d *doors) compare(t *testing.T, token string, id int64) {
	t.Helper()
	graph := func(query string) any {
		return platform.Member(t, d.MustGQL(token, query, map[string]any{"c": id}), "customer")
	}
	cid := []string{"{cid}", platform.Decimal(id)}
	details := graph(parityDetails).(map[string]any)
	parent, ancestors := details["parent"], details["ancestors"]
	delete(details, "parent")
	delete(details, "ancestors")
	d.same(t, token, "/tenant/{cid}", "", map[string]any{"customer": details, "parent": parent, "ancestors": ancestors}, cid...)
	d.same(t, token, "/tenant/customers/{cid}", "?self=true", platform.Member(t, graph(parityList), "descendants"), cid...)
	users := d.same(t, token, "/tenant/users/{cid}", "", platform.Member(t, graph(parityUser), "users"), cid...)
	d.same(t, token, "/tenant/accounts/{cid}", "", platform.Member(t, graph(parityAccounts), "accounts"), cid...)
	if billing := platform.Member(t, graph(parityBilling), "billing"); billing != nil {
		d.same(t, token, "/tenant/billing/{cid}", "", billing, cid...)
	} else if got := d.rest(t, token, "/tenant/billing/{cid}", "", cid...); got.Status != http.StatusNotFound {
		t.Errorf("billing: GraphQL has none, REST %d %s", got.Status, got.Body)
	}
	d.compareOptions(t, token, id, len(users.([]any)))
	d.compareLists(t, token, id)
	d.compareIdentities(t, token, id)
	d.comparePermissions(t, token, id)
	d.compareUsage(t, token, id)
	d.compareAudit(t, token, id)
}

// compareLists compares the lists of a company that REST has under /v1, and their rows one by one.
func (d *doors) compareLists(t *testing.T, token string, customer int64) {
	for path, list := range map[string]struct{ query, rows string }{
		"/v1/keys":        {parityKeys, "customer.apiKeys.nodes"},
		"/v1/invitations": {parityInvitations, "customer.invitations"},
		"/v1/secrets":     {paritySecrets, "customer.secrets"},

		"/v1/scim-tokens":        {parityScimTokens, "customer.scimTokens"},
		"/v1/identity-providers": {parityProviders, "customer.identityProviders"},
		"/v1/roles":              {parityRoles, "roles"},
	} {
		shown := platform.Member(t, d.MustGQL(token, list.query, map[string]any{"c": customer}), list.rows).([]any)
		// Roles have another order in the graph: by application.
		slices.SortFunc(shown, func(a, b any) int {
			return cmp.Compare(platform.Member(t, a, "id").(float64), platform.Member(t, b, "id").(float64))
		})
		for _, row := range shown {
			row := row.(map[string]any)
			for _, edge := range []string{"customer", "user"} {
				if to, has := row[edge].(map[string]any); has {
					row[edge+"Id"] = to["databaseId"]
					delete(row, edge)
				}
			}
			asREST(row)
			d.same(t, token, path+"/{id}", "", row, "{id}", fmt.Sprintf("%.0f", row["id"]))
		}
		d.same(t, token, path, "?customerId="+platform.Decimal(customer), shown)
	}
	gone := d.MustGQL(token, parityDeleted, map[string]any{"c": customer})
	for path, list := range map[string]string{
		"/v1/secrets/deleted": "deletedSecrets", platform.Hooks + "/destinations/deleted": "deletedWebhookDestinations",
	} {
		d.same(t, token, path, "?customerId="+platform.Decimal(customer), platform.Member(t, gone, "customer."+list))
	}
}

// asREST has a row of identity providers as REST shows it.
func asREST(row map[string]any) {
	if role, has := row["defaultRole"].(map[string]any); has {
		row["defaultRoleId"] = role["databaseId"]
	}
	delete(row, "defaultRole")
	if by, has := row["createdBy"].(map[string]any); has {
		row["createdById"] = by["databaseId"]
	}
	delete(row, "createdBy")
	claims, _ := row["claims"].([]any)
	for _, c := range claims {
		claim := c.(map[string]any)
		claim["status"] = strings.ToLower(claim["status"].(string))
	}
}

// compareIdentities compares who the users of a company are at identity providers.
func (d *doors) compareIdentities(t *testing.T, token string, customer int64) {
	users := platform.Member(t, d.MustGQL(token, parityIdentities, map[string]any{"c": customer}), "customer.users.nodes").([]any)
	for _, user := range users {
		list := platform.Member(t, user, "identities").([]any)
		for _, row := range list {
			row := row.(map[string]any)
			for edge, name := range map[string]string{"provider": "providerId", "user": "userId"} {
				row[name] = platform.Member(t, row, edge+".databaseId")
				delete(row, edge)
			}
			d.same(t, token, "/v1/identities/{id}", "", row, "{id}", fmt.Sprintf("%.0f", row["id"]))
		}
		d.same(t, token, "/v1/identities", fmt.Sprintf("?userId=%v", platform.Member(t, user, "databaseId")), list)
	}
}

// comparePermissions compares the permissions on a company's own accounts.
func (d *doors) comparePermissions(t *testing.T, token string, customer int64) {
	shown := platform.Member(t, d.MustGQL(token, `query($c: ID) { permissions(customerId: $c, subtree: false) { nodes { id: databaseId lastAccess disabled createdAt
		account { databaseId customerId } user { databaseId } role { databaseId } application { databaseId } } } }`, map[string]any{"c": customer}), "permissions.nodes").([]any)
	for _, row := range shown {
		row := row.(map[string]any)
		row["customerId"] = platform.Member(t, row, "account.customerId")
		for edge, name := range map[string]string{"account": "appAccountId", "user": "userIdentityId", "role": "appRoleId", "application": "applicationId"} {
			row[name] = platform.Member(t, row, edge+".databaseId")
			delete(row, edge)
		}
	}
	for _, row := range shown {
		row := row.(map[string]any)
		d.same(t, token, "/v1/permissions/{id}", "", row, "{id}", fmt.Sprintf("%.0f", row["id"]))
		d.compareAccount(t, token, fmt.Sprint(row["appAccountId"]))
	}
	d.same(t, token, "/v1/permissions", "?subtree=false&customerId="+platform.Decimal(customer), shown)
}

// compareSearch compares what is found by a text.
func (d *doors) compareSearch(t *testing.T, token, text string) {
	shown := platform.Member(t, d.MustGQL(token, `query($t: String!) { search(text: $t, first: 50) { type: __typename ... on Node { id: databaseId }
		... on Customer { name } ... on User { name email }
		... on Context { name } ... on Document { title: displayName context { databaseId } } ... on WebhookDestination { title: name url customer { databaseId } } } }`, map[string]any{"t": text}), "search").([]any)
	for _, row := range shown {
		row := row.(map[string]any)
		typ := row["type"].(string)
		row["type"] = strings.ToLower(typ[:1]) + typ[1:]
		if title, has := row["title"]; has {
			row["name"] = title
			delete(row, "title")
		}
		for edge, member := range map[string]string{"customer": "customerId", "context": "contextId"} {
			if of, has := row[edge].(map[string]any); has {
				row[member] = of["databaseId"]
				delete(row, edge)
			}
		}
		for _, member := range []string{"email", "url", "customerId", "contextId"} {
			if _, has := row[member]; !has {
				row[member] = nil
			}
		}
	}
	d.same(t, token, "/tenant/search", "?first=50&text="+url.QueryEscape(text), shown)
}

// compareAccount compares an account without what is on it.
func (d *doors) compareAccount(t *testing.T, token, id string) {
	shown := d.MustGQL(token, `query($a: ID!) { account(id: $a) { id: databaseId name customerId appInstanceId instanceAccountId disabled createdAt
		instanceActive domain application { databaseId } region { databaseId } } }`, map[string]any{"a": id})["account"].(map[string]any)
	for _, edge := range []string{"application", "region"} {
		shown[edge+"Id"] = platform.Member(t, shown, edge+".databaseId")
		delete(shown, edge)
	}
	d.same(t, token, "/v1/accounts/{id}", "", shown, "{id}", id)
}

// compareUsage compares what a company has.
func (d *doors) compareUsage(t *testing.T, token string, customer int64) {
	shown := platform.Member(t, d.MustGQL(token, parityUsage, map[string]any{"c": customer}), "customer.usage").([]any)
	names := quota.Names()
	if len(shown) != len(names) {
		t.Fatalf("%d usages, there are %d limits", len(shown), len(names))
	}
	for i, u := range shown {
		u := u.(map[string]any)
		if u["name"] != names[i].Graph() {
			t.Errorf("%v stands where %s is wanted", u["name"], names[i])
		}
		u["name"] = names[i]
	}
	d.same(t, token, "/tenant/usage/{cid}", "", shown, "{cid}", platform.Decimal(customer))
}

// compareAudit compares the audit events of a company.
func (d *doors) compareAudit(t *testing.T, token string, customer int64) {
	shown := platform.Member(t, d.MustGQL(token, `query($c: ID) { auditEvents(filter: {customerId: $c}) { nodes {
		id: databaseId action objectType objectId details clientId createdAt actorKind actor { databaseId } customer { databaseId } } } }`,
		map[string]any{"c": customer}), "auditEvents.nodes").([]any)
	for _, e := range shown {
		e := e.(map[string]any)
		e["actorId"], e["customerId"] = nil, platform.Member(t, e, "customer.databaseId")
		e["actorKind"] = map[any]string{"USER": "user", "API_KEY": "apiKey", "PLATFORM": "platform"}[e["actorKind"]]
		if e["actor"] != nil {
			e["actorId"] = platform.Member(t, e, "actor.databaseId")
		}
		delete(e, "actor")
		delete(e, "customer")
	}
	d.same(t, token, "/v1/audit", "?customerId="+platform.Decimal(customer), shown)
}

// compareOptions chooses step by step, as one does for a new permission.
func (d *doors) compareOptions(t *testing.T, token string, customer int64, users int) {
	variables, values, path := map[string]any{"c": customer}, []string{}, "/permission/options"
	choose := func(variable, place string, id int64) any {
		if variable != "" {
			path, values, variables[variable] = path+"/"+place, append(values, place, platform.Decimal(id)), id
		}
		got := d.MustGQL(token, parityOptions, variables)["permissionOptions"]
		d.same(t, token, path, "?cid="+platform.Decimal(customer), got, values...)
		return got
	}
	choose("", "", 0)
	region := choose("t", "{type}", 1)
	account := choose("r", "{region}", int64(platform.Member(t, region, "regions.0.value").(float64)))
	last := choose("a", "{account}", int64(platform.Member(t, account, "accounts.0.value").(float64)))
	if n := platform.Member(t, last, "users.#"); n != users {
		t.Errorf("%v users to choose from, %d listed", n, users)
	}
}

// compareRegions compares what belongs to no company.
func (d *doors) compareRegions(t *testing.T) {
	root := d.Root()
	for path, query := range map[string]string{
		"/region":           `{ v: regions(all: true) { ` + parityRegion + ` } }`,
		"/region/available": `{ v: regions { ` + parityRegion + ` } }`,
		"/region/{id}":      `{ v: region(id: 4) { ` + parityRegion + ` } }`,
	} {
		d.same(t, root, path, "", d.MustGQL(root, query, nil)["v"], "{id}", "4")
	}
}

func (d *doors) compareCaller(t *testing.T) {
	const me = `{ me { identity: user { userIdentityId: databaseId email } customer { id: databaseId name regionId canAddCustomers descendantsCanAdd createdAt } } }`
	root := d.Root()
	own := d.rest(t, root, "/tenant", "").JSON(t)
	delete(platform.Member(t, own, "identity").(map[string]any), "customerId")
	platform.SameAnswers(t, "/tenant", own, d.MustGQL(root, me, nil)["me"])
}
