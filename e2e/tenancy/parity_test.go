package tenancy

import (
	"fmt"
	"sort"
	"testing"

	"canopy/e2e/platform"
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
)

// TestParity asks both doors for the same over the whole demo data.
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
	// Something of everything: a used permission, a company's own role, a creator, a flag.
	s.SQL(`INSERT INTO roles (application_id, customer_id, name, description, features) VALUES (1, $1, 'Own "role"', 'Ünder', '{user.read}')`, customers["Alpine Hydro"])
	s.Must(200, "POST", "/permission", s.Root(), map[string]any{
		"appAccountId": s.Account(customers["Alpine Hydro"], "tenant"), "appRoleId": s.RoleID(customers["Alpine Hydro"], "tenant", `Own "role"`), "userIdentityId": s.UserID("mira@alpine.example"),
	})
	s.Must(204, "POST", fmt.Sprintf("/tenant/billing/%d", customers["Alpine Hydro"]), s.Root(), map[string]any{"city": "Wörgl", "countryCode": "AT"})
	reach := map[string][]string{
		s.As("Alpine Energy", "greta@alpine.example"):   {"Alpine Energy", "Alpine Hydro", "Alpine Solar"},
		s.As("Coral Ports", "minh@coral-ports.example"): {"Coral Ports", "Harbour Robotics"},
	}
	all := []string{}
	for name := range customers {
		all = append(all, name)
	}
	sort.Strings(all)
	reach[s.Root()] = all
	for token, names := range reach {
		s.Must(200, "GET", "/tenant", token, nil)
		for _, name := range names {
			t.Run(fmt.Sprintf("%d companies/%s", len(names), name), func(t *testing.T) { compare(t, s, token, customers[name]) })
		}
	}
}

func compare(t *testing.T, s *platform.Platform, token string, id int64) {
	t.Helper()
	graph := func(query string) any {
		return platform.Member(t, s.MustGQL(token, query, map[string]any{"c": id}), "customer")
	}
	rest := func(path string) any { return s.Must(200, "GET", fmt.Sprintf(path, id), token, nil).JSON(t) }
	details := graph(parityDetails).(map[string]any)
	parent, ancestors := details["parent"], details["ancestors"]
	delete(details, "parent")
	delete(details, "ancestors")
	platform.SameAnswers(t, "details", rest("/tenant/%d"), map[string]any{"customer": details, "parent": parent, "ancestors": ancestors})
	platform.SameAnswers(t, "companies", rest("/tenant/customers/%d?self=true"), platform.Member(t, graph(parityList), "descendants"))
	users := rest("/tenant/users/%d")
	platform.SameAnswers(t, "users", users, platform.Member(t, graph(parityUser), "users"))
	platform.SameAnswers(t, "accounts", rest("/tenant/accounts/%d"), platform.Member(t, graph(parityAccounts), "accounts"))
	billing := s.Do("GET", fmt.Sprintf("/tenant/billing/%d", id), token, nil)
	if got := platform.Member(t, graph(parityBilling), "billing"); billing.Status == 404 {
		if got != nil {
			t.Errorf("billing: REST has none, GraphQL %v", got)
		}
	} else {
		platform.SameAnswers(t, "billing", billing.JSON(t), got)
	}
	options := func(path string, variables map[string]any) any {
		variables["c"] = id
		got := s.MustGQL(token, parityOptions, variables)["permissionOptions"]
		own := s.Must(200, "GET", fmt.Sprintf("/permission/options%s?cid=%d", path, id), token, nil).JSON(t)
		platform.SameAnswers(t, "options"+path, own, got)
		return got
	}
	app := int64(1)
	region := int64(platform.Member(t, options("/1", map[string]any{"t": app}), "regions.0.value").(float64))
	account := int64(platform.Member(t, options(fmt.Sprintf("/1/%d", region), map[string]any{"t": app, "r": region}), "accounts.0.value").(float64))
	last := options(fmt.Sprintf("/1/%d/%d", region, account), map[string]any{"t": app, "r": region, "a": account})
	if n, m := platform.Member(t, last, "users.#"), len(users.([]any)); n != m {
		t.Errorf("%v users to choose from, %d listed", n, m)
	}
}

// TestParityOfRegions compares what belongs to no company.
func TestParityOfRegions(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	for path, query := range map[string]string{
		"/region":           `{ v: regions(all: true) { ` + parityRegion + ` } }`,
		"/region/available": `{ v: regions { ` + parityRegion + ` } }`,
		"/region/4":         `{ v: region(id: 4) { ` + parityRegion + ` } }`,
	} {
		platform.SameAnswers(t, path, s.Must(200, "GET", path, root, nil).JSON(t), s.MustGQL(root, query, nil)["v"])
	}
	const me = `{ me { identity: user { userIdentityId: databaseId email } customer { id: databaseId name regionId canAddCustomers descendantsCanAdd createdAt } } }`
	own := s.Must(200, "GET", "/tenant", root, nil).JSON(t)
	delete(platform.Member(t, own, "identity").(map[string]any), "customerId")
	platform.SameAnswers(t, "/tenant", own, s.MustGQL(root, me, nil)["me"])
}
