package isolation

import (
	"strings"

	"canopy/e2e/platform"
	"canopy/internal/globalid"
	"canopy/internal/rule"
)

// graphRow says how to ask fields of the graph for the target company, and what each caller must
// get. Fields are separated by spaces; node:T stands for node(id) of the type T. A name may have a
// variant behind a slash.
type graphRow struct {
	// covers are fields of the objects that the fields show, which the row stands for, too.
	covers    string
	fields    string
	query     string
	variables func(*ask) object
	want      shape
	// read is the rule for what node(id) finds; those of other fields follow from the query.
	read *rule.Rule
	// asked are the rules of a query that reaches less than it says.
	asked []*rule.Rule
	// gives: it gives what the caller must have itself (beyond_own_rights).
	gives bool
	// ofRoot: only callers of the root company are let in.
	ofRoot bool
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
	rows = append(rows, identityGraphRows()...)
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
	return []graphRow{
		{fields: "Query.me Me.user Me.customer Me.grants", query: `{ me { email user { email } customer { name } grants { features } } }`, want: shared},
		{fields: "Me.invitations", query: `{ me { invitations { email } } }`, want: shared},
		{fields: "Me.passkeys", query: `{ me { passkeys { name backedUp } } }`, want: shared},
		{fields: "Me.sessions", query: `{ me { hasPassword sessions { address current } } }`, want: shared},
		{fields: "Query.customer", query: `query($id: ID){ customer(id: $id) { name path level effectiveCanAddCustomers effectiveStatus } }`, variables: anyCustomer, want: reach},
		{fields: "Query.customer/own", query: `{ customer { name } }`, want: shared},
		{
			fields: "Query.customerImport CustomerImport.parent CustomerImport.customer", ofRoot: true, variables: one((*ask).freshImport), want: operators,
			query: `query($id: ID!){ customerImport(id: $id) { status report parent { name } customer { name } } }`,
		},
		{fields: "Query.customerExport", query: `query($id: ID!){ customerExport(id: $id) { status url } }`, variables: one((*ask).freshExport), want: reach},
		{fields: "Query.user", query: `query($id: ID!){ user(id: $id) { email } }`, variables: anyUser, want: reach},
		{fields: "Query.account", query: `query($id: ID!){ account(id: $id) { name } }`, variables: anyAccount, want: reach},
		{fields: "Query.permission", query: `query($id: ID!){ permission(id: $id) { disabled } }`, variables: anyPermission, want: reach},
		{fields: "Query.regions", query: `{ regions { name } }`, want: shared},
		{fields: "Query.regions/all", query: `{ regions(all: true) { name } }`, want: shape(shared).but(gets403, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger)},
		{fields: "Query.region", query: `query($id: ID!){ region(id: $id) { name } }`, variables: one(aRegion), want: shape(shared).found()},
		{fields: "Query.applications", query: `{ applications { name } }`, want: shared},
		{fields: "Query.roles", query: `query($id: ID){ roles(customerId: $id) { name } }`, variables: anyCustomer, want: reach},
		{fields: "Query.roles/own", query: `{ roles { name } }`, want: shared},
		{
			fields: "Query.permissionOptions PermissionOptions.applications",
			query:  `query($id: ID){ permissionOptions(customerId: $id) { applications { title } } }`, variables: anyCustomer, want: reach,
		},
		{
			fields: "Query.permissionOptions/account PermissionOptions.regions PermissionOptions.accounts PermissionOptions.roles PermissionOptions.users",
			query: `query($region: ID, $account: ID){ permissionOptions(type: 1, region: $region, account: $account) {
				regions { title } accounts { title } roles { title } users { title } } }`,
			variables: func(a *ask) object { return object{"region": a.region(), "account": a.theAccount()} }, want: reach,
		},
		found("customers", `name path`), foundIn("customers", `name path`),
		{
			fields: "Query.customers/filter", variables: anyCustomer, want: shared,
			query: `query($id: ID){ customers(filter: {or: [{parentId: $id}, {ids: [1, 2, 3]}]}, orderBy: [{field: NAME}]) { nodes { name } totalCount } }`,
		},
		{
			fields: "Query.search", variables: anyUser, want: shared,
			query: `query($id: String!){ search(text: $id) { ` + searchResults + ` } }`,
		},
		{fields: "Query.search/name", query: `{ search(text: "Coral Ports", first: 50) { ` + searchResults + ` } }`, want: shared},
		{fields: "Query.search/near", query: `{ search(text: "Corall Prts", first: 50) { ` + searchResults + ` } near: search(text: "Corall", first: 50) { ` + searchResults + ` } }`, want: shared},
		{fields: "Query.search/address", query: `{ search(text: "minh` + targetMail + `", first: 50) { ` + searchResults + ` } }`, want: shared},
		found("users", `email`), foundIn("users", `email`),
		{
			fields: "Query.users/filter", variables: anyUser, want: shared,
			query: `query($id: ID!){ users(filter: {ids: [$id]}, orderBy: [{field: EMAIL}]) { nodes { email } totalCount } }`,
		},
		{
			fields: "Query.users/company", variables: anyCustomer, want: reach,
			query: `query($id: ID){ users(filter: {customerId: $id}) { nodes { email } totalCount } }`,
		},
		found("permissions", `user { email } account { name }`), foundIn("permissions", `user { email } account { name }`),
		{
			fields: "Query.permissions/filter", variables: anyUser, want: shared,
			query: `query($id: ID!){ permissions(filter: {userId: $id}) { nodes { user { email } } totalCount } }`,
		},
		{
			fields: "Query.operations Operations.queues Operations.workers Operations.lateMails Operations.failingDestinations Operations.busiest Operations.nearLimits " +
				"Operations.defaultLimits LateMail.user LateMail.branch NearLimit.customer",
			ofRoot: true, want: shape(shared).but(gets403, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger),
			query: `{ operations { version queues { name } workers { host } lateMails { kind user { email } branch { name } } failingDestinations { url }
				busiest { name } nearLimits { customer { name } } defaultLimits { limit } } }`,
		},
		{fields: "Query.auditActions", query: `{ auditActions { action description } }`, want: shared},
		{fields: "Query.auditEvents", query: `{ auditEvents(first: 200) { nodes { action details objectId } totalCount } }`, want: shared},
		foundIn("auditEvents", `action details objectId`),
		{
			fields: "Query.auditEvents/company", variables: anyCustomer, want: reach,
			query: `query($id: ID){ auditEvents(filter: {customerId: $id}) { nodes { action details objectId } totalCount } }`,
		},
	}
}

// searchResults shows whatever was found.
const searchResults = `... on Customer { name } ... on User { email name } ... on Context { name } ... on Document { displayName } ... on Agent { name }
	... on Run { jobKey } ... on WebhookDestination { url } ... on WebhookDelivery { eventId }`

// found asks for a list over everything within reach, and foundIn for that below the target company and for what is its own.
func found(list, selection string) graphRow {
	return graphRow{fields: "Query." + list, query: `{ ` + list + `(first: 200) { nodes { ` + selection + ` } totalCount } }`, want: shared}
}

func foundIn(list, selection string) graphRow {
	return graphRow{
		fields: "Query." + list + "/subtree", variables: anyCustomer, want: reach,
		query: `query($id: ID){ ` + list + `(customerId: $id) { nodes { ` + selection + ` } totalCount } alone: ` + list + `(customerId: $id, subtree: false, last: 5) { nodes { ` + selection + ` } } }`,
	}
}

func aRegion(a *ask) int64 { return a.or(func() int64 { return 1 }) }

func anApplication(a *ask) int64 { return a.or(func() int64 { return 1 }) }

// edge asks for an edge of the target company.
func edge(fields, selection string) graphRow {
	return graphRow{fields: fields, query: `query($id: ID){ customer(id: $id) { ` + selection + ` } }`, variables: anyCustomer, want: reach}
}

func edgeRows() []graphRow {
	return []graphRow{
		edge("Customer.region Customer.parent Customer.ancestors", `region { name } parent { name } ancestors { name }`),
		edge("Customer.children", `children { nodes { name } totalCount }`),
		edge("Customer.descendants", `descendants(self: true) { nodes { name } totalCount }`),
		edge("Customer.users", `users { nodes { email } totalCount }`),
		edge("Customer.accounts", `accounts { nodes { name } totalCount }`),
		edge("Customer.accounts/filter", `accounts(filter: {disabled: false}, orderBy: [{field: NAME}]) { nodes { name } totalCount }`),
		edge("Customer.billing", `billing { billingName }`),
		edge("Customer.usage", `usage { name used limit }`),
		edge("Usage.limitedBy", `usage { limitedBy { name } }`),
		edge("Customer.roles", `roles { name }`),
		edge("Customer.invitations Invitation.customer Invitation.inviter", `invitations { email status customer { name } inviter { email } }`),
		edge("Customer.secrets Secret.customer", `secrets { name customer { name } }`),
		edge("Customer.deletedSecrets", `deletedSecrets { name }`),
		edge("Customer.webhookDestinations/tenant", `webhookDestinations { nodes { name url } totalCount }`),
		edge("Customer.apiKeys", `apiKeys { nodes { name clientId } totalCount }`),
		edge("Customer.apiKeys/filter", `apiKeys(filter: {or: [{active: true}, {active: false}]}, orderBy: [{field: NAME}]) { nodes { name clientId } totalCount }`),
		edge("ApiKey.user ApiKey.customer", `apiKeys { nodes { user { email } customer { name } } }`),
		edge("Role.application Role.customer", `roles { application { name } customer { name } }`),
		// Beyond the caller's reach a reference has a name, and leads nowhere.
		{
			fields: "CustomerRef.customer", want: shared,
			asked: []*rule.Rule{rule.Customer, rule.CustomerParent, rule.CustomerAncestors, rule.CustomerRefCustomer},
			query: `{ customer { parent { customer { users { nodes { email } } } } ancestors { customer { accounts { nodes { name } } } } } }`,
		},
		{
			fields: "User.permissions User.customers", variables: anyUser, want: reach,
			query: `query($id: ID!){ user(id: $id) { lastAccess permissions { nodes { id } totalCount } customers { nodes { name } totalCount } } }`,
		},
		// A user of several companies shows each caller that caller's own part.
		{
			fields: "User.permissions/shared User.customers/shared", variables: one(func(a *ask) int64 { return a.or(func() int64 { return a.shared }) }), want: sharedUser,
			query: `query($id: ID!){ user(id: $id) { lastAccess permissions { nodes { account { name customer { name } } role { name } } totalCount } customers { nodes { name } totalCount } } }`,
		},
		{
			fields:    "Permission.user Permission.account Permission.role Permission.application Permission.region Permission.createdBy",
			query:     `query($id: ID!){ permission(id: $id) { user { email } account { name } role { name } application { name } region { name } createdBy { email } } }`,
			variables: anyPermission, want: reach,
		},
		{
			fields: "Account.customer Account.application Account.region Account.permissions", variables: anyAccount, want: reach,
			query: `query($id: ID!){ account(id: $id) { customer { name } application { name } region { name } permissions { nodes { id } totalCount } } }`,
		},
		{
			fields: "AuditEvent.actor AuditEvent.customer", want: shared,
			query: `{ auditEvents { nodes { actor { email } customer { name } } } }`,
		},
	}
}

// sharedUser is in reach of all; one that is not there is so of nobody.
func sharedUser(n needs) answers {
	return shape(reach).there(getsOK, asDescendant, asSibling, asStranger)(n)
}

// node asks for an object by its global id.
func node(typ string, read *rule.Rule, id func(*ask) int64, want shape) graphRow {
	return graphRow{
		fields: "Query.node node:" + typ, query: `query($id: ID!){ node(id: $id) { __typename id databaseId } }`, want: want, read: read,
		variables: func(a *ask) object { return object{"id": globalid.ID{Type: typ, Int: id(a)}.Global()} },
	}
}

func nodeRows() []graphRow {
	return []graphRow{
		node("Customer", rule.Customer, (*ask).theCustomer, reach),
		node("Billing", rule.CustomerBilling, (*ask).theCustomer, reach),
		node("User", rule.User, (*ask).freshUser, reach),
		node("Permission", rule.Permission, (*ask).freshPermission, reach),
		node("Account", rule.Account, (*ask).theAccount, reach),
		node("Role", rule.Roles, (*ask).freshRole, reach),
		node("ApiKey", rule.CustomerAPIKeys, (*ask).freshKey, reach),
		node("AuditEvent", rule.AuditEvents, (*ask).anEvent, reach),
		node("CustomerExport", rule.CustomerExport, (*ask).freshExport, reach),
		node("CustomerImport", rule.CustomerImport, (*ask).freshImport, operators),
		node("Invitation", rule.CustomerInvitations, (*ask).freshInvitation, reach),
		node("Passkey", rule.MePasskeys, (*ask).freshPasskey, ownOnly),
		node("Session", rule.MeSessions, (*ask).freshSession, ownOnly),
		node("Region", rule.Region, aRegion, shape(shared).found()),
		node("Application", rule.Applications, anApplication, shape(shared).found()),
	}
}

// mutate makes the row of a mutation.
func mutate(field, selection string, input func(*ask) object, want shape) graphRow {
	name, _, _ := strings.Cut(field, "/")
	typ := strings.ToUpper(name[:1]) + name[1:] + "Input!"
	return graphRow{
		fields: "Mutation." + field, query: `mutation($input: ` + typ + `){ ` + name + `(input: $input) { ` + selection + ` } }`,
		variables: func(a *ask) object { return object{"input": input(a)} }, want: want,
	}
}

// covering has a row stand for fields of the objects that it shows, too.
func (row graphRow) covering(fields string) graphRow {
	row.covers = fields
	return row
}

// byRoot marks a row of what callers of the root company alone are let do.
func (row graphRow) byRoot() graphRow {
	row.ofRoot = true
	return row
}

// giving marks a row whose caller must have what it gives.
func (row graphRow) giving() graphRow {
	row.gives = true
	return row
}

func customerMutations() []graphRow {
	return []graphRow{
		mutate("createCustomer", `customer { name } admin { email }`, func(a *ask) object {
			return object{"parentId": a.theCustomer(), "name": a.unique(), "regionId": 1, "email": a.freshMail()}
		}, reach),
		mutate("updateCustomer", `customer { name }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "name": targetName}
		}, reach),
		mutate("moveCustomer", `customer { name }`, func(a *ask) object {
			return object{"id": a.aChild(), "parentId": a.aBranchBelow()}
		}, reach),
		mutate("suspendCustomer", `customer { status }`, func(a *ask) object { return object{"id": a.aChild()} }, reach),
		mutate("resumeCustomer", `customer { status }`, func(a *ask) object { return object{"id": a.aSuspended()} }, reach),
		mutate("resumeCustomer/own", `customer { status }`, func(a *ask) object { return object{"id": a.theCustomer()} }, fromAbove),
		mutate("deleteCustomer", `deletedId customer { status eraseAt }`, func(a *ask) object { return object{"id": a.aChild()} }, reach),
		mutate("restoreCustomer", `customer { status }`, func(a *ask) object { return object{"id": a.aDeleted()} }, reach),
		mutate("restoreCustomer/own", `customer { status }`, func(a *ask) object { return object{"id": a.theCustomer()} }, fromAbove),
		mutate("exportCustomer", `customerExport { status progress url createdAt expiresAt }`, func(a *ask) object {
			return object{"id": a.aChild()}
		}, reach),
		mutate("importCustomer", `customerImport { status progress dryRun size }`, func(a *ask) object {
			return object{"parentId": a.placeOfImport(), "file": nil}
		}, operators).byRoot().giving(),
		mutate("cancelCustomerImport", `customerImport { status expiresAt }`, func(a *ask) object { return object{"id": a.freshImport()} }, operators).byRoot(),
		mutate("setLimits", `customer { name }`, func(a *ask) object {
			return object{"customerId": a.aChild(), "limits": []object{{"name": "SECRETS", "limit": 1000}}}
		}, reach),
		mutate("setLimits/own", `customer { name }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "limits": []object{{"name": "SECRETS", "limit": 1000}}}
		}, shape(reach).but(gets403, asOwner)),
		mutate("saveBilling", `billing { billingName }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "billingName": secretMark}
		}, reach),
		mutate("createUser", `user { email }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "email": a.freshMail()}
		}, reach),
		mutate("createUsers", `results { error { code } user { email } }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "users": []object{{"email": a.freshMail()}}}
		}, reach).covering("CreateUsersResult.error CreateUsersResult.user"),
		mutate("removeUsers", `results { error { code } deletedId }`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "userIds": []any{a.freshUser()}}
		}, reach).covering("RemoveUsersResult.error"),
		mutate("resendInvitation", `user { email }`, func(a *ask) object {
			return object{"userId": a.freshUser()}
		}, reach),
		mutate("resendInvitation/invitation", `invitation { email }`, func(a *ask) object {
			return object{"id": a.freshInvitation()}
		}, reach),
		mutate("withdrawInvitation", `invitation { email }`, func(a *ask) object { return object{"id": a.freshInvitation()} }, reach),
		mutate("updateUser", `user { email }`, func(a *ask) object {
			return object{"id": a.selfOrUser(), "firstName": a.unique()}
		}, shape(reach).but(gets403, asViewer, asOtherApp)),
		mutate("removeUser", `deletedId`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "userId": a.freshUser()}
		}, reach),
		mutate("eraseUser", `deletedId`, func(a *ask) object {
			a.ownLast()
			return object{"userId": a.selfOrUser()}
		}, shape(reach).but(gets403, asAncestor, asOwner, asViewer, asOtherApp).there(getsBad, asDeputy)),
		mutate("setAccountDisabled", `account { name }`, func(a *ask) object {
			return object{"id": a.theAccount(), "disabled": false}
		}, reach),
	}
}

func permissionMutations() []graphRow {
	return []graphRow{
		mutate("createPermission", `permission { user { email } }`, func(a *ask) object {
			return object{"accountId": a.theAccount(), "roleId": a.viewerRole(), "email": a.freshMail()}
		}, reach).giving(),
		mutate("createPermission/user", `permission { user { email } }`, func(a *ask) object {
			return object{"accountId": a.Account(a.home(), "tenant"), "roleId": a.viewerRole(), "userId": a.freshUser()}
		}, reach).giving(),
		mutate("createPermission/role", `permission { role { name } }`, func(a *ask) object {
			return object{"accountId": a.Account(a.home(), "tenant"), "roleId": a.freshRole(), "email": a.unique() + "@role.example"}
		}, foreignRole),
		mutate("createPermissions", `results { error { code } permission { disabled } }`, func(a *ask) object {
			return object{"permissions": []object{{"accountId": a.Account(a.home(), "tenant"), "roleId": a.viewerRole(), "email": a.unique() + "@bulk.example"}}}
		}, shared).covering("CreatePermissionsResult.error CreatePermissionsResult.permission"),
		mutate("updatePermission", `permission { role { name } }`, func(a *ask) object {
			return object{"id": a.freshPermission(), "roleId": a.viewerRole()}
		}, reach).giving(),
		mutate("updatePermission/role", `permission { role { name } }`, func(a *ask) object {
			return object{"id": a.ownPermission(), "roleId": a.freshRole()}
		}, foreignRole),
		mutate("togglePermission", `permission { disabled }`, func(a *ask) object { return object{"id": a.freshPermission()} }, reach),
		mutate("setPermissionDisabled", `permission { disabled }`, func(a *ask) object { return object{"id": a.freshPermission(), "disabled": true} }, reach),
		mutate("deletePermission", `deletedId`, func(a *ask) object { return object{"id": a.freshPermission()} }, reach),
	}
}

func keyAndRoleMutations() []graphRow {
	return []graphRow{
		mutate("createApiKey", `clientId clientSecret`, func(a *ask) object {
			return object{"customerId": a.theCustomer(), "userId": a.shared, "name": a.unique()}
		}, reach).giving(),
		// A caller of another company gets no key for a user of the target company.
		mutate("createApiKey/user", `clientId clientSecret`, func(a *ask) object {
			return object{"customerId": a.home(), "userId": a.freshUser()}
		}, shape(reach).there(getsBad, asRoot, asAncestor)),
		mutate("rotateApiKeySecret", `clientId clientSecret`, func(a *ask) object { return object{"id": a.freshKey()} }, reach).giving(),
		mutate("revokeApiKey", `apiKey { clientId }`, func(a *ask) object { return object{"id": a.freshKey()} }, reach),
		mutate("createRole", `role { name }`, func(a *ask) object {
			return object{"applicationId": 1, "customerId": a.theCustomer(), "name": a.unique(), "features": []string{}}
		}, reach),
		mutate("updateRole", `role { name }`, func(a *ask) object { return object{"id": a.freshRole(), "name": a.unique()} }, reach),
		mutate("deleteRole", `deletedId`, func(a *ask) object { return object{"id": a.freshRole()} }, reach),
	}
}

// personsOnly: it is for a person's login; every caller but the deputy has an API key.
func personsOnly(n needs) answers {
	keys := shape(shared).but(gets403, asRoot, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger, asOtherApp)
	return keys.there(getsOK, asDeputy)(n)
}

// ownOnly: it is there for the person alone whose it is, who is the deputy.
func ownOnly(n needs) answers {
	others := shape(shared).found().there(gets404, asRoot, asAncestor, asOwner, asViewer, asDescendant, asSibling, asStranger, asOtherApp)
	return others.there(getsOK, asDeputy)(n)
}

// freshSession is one of the deputy's, where there is a deputy.
func (a *ask) freshSession() int64 {
	return a.or(func() (id int64) {
		a.Look(&id, `INSERT INTO sessions (user_id, customer_id, key, user_agent, address, expires_at)
			SELECT id, $1, '', $2, '', now() + interval '1 day' FROM users WHERE email IN ('rita' || $3, 'vera' || $3) ORDER BY email LIMIT 1 RETURNING id`,
			a.target, secretMark, targetMail)
		return id
	})
}

// freshPasskey is one of the deputy's, where there is a deputy.
func (a *ask) freshPasskey() int64 {
	return a.or(func() (id int64) {
		a.serial++
		a.Look(&id, `INSERT INTO passkeys (user_id, name, credential_id, public_key, sign_count, transports, synced, backed_up)
			SELECT id, $1, ($2 || $1 || $3)::bytea, '', 0, '{}', false, false FROM users WHERE email IN ('rita' || $3, 'vera' || $3) ORDER BY email LIMIT 1 RETURNING id`,
			secretMark, platform.Decimal(int64(a.serial)), targetMail)
		return id
	})
}

// selfOrUser is the deputy, or a user for others to change.
func (a *ask) selfOrUser() int64 {
	if a.as == asDeputy {
		return a.UserID("rita" + targetMail)
	}
	return a.freshUser()
}

// joined is a company that the deputy belongs to, and a caller of every other kind does not.
func (a *ask) joined() int64 {
	id := a.aChild()
	a.SQL(`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT $1, id, email, '', '' FROM users WHERE email = 'rita' || $2`, id, targetMail)
	return id
}

func (a *ask) freshInvitation() int64 {
	return a.or(func() int64 {
		return a.Number(`SELECT id FROM invitations WHERE user_id = $1`, a.member(a.freshMail()))
	})
}

// invited is an invitation of the deputy, where there is one, or of nobody.
func (a *ask) invited() int64 {
	return a.Number(`SELECT COALESCE((SELECT id FROM invitations WHERE customer_id = $1), $2)`, a.joined(), platform.AbsentID)
}

// ownLast has the deputy be the only owner of something, so that it can't go.
func (a *ask) ownLast() {
	if a.as != asDeputy {
		return
	}
	a.SQL(`WITH o AS (INSERT INTO accounts (customer_id, app_instance_id, name) SELECT $1, min(id), 'Own' FROM app_instances WHERE application_id = 1 RETURNING id)
		INSERT INTO permissions (account_id, user_id, role_id) SELECT o.id, u.id, r.id FROM o, users u, roles r
		WHERE u.email = 'rita' || $2 AND r.application_id = 1 AND r.customer_id IS NULL AND r.is_owner`, a.joined(), targetMail)
}

// passwordNow gives the deputy the password of the demo data again.
func (a *ask) passwordNow() string {
	a.SQL(`UPDATE users SET password_changed_at = NULL, password_hash = (SELECT password_hash FROM users WHERE email = $1) WHERE email = 'rita' || $2`, platform.DemoAdmin, targetMail)
	return a.Demo.AdminPassword
}

func (a *ask) nextPassword() string {
	a.serial++
	return a.Demo.AdminPassword + platform.Decimal(int64(a.serial))
}

// ownMutations change nothing but the caller itself; any application's token serves them.
func ownMutations() []graphRow {
	persons := shape(personsOnly)
	password := func(a *ask) object { return object{"password": a.passwordNow()} }
	code := func(*ask) object { return object{"code": "000000"} }
	return []graphRow{
		mutate("revokeSession", `session { address }`, func(a *ask) object { return object{"id": a.freshSession()} }, persons),
		mutate("acceptInvitation", `invitation { status }`, func(a *ask) object { return object{"id": a.invited()} }, persons),
		mutate("declineInvitation", `invitation { status }`, func(a *ask) object { return object{"id": a.invited()} }, persons),
		mutate("leaveCustomer", `deletedId`, func(a *ask) object { return object{"customerId": a.joined()} }, persons),
		mutate("requestEmailChange", `user { email }`, func(a *ask) object {
			a.serial++
			return object{"email": platform.Decimal(int64(a.serial)) + "@new.example", "password": a.passwordNow()}
		}, persons),
		mutate("changePassword", `user { email }`, func(a *ask) object {
			return object{"current": a.passwordNow(), "new": a.nextPassword(), "revokeKeys": false}
		}, persons),
		mutate("revokeOtherSessions", `sessions { address }`, func(*ask) object { return object{"includeCurrent": false} }, persons),
		mutate("enableTotp", `uri`, password, persons),
		mutate("regenerateRecoveryCodes", `recoveryCodes`, password, persons.there(getsBad, asDeputy)),
		mutate("beginPasskey", `state`, password, persons),
		mutate("createPasskey", `passkey { name }`, func(*ask) object {
			return object{"state": "AAAA", "credential": object{}, "name": "Phone"}
		}, persons.there(getsBad, asDeputy)),
		mutate("updatePasskey", `passkey { name }`, func(a *ask) object { return object{"id": a.freshPasskey(), "name": secretMark} }, persons),
		mutate("deletePasskey", `deletedId`, func(a *ask) object {
			return object{"id": a.freshPasskey(), "password": a.passwordNow()}
		}, persons),
		mutate("confirmTotp", `user { email }`, code, persons.there(getsBad, asDeputy)),
		mutate("disableTotp", `user { email }`, code, persons.there(getsBad, asDeputy)),
	}
}
