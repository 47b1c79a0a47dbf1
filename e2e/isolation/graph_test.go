package isolation

import (
	"strings"

	"canopy/e2e/platform"
	"canopy/internal/access"
	"canopy/internal/globalid"
)

// graphRow says how to ask fields of the graph for the target company, and what each caller must
// get. Fields are separated by spaces; node:T stands for node(id) of the type T. A name may have a
// variant behind a slash.
type graphRow struct {
	fields    string
	query     string
	variables func(*ask) object
	want      rule
	// assistant: the callers come with tokens for the assistant.
	assistant bool
}

func (row graphRow) writes() bool { return strings.HasPrefix(row.query, "mutation") }

// graphRows has at least one row for every field of Query, Mutation and Subscription, for every
// field that leads from one object to another, and for every type of node.
func graphRows() []graphRow {
	rows := queryRows()
	rows = append(rows, edgeRows()...)
	rows = append(rows, nodeRows()...)
	rows = append(rows, customerMutations()...)
	rows = append(rows, permissionMutations()...)
	rows = append(rows, keyAndRoleMutations()...)
	rows = append(rows, contextGraphRows()...)
	return append(rows, ownMutations()...)
}

// one is the variables of a query with one id.
func one(id func(*ask) int64) func(*ask) object {
	return func(a *ask) object { return object{"id": platform.Decimal(id(a))} }
}

var (
	anyCustomer   = one((*ask).theCustomer)
	anyAccount    = one((*ask).theAccount)
	anyPermission = one((*ask).freshPermission)
	anyUser       = one((*ask).freshUser)
)

func queryRows() []graphRow {
	anyToken := func() rule { return shared(0).but(getsOK, asOtherApp) }
	return []graphRow{
		{fields: "Query.me Me.user Me.customer Me.grants", query: `{ me { email user { email } customer { name } grants { features } } }`, want: anyToken()},
		{fields: "Query.customer", query: `query($id: ID){ customer(id: $id) { name path level } }`, variables: anyCustomer, want: reach(access.CompanyRead)},
		{fields: "Query.customer/own", query: `{ customer { name } }`, want: shared(access.CompanyRead)},
		{fields: "Query.user", query: `query($id: ID!){ user(id: $id) { email } }`, variables: anyUser, want: reach(access.UserRead)},
		{fields: "Query.account", query: `query($id: ID!){ account(id: $id) { name } }`, variables: anyAccount, want: reach(access.PermissionRead)},
		{fields: "Query.permission", query: `query($id: ID!){ permission(id: $id) { disabled } }`, variables: anyPermission, want: reach(access.PermissionRead)},
		{fields: "Query.regions", query: `{ regions { name } }`, want: shared(0)},
		{fields: "Query.regions/all", query: `{ regions(all: true) { name } }`, want: shared(0).but(gets403, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger)},
		{fields: "Query.region", query: `query($id: ID!){ region(id: $id) { name } }`, variables: one(aRegion), want: shared(0).found()},
		{fields: "Query.applications", query: `{ applications { name } }`, want: shared(0)},
		{fields: "Query.roles", query: `query($id: ID){ roles(customerId: $id) { name } }`, variables: anyCustomer, want: reach(access.PermissionRead)},
		{fields: "Query.roles/own", query: `{ roles { name } }`, want: shared(access.PermissionRead)},
		{
			fields: "Query.permissionOptions PermissionOptions.applications",
			query:  `query($id: ID){ permissionOptions(customerId: $id) { applications { title } } }`, variables: anyCustomer, want: reach(access.PermissionRead),
		},
		{
			fields: "Query.permissionOptions/account PermissionOptions.regions PermissionOptions.accounts PermissionOptions.roles PermissionOptions.users",
			query: `query($region: ID, $account: ID){ permissionOptions(type: 1, region: $region, account: $account) {
				regions { title } accounts { title } roles { title } users { title } } }`,
			variables: func(a *ask) object { return object{"region": a.region(), "account": a.theAccount()} }, want: reach(access.PermissionRead),
		},
		{fields: "Query.auditEvents", query: `{ auditEvents(first: 200) { nodes { action details objectId } totalCount } }`, want: shared(access.AuditRead)},
	}
}

func aRegion(a *ask) int64 { return a.or(func() int64 { return 1 }) }

func anApplication(a *ask) int64 { return a.or(func() int64 { return 1 }) }

// edge asks for an edge of the target company.
func edge(fields, selection string, right access.Features) graphRow {
	return graphRow{fields: fields, query: `query($id: ID){ customer(id: $id) { ` + selection + ` } }`, variables: anyCustomer, want: reach(access.CompanyRead | right)}
}

func edgeRows() []graphRow {
	return []graphRow{
		edge("Customer.region Customer.parent Customer.ancestors", `region { name } parent { name } ancestors { name }`, 0),
		edge("Customer.children", `children { nodes { name } totalCount }`, 0),
		edge("Customer.descendants", `descendants(self: true) { nodes { name } totalCount }`, 0),
		edge("Customer.users", `users { nodes { email } totalCount }`, access.UserRead),
		edge("Customer.accounts", `accounts { nodes { name } totalCount }`, access.PermissionRead),
		edge("Customer.billing", `billing { billingName }`, access.BillingRead),
		edge("Customer.roles", `roles { name }`, access.PermissionRead),
		edge("Customer.apiKeys", `apiKeys { nodes { name clientId } totalCount }`, access.KeyRead),
		edge("ApiKey.user ApiKey.customer", `apiKeys { nodes { user { email } customer { name } } }`, access.KeyRead),
		edge("Role.application Role.customer", `roles { application { name } customer { name } }`, access.PermissionRead),
		// Beyond the caller's reach a reference has a name, and leads nowhere.
		{
			fields: "CustomerRef.customer", want: shared(access.CompanyRead),
			query: `{ customer { parent { customer { users { nodes { email } } } } ancestors { customer { accounts { nodes { name } } } } } }`,
		},
		{
			fields: "User.permissions User.customers", variables: anyUser, want: reach(access.UserRead),
			query: `query($id: ID!){ user(id: $id) { lastAccess permissions { nodes { id } totalCount } customers { nodes { name } totalCount } } }`,
		},
		// A user of several companies shows each caller that caller's own part.
		{
			fields: "User.permissions/shared User.customers/shared", variables: one(func(a *ask) int64 { return a.or(func() int64 { return a.shared }) }), want: sharedUser(),
			query: `query($id: ID!){ user(id: $id) { lastAccess permissions { nodes { account { name customer { name } } role { name } } totalCount } customers { nodes { name } totalCount } } }`,
		},
		{
			fields:    "Permission.user Permission.account Permission.role Permission.application Permission.region Permission.createdBy",
			query:     `query($id: ID!){ permission(id: $id) { user { email } account { name } role { name } application { name } region { name } createdBy { email } } }`,
			variables: anyPermission, want: reach(access.PermissionRead),
		},
		{
			fields: "Account.customer Account.application Account.region Account.permissions", variables: anyAccount, want: reach(access.PermissionRead),
			query: `query($id: ID!){ account(id: $id) { customer { name } application { name } region { name } permissions { nodes { id } totalCount } } }`,
		},
		{
			fields: "AuditEvent.actor AuditEvent.customer", want: shared(access.AuditRead),
			query: `{ auditEvents { nodes { actor { email } customer { name } } } }`,
		},
	}
}

// sharedUser is in reach of all; one that is not there is so of nobody.
func sharedUser() rule {
	return reach(access.UserRead).there(getsOK, asDescendant, asSibling, asStranger)
}

// node asks for an object by its global id.
func node(typ string, id func(*ask) int64, want rule) graphRow {
	return graphRow{
		fields: "Query.node node:" + typ, query: `query($id: ID!){ node(id: $id) { __typename id databaseId } }`, want: want,
		variables: func(a *ask) object { return object{"id": globalid.ID{Type: typ, Int: id(a)}.Global()} },
	}
}

func nodeRows() []graphRow {
	return []graphRow{
		node("Customer", (*ask).theCustomer, reach(access.CompanyRead)),
		node("Billing", (*ask).theCustomer, reach(access.BillingRead)),
		node("User", (*ask).freshUser, reach(access.UserRead)),
		node("Permission", (*ask).freshPermission, reach(access.PermissionRead)),
		node("Account", (*ask).theAccount, reach(access.PermissionRead)),
		node("Role", (*ask).freshRole, reach(access.PermissionRead)),
		node("ApiKey", (*ask).freshKey, reach(access.KeyRead)),
		node("AuditEvent", (*ask).anEvent, reach(access.AuditRead)),
		node("Region", aRegion, shared(0).found()),
		node("Application", anApplication, shared(0).found()),
	}
}

// mutate makes the row of a mutation.
func mutate(field, selection string, input func(*ask) object, want rule) graphRow {
	name, _, _ := strings.Cut(field, "/")
	typ := strings.ToUpper(name[:1]) + name[1:] + "Input!"
	return graphRow{
		fields: "Mutation." + field, query: `mutation($input: ` + typ + `){ ` + name + `(input: $input) { ` + selection + ` } }`,
		variables: func(a *ask) object { return object{"input": input(a)} }, want: want,
	}
}

func customerMutations() []graphRow {
	return []graphRow{
		mutate("createCustomer", `customer { name } admin { email }`, func(a *ask) object {
			return object{"parentId": a.theCustomer(), "name": a.unique(), "regionId": 1, "email": a.freshMail()}
		}, reach(access.CompanyCreate)),
		mutate("updateCustomer", `customer { name }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "name": targetName}
		}, reach(access.CompanyWrite)),
		mutate("saveBilling", `billing { billingName }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "billingName": secretMark}
		}, reach(access.BillingWrite)),
		mutate("createUser", `user { email }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "email": a.freshMail()}
		}, reach(access.UserWrite)),
		mutate("resendInvitation", `user { email }`, func(a *ask) object {
			return object{"userId": a.freshUser()}
		}, reach(access.UserWrite)),
		mutate("setAccountDisabled", `account { name }`, func(a *ask) object {
			return object{"id": a.theAccount(), "disabled": false}
		}, reach(access.CompanyWrite)),
	}
}

func permissionMutations() []graphRow {
	return []graphRow{
		mutate("createPermission", `permission { user { email } }`, func(a *ask) object {
			return object{"accountId": a.theAccount(), "roleId": a.viewerRole(), "email": a.freshMail()}
		}, reach(access.PermissionWrite)),
		mutate("createPermission/user", `permission { user { email } }`, func(a *ask) object {
			return object{"accountId": a.Account(a.home(), "tenant"), "roleId": a.viewerRole(), "userId": a.freshUser()}
		}, reach(access.PermissionWrite)),
		mutate("createPermission/role", `permission { role { name } }`, func(a *ask) object {
			return object{"accountId": a.Account(a.home(), "tenant"), "roleId": a.freshRole(), "email": a.unique() + "@role.example"}
		}, foreignRole()),
		mutate("updatePermission", `permission { role { name } }`, func(a *ask) object {
			return object{"id": a.freshPermission(), "roleId": a.viewerRole()}
		}, reach(access.PermissionWrite)),
		mutate("updatePermission/role", `permission { role { name } }`, func(a *ask) object {
			return object{"id": a.ownPermission(), "roleId": a.freshRole()}
		}, foreignRole()),
		mutate("togglePermission", `permission { disabled }`, func(a *ask) object { return object{"id": a.freshPermission()} }, reach(access.PermissionWrite)),
		mutate("deletePermission", `deletedId`, func(a *ask) object { return object{"id": a.freshPermission()} }, reach(access.PermissionWrite)),
	}
}

func keyAndRoleMutations() []graphRow {
	return []graphRow{
		mutate("createApiKey", `clientId clientSecret`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "userId": a.shared, "name": a.unique()}
		}, reach(access.KeyWrite)),
		// A caller of another company gets no key for a user of the target company.
		mutate("createApiKey/user", `clientId clientSecret`, func(a *ask) object {
			return object{"customerId": a.home(), "userId": a.freshUser()}
		}, reach(access.KeyWrite).there(getsBad, asRoot, asAncestor)),
		mutate("rotateApiKeySecret", `clientId clientSecret`, func(a *ask) object { return object{"id": a.freshKey()} }, reach(access.KeyWrite)),
		mutate("revokeApiKey", `apiKey { clientId }`, func(a *ask) object { return object{"id": a.freshKey()} }, reach(access.KeyWrite)),
		mutate("createRole", `role { name }`, func(a *ask) object {
			return object{"applicationId": 1, "customerId": a.theCustomer(), "name": a.unique(), "features": []string{}}
		}, reach(access.PermissionWrite)),
		mutate("updateRole", `role { name }`, func(a *ask) object { return object{"id": a.freshRole(), "name": a.unique()} }, reach(access.PermissionWrite)),
		mutate("deleteRole", `deletedId`, func(a *ask) object { return object{"id": a.freshRole()} }, reach(access.PermissionWrite)),
	}
}

// ownMutations change nothing but the caller itself; any application's token serves them.
func ownMutations() []graphRow {
	// Two-factor is for a person's login; every caller here has an API key.
	persons := shared(0).but(gets403, asRoot, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger, asOtherApp)
	code := func(*ask) object { return object{"code": "000000"} }
	return []graphRow{
		mutate("enableTotp", `uri`, func(*ask) object { return object{} }, persons),
		mutate("confirmTotp", `user { email }`, code, persons),
		mutate("disableTotp", `user { email }`, code, persons),
	}
}
