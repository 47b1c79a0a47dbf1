package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"testing"
)

// The fields of GraphQL under the names that REST gives them.
const (
	parityRegion      = `id: databaseId name description`
	parityApplication = `id: databaseId name description appType authUrl createdAt`
	parityRole        = `id: databaseId applicationId customerId name description isOwner features createdAt`
	parityCompany     = `id: databaseId parentId name regionId canAddCustomers descendantsCanAdd createdAt`
	parityPermission  = `id: databaseId lastAccess disabled createdAt createdBy { id: databaseId email } instanceActive
		role { ` + parityRole + ` } application { ` + parityApplication + ` }`
	parityDetails = `query($c: ID) { customer(id: $c) { ` + parityCompany + ` region { ` + parityRegion + ` }
		parent { id: databaseId name regionId } ancestors { id: databaseId name regionId level } } }`
	parityList = `query($c: ID) { customer(id: $c) { descendants(self: true, first: 50) { nodes { ` + parityCompany + ` path level } } } }`
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
)

// plain brings a value of either door to one form: connections become lists, JSON texts what they
// hold, and "no creator" is the platform itself.
func plain(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = plain(x[i])
		}
	case map[string]any:
		if nodes, ok := x["nodes"]; ok && len(x) == 1 {
			return plain(nodes)
		}
		for name, value := range x {
			x[name] = plain(value)
		}
		for _, name := range []string{"features", "createdBy"} {
			if text, ok := x[name].(string); ok {
				var held any
				if json.Unmarshal([]byte(text), &held) == nil {
					x[name] = held
				}
			}
		}
		if by, ok := x["createdBy"]; ok && by == nil {
			x["createdBy"] = map[string]any{"id": 0, "email": ""}
		}
	}
	return v
}

// pretty is a value as lines, which show where two differ.
func pretty(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sameAnswers(t *testing.T, what string, rest, graph any) {
	t.Helper()
	a, b := pretty(t, plain(rest)), pretty(t, plain(graph))
	if a != b {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		from := max(0, i-150)
		t.Errorf("%s differs:\nREST    …%.300s\nGraphQL …%.300s", what, a[from:], b[from:])
	}
}

// TestParity asks both doors for the same over the whole demo data.
func TestParity(t *testing.T) {
	s := newStack(t)
	companies := map[string]int64{}
	for _, row := range s.do("GET", "/tenant/customers?self=true", s.root(), nil).json(t).([]any) {
		companies[member(t, row, "name").(string)] = int64(member(t, row, "id").(float64))
	}
	if len(companies) != 12 {
		t.Fatalf("%d companies", len(companies))
	}
	// Something of everything: a used permission, a company's own role, a creator, a flag.
	s.sql(`INSERT INTO roles (application_id, customer_id, name, description, features) VALUES (1, $1, 'Own "role"', 'Ünder', '{user.read}')`, companies["Alpine Hydro"])
	s.must(200, "POST", "/permission", s.root(), map[string]any{
		"appAccountId": s.account(companies["Alpine Hydro"], "tenant"), "appRoleId": s.roleID(companies["Alpine Hydro"], "tenant", `Own "role"`), "userIdentityId": s.userID("mira@alpine.example"),
	})
	s.must(204, "POST", fmt.Sprintf("/tenant/billing/%d", companies["Alpine Hydro"]), s.root(), map[string]any{"city": "Wörgl", "countryCode": "AT"})
	reach := map[string][]string{
		s.as("Alpine Energy", "greta@alpine.example"):   {"Alpine Energy", "Alpine Hydro", "Alpine Solar"},
		s.as("Coral Ports", "minh@coral-ports.example"): {"Coral Ports", "Harbour Robotics"},
	}
	all := []string{}
	for name := range companies {
		all = append(all, name)
	}
	sort.Strings(all)
	reach[s.root()] = all
	for token, names := range reach {
		s.must(200, "GET", "/tenant", token, nil)
		for _, name := range names {
			t.Run(fmt.Sprintf("%d companies/%s", len(names), name), func(t *testing.T) { s.compare(t, token, companies[name]) })
		}
	}
}

func (s *stack) compare(t *testing.T, token string, id int64) {
	t.Helper()
	graph := func(query string) any {
		return member(t, s.mustGQL(token, query, map[string]any{"c": id}), "customer")
	}
	rest := func(path string) any { return s.must(200, "GET", fmt.Sprintf(path, id), token, nil).json(t) }
	details := graph(parityDetails).(map[string]any)
	parent, ancestors := details["parent"], details["ancestors"]
	delete(details, "parent")
	delete(details, "ancestors")
	sameAnswers(t, "details", rest("/tenant/%d"), map[string]any{"customer": details, "parent": parent, "ancestors": ancestors})
	sameAnswers(t, "companies", rest("/tenant/customers/%d?self=true"), member(t, graph(parityList), "descendants"))
	users := rest("/tenant/users/%d")
	sameAnswers(t, "users", users, member(t, graph(parityUser), "users"))
	sameAnswers(t, "accounts", rest("/tenant/accounts/%d"), member(t, graph(parityAccounts), "accounts"))
	billing := s.do("GET", fmt.Sprintf("/tenant/billing/%d", id), token, nil)
	if got := member(t, graph(parityBilling), "billing"); billing.Status == 404 {
		if got != nil {
			t.Errorf("billing: REST has none, GraphQL %v", got)
		}
	} else {
		sameAnswers(t, "billing", billing.json(t), got)
	}
	options := func(path string, variables map[string]any) any {
		variables["c"] = id
		got := s.mustGQL(token, parityOptions, variables)["permissionOptions"]
		own := s.must(200, "GET", fmt.Sprintf("/permission/options%s?cid=%d", path, id), token, nil).json(t)
		sameAnswers(t, "options"+path, own, got)
		return got
	}
	app := int64(1)
	region := int64(member(t, options("/1", map[string]any{"t": app}), "regions.0.value").(float64))
	account := int64(member(t, options(fmt.Sprintf("/1/%d", region), map[string]any{"t": app, "r": region}), "accounts.0.value").(float64))
	last := options(fmt.Sprintf("/1/%d/%d", region, account), map[string]any{"t": app, "r": region, "a": account})
	if n, m := member(t, last, "users.#"), len(users.([]any)); n != m {
		t.Errorf("%v users to choose from, %d listed", n, m)
	}
}

// TestParityOfRegions compares what belongs to no company.
func TestParityOfRegions(t *testing.T) {
	s := newStack(t)
	root := s.root()
	for path, query := range map[string]string{
		"/region":           `{ v: regions(all: true) { ` + parityRegion + ` } }`,
		"/region/available": `{ v: regions { ` + parityRegion + ` } }`,
		"/region/4":         `{ v: region(id: 4) { ` + parityRegion + ` } }`,
	} {
		sameAnswers(t, path, s.must(200, "GET", path, root, nil).json(t), s.mustGQL(root, query, nil)["v"])
	}
	const me = `{ me { identity: user { userIdentityId: databaseId email } customer { id: databaseId name regionId canAddCustomers descendantsCanAdd createdAt } } }`
	own := s.must(200, "GET", "/tenant", root, nil).json(t)
	delete(member(t, own, "identity").(map[string]any), "customerId")
	sameAnswers(t, "/tenant", own, s.mustGQL(root, me, nil)["me"])
}
